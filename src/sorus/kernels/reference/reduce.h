#pragma once

#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/reduce_tree.h"
#include "sorus/kernels/reference/element.h"

/// Reference kernels of reductions: the tree of reduce_tree.h, one result after the other.
namespace sorus::reference {

/// Splits the axes of x into those kept and those reduced, and gives for each result the offset of its first
/// element and for each reduced index its distance from there, in elements.
class ReduceIndex {
 public:
  ReduceIndex(const KernelCall& call, const Ints& axes);
  [[nodiscard]] int64_t results() const { return results_; }
  [[nodiscard]] int64_t reduced() const { return reduced_; }
  [[nodiscard]] int64_t result_offset(int64_t result) const { return offset(result, kept_); }
  [[nodiscard]] int64_t element_offset(int64_t element) const { return offset(element, inner_); }

 private:
  struct Axes {
    int rank = 0;
    int64_t sizes[kMaxRank] = {};
    int64_t strides[kMaxRank] = {};
  };
  static int64_t offset(int64_t linear, const Axes& axes);
  Axes kept_;
  Axes inner_;
  int64_t results_ = 1;
  int64_t reduced_ = 1;
};

/// Folds n elements, given by `at(i)`, in the order of the tree.
template <class V, class At, class Join>
V fold(int64_t n, V identity, At at, Join join) {
  using namespace reduce_tree;
  struct Lanes {
    V lane[kLanes];
  };
  auto join_lanes = [&](Lanes& left, const Lanes& right) {
    for (int j = 0; j < kLanes; ++j) left.lane[j] = join(left.lane[j], right.lane[j]);
  };
  BlockTree<Lanes, decltype(join_lanes)> tree(join_lanes);
  for (int64_t start = 0; start < n || start == 0; start += kBlock) {
    Lanes block;
    for (V& lane : block.lane) lane = identity;
    for (int64_t i = start; i < start + kBlock && i < n; ++i) {
      V& lane = block.lane[(i - start) % kLanes];
      lane = join(lane, at(i));
    }
    tree.push(block);
  }
  Lanes& all = tree.finish();
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) all.lane[j] = join(all.lane[j], all.lane[j + width]);
  return all.lane[0];
}

}  // namespace sorus::reference
