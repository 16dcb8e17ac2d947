// BlockOf: 16 numbers in one to sixteen lanes, so that a kernel written over it has the same bits on every
// CPU. Included once per target; see simd/lane.h.
//
// Functions that go through rows by blocks are SORUS_FLATTEN: a block of several lanes that goes to or from a
// function, a lambda too, goes by way of memory (4 to 7 times the time of softmax and layer norm with AVX2).

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

// Neither scalar code nor sanitized one, which takes minutes to compile so, gains by it.
#undef SORUS_FLATTEN
#if HWY_TARGET == HWY_SCALAR || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SORUS_FLATTEN
#else
#define SORUS_FLATTEN [[gnu::flatten]]
#endif

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

inline constexpr int64_t kBlock = 16;

/// kCount lanes, a power of two. A few of them are halves of halves: an array the compiler would leave in
/// memory, and each operation of a block would store its lanes and load them again.
template <class L, int kCount>
struct Lanes {
  L lane[kCount];
};
template <class L, int kCount>
requires(kCount == 2 || kCount == 4) struct Lanes<L, kCount> {
  Lanes<L, kCount / 2> lower, upper;
};
template <class L>
struct Lanes<L, 1> {
  L lane;
};

/// Calls f with a reference to a lane of each of `all`, for each place.
template <class F, class L, int kCount, class... More>
HWY_INLINE void for_each_lane(F f, Lanes<L, kCount>& first, More&... all) {
  if constexpr (kCount == 1) {
    f(first.lane, all.lane...);
  } else if constexpr (kCount <= 4) {
    for_each_lane(f, first.lower, all.lower...);
    for_each_lane(f, first.upper, all.upper...);
  } else {
    for (int i = 0; i < kCount; ++i) f(first.lane[i], all.lane[i]...);
  }
}

/// 16 numbers of S, float or double.
template <class S>
struct BlockOf {
  using Lane = SimdLane<S>;
  static constexpr int64_t kWidth = static_cast<int64_t>(kLanes<Lane>);
  Lanes<Lane, static_cast<int>(kBlock / kWidth)> lanes;
  static HWY_INLINE BlockOf of(S v) {
    BlockOf b;
    const Lane lane = Lane::of(static_cast<double>(v));
    for_each_lane([&](Lane& to) { to = lane; }, b.lanes);
    return b;
  }
};
using Block = BlockOf<float>;

/// f of the lanes of `first` and of the blocks after it, place by place.
template <class F, class S, class... More>
HWY_INLINE BlockOf<S> map(F f, BlockOf<S> first, More... blocks) {
  for_each_lane([&](auto& a, const auto&... more) { a = f(a, more...); }, first.lanes, blocks.lanes...);
  return first;
}
template <class S>
HWY_INLINE BlockOf<S> operator+(BlockOf<S> a, BlockOf<S> b) {
  return map([](auto x, auto y) { return x + y; }, a, b);
}
template <class S>
HWY_INLINE BlockOf<S> operator-(BlockOf<S> a, BlockOf<S> b) {
  return map([](auto x, auto y) { return x - y; }, a, b);
}
template <class S>
HWY_INLINE BlockOf<S> operator*(BlockOf<S> a, BlockOf<S> b) {
  return map([](auto x, auto y) { return x * y; }, a, b);
}
template <class S>
HWY_INLINE BlockOf<S> operator/(BlockOf<S> a, BlockOf<S> b) {
  return map([](auto x, auto y) { return x / y; }, a, b);
}
template <class S>
HWY_INLINE BlockOf<S> fma(BlockOf<S> a, BlockOf<S> b, BlockOf<S> c) {
  return map([](auto x, auto y, auto z) { return fma(x, y, z); }, a, b, c);
}
template <class S>
HWY_INLINE BlockOf<S> max(BlockOf<S> a, BlockOf<S> b) {
  return map([](auto x, auto y) { return max(x, y); }, a, b);
}
template <class S>
HWY_INLINE BlockOf<S> exp(BlockOf<S> a) {
  return map([](auto x) { return math::exp(x); }, a);
}

/// 16 numbers as blocks hold them.
template <class S>
HWY_INLINE BlockOf<S> load_full(const S* from) {
  using Lane = typename BlockOf<S>::Lane;
  BlockOf<S> b;
  for_each_lane(
      [&](Lane& lane) {
        lane = load<Lane>(from);
        from += BlockOf<S>::kWidth;
      },
      b.lanes);
  return b;
}
template <class S>
HWY_INLINE void store_full(BlockOf<S> b, S* to) {
  for_each_lane(
      [&](auto& lane) {
        store(lane, to);
        to += BlockOf<S>::kWidth;
      },
      b.lanes);
}

