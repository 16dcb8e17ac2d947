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
HWY_INLINE float sum_of(Block b) {
  alignas(64) float v[kBlock];
  store_floats(b, v);
  for (int64_t half = kBlock / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i) v[i] += v[i + half];
  return v[0];
}
HWY_INLINE float max_of(Block b) {
  alignas(64) float v[kBlock];
  store_floats(b, v);
  for (int64_t half = kBlock / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i) v[i] = std::max(v[i], v[i + half]);
  return v[0];
}

/// Calls f(offset, count) for the blocks of n elements; all but the last are full.
template <class F>
HWY_INLINE void for_each_block(int64_t n, F f) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) f(i, kBlock);
  if (i < n) f(i, n - i);
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SORUS_KERNELS_CPU_NN_BLOCK_H_
