#include "sorus/ops/nn/conv.h"

#include "sorus/ops/nn/linear.h"
#include "tests/ops/nn/reference.h"

namespace sorus::samples {
namespace {

struct Geometry {
  std::string name;
  Shape x, w;
  ConvOptions options;
};
std::vector<Geometry> geometries() {
  return {
      {"plain", {2, 3, 7, 6}, {4, 3, 3, 2}, {}},
      {"point", {2, 6, 4, 4}, {5, 6, 1, 1}, {}},
      {"grouped",
       {1, 4, 9, 8},
       {6, 2, 3, 3},
       {.stride = {2, 1}, .padding = {1}, .dilation = {1, 2}, .groups = 2}},
      {"depthwise", {2, 5, 6, 7}, {5, 1, 3, 3}, {.stride = {2}, .padding = {0, 1, 2, 0}, .groups = 5}},
      {"line", {2, 3, 11}, {2, 3, 4}, {.stride = {3}, .padding = {1, 2}, .dilation = {2}}},
      {"volume", {1, 2, 4, 5, 3}, {3, 2, 2, 3, 1}, {.stride = {1, 2, 1}, .padding = {1, 1, 0}}},
      {"wide", {1, 32, 5, 5}, {40, 32, 3, 3}, {.padding = {1}}},
      {"empty batch", {0, 3, 5, 5}, {4, 3, 3, 3}, {}},
  };
}

OP_SAMPLES(conv) {
  SampleList list;
  for (const Geometry& g : geometries()) {
    list.push_back(sample_of(
        g.name, {randn(g.x, 1), randn(g.w, 2)},
        [o = g.options](const TensorList& t) { return TensorList{conv(t[0], t[1], {}, o)}; }, 200));
    list.push_back(sample_of(
        g.name + " with bias", {randn(g.x, 1), randn(g.w, 2), randn({g.w[0]}, 3)},
        [o = g.options](const TensorList& t) { return TensorList{conv(t[0], t[1], t[2], o)}; }, 200));
  }
  return list;
}
OP_ERRORS(conv) {
  return {{"channels",
           [] {
             (void)conv(to_tensor(randn({1, 3, 4, 4}), DType::kFloat32),
                        to_tensor(randn({2, 2, 3, 3}), DType::kFloat32));
           },
           ErrorKind::kShape, "channels do not fit: got 3 channels"},
          {"integers",
           [] {
             (void)conv(Tensor({1, 2}, {1, 1, 2}), Tensor({1}, {1, 1, 1}));
           },
           ErrorKind::kDType, "got int32"}};
}

OP_SAMPLES(conv_transpose) {
  SampleList list;
  auto add = [&](std::string name, Shape x, Shape w, ConvOptions o, Ints extra) {
    list.push_back(sample_of(
        std::move(name), {randn(x, 1), randn(w, 2)},
        [o, extra](const TensorList& t) { return TensorList{conv_transpose(t[0], t[1], {}, o, extra)}; },
        200));
  };
  add("plain", {2, 3, 4, 5}, {3, 2, 3, 3}, {}, {});
  add("strided", {2, 4, 4, 3}, {4, 3, 3, 2}, {.stride = {2}, .padding = {1, 0}}, {1, 0});
  add("grouped line", {2, 4, 5}, {4, 3, 3}, {.stride = {2}, .dilation = {2}, .groups = 2}, {});
  return list;
}

OP_SAMPLES(linear) {
  const auto call = [](const TensorList& t) { return TensorList{linear(t[0], t[1], t[2])}; };
  return {sample_of("with bias", {randn({2, 3, 20}, 1), randn({7, 20}, 2), randn({7}, 3)}, call, 200),
          sample_of("large", {randn({40, 70}, 1), randn({33, 70}, 2), randn({33}, 3)}, call, 200)};
}

}  // namespace
}  // namespace sorus::samples
