#include <cmath>

#include "sorus/ops/reduce/reduce.h"
#include "tests/ops/reduce/reference.h"

namespace sorus::samples {
namespace {

OP_SAMPLES(sum) {
  return reduction_family(
      [](const Tensor& x, const Ints& axes, bool keepdims) { return sum(x, axes, keepdims); },
      [](const std::vector<Real>& v) {
        Real total = 0;
        for (Real x : v) total += x;
        return total;
      },
      {.dtypes = numbers(), .integral = true});
}

OP_ERRORS(sum) {
  return {{"axis", [] { (void)sum(Tensor({1.0F}), {1}); }, ErrorKind::kValue, "axis"},
          {"axis twice",
           [] {
             (void)sum(Tensor({1.0F}, {1, 1}), {0, -2});
           },
           ErrorKind::kValue, "axis"}};
}

OP_SAMPLES(sum_to) {
  SampleList list;
  auto add = [&](const Shape& from, const Shape& to) {
    list.push_back({.name = from.text() + " to " + to.text(),
                    .inputs = {randn(from)},
                    .call = [to](const TensorList& in) { return TensorList{sum_to(in[0], to)}; },
                    .reference =
                        [to](const std::vector<HostArray>& in) {
                          // The adjoint of broadcasting: each element adds to the one it was read from.
                          HostArray source{to, std::vector<Real>(static_cast<size_t>(to.numel()))};
                          HostArray numbered = arange(to);
                          for (size_t i = 0; i < in[0].values.size(); ++i)
                            source.values[static_cast<size_t>(broadcast_at(
                                numbered, in[0].shape, static_cast<int64_t>(i)))] += in[0].values[i];
                          return std::vector{source};
                        },
                    .absolute = 40});
  };
  add({3, 4}, {3, 4});
  add({3, 4}, {4});
  add({3, 4}, {});
  add({2, 3, 4}, {3, 1});
  add({2, 3, 4, 5}, {1, 3, 1, 5});
  add({0, 4}, {4});
  return list;
}
OP_ERRORS(sum_to) {
  return {{"shape", [] { (void)sum_to(Tensor({1.0F, 2.0F}), {3}); }, ErrorKind::kShape, "sum_to"}};
}

}  // namespace
}  // namespace sorus::samples
