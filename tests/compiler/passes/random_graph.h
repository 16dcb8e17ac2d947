#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sorus/core/tensor.h"

namespace sorus {

/// A random graph of elementwise calls, calls on rows and products, with broadcasting and 16-bit floats.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed)
      : random_(seed), half_(seed % 3 == 0 ? DType::kFloat16 : DType::kBFloat16) {
    const int64_t rows[] = {1, 3, 40, 1300};
    const int64_t row[] = {2, 31, 64, 400};
    rows_ = rows[pick(4)];
    n_ = row[pick(4)];
    for (const Shape& s : {Shape{rows_, n_}, Shape{rows_, n_}, Shape{rows_, 1}, Shape{n_}, Shape{}})
      inputs_.push_back(add(DType::kFloat32, s));
    inputs_.push_back(add(half_, {rows_, n_}));
    inputs_.push_back(add(DType::kFloat32, {n_, n_}));
    const int calls = 4 + pick(24);
    for (int i = 0; i < calls; ++i) call();
  }

  /// The graph, with some of its values as results.
  std::string text() {
    std::string head = "graph @random(";
    for (int v : inputs_) head += fmt::format("{}%{}: {}", v == 0 ? "" : ", ", v, type(v));
    std::string results;
    for (size_t v = inputs_.size(); v < types_.size(); ++v)
      if (v + 1 == types_.size() || pick(4) == 0)
        results += fmt::format("{}%{}", results.empty() ? "" : ", ", v);
    return head + ") {\n" + body_ + "  return " + results + "\n}\n";
  }
  [[nodiscard]] const std::vector<int>& inputs() const { return inputs_; }
  [[nodiscard]] const TensorType& type(int v) const { return types_[static_cast<size_t>(v)]; }
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

 private:
  int add(DType dtype, const Shape& shape) {
    types_.push_back({dtype, {}, shape});
    return static_cast<int>(types_.size()) - 1;
  }
  /// A value of the dtype whose shape is one of those given, an older one more seldom.
  int value(DType dtype, std::initializer_list<Shape> shapes) {
    std::vector<int> fitting;
    for (size_t v = 0; v < types_.size(); ++v)
      if (types_[v].dtype == dtype &&
          std::find(shapes.begin(), shapes.end(), types_[v].shape) != shapes.end())
        fitting.push_back(static_cast<int>(v));
    const auto count = static_cast<int>(fitting.size());
    return fitting[static_cast<size_t>(std::max(pick(count), pick(count)))];
  }
  void line(const std::string& call, DType dtype, const Shape& shape) {
    const int v = add(dtype, shape);
    body_ += fmt::format("  %{} = {} : {}\n", v, call, type(v));
  }
  void call() {
    const Shape full{rows_, n_}, column{rows_, 1};
    const DType dtype = pick(4) == 0 ? half_ : DType::kFloat32;
    const bool single = dtype == DType::kFloat32;
    const int x = value(dtype, {full});
    switch (pick(9)) {
      case 0:
      case 1: {
        const char* const names[] = {"add", "sub", "mul", "maximum", "div", "relu_backward"};
        const int y = single ? value(dtype, {full, column, Shape{n_}, Shape{}}) : value(dtype, {full});
        const bool swapped = pick(2) == 0;
        const int op = pick(types_[static_cast<size_t>(y)].shape == full ? 6 : 5);
        return line(fmt::format("{}(%{}, %{})", names[op], swapped ? y : x, swapped ? x : y), dtype, full);
      }
      case 2:
      case 3: {
        const char* const names[] = {"relu", "tanh",   "sigmoid", "abs",       "gelu",       "neg",
                                     "exp",  "square", "relu6",   "hardswish", "hardsigmoid"};
        return line(fmt::format("{}(%{})", names[pick(11)], x), dtype, full);
      }
      case 4: {
        const char* const names[] = {"sum", "mean", "amax"};
        if (pick(3) == 0)
          return line(fmt::format("{}(%{}) {{axes=(1,), keepdims=false}}", names[pick(3)], x), dtype,
                      Shape{rows_});
        return line(fmt::format("{}(%{}) {{axes=(1,), keepdims=true}}", names[pick(3)], x), dtype, column);
      }
      case 5: {
        line(fmt::format("greater(%{}, %{})", x, value(dtype, {full})), DType::kBool, full);
        const auto mask = static_cast<int>(types_.size()) - 1;
        return line(fmt::format("where(%{}, %{}, %{})", mask, x, value(dtype, {full})), dtype, full);
      }
      case 6: {
        const DType to = single ? half_ : DType::kFloat32;
        return line(fmt::format("cast(%{}) {{dtype={}}}", x, dtype_name(to)), to, full);
      }
      case 7:
        if (pick(2) == 0) return line(fmt::format("softmax(%{}) {{axis=1}}", x), dtype, full);
        line(fmt::format("tanh(%{})", value(DType::kFloat32, {column})), DType::kFloat32, column);
        return line(fmt::format("sub(%{}, %{})", value(DType::kFloat32, {full}), types_.size() - 1),
                    DType::kFloat32, full);
      default:
        if (pick(3) > 0) return line(fmt::format("sqrt(%{})", x), dtype, full);
        return line(fmt::format("matmul(%{}, %6)", value(DType::kFloat32, {full})), DType::kFloat32, full);
    }
  }

  std::mt19937 random_;
  DType half_;  ///< the 16-bit floats of this graph
  int64_t rows_ = 0, n_ = 0;
  std::vector<TensorType> types_;
  std::vector<int> inputs_;
  std::string body_;
};

/// A value with random numbers, in row-major or column-major order.
inline Ref<Value> make_input(RandomGraph& graph, int v) {
  const TensorType& type = graph.type(v);
  Ref<Value> value = make_dense(type);
  visit_floating(type.dtype, [&]<class T>(std::type_identity<T>) {
    auto* to = reinterpret_cast<T*>(value->bytes());
    for (int64_t i = 0; i < type.shape.numel(); ++i)
      to[i] = T(static_cast<float>(graph.pick(4001) - 2000) / 500.0F);
  });
  if (type.shape.rank() == 2 && graph.pick(2) == 0) value->strides = Strides::dense(type.shape, Ints{1, 0});
  return value;
}

}  // namespace sorus
