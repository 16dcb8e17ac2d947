#include <cmath>

#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/shape/moves.h"

namespace sorus::samples {
namespace {

constexpr ScatterMode kModes[] = {ScatterMode::kUpdate, ScatterMode::kAdd, ScatterMode::kSub,
                                  ScatterMode::kMul,    ScatterMode::kDiv, ScatterMode::kMax,
                                  ScatterMode::kMin};
constexpr const char* kModeNames[] = {"update", "add", "sub", "mul", "div", "max", "min"};

Real combined(ScatterMode mode, Real old, Real update) {
  switch (mode) {
    case ScatterMode::kUpdate:
      return update;
    case ScatterMode::kAdd:
      return old + update;
    case ScatterMode::kSub:
      return old - update;
    case ScatterMode::kMul:
      return old * update;
    case ScatterMode::kDiv:
      return old / update;
    case ScatterMode::kMax:
      return std::max(old, update);
    default:
      return std::min(old, update);
  }
}

/// Takes update number i into the element of x that target(i) says, in order.
Sample scatters(const std::string& name, const Shape& x, Input at, const Shape& updates, ScatterMode mode,
                std::function<Tensor(const Tensor&, const Tensor&, const Tensor&, ScatterMode)> f,
                std::function<int64_t(int64_t)> target, bool integral = false) {
  auto data = [&](const Shape& s, uint64_t seed) {
    return integral ? integers(s, 4, 7, seed) : uniform(s, 0.5, 2, seed);
  };
  return {.name = name + ", " + kModeNames[static_cast<size_t>(mode)] + (integral ? ", integers" : ""),
          .inputs = {data(x, 1), std::move(at), data(updates, 2)},
          .call = [=](const TensorList& in) { return TensorList{f(in[0], in[1], in[2], mode)}; },
          .reference =
              [=](const std::vector<HostArray>& in) {
                HostArray r = in[0];
                for (size_t i = 0; i < in[2].values.size(); ++i) {
                  Real& element = r.values[static_cast<size_t>(target(static_cast<int64_t>(i)))];
                  element = combined(mode, element, in[2].values[i]);
                  if (integral) element = std::trunc(element);
                }
                return std::vector{r};
              },
          .dtypes = integral ? std::vector{DType::kInt8, DType::kInt32, DType::kInt64} : floats(),
          .absolute = 4};
}

SampleList all_modes(const std::function<Sample(ScatterMode, bool)>& make) {
  SampleList list;
  for (ScatterMode mode : kModes) {
    list.push_back(make(mode, false));
    list.push_back(make(mode, true));
  }
  return list;
}

OP_SAMPLES(tensor_scatter) {
  SampleList list = all_modes([](ScatterMode mode, bool integral) {
    return scatters(
        "rows", {3, 2}, {HostArray{{2, 1}, {2, -3}}, DType::kInt64}, {2, 2}, mode, tensor_scatter,
        [](int64_t i) { return i < 2 ? 4 + i : i - 2; }, integral);
  });
  // With duplicates the gradient of an update knows no order, so only sums are differentiated.
  for (ScatterMode mode : {ScatterMode::kAdd, ScatterMode::kSub, ScatterMode::kMul, ScatterMode::kDiv})
    list.push_back(scatters("duplicates", {3}, {HostArray{{3, 1}, {1, 1, 0}}, DType::kInt32}, {3}, mode,
                            tensor_scatter, [](int64_t i) { return i < 2 ? 1 : 0; }));
  list.push_back(scatters("nothing", {3}, {HostArray{{0, 1}, {}}, DType::kInt32}, {0}, ScatterMode::kAdd,
                          tensor_scatter, [](int64_t) { return 0; }));
  list.push_back(scatters(
      "strided operand", {2, 3}, {HostArray{{2}, {2, 0}}, DType::kInt64}, {2, 2}, ScatterMode::kAdd,
      [](const Tensor& x, const Tensor& at, const Tensor& updates, ScatterMode) {
        return index_add(x, 1, at, updates);
      },
      [](int64_t i) { return i / 2 * 3 + (i % 2 == 0 ? 2 : 0); }));
  return list;
}
OP_ERRORS(tensor_scatter) {
  return {{"range",
           [] {
             (void)tensor_scatter(Tensor({1.0F}), Tensor({1}, Shape{1, 1}), Tensor({1.0F}));
           },
           ErrorKind::kIndex, "on axis 0: got 1, need -1 <= index < 1"},
          {"shape",
           [] {
             (void)tensor_scatter(Tensor({1.0F}), Tensor({0}, Shape{1, 1}), Tensor({1.0F, 2.0F}));
           },
           ErrorKind::kShape, "updates of shape (1,)"}};
}

OP_SAMPLES(scatter_elements) {
  SampleList list = all_modes([](ScatterMode mode, bool integral) {
    return scatters(
        "columns", {2, 3}, {HostArray{{2, 2}, {2, 0, 1, -1}}, DType::kInt64}, {2, 2}, mode,
        [](const Tensor& x, const Tensor& at, const Tensor& updates, ScatterMode m) {
          return scatter_elements(x, at, updates, -1, m);
        },
        [](int64_t i) {
          const int64_t places[] = {2, 0, 4, 5};
          return places[i];
        },
        integral);
  });
  list.push_back(scatters(
      "duplicates", {3}, {HostArray{{4}, {1, 1, 0, 1}}, DType::kInt32}, {4}, ScatterMode::kAdd,
      [](const Tensor& x, const Tensor& at, const Tensor& updates, ScatterMode m) {
        return scatter_elements(x, at, updates, 0, m);
      },
      [](int64_t i) { return i == 2 ? 0 : 1; }));
  return list;
}
OP_ERRORS(scatter_elements) {
  return {{"range", [] { (void)scatter_elements(Tensor({1.0F}), Tensor({-2}), Tensor({1.0F}), 0); },
           ErrorKind::kIndex, "on axis 0: got -2, need -1 <= index < 1"},
          {"shape",
           [] {
             (void)scatter_elements(Tensor({1.0F}), Tensor({0}), Tensor({1.0F, 2.0F}), 0);
           },
           ErrorKind::kShape, "updates (2,)"}};
}

OP_SAMPLES(scatter_nd) {
  Sample s{.name = "sums duplicates",
           .inputs = {Input(HostArray{{3, 1}, {1, 3, 1}}, DType::kInt64), uniform({3, 2}, 0.5, 2)},
           .call =
               [](const TensorList& in) {
                 return TensorList{scatter_nd(in[0], in[1], {4, 2})};
               },
           .reference =
               [](const std::vector<HostArray>& in) {
                 const auto& u = in[1].values;
                 return std::vector{HostArray{{4, 2}, {0, 0, u[0] + u[4], u[1] + u[5], 0, 0, u[2], u[3]}}};
               },
           .absolute = 2};
  return {s};
}

/// Sixteen-bit sums are rounded once: 256 + 1 + 1 in bfloat16 is 258, not 256.
OP_SAMPLES(scatter) {
  Sample s{
      .name = "sums in float32",
      .inputs = {items({256}), Input(HostArray{{2}, {0, 0}}, DType::kInt64), items({1, 1})},
      .call =
          [](const TensorList& in) { return TensorList{scatter(in[0], in[1], in[2], ScatterMode::kAdd)}; },
      .reference =
          [](const std::vector<HostArray>& in) {
            return std::vector{items({in[0].values[0] + in[2].values[0] + in[2].values[1]})};
          },
      .ulp = 0.5};
  return {s};
}

}  // namespace
}  // namespace sorus::samples
