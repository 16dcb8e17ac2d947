#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sorus/base/export.h"

/// Settings from the environment. All names begin with SORUS_; the table in docs/rooms/base.md lists them.
namespace sorus {

/// Value of the environment variable, or `fallback` when it is unset or empty.
[[nodiscard]] SORUS_API std::string env_string(const char* name, std::string_view fallback = "");

/// Integer value of the environment variable. Throws ValueError naming the variable when it is not an
/// integer.
[[nodiscard]] SORUS_API int64_t env_int(const char* name, int64_t fallback);

/// True when SORUS_VERBOSE, a comma-separated list, has `topic` (dispatch, memory, compile, ...) or `all`.
[[nodiscard]] SORUS_API bool verbose(std::string_view topic);

}  // namespace sorus
