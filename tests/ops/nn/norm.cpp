#include "sorus/ops/nn/norm.h"

#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/softmax.h"
#include "tests/ops/nn/reference.h"

namespace sorus::samples {
namespace {

constexpr double kEpsilon = 1e-3;

OP_SAMPLES(layer_norm) {
  SampleList list;
  for (int64_t n : {3, 16, 50})
    list.push_back(sample_of(
        "rows of " + std::to_string(n), {randn({5, n}, 1), randn({n}, 2), randn({n}, 3)},
        [](const TensorList& t) {
          NormResult r = layer_norm_with_statistics(t[0], 1, t[1], t[2], kEpsilon);
          return TensorList{r.y, r.mean, r.variance};
        },
        40));
  list.push_back(sample_of(
      "two axes, no parameters", {randn({2, 3, 4})},
      [](const TensorList& t) {
        return TensorList{layer_norm(t[0], {3, 4}, {}, {}, kEpsilon)};
      },
      40));
  return list;
}
OP_SAMPLES(group_norm) {
  return {sample_of(
      "with parameters", {randn({2, 6, 3, 2}, 1), randn({6}, 2), randn({6}, 3)},
      [](const TensorList& t) {
        NormResult r = group_norm_with_statistics(t[0], 3, t[1], t[2], kEpsilon);
        return TensorList{r.y, r.mean, r.variance};
      },
      40)};
}
OP_SAMPLES(batch_norm) {
  SampleList list;
  for (int64_t c : {3, 16, 70})
    list.push_back(sample_of(
        std::to_string(c) + " channels", {randn({4, c, 3, 2}, 1), randn({c}, 2), randn({c}, 3)},
        [](const TensorList& t) {
          NormResult r = batch_norm_train(t[0], t[1], t[2], kEpsilon);
          return TensorList{r.y, r.mean, r.variance};
        },
        40));
  return list;
}
OP_SAMPLES(rms_norm) {
  return {sample_of(
      "rows", {randn({5, 40}, 1), randn({40}, 2)},
      [](const TensorList& t) {
        RmsNormResult r = rms_norm(t[0], t[1], kEpsilon);
        return TensorList{r.y, r.scale};
      },
      40)};
}

OP_SAMPLES(softmax) {
  SampleList list;
  for (int64_t axis : {0, 1, 2})
    list.push_back(sample_of("axis " + std::to_string(axis), {randn({4, 5, 21})},
                             [axis](const TensorList& t) { return TensorList{softmax(t[0], axis)}; }));
  return list;
}
OP_SAMPLES(log_softmax) {
  SampleList list;
  for (int64_t axis : {0, 1, 2})
    list.push_back(sample_of("axis " + std::to_string(axis), {randn({4, 5, 21})},
                             [axis](const TensorList& t) { return TensorList{log_softmax(t[0], axis)}; }));
  return list;
}
OP_ERRORS(softmax) {
  return {{"axis", [] { (void)softmax(Tensor({1.F}), 1); }, ErrorKind::kValue, "axis"},
          {"integers", [] { (void)softmax(Tensor({1})); }, ErrorKind::kDType, "got int32"}};
}

OP_SAMPLES(softmax_cross_entropy) {
  SampleList list;
  for (double smoothing : {0.0, 0.1})
    list.push_back(sample_of("smoothing " + std::to_string(smoothing),
                             {randn({6, 19}), Input(integers({6}, 0, 18, 5), DType::kInt32)},
                             [smoothing](const TensorList& t) {
                               return TensorList{softmax_cross_entropy(t[0], t[1], 3, smoothing)};
                             },
                             20, {1}));
  return list;
}
OP_ERRORS(softmax_cross_entropy) {
  return {{"label",
           [] {
             (void)softmax_cross_entropy(Tensor({1.F, 2.F}, {1, 2}), Tensor({2}));
           },
           ErrorKind::kIndex, "got 2 at position 0, need 0 to 1 (2 classes)"}};
}

}  // namespace
}  // namespace sorus::samples
