#pragma once

#include <functional>
#include <vector>

#include "sorus/compiler/recording.h"
#include "sorus/dispatch/apply.h"

/// Boundaries in C++: functions whose calls are recorded once and run compiled afterwards, with the bits of
/// eager mode.
namespace sorus {

/// A function that runs as a boundary. `f` runs at every call, so anything C++ can do may stand in it; only
/// its op calls are compiled. A first call with new operand types records. Copies share one recording.
[[nodiscard]] SORUS_API TensorFunction jit(TensorFunction f);
[[nodiscard]] SORUS_API std::function<Tensor(const Tensor&)> jit(std::function<Tensor(const Tensor&)> f);

/// While false on this thread, boundaries just run: for comparing modes.
[[nodiscard]] SORUS_API bool& boundaries_enabled();

/// The graphs of the segments recorded under a key on this thread's scopes, before any pass, every result an
/// output.
[[nodiscard]] SORUS_API std::vector<Graph> recorded_graphs(uint64_t key);

/// Drops all recordings that are not in use, and counts how many there were.
SORUS_API size_t clear_recordings();

}  // namespace sorus
