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
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/ops/nn/attributes.h"

/// Group norm of row-major tensors in float32: the elements of a group follow each other, a channel's share
/// of them is a run. Statistics in two passes, runs summed in float32 and joined in double.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// Elements summed in float32 before they join a double.
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

float element(const Array& a, int64_t i, float missing) {
  if (!a.present()) return missing;
  switch (a.dtype) {
    case DType::kFloat32:
      return a.as<float>()[i];
    case DType::kBFloat16:
      return static_cast<float>(a.as<BFloat16>()[i]);
    default:
      return static_cast<float>(a.as<Float16>()[i]);
  }
}

/// Sum of term(offset, count) over n elements.
template <class Term>
double long_sum(int64_t n, Term term) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kRun) {
    Block sum = Block::of(0);
    for_each_block(std::min(kRun, n - begin),
                   [&](int64_t i, int64_t count) { sum = sum + term(begin + i, count); });
    total += static_cast<double>(sum_of(sum));
  }
  return total;
}

template <class T>
void forward_group(const KernelCall& c, const Groups& s, int64_t group, double epsilon) {
  const T* x = c.in[0].as<T>() + group * s.count();
  T* y = c.out[0].as<T>() + group * s.count();
  auto n = static_cast<double>(s.count());
  auto mean = static_cast<float>(
      long_sum(s.count(), [&](int64_t i, int64_t count) { return load_block(x + i, count, 0); }) / n);
  Block m = Block::of(mean);
  auto variance = static_cast<float>(long_sum(s.count(),
                                              [&](int64_t i, int64_t count) {
                                                Block d = load_block(x + i, count, mean) - m;
                                                return d * d;
                                              }) /
                                     n);
  c.out[1].as<float>()[group] = mean;
  c.out[2].as<float>()[group] = variance;
  double r = 1 / std::sqrt(static_cast<double>(variance) + epsilon);
  for (int64_t k = 0; k < s.share; ++k) {
    int64_t channel = group % s.groups * s.share + k;
    Block scale = Block::of(static_cast<float>(r * static_cast<double>(element(c.in[1], channel, 1))));
    Block shift = Block::of(element(c.in[2], channel, 0));
    for_each_block(s.inner, [&](int64_t i, int64_t count) {
      int64_t at = k * s.inner + i;
      store_block(fma(load_block(x + at, count, 0) - m, scale, shift), y + at, count);
    });
  }
}

/// dx = r * (h - mean(h) - n * mean(h * n)), h = g * gamma, n = (x - mean) * r. Leaves sum(g * n) and sum(g)
/// of each channel of the sample in `sums`.
template <class T>
void backward_group(const KernelCall& c, const Groups& s, int64_t group, double epsilon, double* sums) {
  const T* x = c.in[0].as<T>() + group * s.count();
  const T* g = c.in[1].as<T>() + group * s.count();
  T* dx = c.out[0].as<T>() + group * s.count();
  float mean = c.in[2].as<float>()[group];
  double r = 1 / std::sqrt(static_cast<double>(c.in[3].as<float>()[group]) + epsilon);
  Block m = Block::of(mean), scale = Block::of(static_cast<float>(r));
  auto normalized = [&](int64_t at, int64_t count) { return (load_block(x + at, count, mean) - m) * scale; };
  double sum = 0, dot = 0;
  for (int64_t k = 0; k < s.share; ++k) {
    int64_t begin = k * s.inner;
    auto gamma = static_cast<double>(element(c.in[4], group % s.groups * s.share + k, 1));
    double plain =
        long_sum(s.inner, [&](int64_t i, int64_t count) { return load_block(g + begin + i, count, 0); });
    double with_n = long_sum(s.inner, [&](int64_t i, int64_t count) {
      return load_block(g + begin + i, count, 0) * normalized(begin + i, count);
    });
    sums[2 * k] = with_n;
    sums[2 * k + 1] = plain;
    sum += gamma * plain;
    dot += gamma * with_n;
  }
  auto n = static_cast<double>(s.count());
  Block average = Block::of(static_cast<float>(sum / n)), slope = Block::of(static_cast<float>(-dot / n));
  for (int64_t k = 0; k < s.share; ++k) {
    Block gamma = Block::of(element(c.in[4], group % s.groups * s.share + k, 1));
    for_each_block(s.inner, [&](int64_t i, int64_t count) {
      int64_t at = k * s.inner + i;
      Block h = load_block(g + at, count, 0) * gamma - average;
      store_block(fma(normalized(at, count), slope, h) * scale, dx + at, count);
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

void set_element(const Array& a, int64_t i, double v) {
  switch (a.dtype) {
    case DType::kFloat32:
      a.as<float>()[i] = static_cast<float>(v);
      return;
    case DType::kBFloat16:
      a.as<BFloat16>()[i] = BFloat16(static_cast<float>(v));
      return;
    default:
      a.as<Float16>()[i] = Float16(static_cast<float>(v));
  }
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
      set_element(c.out[static_cast<size_t>(1 + part)], channel, total);
    }
}

void group_norm(const KernelCall& c) {
  by_type(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { forward<T>(c); });
}
void group_norm_backward(const KernelCall& c) {
  by_type(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { backward<T>(c); });
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(group_norm);
HWY_EXPORT(group_norm_backward);

const SimdRegistrar forward_registered{"group_norm",
                                       {.name = "group_norm_simd",
                                        .supports = refuse_float64_and_empty,
                                        .run = run_best<HWY_DISPATCH_TABLE(group_norm)>}};
const SimdRegistrar backward_registered{"group_norm_backward",
                                        {.name = "group_norm_backward_simd",
                                         .supports = refuse_float64_and_empty,
                                         .workspace =
                                             [](const KernelCall& c) {
                                               return 2 * sizeof(double) *
                                                      static_cast<size_t>(c.in[0].size(0) * c.in[0].size(1));
                                             },
                                         .run = run_best<HWY_DISPATCH_TABLE(group_norm_backward)>}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
