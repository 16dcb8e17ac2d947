#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/layer_norm.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <cmath>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/cpu/nn/block.h"
#include "sorus/kernels/cpu/nn/elements.h"
#include "sorus/kernels/cpu/nn/row_pieces.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/ops/nn/attributes.h"

/// Layer norm and rms norm along contiguous rows, statistics in two passes. Gradients of gamma and
/// beta are summed over pieces of rows cut by the shape alone, then over the pieces in order.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

template <class T>
SORUS_FLATTEN ComputeType<T> mean_of(const T* x, int64_t n) {
  using S = ComputeType<T>;
  return sum_blocks<S>(
             n, [&](BlockOf<S> sum, int64_t i, int64_t count) { return sum + load_block(x + i, count, 0); }) /
         static_cast<S>(n);
}
/// Mean square of the distances from `center`. Meanwhile the next row of x and of the result comes.
template <class T>
SORUS_FLATTEN ComputeType<T> spread_of(const T* x, int64_t n, ComputeType<T> center, const T* to) {
  using S = ComputeType<T>;
  const auto m = BlockOf<S>::of(center);
  return sum_blocks<S>(n,
                       [&](BlockOf<S> sum, int64_t i, int64_t count) {
                         prefetch(x + n + i);
                         prefetch_write(to + n + i);
                         const BlockOf<S> d = load_block(x + i, count, center) - m;
                         return fma(d, d, sum);
                       }) /
         static_cast<S>(n);
}

template <class T, class S = ComputeType<T>>
SORUS_FLATTEN void normalize_row(const T* x, T* y, int64_t n, S mean, S r, const S* gamma, const S* beta) {
  const auto m = BlockOf<S>::of(mean), scale = BlockOf<S>::of(r);
  for_each_block(n, [&](int64_t i, int64_t count) {
    const BlockOf<S> v = (load_block(x + i, count, 0) - m) * scale;
    store_block<T>(fma(v, load_block(gamma + i, count, 0), load_block(beta + i, count, 0)), y + i, count);
  });
}

/// dx = r * (h - mean(h) - n * mean(h * n)), h = g * gamma, n = (x - mean) * r; the second term when centred.
/// Adds g * n to dgamma and g to dbeta.
template <class T, class S = ComputeType<T>>
SORUS_FLATTEN void backward_row(const T* x, const T* g, T* dx, int64_t n, bool centred, S mean, S r,
                                const S* gamma, S* dgamma, S* dbeta) {
  using B = BlockOf<S>;
  struct Sums {
    B h, dot;
  };
  const B m = B::of(mean), scale = B::of(r), zero = B::of(0);
  const Sums sums = reduce_blocks(
      n, Sums{zero, zero},
      [&](Sums so_far, int64_t i, int64_t count) {
        prefetch_write(dx + i);
        const B v = (load_block(x + i, count, mean) - m) * scale;
        const B d = load_block(g + i, count, 0);
        const B h = d * load_block(gamma + i, count, 0);
        store_block(fma(d, v, load_block(dgamma + i, count, 0)), dgamma + i, count);
        store_block(load_block(dbeta + i, count, 0) + d, dbeta + i, count);
        return Sums{so_far.h + h, fma(h, v, so_far.dot)};
      },
      [](Sums p, Sums q) {
        return Sums{p.h + q.h, p.dot + q.dot};
      });
  const B average = B::of(centred ? sum_of(sums.h) / static_cast<S>(n) : S(0));
  const B slope = B::of(-sum_of(sums.dot) / static_cast<S>(n));
  for_each_block(n, [&](int64_t i, int64_t count) {
    const B v = (load_block(x + i, count, mean) - m) * scale;
    const B h = load_block(g + i, count, 0) * load_block(gamma + i, count, 0);
    store_block<T>(fma(v, slope, h - average) * scale, dx + i, count);
  });
}

template <class T>
void layer_forward(const KernelCall& c) {
  const auto& a = c.attrs<NormAttrs>();
  RowPieces p(*c.in[0].shape, a.begin_axis);
  using S = ComputeType<T>;
  auto* room = static_cast<S*>(c.workspace);
  const S* gamma = cpu::elements<S>(c.in[1], 1, p.n, room);
  const S* beta = cpu::elements<S>(c.in[2], 0, p.n, room + p.padded());
  const auto epsilon = static_cast<S>(a.epsilon);
  p.for_each([&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row) {
      const T* x = c.in[0].as<T>() + row * p.n;
      T* y = c.out[0].as<T>() + row * p.n;
      const S mean = mean_of(x, p.n), variance = spread_of(x, p.n, mean, y);
      normalize_row(x, y, p.n, mean, 1 / std::sqrt(variance + epsilon), gamma, beta);
      c.out[1].as<S>()[row] = mean;
      c.out[2].as<S>()[row] = variance;
    }
  });
}

template <class T>
void rms_forward(const KernelCall& c) {
  const auto& a = c.attrs<NormAttrs>();
  RowPieces p(*c.in[0].shape, a.begin_axis);
  using S = ComputeType<T>;
  auto* room = static_cast<S*>(c.workspace);
  const S* gamma = cpu::elements<S>(c.in[1], 1, p.n, room);
  S* beta = room + p.padded();
  std::fill(beta, beta + p.n, S(0));
  const auto epsilon = static_cast<S>(a.epsilon);
  p.for_each([&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row) {
      const T* x = c.in[0].as<T>() + row * p.n;
      T* y = c.out[0].as<T>() + row * p.n;
      const S scale = 1 / std::sqrt(spread_of(x, p.n, 0, y) + epsilon);
      normalize_row(x, y, p.n, S(0), scale, gamma, beta);
      c.out[1].as<S>()[row] = scale;
    }
  });
}

