#include "sorus/ops/nn/detail/binary_cross_entropy_check.h"

#include <cmath>

#include "sorus/ops/nn/loss.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/harness/sample.h"

namespace sorus::samples {
namespace {

OP_SAMPLES(binary_cross_entropy_check) {
  SampleList list;
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 1, 5}, Shape{0, 4}})
    list.push_back(
        {.name = shape.text(),
         .inputs = {uniform(shape, 0, 1)},
         .call = [](const TensorList& in) { return TensorList{detail::binary_cross_entropy_check(in[0])}; },
         .reference = [](const std::vector<HostArray>&) { return std::vector{full({}, 1)}; },
         .gradient = false});
  list.push_back(list.front());
  list.back().name = "ends and NaN";
  list.back().inputs = {items({0, 1, -0.0L, NAN})};
  return list;
}

OP_ERRORS(binary_cross_entropy) {
  const auto of = [](std::initializer_list<Real> x, DType dtype = DType::kFloat32) {
    return [x = to_tensor(items(x), dtype)] { (void)binary_cross_entropy(x, x); };
  };
  const auto turned = [] {
    const Tensor x = transpose(Tensor({0.F, 1.F, 0.5F, -0.5F, 0.F, 2.F}, {2, 3}), {1, 0});
    (void)binary_cross_entropy(x, x);
  };
  const auto whole = [] { (void)binary_cross_entropy(Tensor({1, 0}), Tensor({1, 0})); };
  constexpr const char* kAbove = "inputs must lie in [0, 1]: got 1.25 at position 1, need 0 to 1";
  return {{"above", of({1, 1.25L}), ErrorKind::kValue, kAbove},
          {"above, float64", of({NAN, 1.25L}, DType::kFloat64), ErrorKind::kValue, kAbove},
          {"above, float16", of({1, 1.25L}, DType::kFloat16), ErrorKind::kValue, kAbove},
          {"above, bfloat16", of({1, 1.25L}, DType::kBFloat16), ErrorKind::kValue, kAbove},
          {"below", of({0.1L, 0, -0.1L}), ErrorKind::kValue, "got -0.1 at position 2"},
          {"infinite", of({INFINITY}), ErrorKind::kValue, "got inf at position 0"},
          {"strided", turned, ErrorKind::kValue, "got -0.5 at position 1"},
          {"integers", whole, ErrorKind::kDType, "binary_cross_entropy: "}};
}

}  // namespace
}  // namespace sorus::samples
