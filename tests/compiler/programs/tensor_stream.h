#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>

#include "sorus/dispatch/op_def.h"
#include "sorus/ir/encoding.h"

/// Tensors and programs through a pipe, each with its length in front. Nothing is an empty one.
namespace sorus {

inline void write_bytes(std::ostream& out, const std::string& bytes) {
  const uint64_t size = bytes.size();
  out.write(reinterpret_cast<const char*>(&size), sizeof(size));
  out.write(bytes.data(), static_cast<std::streamsize>(size));
  out.flush();
}

inline std::string read_bytes(std::istream& in) {
  uint64_t size = 0;
  if (!in.read(reinterpret_cast<char*>(&size), sizeof(size))) return {};
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  return bytes;
}

/// A graph of nothing but constants.
inline std::string bytes_of(const TensorList& tensors) {
  Graph graph;
  for (const Tensor& t : tensors) graph.outputs.push_back(graph.add_constant(t));
  return encode_graph(graph);
}

inline TensorList tensors_from(const std::string& bytes) {
  const Graph graph = decode_graph(bytes);
  TensorList tensors;
  for (ValueId v : graph.outputs) tensors.push_back(graph.constant(v));
  return tensors;
}

}  // namespace sorus
