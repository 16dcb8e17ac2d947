#include "tests/ops/reduce/reference.h"

namespace sorus::samples {

HostArray reduce_host(const HostArray& a, const Ints& axes, bool keepdims,
                      const std::function<Real(const std::vector<Real>&)>& f) {
  const Ints reduced = normalize_axes("reference", axes, a.shape.rank());
  auto is_reduced = [&](int axis) {
    for (int64_t r : reduced)
      if (r == axis) return true;
    return false;
  };
  HostArray out;
  std::vector<int64_t> step(static_cast<size_t>(a.shape.rank()), 0);  // of the result, along each axis of a
  int64_t results = 1;
  for (int axis = a.shape.rank(); axis-- > 0;) {
    if (is_reduced(axis)) continue;
    step[static_cast<size_t>(axis)] = results;
    results *= a.shape.size(axis);
  }
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    if (!is_reduced(axis)) out.shape.push_back(a.shape[axis]);
    if (is_reduced(axis) && keepdims) out.shape.push_back(1);
  }
  std::vector<std::vector<Real>> lists(static_cast<size_t>(results));
  for (size_t i = 0; i < a.values.size(); ++i) {
    auto left = static_cast<int64_t>(i);
    int64_t at = 0;
    for (int axis = a.shape.rank(); axis-- > 0; left /= a.shape.size(axis))
      at += left % a.shape.size(axis) * step[static_cast<size_t>(axis)];
    lists[static_cast<size_t>(at)].push_back(a.values[i]);
  }
  for (const auto& list : lists) out.values.push_back(f(list));
  return out;
}

SampleList reduction_family(ReductionCall f, std::function<Real(const std::vector<Real>&)> exact,
                            const ReductionFamily& family) {
  SampleList list;
  auto add = [&](std::string name, const Shape& shape, const Ints& axes, bool keepdims) {
    HostArray x = family.integral ? integers(shape, 0, 2, 5) : uniform(shape, family.low, family.high, 5);
    list.push_back({.name = std::move(name) + " of " + shape.text() + " over " + axes.text(),
                    .inputs = {std::move(x)},
                    .call = [=](const TensorList& in) { return TensorList{f(in[0], axes, keepdims)}; },
                    .reference =
                        [=](const std::vector<HostArray>& in) {
                          return std::vector{reduce_host(in[0], axes, keepdims, exact)};
                        },
                    .dtypes = family.dtypes,
                    .absolute = family.absolute,
                    .gradient = family.gradient && shape.numel() < 200,
                    .second_gradient = family.second_gradient});
  };
  add("all", {3, 5}, {}, false);
  add("all, kept", {3, 5}, {}, true);
  add("rows", {3, 7}, {1}, false);
  add("columns", {7, 3}, {0}, true);
  add("middle", {2, 5, 3}, {1}, false);
  add("outer and inner", {2, 3, 4, 5}, {0, -1}, false);
  add("channels", {2, 3, 4, 5}, {0, 2, 3}, true);
  add("scalar", {}, {}, false);
  add("extent 1", {4, 1}, {1}, false);
  add("no results", {0, 4}, {1}, false);
  if (family.empty) {
    add("of nothing", {3, 0}, {1}, false);
    list.back().gradient = false;  // the result may be NaN, which has no slope
  }
  // Beyond one block of the tree, beyond one piece of the pool, ends that fill no lane.
  const bool narrow = family.integral;  // sums of many integers do not fit 8 bits
  add("long rows", {3, 1037}, {1}, false);
  add("long columns", {1037, 19}, {0}, false);
  add("long", {70001}, {}, false);
  for (size_t i = list.size() - 3; i < list.size() && narrow; ++i)
    list[i].dtypes = {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64};
  return list;
}

}  // namespace sorus::samples
