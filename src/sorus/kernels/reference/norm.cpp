#include <cmath>
#include <vector>

#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/reference/wide.h"
#include "sorus/ops/nn/attributes.h"

/// Normalizations as they are defined, in double with statistics in two passes, over row-major operands.
namespace sorus {
namespace {

std::vector<double> read_all(const Array& a) {
  std::vector<double> out(static_cast<size_t>(a.numel()));
  visit_floating(a.dtype, [&]<class T>(std::type_identity<T>) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = wide(a.as<T>()[i]);
  });
  return out;
}

void write_all(const Array& a, const std::vector<double>& values) {
  visit_floating(a.dtype, [&]<class T>(std::type_identity<T>) {
    for (size_t i = 0; i < values.size(); ++i) a.as<T>()[i] = narrow<T>(values[i]);
  });
}

/// Where the elements of a group of statistics lie, and which parameter each one has.
struct Groups {
  size_t groups = 1, count = 1;            ///< groups of statistics, elements of each
  size_t outer_step = 0, inner = 1;        ///< batch norm: the group's elements are runs of `inner`
  size_t parameter_groups = 1, share = 1;  ///< group norm: parameter (group % parameter_groups) * share + ...
  enum Kind { kLayer, kGroup, kBatch } kind = kLayer;

  [[nodiscard]] size_t element(size_t group, size_t i) const {
    return kind == kBatch ? i / inner * outer_step + group * inner + i % inner : group * count + i;
  }
  [[nodiscard]] size_t parameter(size_t group, size_t i) const {
    if (kind == kLayer) return i;
    return kind == kBatch ? group : group % parameter_groups * share + i / inner;
  }
};

size_t extent(const Shape& s, int from, int to) {
  size_t n = 1;
  for (int i = from; i < to; ++i) n *= static_cast<size_t>(s.size(i));
  return n;
}

Groups layer_layout(const Shape& x, const NormAttrs& a) {
  int begin = static_cast<int>(a.begin_axis);
  return {.groups = extent(x, 0, begin), .count = extent(x, begin, x.rank())};
}
Groups group_layout(const Shape& x, const NormAttrs& a) {
  auto groups = static_cast<size_t>(a.groups);
  size_t share = extent(x, 1, 2) / groups;
  size_t inner = extent(x, 2, x.rank());
  return {.groups = extent(x, 0, 1) * groups,
          .count = share * inner,
          .inner = inner,
          .parameter_groups = groups,
          .share = share,
          .kind = Groups::kGroup};
}
Groups batch_layout(const Shape& x, const NormAttrs&) {
  size_t inner = extent(x, 2, x.rank());
  return {.groups = extent(x, 1, 2),
          .count = extent(x, 0, 1) * inner,
          .outer_step = extent(x, 1, 2) * inner,
          .inner = inner,
          .kind = Groups::kBatch};
}
using LayoutOf = Groups (*)(const Shape&, const NormAttrs&);

template <LayoutOf kLayout>
void norm(const KernelCall& call) {
  const auto& a = call.attrs<NormAttrs>();
  Groups layout = kLayout(*call.in[0].shape, a);
  std::vector<double> x = read_all(call.in[0]), y(x.size());
  std::vector<double> gamma, beta;
  if (call.in[1].present()) gamma = read_all(call.in[1]);
  if (call.in[2].present()) beta = read_all(call.in[2]);
  std::vector<double> means(layout.groups), variances(layout.groups);
  auto count = static_cast<double>(layout.count);
  for (size_t g = 0; g < layout.groups; ++g) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < layout.count; ++i) sum += x[layout.element(g, i)];
    double mean = sum / count;
    for (size_t i = 0; i < layout.count; ++i) {
      double d = x[layout.element(g, i)] - mean;
      squares += d * d;
    }
    means[g] = mean;
    variances[g] = squares / count;
    double r = 1 / std::sqrt(variances[g] + a.epsilon);
    for (size_t i = 0; i < layout.count; ++i) {
      size_t p = layout.parameter(g, i);
      double n = (x[layout.element(g, i)] - mean) * r;
      y[layout.element(g, i)] = n * (gamma.empty() ? 1 : gamma[p]) + (beta.empty() ? 0 : beta[p]);
    }
  }
  write_all(call.out[0], y);
  write_all(call.out[1], means);
  write_all(call.out[2], variances);
}

