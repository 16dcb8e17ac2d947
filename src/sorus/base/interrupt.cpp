#include "sorus/base/interrupt.h"

namespace sorus {
namespace {

InterruptHook interrupt_hook = nullptr;

}  // namespace

void set_interrupt_hook(InterruptHook hook) { interrupt_hook = hook; }

void check_interrupt() {
  if (interrupt_hook) interrupt_hook();
}

}  // namespace sorus
