#pragma once

#include <cstdint>

/// The order in which Sorus reduces, which every kernel of a reduction follows so that bits agree.
///
/// The elements that go into one result are numbered 0..n-1 in row-major order of their logical indices. They
/// form blocks of kBlock; within a block, lane j of kLanes starts from the identity and takes in the elements
/// j, j + kLanes, j + 2 kLanes ... in turn. Lanes of blocks are then joined lane by lane: whenever two
/// subtrees of equally many blocks stand side by side they are joined, left operand first, and at the end
/// what is left is joined from the right. Last, the lanes of the one remaining block are folded: j with j +
/// 8, then 4, 2 and 1. Missing elements count as the identity.
namespace sorus::reduce_tree {

inline constexpr int kLanes = 16;
inline constexpr int64_t kBlock = 256;

/// Joins blocks, given from left to right, in the order above. `State` holds the lanes of a block (or of many
/// results side by side); `join(left, right)` adds right to left.
template <class State, class Join>
class BlockTree {
 public:
  explicit BlockTree(Join join) : join_(join) {}

  void push(const State& block) {
    stack_[depth_++] = block;
    ++blocks_;
    for (uint64_t b = blocks_; (b & 1U) == 0; b >>= 1) join_top();
  }
  /// The whole; at least one block must have been pushed.
  [[nodiscard]] State& finish() {
    while (depth_ > 1) join_top();
    return stack_[0];
  }

 private:
  void join_top() {
    --depth_;
    join_(stack_[depth_ - 1], stack_[depth_]);
  }
  Join join_;
  State stack_[48];  // more blocks than memory holds
  int depth_ = 0;
  uint64_t blocks_ = 0;
};

}  // namespace sorus::reduce_tree
