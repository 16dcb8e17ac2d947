#pragma once

#include <string>

#include "sorus/base/error.h"

namespace sorus {

/// Throws the error type that goes with the kind: for passing an error on with a text of one's own.
[[noreturn]] SORUS_API void throw_error(ErrorKind kind, const std::string& text);

}  // namespace sorus
