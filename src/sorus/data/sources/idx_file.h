#pragma once

#include <string>

#include "sorus/data/column.h"

/// The idx format of the MNIST family: big-endian magic 00 00 <type> <rank>, one uint32 for each dimension,
/// then the elements. Source: the format's description beside the MNIST database.
namespace sorus::data {

/// Reads a whole idx file, gzip-compressed or not (told by its first bytes, not by its name). Never trusts
/// the header: memory is taken only for what the file can hold. Throws IOError naming file and byte offset
/// (in the decompressed bytes, unless the text says otherwise) for a missing, truncated, corrupt or foreign
/// file.
[[nodiscard]] SORUS_API Tensor read_idx(const std::string& path);

/// The same for bytes in memory; `name` stands for the file in errors.
[[nodiscard]] SORUS_API Tensor parse_idx(std::span<const std::byte> bytes, const std::string& name);

}  // namespace sorus::data
