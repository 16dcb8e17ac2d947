#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "tests/ops/elementwise/families.h"

namespace sorus::samples {
namespace {

OP_SAMPLES(where) {
  SampleList list;
  auto add = [&](std::string name, const Shape& condition, const Shape& a, const Shape& b) {
    list.push_back(
        {.name = std::move(name),
         .inputs = {{integers(condition, 0, 1, 3), kBool}, integers(a, 0, 9, 1), integers(b, 0, 9, 2)},
         .call = call_of(where),
         .reference = map_real([](Real c, Real x, Real y) { return c != 0 ? x : y; }),
         .dtypes = any_type(),
         .ulp = 0});
  };
  add("same shape", {3, 5}, {3, 5}, {3, 5});
  add("broadcast", {4, 1, 3}, {2, 1}, {});
  add("empty", {0, 3}, {1, 3}, {1});
  add("large", {90, 401}, {90, 1}, {90, 401});
  list.back().gradient = false;
  return list;
}
OP_ERRORS(where) {
  return {{"condition", [] { (void)where(Tensor(1.0F), Tensor(1.0F), Tensor(1.0F)); }, ErrorKind::kDType,
           "got float32, need bool"}};
}

/// Casting small integers, which every dtype holds, to each dtype.
OP_SAMPLES(cast) {
  SampleList list;
  for (DType to : any_type()) {
    list.push_back({.name = "to " + std::string(dtype_name(to)),
                    .inputs = {integers({3, 7}, 0, 100, 1)},
                    .call = [to](const TensorList& in) { return TensorList{cast(in[0], to)}; },
                    .reference =
                        [to](const std::vector<HostArray>& in) {
                          HostArray r = in[0];
                          for (Real& v : r.values)
                            if (to == kBool) v = v != 0 ? 1 : 0;
                          return std::vector{r};
                        },
                    .dtypes = any_type(),
                    .ulp = 0,
                    // The slope of a rounding is not that of the identity.
                    .gradient = to == DType::kFloat64});
  }
  list.push_back({.name = "large, to bfloat16",
                  .inputs = {uniform({257, 129}, -9, 9)},
                  .call = [](const TensorList& in) { return TensorList{cast(in[0], DType::kBFloat16)}; },
                  .reference = map_real([](Real x) { return x; }),
                  .dtypes = floats(),
                  .gradient = false});
  // Just above the middle of two float16, by less than a float32 can tell: rounding twice would give 1.
  list.push_back({.name = "rounds once",
                  .inputs = {items({1 + 0x1p-11L + 0x1p-40L, -(1 + 0x1p-11L + 0x1p-40L)})},
                  .call = [](const TensorList& in) { return TensorList{cast(in[0], DType::kFloat16)}; },
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{items({1 + 0x1p-10L, -1 - 0x1p-10L})};
                      },
                  .dtypes = {DType::kFloat64},
                  .ulp = -100,  // bounds of 16-bit results are 1 + ulp / 100: none is allowed
                  .gradient = false});
  list.push_back({.name = "int64 rounds once",
                  .inputs = {items({0x1.01p61L + 1, -0x1.01p61L - 1})},
                  .call = [](const TensorList& in) { return TensorList{cast(in[0], DType::kBFloat16)}; },
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{items({0x1.02p61L, -0x1.02p61L})};
                      },
                  .dtypes = {DType::kInt64},
                  .ulp = -100});
  list.push_back({.name = "truncates and wraps",
                  .inputs = {items({2.7L, -2.7L, 300, -300, 0x1p40L + 5})},
                  .call = [](const TensorList& in) { return TensorList{cast(in[0], DType::kInt8)}; },
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{items({2, -2, 44, -44, 5})};
                      },
                  .dtypes = {DType::kFloat64}});
  list.push_back({.name = "what no integer holds",
                  .inputs = {items({NAN, INFINITY, -INFINITY, 0x1p63L, 1e30L})},
                  .call = [](const TensorList& in) { return TensorList{cast(in[0], DType::kInt64)}; },
                  .reference = [](const std::vector<HostArray>&) { return std::vector{full({5}, -0x1p63L)}; },
                  .dtypes = wide_floats()});
  return list;
}

OP_SAMPLES(stop_gradient) {
  return unary_family(
      stop_gradient, [](Real x) { return x; },
      {.dtypes = any_type(), .low = 0, .high = 9, .ulp = 0, .gradient = false, .integral = true});
}

}  // namespace
}  // namespace sorus::samples
