#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/group_norm.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <cmath>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/cpu/nn/block.h"
#include "sorus/kernels/cpu/nn/elements.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/ops/nn/attributes.h"

/// Group norm of row-major tensors: the elements of a group follow each other, a channel's share
/// of them is a run. Statistics in two passes, runs summed in float32 (of float64 in float64) and joined in
/// double.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// Elements summed in blocks before they join a double.
constexpr int64_t kRun = 4096;

struct Groups {
  int64_t samples, groups, share, inner;  ///< channels of a group, elements of a channel

  Groups(const Shape& x, const NormAttrs& a)
      : samples(x.size(0)), groups(a.groups), share(x.size(1) / a.groups), inner(1) {
    for (int i = 2; i < x.rank(); ++i) inner *= x.size(i);
  }
  [[nodiscard]] int64_t count() const { return share * inner; }
  [[nodiscard]] int64_t channels() const { return groups * share; }
};

/// Sum of term(offset, count) over n elements.
template <class S, class Term>
double long_sum(int64_t n, Term term) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kRun) {
    auto sum = BlockOf<S>::of(0);
    for_each_block(std::min(kRun, n - begin),
                   [&](int64_t i, int64_t count) { sum = sum + term(begin + i, count); });
    total += static_cast<double>(sum_of(sum));
  }
  return total;
}

template <class T>
SORUS_FLATTEN void forward_group(const KernelCall& c, const Groups& s, int64_t group, double epsilon) {
  using S = ComputeType<T>;
  const T* x = c.in[0].as<T>() + group * s.count();
  T* y = c.out[0].as<T>() + group * s.count();
  auto n = static_cast<double>(s.count());
  const auto mean = static_cast<S>(
      long_sum<S>(s.count(), [&](int64_t i, int64_t count) { return load_block(x + i, count, 0); }) / n);
  const auto m = BlockOf<S>::of(mean);
  const double squares = long_sum<S>(s.count(), [&](int64_t i, int64_t count) {
    const BlockOf<S> d = load_block(x + i, count, mean) - m;
    return d * d;
  });
  const auto variance = static_cast<S>(squares / n);
  c.out[1].as<S>()[group] = mean;
  c.out[2].as<S>()[group] = variance;
  double r = 1 / std::sqrt(static_cast<double>(variance) + epsilon);
  for (int64_t k = 0; k < s.share; ++k) {
    int64_t channel = group % s.groups * s.share + k;
    const auto scale = BlockOf<S>::of(static_cast<S>(r * cpu::element<double>(c.in[1], channel, 1)));
    const auto shift = BlockOf<S>::of(cpu::element<S>(c.in[2], channel, 0));
    for_each_block(s.inner, [&](int64_t i, int64_t count) {
      int64_t at = k * s.inner + i;
      store_block<T>(fma(load_block(x + at, count, 0) - m, scale, shift), y + at, count);
    });
  }
}

/// dx = r * (h - mean(h) - n * mean(h * n)), h = g * gamma, n = (x - mean) * r. Leaves sum(g * n) and sum(g)
/// of each channel of the sample in `sums`.
template <class T>
SORUS_FLATTEN void backward_group(const KernelCall& c, const Groups& s, int64_t group, double epsilon,
                                  double* sums) {
  using S = ComputeType<T>;
  const T* x = c.in[0].as<T>() + group * s.count();
  const T* g = c.in[1].as<T>() + group * s.count();
  T* dx = c.out[0].as<T>() + group * s.count();
  const S mean = c.in[2].as<S>()[group];
  const double r = 1 / std::sqrt(static_cast<double>(c.in[3].as<S>()[group]) + epsilon);
  const auto m = BlockOf<S>::of(mean), scale = BlockOf<S>::of(static_cast<S>(r));
  auto normalized = [&](int64_t at, int64_t count) { return (load_block(x + at, count, mean) - m) * scale; };
  double sum = 0, dot = 0;
  for (int64_t k = 0; k < s.share; ++k) {
    int64_t begin = k * s.inner;
    const auto gamma = cpu::element<double>(c.in[4], group % s.groups * s.share + k, 1);
    double plain =
        long_sum<S>(s.inner, [&](int64_t i, int64_t count) { return load_block(g + begin + i, count, 0); });
    double with_n = long_sum<S>(s.inner, [&](int64_t i, int64_t count) {
      return load_block(g + begin + i, count, 0) * normalized(begin + i, count);
    });
    sums[2 * k] = with_n;
    sums[2 * k + 1] = plain;
    sum += gamma * plain;
    dot += gamma * with_n;
  }
  auto n = static_cast<double>(s.count());
  const auto average = BlockOf<S>::of(static_cast<S>(sum / n)),
             slope = BlockOf<S>::of(static_cast<S>(-dot / n));
  for (int64_t k = 0; k < s.share; ++k) {
    const auto gamma = BlockOf<S>::of(cpu::element<S>(c.in[4], group % s.groups * s.share + k, 1));
    for_each_block(s.inner, [&](int64_t i, int64_t count) {
      int64_t at = k * s.inner + i;
      const BlockOf<S> h = load_block(g + at, count, 0) * gamma - average;
      store_block<T>(fma(normalized(at, count), slope, h) * scale, dx + at, count);
    });
  }
}

/// Groups of one piece of work.
int64_t grain(const Groups& s) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, s.count())); }

template <class T>
void forward(const KernelCall& c) {
  const auto& a = c.attrs<NormAttrs>();
  Groups s(*c.in[0].shape, a);
  parallel_ranges(s.samples * s.groups, grain(s), [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) forward_group<T>(c, s, group, a.epsilon);
  });
}

template <class T>
void backward(const KernelCall& c) {
  const auto& a = c.attrs<NormAttrs>();
  Groups s(*c.in[0].shape, a);
  auto* sums = static_cast<double*>(c.workspace);  // (samples, channels, 2)
  parallel_ranges(s.samples * s.groups, grain(s), [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group)
      backward_group<T>(c, s, group, a.epsilon, sums + group * s.share * 2);
  });
  if (!c.in[4].present()) return;
  for (int64_t channel = 0; channel < s.channels(); ++channel)
    for (int64_t part = 0; part < 2; ++part) {
      double total = 0;
      for (int64_t n = 0; n < s.samples; ++n) total += sums[(n * s.channels() + channel) * 2 + part];
      cpu::set_element(c.out[static_cast<size_t>(1 + part)], channel, total);
    }
}

void group_norm(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { forward<T>(c); });
}
void group_norm_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { backward<T>(c); });
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(group_norm);
HWY_EXPORT(group_norm_backward);

const SimdRegistrar forward_registered{
    "group_norm",
    {.name = "group_norm_simd", .supports = refuse_empty, .run = run_best<HWY_DISPATCH_TABLE(group_norm)>}};
const SimdRegistrar backward_registered{"group_norm_backward",
                                        {.name = "group_norm_backward_simd",
                                         .supports = refuse_empty,
                                         .workspace =
                                             [](const KernelCall& c) {
                                               return 2 * sizeof(double) *
                                                      static_cast<size_t>(c.in[0].size(0) * c.in[0].size(1));
                                             },
                                         .run = run_best<HWY_DISPATCH_TABLE(group_norm_backward)>}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
