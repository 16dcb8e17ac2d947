// What softmax and attention do with a row of numbers. Included once per target; see simd/lane.h.

#include "sorus/kernels/cpu/nn/block.h"

#if defined(SORUS_KERNELS_CPU_NN_SOFTMAX_ROWS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_NN_SOFTMAX_ROWS_H_
#undef SORUS_KERNELS_CPU_NN_SOFTMAX_ROWS_H_
#else
#define SORUS_KERNELS_CPU_NN_SOFTMAX_ROWS_H_
#endif

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

template <class S>
inline constexpr S kLowest = -std::numeric_limits<S>::infinity();

/// The largest number of a row, whose tail reads as -infinity.
template <class T>
HWY_INLINE ComputeType<T> largest(const T* x, int64_t n) {
  using S = ComputeType<T>;
  return max_of(reduce_blocks(
      n, BlockOf<S>::of(kLowest<S>),
      [&](BlockOf<S> m, int64_t i, int64_t count) { return max(m, load_block(x + i, count, kLowest<S>)); },
      [](BlockOf<S> p, BlockOf<S> q) { return max(p, q); }));
}

/// y = e^(x - top), which may lie where x does; the sum of them. `ahead(i)` is called before each block.
template <class S, class Ahead>
HWY_INLINE S exponentials(const S* x, S* y, int64_t n, S top, Ahead ahead) {
  const auto shift = BlockOf<S>::of(top);
  return sum_blocks<S>(n, [&](BlockOf<S> sum, int64_t i, int64_t count) {
    ahead(i);
    const BlockOf<S> e = exp(load_block(x + i, count, kLowest<S>) - shift);
    store_block(e, y + i, count);
    return sum + e;
  });
}

template <class S>
HWY_INLINE void scale_row(S* x, int64_t n, S scale) {
  const auto factor = BlockOf<S>::of(scale);
  for_each_block(n, [&](int64_t i, int64_t count) {
    store_block(load_block(x + i, count, S(0)) * factor, x + i, count);
  });
}

/// The sum of a[i] * b[i]. `ahead(i)` is called before each block.
template <class T, class Ahead>
HWY_INLINE ComputeType<T> dot_of_rows(const T* a, const T* b, int64_t n, Ahead ahead) {
  using S = ComputeType<T>;
  return sum_blocks<S>(n, [&](BlockOf<S> sum, int64_t i, int64_t count) {
    ahead(i);
    return fma(load_block(a + i, count, S(0)), load_block(b + i, count, S(0)), sum);
  });
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SORUS_KERNELS_CPU_NN_SOFTMAX_ROWS_H_
