#include "sorus/base/denormals.h"

namespace sorus {
namespace {

thread_local bool flushes = false;
constexpr unsigned kFlushBits = 0x8040;  // FTZ and DAZ of MXCSR

}  // namespace

void set_flush_denormal(bool on) { flushes = on; }
bool flush_denormal() { return flushes; }

void DenormalControl::enter() {
  own_ = __builtin_ia32_stmxcsr();
  if ((own_ & kFlushBits) == kFlushBits) return;
  __builtin_ia32_ldmxcsr(own_ | kFlushBits);
  entered_ = true;
}
void DenormalControl::leave() const {
  // Flags that were raised meanwhile stay.
  __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~kFlushBits) | (own_ & kFlushBits));
}

}  // namespace sorus
