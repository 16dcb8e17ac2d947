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
#include "sorus/kernels/cpu/nn/row_pieces.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/ops/nn/attributes.h"

/// Layer norm and rms norm along contiguous rows in float32, statistics in two passes. Gradients of gamma and
/// beta are summed over pieces of rows cut by the shape alone, then over the pieces in order.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// gamma and beta widened to float32; a missing gamma is 1, a missing beta 0.
void widen(const Array& a, float fill, int64_t n, float* to) {
  if (!a.present()) {
    std::fill(to, to + n, fill);
  } else if (a.dtype == DType::kFloat32) {
    std::copy(a.as<float>(), a.as<float>() + n, to);
  } else {
    visit_floating(a.dtype, [&]<class T>(std::type_identity<T>) {
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(a.as<T>()[i]);
    });
  }
}
/// The array itself where it is float32 already.
const float* widened(const Array& a, float fill, int64_t n, float* room) {
  if (a.present() && a.dtype == DType::kFloat32) return a.as<float>();
  widen(a, fill, n, room);
  return room;
}
void narrow(const float* from, const Array& a) {
  visit_floating(a.dtype, [&]<class T>(std::type_identity<T>) {
    for (int64_t i = 0; i < a.numel(); ++i) a.as<T>()[i] = T(from[i]);
  });
}

template <class T>
HWY_INLINE float mean_of(const T* x, int64_t n) {
  return sum_blocks(n,
                    [&](Block sum, int64_t i, int64_t count) { return sum + load_block(x + i, count, 0); }) /
         static_cast<float>(n);
}
/// Mean square of the distances from `center`. Meanwhile the next row of x and of the result comes.
template <class T>
HWY_INLINE float spread_of(const T* x, int64_t n, float center, const T* to) {
  const Block m = Block::of(center);
  return sum_blocks(n,
                    [&](Block sum, int64_t i, int64_t count) {
                      prefetch(x + n + i);
                      prefetch_write(to + n + i);
                      const Block d = load_block(x + i, count, center) - m;
                      return fma(d, d, sum);
                    }) /
         static_cast<float>(n);
}

template <class T>
void normalize_row(const T* x, T* y, int64_t n, float mean, float r, const float* gamma, const float* beta) {
  Block m = Block::of(mean), scale = Block::of(r);
  for_each_block(n, [&](int64_t i, int64_t count) {
    Block v = (load_block(x + i, count, 0) - m) * scale;
    store_block(fma(v, load_block(gamma + i, count, 0), load_block(beta + i, count, 0)), y + i, count);
  });
}

/// dx = r * (h - mean(h) - n * mean(h * n)), h = g * gamma, n = (x - mean) * r; the second term when centred.
/// Adds g * n to dgamma and g to dbeta.
template <class T>
void backward_row(const T* x, const T* g, T* dx, int64_t n, bool centred, float mean, float r,
                  const float* gamma, float* dgamma, float* dbeta) {
  struct Sums {
    Block h, dot;
  };
  const Block m = Block::of(mean), scale = Block::of(r), zero = Block::of(0);
  const Sums sums = reduce_blocks(
      n, Sums{zero, zero},
      [&](Sums so_far, int64_t i, int64_t count) {
        prefetch_write(dx + i);
        const Block v = (load_block(x + i, count, mean) - m) * scale;
        const Block d = load_block(g + i, count, 0);
        const Block h = d * load_block(gamma + i, count, 0);
        store_block(fma(d, v, load_block(dgamma + i, count, 0)), dgamma + i, count);
        store_block(load_block(dbeta + i, count, 0) + d, dbeta + i, count);
        return Sums{so_far.h + h, fma(h, v, so_far.dot)};
      },
      [](Sums p, Sums q) {
        return Sums{p.h + q.h, p.dot + q.dot};
      });
  Block average = Block::of(centred ? sum_of(sums.h) / static_cast<float>(n) : 0.0F);
  Block slope = Block::of(-sum_of(sums.dot) / static_cast<float>(n));
  for_each_block(n, [&](int64_t i, int64_t count) {
    Block v = (load_block(x + i, count, mean) - m) * scale;
    Block h = load_block(g + i, count, 0) * load_block(gamma + i, count, 0);
    store_block(fma(v, slope, h - average) * scale, dx + i, count);
  });
}

