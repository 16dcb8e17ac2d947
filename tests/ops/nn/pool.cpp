#include "sorus/ops/nn/pool.h"

#include <algorithm>

#include "sorus/ops/nn/interpolate.h"
#include "tests/ops/nn/reference.h"

namespace sorus::samples {
namespace {

struct Geometry {
  std::string name;
  Shape x;
  Ints kernel;
  PoolOptions options;
};
std::vector<Geometry> geometries() {
  return {
      {"2 x 2", {2, 6, 9, 8}, {2, 2}, {}},
      {"overlapping", {1, 20, 7, 9}, {3, 3}, {.stride = {2}, .padding = {1}}},
      {"ceiling", {2, 2, 7, 8}, {3, 2}, {.stride = {2, 3}, .padding = {1, 0, 0, 1}, .ceil_mode = true}},
      {"line", {2, 3, 11}, {3}, {.stride = {1}, .padding = {1}, .dilation = {2}, .count_include_pad = false}},
      {"volume", {1, 2, 4, 5, 6}, {2, 3, 2}, {.stride = {1, 2, 2}, .padding = {1, 1, 0}}},
      {"empty batch", {0, 3, 5, 5}, {2, 2}, {}},
  };
}

/// Different numbers, no two closer than 1/32, in a scattered order: no step of a difference quotient changes
/// which is the largest.
HostArray spaced(const Shape& shape) {
  HostArray a = arange(shape);
  auto n = static_cast<size_t>(a.values.size());
  for (size_t i = 0; i < n; ++i)
    a.values[i] = (static_cast<Real>(i * 7919 % std::max<size_t>(1, n)) - static_cast<Real>(n / 2)) / 32;
  return a;
}

OP_SAMPLES(max_pool) {
  SampleList list;
  for (const Geometry& g : geometries())
    list.push_back(sample_of(g.name, {spaced(g.x)}, [g](const TensorList& t) {
      return TensorList{max_pool(t[0], g.kernel, g.options)};
    }));
  list.push_back(sample_of("adaptive", {spaced({2, 3, 7, 5})}, [](const TensorList& t) {
    return TensorList{adaptive_max_pool(t[0], {3, 2})};
  }));
  return list;
}
OP_SAMPLES(max_pool_with_indices) {
  return {sample_of("overlapping", {spaced({2, 3, 7, 9})}, [](const TensorList& t) {
    auto [y, at] = max_pool_with_indices(t[0], {3, 3}, {.stride = {2}, .padding = {1}});
    return TensorList{y, at};
  })};
}
OP_SAMPLES(avg_pool) {
  SampleList list;
  for (const Geometry& g : geometries())
    list.push_back(sample_of(g.name, {randn(g.x)}, [g](const TensorList& t) {
      return TensorList{avg_pool(t[0], g.kernel, g.options)};
    }));
  list.push_back(sample_of("adaptive", {randn({2, 3, 7, 5})}, [](const TensorList& t) {
    return TensorList{adaptive_avg_pool(t[0], {3, 2})};
  }));
  return list;
}
OP_ERRORS(max_pool) {
  return {{"rank", [] { (void)max_pool(Tensor({1.F}), {2}); }, ErrorKind::kShape, "the rank does not fit"},
          {"window",
           [] {
             (void)max_pool(Tensor({1.F}, {1, 1, 1}), {2});
           },
           ErrorKind::kShape, "the window is longer than spatial axis 0"}};
}

OP_SAMPLES(interpolate) {
  SampleList list;
  auto add = [&](std::string name, Interpolation mode, bool align) {
    list.push_back(sample_of(std::move(name), {randn({2, 3, 5, 4})}, [mode, align](const TensorList& t) {
      return TensorList{interpolate(t[0], mode, {.size = {7, 3}, .align_corners = align})};
    }));
  };
  add("nearest", Interpolation::kNearest, false);
  add("nearest exact", Interpolation::kNearestExact, false);
  add("linear", Interpolation::kLinear, false);
  add("linear, corners aligned", Interpolation::kLinear, true);
  add("cubic", Interpolation::kCubic, false);
  add("cubic, corners aligned", Interpolation::kCubic, true);
  add("area", Interpolation::kArea, false);
  return list;
}

}  // namespace
}  // namespace sorus::samples
