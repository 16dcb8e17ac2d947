#include "binding/functions.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"

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
