#include "binding/functions.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::python {

std::vector<Function> elementwise_functions() {
  return {
      function("add", &add, "a, b", kBoth),
      function("sub", &sub, "a, b", kBoth),
      function("mul", &mul, "a, b", kBoth),
      function("div", &div, "a, b", kBoth),
      function("equal", &equal, "a, b", kBoth),
      function("not_equal", &not_equal, "a, b", kBoth),
      function("less", &less, "a, b", kBoth),
      function("less_equal", &less_equal, "a, b", kBoth),
      function("greater", &greater, "a, b", kBoth),
      function("greater_equal", &greater_equal, "a, b", kBoth),
      function("neg", &neg, "x"),
      function("exp", &exp, "x"),
      function("log", &log, "x"),
      function("sqrt", &sqrt, "x"),
      function("tanh", &tanh, "x"),
      function("sigmoid", &sigmoid, "x"),
      function("relu", &relu, "x"),
      function("where", &where, "condition, a, b", kBoth << 1),
      function("cast", &cast, "x, dtype"),
      function("stop_gradient", &stop_gradient, "x"),
  };
}

std::vector<Function> shape_functions() {
  return {
      function("reshape", &reshape, "x, shape"),
      function("transpose", &transpose, "x, axes"),
      function("swap_last", &swap_last, "x"),
      function("swapaxes", &swapaxes, "x, axis0, axis1"),
      function("movedim", &movedim, "x, source, destination"),
      function("broadcast_to", &broadcast_to, "x, shape"),
      function<Tensor, const Tensor&, const Ints&>("expand_dims", &expand_dims, "x, axes"),
      function("squeeze", &squeeze, "x, axes=()"),
      function("contiguous", &contiguous, "x"),
      function(
          "full",
          +[](const Shape& shape, double value, DType dtype) {
            return full({dtype, {}, shape}, value);
          },
          "shape, value, dtype=float32"),
  };
}

std::vector<Function> reduce_functions() {
  return {
      function("sum", &sum, "x, axes=(), keepdims=False"),
      function("sum_to", &sum_to, "x, shape"),
  };
}

std::vector<Function> linalg_functions() {
  return {
      function("matmul", &matmul, "a, b"),
  };
}

}  // namespace sorus::python
