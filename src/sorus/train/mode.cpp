#include "sorus/train/mode.h"

#include "sorus/dispatch/apply.h"

namespace sorus {

void set_mode(Mode mode) { scope_state().graph_mode = mode == Mode::kGraph; }

Mode mode() { return scope_state().graph_mode ? Mode::kGraph : Mode::kPyNative; }

}  // namespace sorus