/// dx = r * (h - mean(h) - n * mean(h * n)), the second term when centred.
void backward_group(const Groups& layout, size_t g, bool centred, double mean, double r,
                    const std::vector<double>& x, const std::vector<double>& dy,
                    const std::vector<double>& gamma, std::vector<double>& dx, std::vector<double>& dgamma,
                    std::vector<double>& dbeta) {
  double sum = 0, dot = 0;
  auto slope = [&](size_t i) {
    return dy[layout.element(g, i)] * (gamma.empty() ? 1 : gamma[layout.parameter(g, i)]);
  };
  for (size_t i = 0; i < layout.count; ++i) {
    size_t e = layout.element(g, i);
    double n = (x[e] - mean) * r;
    sum += slope(i);
    dot += slope(i) * n;
    if (gamma.empty()) continue;
    dgamma[layout.parameter(g, i)] += dy[e] * n;
    dbeta[layout.parameter(g, i)] += dy[e];
  }
  auto count = static_cast<double>(layout.count);
  for (size_t i = 0; i < layout.count; ++i) {
    size_t e = layout.element(g, i);
    double n = (x[e] - mean) * r;
    dx[e] = r * (slope(i) - (centred ? sum / count : 0) - n * (dot / count));
  }
}

template <LayoutOf kLayout>
void norm_backward(const KernelCall& call) {
  const auto& a = call.attrs<NormAttrs>();
  Groups layout = kLayout(*call.in[0].shape, a);
  std::vector<double> x = read_all(call.in[0]), dy = read_all(call.in[1]);
  std::vector<double> means = read_all(call.in[2]), variances = read_all(call.in[3]), gamma;
  if (call.in[4].present()) gamma = read_all(call.in[4]);
  std::vector<double> dx(x.size()), dgamma(gamma.size()), dbeta(gamma.size());
  for (size_t g = 0; g < layout.groups; ++g)
    backward_group(layout, g, true, means[g], 1 / std::sqrt(variances[g] + a.epsilon), x, dy, gamma, dx,
                   dgamma, dbeta);
  write_all(call.out[0], dx);
  if (!call.in[4].present()) return;
  write_all(call.out[1], dgamma);
  write_all(call.out[2], dbeta);
}

void rms_norm(const KernelCall& call) {
  const auto& a = call.attrs<NormAttrs>();
  Groups layout = layer_layout(*call.in[0].shape, a);
  std::vector<double> x = read_all(call.in[0]), gamma = read_all(call.in[1]);
  std::vector<double> y(x.size()), scales(layout.groups);
  for (size_t g = 0; g < layout.groups; ++g) {
    double squares = 0;
    for (size_t i = 0; i < layout.count; ++i) squares += x[layout.element(g, i)] * x[layout.element(g, i)];
    scales[g] = 1 / std::sqrt(squares / static_cast<double>(layout.count) + a.epsilon);
    for (size_t i = 0; i < layout.count; ++i)
      y[layout.element(g, i)] = x[layout.element(g, i)] * scales[g] * gamma[i];
  }
  write_all(call.out[0], y);
  write_all(call.out[1], scales);
}

void rms_norm_backward(const KernelCall& call) {
  Groups layout = layer_layout(*call.in[0].shape, call.attrs<NormAttrs>());
  std::vector<double> x = read_all(call.in[0]), dy = read_all(call.in[1]);
  std::vector<double> scales = read_all(call.in[2]), gamma = read_all(call.in[3]);
  std::vector<double> dx(x.size()), dgamma(gamma.size()), unused(gamma.size());
  for (size_t g = 0; g < layout.groups; ++g)
    backward_group(layout, g, false, 0, scales[g], x, dy, gamma, dx, dgamma, unused);
  write_all(call.out[0], dx);
  write_all(call.out[1], dgamma);
}

const KernelRegistrar layer_registered{
    "layer_norm", {.name = "layer_norm_reference", .run = norm<layer_layout>}, kReferenceRank};
const KernelRegistrar layer_backward_registered{
    "layer_norm_backward",
    {.name = "layer_norm_backward_reference", .run = norm_backward<layer_layout>},
    kReferenceRank};
const KernelRegistrar group_registered{
    "group_norm", {.name = "group_norm_reference", .run = norm<group_layout>}, kReferenceRank};
const KernelRegistrar group_backward_registered{
    "group_norm_backward",
    {.name = "group_norm_backward_reference", .run = norm_backward<group_layout>},
    kReferenceRank};
const KernelRegistrar batch_registered{
    "batch_norm", {.name = "batch_norm_reference", .run = norm<batch_layout>}, kReferenceRank};
const KernelRegistrar batch_backward_registered{
    "batch_norm_backward",
    {.name = "batch_norm_backward_reference", .run = norm_backward<batch_layout>},
    kReferenceRank};
const KernelRegistrar rms_registered{
    "rms_norm", {.name = "rms_norm_reference", .run = rms_norm}, kReferenceRank};
const KernelRegistrar rms_backward_registered{
    "rms_norm_backward", {.name = "rms_norm_backward_reference", .run = rms_norm_backward}, kReferenceRank};

}  // namespace
}  // namespace sorus
