#pragma once

#include <string>

#include "sorus/data/mindrecord/detail/data_file.h"
#include "sorus/data/mindrecord/detail/header.h"

/// What reading and writing know of a data file in common.
namespace sorus::data::mindrecord {

/// The name of a path's file.
[[nodiscard]] std::string data_file_name(const std::string& path);
/// The path of another file in the same folder.
[[nodiscard]] std::string beside(const std::string& path, const std::string& name);
/// Reads and checks the header. Throws IOError naming file and byte, NotSupportedError for encrypted files.
[[nodiscard]] Header read_header(const DataFile& file);

}  // namespace sorus::data::mindrecord
