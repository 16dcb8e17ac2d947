#pragma once

#include <cstdint>
#include <string>

#include "sorus/compiler/pass_manager.h"

/// Graphs after the passes, kept in files between runs of programs.
namespace sorus {

/// From now on the graphs that this process compiles are looked up in `folder`/sorus_graphs, and kept there.
/// An entry is found by what was recorded, types and constants included, by version and build of Sorus,
/// processor and options of the passes; where calls stand in the user's program does not count. When entries
/// take more than `most_bytes` (0: SORUS_COMPILE_CACHE_MB, 1024 by default), those that were used least
/// recently go. Any number of processes may use a folder at once. An entry that is damaged or from elsewhere
/// is made anew. A folder that cannot be written is read; one warning says so. An empty name turns the cache
/// off.
///
/// Without a call, the environment variables MS_COMPILER_CACHE_ENABLE=1 and MS_COMPILER_CACHE_PATH ("." by
/// default) turn it on.
SORUS_API void set_compile_cache(const std::string& folder, int64_t most_bytes = 0);

/// The folder with the entries, empty while the cache is off.
[[nodiscard]] SORUS_API std::string compile_cache_folder();

/// Internal: runs the passes on a recorded graph, or takes their result from the cache. `tuned` names the
/// values with which they run, and is part of the key.
void run_cached_passes(Graph& graph, const PassOptions& options, const std::string& tuned);

}  // namespace sorus
