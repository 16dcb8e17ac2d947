// Block: 16 floats in one to sixteen lanes, so that a kernel written over it has the same bits on every CPU.
// Included once per target; see simd/lane.h.

#include "sorus/kernels/cpu/simd/functions.h"

#if defined(SORUS_KERNELS_CPU_NN_BLOCK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_NN_BLOCK_H_
#undef SORUS_KERNELS_CPU_NN_BLOCK_H_
#else
#define SORUS_KERNELS_CPU_NN_BLOCK_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "sorus/core/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

using Float = SimdLane<float>;
inline constexpr int64_t kBlock = 16;
inline constexpr int64_t kWidth = static_cast<int64_t>(kLanes<Float>);
inline constexpr int kParts = static_cast<int>(kBlock / kWidth);

struct Block {
  Float part[kParts];
  static HWY_INLINE Block of(float v) {
    Block b;
    for (int i = 0; i < kParts; ++i) b.part[i] = Float::of(static_cast<double>(v));
    return b;
  }
};

template <class F>
HWY_INLINE Block map(Block a, F f) {
  for (int i = 0; i < kParts; ++i) a.part[i] = f(a.part[i]);
  return a;
}
template <class F>
HWY_INLINE Block map(Block a, Block b, F f) {
  for (int i = 0; i < kParts; ++i) a.part[i] = f(a.part[i], b.part[i]);
  return a;
}
HWY_INLINE Block operator+(Block a, Block b) {
  for (int i = 0; i < kParts; ++i) a.part[i] = a.part[i] + b.part[i];
  return a;
}
HWY_INLINE Block operator-(Block a, Block b) {
  for (int i = 0; i < kParts; ++i) a.part[i] = a.part[i] - b.part[i];
  return a;
}
HWY_INLINE Block operator*(Block a, Block b) {
  for (int i = 0; i < kParts; ++i) a.part[i] = a.part[i] * b.part[i];
  return a;
}
HWY_INLINE Block operator/(Block a, Block b) {
  for (int i = 0; i < kParts; ++i) a.part[i] = a.part[i] / b.part[i];
  return a;
}
HWY_INLINE Block fma(Block a, Block b, Block c) {
  for (int i = 0; i < kParts; ++i) a.part[i] = fma(a.part[i], b.part[i], c.part[i]);
  return a;
}
HWY_INLINE Block max(Block a, Block b) {
  for (int i = 0; i < kParts; ++i) a.part[i] = max(a.part[i], b.part[i]);
  return a;
}
HWY_INLINE Block exp(Block a) {
  for (int i = 0; i < kParts; ++i) a.part[i] = math::exp(a.part[i]);
  return a;
}

HWY_INLINE Block load_floats(const float* from) {
  Block b;
  for (int i = 0; i < kParts; ++i) b.part[i] = load<Float>(from + i * kWidth);
  return b;
}
HWY_INLINE void store_floats(Block b, float* to) {
  for (int i = 0; i < kParts; ++i) store(b.part[i], to + i * kWidth);
}

/// 16 elements of type T (float or a 16-bit float), widened exactly.
template <class T>
HWY_INLINE Block load_block(const T* from) {
  if constexpr (std::is_same_v<T, float>) {
    return load_floats(from);
  } else {
    alignas(64) float wide[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) wide[i] = static_cast<float>(from[i]);
    return load_floats(wide);
  }
}
/// The first `count` elements, then `fill`. Reads nothing beyond them.
template <class T>
HWY_INLINE Block load_block(const T* from, int64_t count, float fill) {
  if (count >= kBlock) return load_block(from);
  alignas(64) float wide[kBlock];
  for (int64_t i = 0; i < kBlock; ++i) wide[i] = i < count ? static_cast<float>(from[i]) : fill;
  return load_floats(wide);
}

