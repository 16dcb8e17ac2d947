#pragma once

#include "sorus/base/export.h"

namespace sorus {

/// Asked now and then by what may run for long or forever on the user's behalf, so that the user can stop it:
/// the hook of the host language throws when somebody wants that.
using InterruptHook = void (*)();
SORUS_API void set_interrupt_hook(InterruptHook hook);
SORUS_API void check_interrupt();

}  // namespace sorus
