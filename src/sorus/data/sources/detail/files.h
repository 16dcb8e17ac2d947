#pragma once

#include <functional>

#include "sorus/data/detail/derived.h"

/// What sources that read files have in common.
namespace sorus::data::detail {

/// A whole file as bytes of rank 1, in a column of one row that knows the file. Throws IOError naming
/// `source`.
[[nodiscard]] Column read_bytes(const char* source, const std::string& path);
/// Throws IOError naming `source` unless the folder is there.
void check_folder(const char* source, const std::string& folder);
/// `usage` must be one of those; throws ValueError naming `source` otherwise.
void check_usage(const char* source, const std::string& usage, std::initializer_list<const char*> known);

/// Rows in parts, such as files: each is loaded by its function. All are loaded at the first use, and kept.
using LoadPart = std::function<Chunk()>;
[[nodiscard]] std::shared_ptr<const RandomAccess> loaded_source(std::vector<std::string> names,
                                                                std::vector<LoadPart> parts);

}  // namespace sorus::data::detail