/// Rounds to T and writes 16 elements.
template <class T>
HWY_INLINE void store_block(Block b, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    store_floats(b, to);
  } else {
    alignas(64) float wide[kBlock];
    store_floats(b, wide);
    for (int64_t i = 0; i < kBlock; ++i) to[i] = T(wide[i]);
  }
}
/// Writes the first `count` elements and nothing beyond them.
template <class T>
HWY_INLINE void store_block(Block b, T* to, int64_t count) {
  if (count >= kBlock) return store_block(b, to);
  alignas(64) float wide[kBlock];
  store_floats(b, wide);
  for (int64_t i = 0; i < count; ++i) to[i] = T(wide[i]);
}

/// The 16 elements joined: j with j + 8, then 4, 2 and 1.
template <class Join>
HWY_INLINE float fold(Block b, Join join) {
#if HWY_TARGET == HWY_SCALAR
  for (int half = kParts / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) b.part[i] = join(b.part[i], b.part[i + half]);
  return b.part[0].v;
#else
  // Whole vectors are joined: what is in their upper lanes does not matter.
  Float v = b.part[0];
  if constexpr (kWidth == 16)
    v = join(v, Float{hn::ConcatUpperUpper(Float::Tag(), v.v, v.v)});
  else
    v = join(v, b.part[kParts - 1]);
  v = join(v, Float{hn::SwapAdjacentBlocks(v.v)});
  v = join(v, Float{hn::Shuffle1032(v.v)});
  return hn::GetLane(join(v, Float{hn::Shuffle2301(v.v)}).v);
#endif
}
HWY_INLINE float sum_of(Block b) {
  return fold(b, [](Float x, Float y) { return x + y; });
}
HWY_INLINE float max_of(Block b) {
  return fold(b, [](Float x, Float y) { return max(x, y); });
}

/// Calls f(offset, count) for the blocks of n elements; all but the last are full.
template <class F>
HWY_INLINE void for_each_block(int64_t n, F f) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) f(i, kBlock);
  if (i < n) f(i, n - i);
}

/// Reduces n elements by blocks in four running results, of type A (Block or a struct of them), which start
/// at `neutral`: acc = step(acc, offset, count). Block k goes to the result k % 4; they are joined as (0, 1),
/// (2, 3).
template <class A, class Step, class Join>
HWY_INLINE A reduce_blocks(int64_t n, A neutral, Step step, Join join) {
  A a = neutral, b = neutral, c = neutral, d = neutral;
  int64_t i = 0;
  for (; i + 4 * kBlock <= n; i += 4 * kBlock) {
    a = step(a, i, kBlock);
    b = step(b, i + kBlock, kBlock);
    c = step(c, i + 2 * kBlock, kBlock);
    d = step(d, i + 3 * kBlock, kBlock);
  }
  if (i < n) a = step(a, i, std::min(kBlock, n - i));
  if (i + kBlock < n) b = step(b, i + kBlock, std::min(kBlock, n - i - kBlock));
  if (i + 2 * kBlock < n) c = step(c, i + 2 * kBlock, std::min(kBlock, n - i - 2 * kBlock));
  if (i + 3 * kBlock < n) d = step(d, i + 3 * kBlock, n - i - 3 * kBlock);
  return join(join(a, b), join(c, d));
}
/// The sum of n elements: step(sum so far, offset, count).
template <class Step>
HWY_INLINE float sum_blocks(int64_t n, Step step) {
  return sum_of(reduce_blocks(n, Block::of(0), step, [](Block x, Block y) { return x + y; }));
}

/// Calls f(type) for float and the 16-bit floats.
template <class F>
HWY_INLINE void by_type(DType t, F f) {
  if (t == DType::kFloat32)
    f(std::type_identity<float>{});
  else if (t == DType::kBFloat16)
    f(std::type_identity<BFloat16>{});
  else
    f(std::type_identity<Float16>{});
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SORUS_KERNELS_CPU_NN_BLOCK_H_
