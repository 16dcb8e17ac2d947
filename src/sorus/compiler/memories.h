#pragma once

#include <optional>
#include <vector>

#include "sorus/ir/graph.h"

namespace sorus {

/// What is known of the memory behind a value of a graph, which views of it share.
struct Memory {
  ValueId root = kNoValue;  ///< the value that is no view
  int64_t bytes = 0;
  bool is_input = false;  ///< it comes from outside: a result may be written over it, but it frees nothing
  bool stays = false;     ///< a constant, or a result of the graph
  int32_t made_by = -1;   ///< index of a node, -1 for inputs and constants
  std::vector<int32_t> readers = {};  ///< nodes in order, those that make views of it included
};

/// The memories of a graph, as passes that look at lives see them: before kernels are chosen, so nothing is
/// written in place yet, and an op that can give a view gives one.
class Memories {
 public:
  /// Nothing where extents are not known, and nobody can tell what is large.
  [[nodiscard]] static std::optional<Memories> of(const Graph& graph);

  [[nodiscard]] size_t size() const { return all_.size(); }
  [[nodiscard]] int32_t number_of(ValueId v) const { return number_of_[static_cast<size_t>(v)]; }
  [[nodiscard]] Memory& operator[](int32_t m) { return all_[static_cast<size_t>(m)]; }
  [[nodiscard]] const Memory& operator[](int32_t m) const { return all_[static_cast<size_t>(m)]; }
  /// The distinct ones that a call reads.
  [[nodiscard]] SmallVector<int32_t, 8> read_by(const Node& n) const;

 private:
  bool add(const Graph& graph, ValueId v, Memory memory);
  std::vector<Memory> all_;
  std::vector<int32_t> number_of_;  ///< by value
};

/// A call that only looks at memory in another way.
[[nodiscard]] inline bool makes_view(const Node& n) { return n.op->view && n.out.size() == 1; }

}  // namespace sorus
