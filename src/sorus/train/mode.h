#pragma once

#include "sorus/base/export.h"

namespace sorus {

/// How cells, gradient functions and optimizers run. Both modes give the same bits.
enum class Mode {
  kPyNative,  ///< op by op
  kGraph,     ///< outermost calls are recorded once and run compiled
};
/// Sets the mode of this thread; op by op at first.
SORUS_API void set_mode(Mode mode);
[[nodiscard]] SORUS_API Mode mode();

}  // namespace sorus