/// 16 elements of type T, 16-bit floats widened exactly.
template <class T>
HWY_INLINE BlockOf<ComputeType<T>> load_block(const T* from) {
  using S = ComputeType<T>;
  if constexpr (std::is_same_v<T, S>) {
    return load_full(from);
  } else {
    alignas(64) S wide[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) wide[i] = static_cast<S>(from[i]);
    return load_full(wide);
  }
}
/// The first `count` elements, then `fill`. Reads nothing beyond them.
template <class T>
HWY_INLINE BlockOf<ComputeType<T>> load_block(const T* from, int64_t count, ComputeType<T> fill) {
  using S = ComputeType<T>;
  if (count >= kBlock) return load_block(from);
  alignas(64) S wide[kBlock];
  for (int64_t i = 0; i < kBlock; ++i) wide[i] = i < count ? static_cast<S>(from[i]) : fill;
  return load_full(wide);
}

/// Rounds to T and writes 16 elements.
template <class T>
HWY_INLINE void store_block(BlockOf<ComputeType<T>> b, T* to) {
  using S = ComputeType<T>;
  if constexpr (std::is_same_v<T, S>) {
    store_full(b, to);
  } else {
    alignas(64) S wide[kBlock];
    store_full(b, wide);
    for (int64_t i = 0; i < kBlock; ++i) to[i] = T(wide[i]);
  }
}
/// Writes the first `count` elements and nothing beyond them.
template <class T>
HWY_INLINE void store_block(BlockOf<ComputeType<T>> b, T* to, int64_t count) {
  using S = ComputeType<T>;
  if (count >= kBlock) return store_block(b, to);
  alignas(64) S wide[kBlock];
  store_full(b, wide);
  for (int64_t i = 0; i < count; ++i) to[i] = T(wide[i]);
}

template <class L, int kCount, class Join>
HWY_INLINE L join_lanes(Lanes<L, kCount> all, Join join) {
  if constexpr (kCount == 1) {
    return all.lane;
  } else if constexpr (kCount <= 4) {
    for_each_lane([&](L& x, const L& y) { x = join(x, y); }, all.lower, all.upper);
    return join_lanes(all.lower, join);
  } else {
    for (int half = kCount / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) all.lane[i] = join(all.lane[i], all.lane[i + half]);
    return all.lane[0];
  }
}
/// The 16 elements joined: j with j + 8, then 4, 2 and 1.
template <class S, class Join>
HWY_INLINE S fold(BlockOf<S> b, Join join) {
  using V = typename BlockOf<S>::Lane;
  V v = join_lanes(b.lanes, join);
#if HWY_TARGET == HWY_SCALAR
  return v.v;
#else
  // Whole vectors are joined: what is in their upper lanes does not matter.
  if constexpr (b.kWidth * sizeof(S) == 64) v = join(v, V{hn::ConcatUpperUpper(typename V::Tag(), v.v, v.v)});
  v = join(v, V{hn::SwapAdjacentBlocks(v.v)});
  if constexpr (sizeof(S) == 4) {
    v = join(v, V{hn::Shuffle1032(v.v)});
    return hn::GetLane(join(v, V{hn::Shuffle2301(v.v)}).v);
  } else {
    return hn::GetLane(join(v, V{hn::Shuffle01(v.v)}).v);
  }
#endif
}
template <class S>
HWY_INLINE S sum_of(BlockOf<S> b) {
  return fold(b, [](auto x, auto y) { return x + y; });
}
template <class S>
HWY_INLINE S max_of(BlockOf<S> b) {
  return fold(b, [](auto x, auto y) { return max(x, y); });
}

/// Calls f(offset, count) for the blocks of n elements; all but the last are full.
template <class F>
HWY_INLINE void for_each_block(int64_t n, F f) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) f(i, kBlock);
  if (i < n) f(i, n - i);
}

/// Reduces n elements by blocks in four running results, of type A (a block or a struct of them), which start
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
template <class S, class Step>
HWY_INLINE S sum_blocks(int64_t n, Step step) {
  return sum_of(reduce_blocks(n, BlockOf<S>::of(0), step, [](BlockOf<S> x, BlockOf<S> y) { return x + y; }));
}

/// Rounds n numbers, which may be read in whole blocks, to T.
template <class T>
void copy_out(const ComputeType<T>* from, T* to, int64_t n) {
  if constexpr (std::is_same_v<T, ComputeType<T>>)
    std::copy(from, from + n, to);
  else
    for_each_block(n, [&](int64_t i, int64_t count) { store_block<T>(load_full(from + i), to + i, count); });
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SORUS_KERNELS_CPU_NN_BLOCK_H_
