#pragma once

#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sorus/core/tensor.h"

/// Reading and writing of the field's `.ckpt` files: concatenated protobuf messages, one for each tensor.
namespace sorus::formats {

/// A named tensor, or a text that was stored beside the tensors.
struct CheckpointEntry {
  std::string name;
  std::variant<Tensor, std::string> value;
};

struct CheckpointReadOptions {
  bool check_crc = false;                               ///< verify the checksum at the end, if there is one
  std::function<bool(const std::string&)> choose = {};  ///< which names to read; default all
};

/// All entries in file order. Throws IOError naming file and byte offset for a file that is missing, cut,
/// damaged, encrypted or of another kind.
[[nodiscard]] SORUS_API std::vector<CheckpointEntry> read_checkpoint(
    const std::string& path, const CheckpointReadOptions& options = {});

/// Writes the entries in order, under a temporary name until all is on disk. Tensors larger than 512 MiB are
/// cut in pieces, as readers of the field expect. Throws ValueError for an empty or repeated name.
SORUS_API void write_checkpoint(const std::string& path, std::span<const CheckpointEntry> entries,
                                bool add_crc = false);

}  // namespace sorus::formats