template <class T>
void layer_forward(const KernelCall& c) {
  const auto& a = c.attrs<NormAttrs>();
  RowPieces p(*c.in[0].shape, a.begin_axis);
  auto* room = static_cast<float*>(c.workspace);
  const float* gamma = widened(c.in[1], 1, p.n, room);
  const float* beta = widened(c.in[2], 0, p.n, room + p.padded());
  auto epsilon = static_cast<float>(a.epsilon);
  p.for_each([&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row) {
      const T* x = c.in[0].as<T>() + row * p.n;
      T* y = c.out[0].as<T>() + row * p.n;
      float mean = mean_of(x, p.n);
      float variance = spread_of(x, p.n, mean, y);
      normalize_row(x, y, p.n, mean, 1 / std::sqrt(variance + epsilon), gamma, beta);
      c.out[1].as<float>()[row] = mean;
      c.out[2].as<float>()[row] = variance;
    }
  });
}

template <class T>
void rms_forward(const KernelCall& c) {
  const auto& a = c.attrs<NormAttrs>();
  RowPieces p(*c.in[0].shape, a.begin_axis);
  auto* gamma = static_cast<float*>(c.workspace);
  float* beta = gamma + p.padded();
  widen(c.in[1], 1, p.n, gamma);
  std::fill(beta, beta + p.n, 0.0F);
  auto epsilon = static_cast<float>(a.epsilon);
  p.for_each([&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row) {
      const T* x = c.in[0].as<T>() + row * p.n;
      T* y = c.out[0].as<T>() + row * p.n;
      float scale = 1 / std::sqrt(spread_of(x, p.n, 0, y) + epsilon);
      normalize_row(x, y, p.n, 0, scale, gamma, beta);
      c.out[1].as<float>()[row] = scale;
    }
  });
}

/// `statistic(row)` gives mean and 1 / standard deviation of a row.
template <class T, class Statistic>
void backward_rows(const KernelCall& c, const RowPieces& p, const Array& gamma_array, bool centred,
                   Statistic statistic) {
  auto* gamma = static_cast<float*>(c.workspace);
  float* sums = gamma + p.padded();  // pieces x (dgamma, dbeta)
  widen(gamma_array, 1, p.n, gamma);
  p.for_each([&](int64_t begin, int64_t end, int64_t piece) {
    float* dgamma = sums + piece * 2 * p.padded();
    float* dbeta = dgamma + p.padded();
    std::fill(dgamma, dgamma + 2 * p.padded(), 0.0F);
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
      store_floats(load_floats(sums + i) + load_floats(sums + piece * 2 * p.padded() + i), sums + i);
    });
  narrow(sums, c.out[1]);
  if (c.out.size() > 2) narrow(sums + p.padded(), c.out[2]);
}

struct Statistic {
  float mean, r;
};

template <class T>
void layer_backward(const KernelCall& c) {
  const auto& a = c.attrs<NormAttrs>();
  auto epsilon = static_cast<float>(a.epsilon);
  backward_rows<T>(c, RowPieces(*c.in[0].shape, a.begin_axis), c.in[4], true, [&](int64_t row) {
    return Statistic{c.in[2].as<float>()[row], 1 / std::sqrt(c.in[3].as<float>()[row] + epsilon)};
  });
}
template <class T>
void rms_backward(const KernelCall& c) {
  backward_rows<T>(c, RowPieces(*c.in[0].shape, c.attrs<NormAttrs>().begin_axis), c.in[3], false,
                   [&](int64_t row) {
                     return Statistic{0, c.in[2].as<float>()[row]};
                   });
}

void layer_norm(const KernelCall& c) {
  by_type(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { layer_forward<T>(c); });
}
void layer_norm_backward(const KernelCall& c) {
  by_type(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { layer_backward<T>(c); });
}
void rms_norm(const KernelCall& c) {
  by_type(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { rms_forward<T>(c); });
}
void rms_norm_backward(const KernelCall& c) {
  by_type(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { rms_backward<T>(c); });
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
  return 2 * sizeof(float) *
         static_cast<size_t>(RowPieces(*c.in[0].shape, c.attrs<NormAttrs>().begin_axis).padded());
}
size_t backward_workspace(const KernelCall& c) {
  RowPieces p(*c.in[0].shape, c.attrs<NormAttrs>().begin_axis);
  return sizeof(float) * static_cast<size_t>((1 + 2 * p.pieces) * p.padded());
}
Kernel norm_kernel(std::string_view name, size_t (*workspace)(const KernelCall&),
                   void (*run)(const KernelCall&)) {
  return {.name = name, .supports = refuse_float64_and_empty, .workspace = workspace, .run = run};
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
