#pragma once

#include <string>

#include "sorus/base/export.h"

namespace sorus {

/// Loads an engine from a shared library (engine/c_engine.h) and registers it. Returns its name; a library
/// that is loaded already gives its name again. Its errors become errors of Sorus that name the engine. The
/// library runs in this process with all rights of it. Throws IOError for a file that is missing or no
/// library, NotSupportedError for one without the function `sorus_engine` or of another version, ValueError
/// for an engine that leaves out a function or whose name is malformed or taken.
SORUS_API std::string load_engine(const std::string& path);

}  // namespace sorus