/// `statistic(row)` gives mean and 1 / standard deviation of a row.
template <class T, class Statistic>
void backward_rows(const KernelCall& c, const RowPieces& p, const Array& gamma_array, bool centred,
                   Statistic statistic) {
  using S = ComputeType<T>;
  auto* room = static_cast<S*>(c.workspace);
  S* sums = room + p.padded();  // pieces x (dgamma, dbeta)
  const S* gamma = cpu::elements<S>(gamma_array, 1, p.n, room);
  p.for_each([&](int64_t begin, int64_t end, int64_t piece) {
    S* dgamma = sums + piece * 2 * p.padded();
    S* dbeta = dgamma + p.padded();
    std::fill(dgamma, dgamma + 2 * p.padded(), S(0));
    for (int64_t row = begin; row < end; ++row) {
      auto [mean, r] = statistic(row);
      int64_t at = row * p.n;
      backward_row(c.in[0].as<T>() + at, c.in[1].as<T>() + at, c.out[0].as<T>() + at, p.n, centred, mean, r,
                   gamma, dgamma, dbeta);
    }
  });
  if (!gamma_array.present()) return;
  for (int64_t piece = 1; piece < p.pieces; ++piece)
    for_each_block(2 * p.padded(), [&](int64_t i, int64_t) {
      store_full(load_full(sums + i) + load_full(sums + piece * 2 * p.padded() + i), sums + i);
    });
  cpu::set_elements(sums, c.out[1]);
  if (c.out.size() > 2) cpu::set_elements(sums + p.padded(), c.out[2]);
}

template <class S>
struct Statistic {
  S mean, r;
};

template <class T>
void layer_backward(const KernelCall& c) {
  const auto& a = c.attrs<NormAttrs>();
  using S = ComputeType<T>;
  const auto epsilon = static_cast<S>(a.epsilon);
  backward_rows<T>(c, RowPieces(*c.in[0].shape, a.begin_axis), c.in[4], true, [&](int64_t row) {
    return Statistic<S>{c.in[2].as<S>()[row], 1 / std::sqrt(c.in[3].as<S>()[row] + epsilon)};
  });
}
template <class T>
void rms_backward(const KernelCall& c) {
  using S = ComputeType<T>;
  backward_rows<T>(c, RowPieces(*c.in[0].shape, c.attrs<NormAttrs>().begin_axis), c.in[3], false,
                   [&](int64_t row) {
                     return Statistic<S>{0, c.in[2].as<S>()[row]};
                   });
}

void layer_norm(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { layer_forward<T>(c); });
}
void layer_norm_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { layer_backward<T>(c); });
}
void rms_norm(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { rms_forward<T>(c); });
}
void rms_norm_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { rms_backward<T>(c); });
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(layer_norm);
HWY_EXPORT(layer_norm_backward);
HWY_EXPORT(rms_norm);
HWY_EXPORT(rms_norm_backward);

size_t forward_workspace(const KernelCall& c) {
  return 2 * compute_size(c) *
         static_cast<size_t>(RowPieces(*c.in[0].shape, c.attrs<NormAttrs>().begin_axis).padded());
}
size_t backward_workspace(const KernelCall& c) {
  RowPieces p(*c.in[0].shape, c.attrs<NormAttrs>().begin_axis);
  return compute_size(c) * static_cast<size_t>((1 + 2 * p.pieces) * p.padded());
}
Kernel norm_kernel(std::string_view name, size_t (*workspace)(const KernelCall&),
                   void (*run)(const KernelCall&)) {
  return {.name = name, .supports = refuse_empty, .workspace = workspace, .run = run};
}

/// A kernel of rows, which needs gamma and beta whole.
Kernel row_kernel(std::string_view name, void (*run)(const KernelCall&)) {
  Kernel kernel = norm_kernel(name, forward_workspace, run);
  kernel.row_axis = [](const KernelCall& c) { return static_cast<int>(c.attrs<NormAttrs>().begin_axis); };
  kernel.whole_in = 0b110;
  return kernel;
}

const SimdRegistrar layer_registered{"layer_norm",
                                     row_kernel("layer_norm_simd", run_best<HWY_DISPATCH_TABLE(layer_norm)>)};
const SimdRegistrar layer_backward_registered{"layer_norm_backward",
                                              norm_kernel("layer_norm_backward_simd", backward_workspace,
                                                          run_best<HWY_DISPATCH_TABLE(layer_norm_backward)>)};
const SimdRegistrar rms_registered{"rms_norm",
                                   row_kernel("rms_norm_simd", run_best<HWY_DISPATCH_TABLE(rms_norm)>)};
const SimdRegistrar rms_backward_registered{"rms_norm_backward",
                                            norm_kernel("rms_norm_backward_simd", backward_workspace,
                                                        run_best<HWY_DISPATCH_TABLE(rms_norm_backward)>)};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
