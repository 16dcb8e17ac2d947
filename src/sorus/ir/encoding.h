#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "sorus/ir/graph.h"

/// Graphs as bytes, for files and for other processes: as lossless as the text form, and constants are not
/// turned into digits. docs/rooms/ir.md describes the bytes.
namespace sorus {

struct EncodingOptions {
  /// Constants that are written as their numbers here instead of their bytes, by identity.
  std::span<const Tensor> known = {};
  bool sites = true;  ///< where calls stand in the user's program; false: of bodies of control flow alone
};

/// The graph as bytes, with values numbered anew as in text(); as there, nothing says that values are
/// checked. Throws NotSupportedError when a type has an unknown dimension or lies on a device other than the
/// host.
[[nodiscard]] SORUS_API std::string encode_graph(const Graph& graph, const EncodingOptions& options = {});

struct DecodingOptions {
  std::span<const Tensor> known = {};  ///< as they were given to encode_graph()
  /// Maps what stands where a call's place would stand.
  std::function<std::string(std::string_view)> site = {};
};

/// The inverse of encode_graph(); the graph is verified. Sizes are checked before anything is allocated.
/// Throws ValueError for bytes that are no graph, or one that names an op, an attribute or a dtype that is
/// not here.
[[nodiscard]] SORUS_API Graph decode_graph(std::string_view bytes, const DecodingOptions& options = {});

}  // namespace sorus
