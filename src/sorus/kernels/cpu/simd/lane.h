// SimdLane<T>: the Lane vocabulary (math/lane.h) over a full Highway vector of float or double, for the
// target that is being compiled. It lives in sorus::simd::HWY_NAMESPACE and is included once per target:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "sorus/kernels/cpu/my_kernel.cpp"
//   #include "sorus/kernels/cpu/simd/targets.h"   // before foreach_target.h
//   #include "hwy/foreach_target.h"
//   #include "sorus/kernels/cpu/simd/lane.h"
//   HWY_BEFORE_NAMESPACE();
//   namespace sorus::simd::HWY_NAMESPACE { ... load<SimdLane<float>>(p) ... }
//   HWY_AFTER_NAMESPACE();
//
// On machines below AVX2 SimdLane is ScalarLane and kLanes is 1.

#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/highway.h"

#if defined(SORUS_KERNELS_CPU_SIMD_LANE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_SIMD_LANE_H_
#undef SORUS_KERNELS_CPU_SIMD_LANE_H_
#else
#define SORUS_KERNELS_CPU_SIMD_LANE_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sorus/math/lane.h"
#include "sorus/math/scalar_lane.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

template <class T>
using SimdLane = sorus::math::ScalarLane<T>;

template <sorus::math::Lane V>
inline constexpr std::size_t kLanes = 1;

template <sorus::math::Lane V>
V load(const typename V::Scalar* from) {
  return {*from};
}

template <sorus::math::Lane V>
void store(V v, typename V::Scalar* to) {
  *to = v.v;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct SimdMask {
  using Tag = hn::ScalableTag<T>;
  hn::Mask<Tag> v;
  friend HWY_INLINE SimdMask operator&(SimdMask a, SimdMask b) { return {hn::And(a.v, b.v)}; }
  friend HWY_INLINE SimdMask operator|(SimdMask a, SimdMask b) { return {hn::Or(a.v, b.v)}; }
  friend HWY_INLINE SimdMask operator!(SimdMask a) { return {hn::Not(a.v)}; }
  friend HWY_INLINE bool any(SimdMask a) { return !hn::AllFalse(Tag(), a.v); }
};

/// Integer lane that goes with SimdLane<F>; its masks are those of SimdLane<F>.
template <class F>
struct SimdInt {
  using Scalar = std::conditional_t<sizeof(F) == 4, std::int32_t, std::int64_t>;
  using Tag = hn::ScalableTag<Scalar>;
  using FloatTag = hn::ScalableTag<F>;
  using UnsignedTag = hn::RebindToUnsigned<Tag>;
  using Mask = SimdMask<F>;
  hn::Vec<Tag> v;
  static HWY_INLINE SimdInt of(std::int64_t k) { return {hn::Set(Tag(), static_cast<Scalar>(k))}; }
  friend HWY_INLINE SimdInt operator+(SimdInt a, SimdInt b) { return {hn::Add(a.v, b.v)}; }
  friend HWY_INLINE SimdInt operator-(SimdInt a, SimdInt b) { return {hn::Sub(a.v, b.v)}; }
  friend HWY_INLINE SimdInt operator&(SimdInt a, SimdInt b) { return {hn::And(a.v, b.v)}; }
  friend HWY_INLINE SimdInt operator|(SimdInt a, SimdInt b) { return {hn::Or(a.v, b.v)}; }
  friend HWY_INLINE SimdInt operator^(SimdInt a, SimdInt b) { return {hn::Xor(a.v, b.v)}; }
  template <int kBits>
  friend HWY_INLINE SimdInt shl(SimdInt a) {
    return {hn::ShiftLeft<kBits>(a.v)};
  }
  template <int kBits>
  friend HWY_INLINE SimdInt shr(SimdInt a) {
    return {hn::BitCast(Tag(), hn::ShiftRight<kBits>(hn::BitCast(UnsignedTag(), a.v)))};
  }
  friend HWY_INLINE Mask operator==(SimdInt a, SimdInt b) {
    return {hn::RebindMask(FloatTag(), hn::Eq(a.v, b.v))};
  }
  friend HWY_INLINE Mask operator<(SimdInt a, SimdInt b) {
    return {hn::RebindMask(FloatTag(), hn::Lt(a.v, b.v))};
  }
  friend HWY_INLINE Mask operator>(SimdInt a, SimdInt b) {
    return {hn::RebindMask(FloatTag(), hn::Gt(a.v, b.v))};
  }
  friend HWY_INLINE SimdInt select(Mask m, SimdInt a, SimdInt b) {
    return {hn::IfThenElse(hn::RebindMask(Tag(), m.v), a.v, b.v)};
  }
};

template <class T>
struct SimdLane {
  using Scalar = T;
  using Mask = SimdMask<T>;
  using Int = SimdInt<T>;
  using Tag = hn::ScalableTag<T>;
  hn::Vec<Tag> v;

  static HWY_INLINE SimdLane of(double k) { return {hn::Set(Tag(), static_cast<T>(k))}; }
  static HWY_INLINE SimdLane from_bits(Int i) { return {hn::BitCast(Tag(), i.v)}; }
  static HWY_INLINE SimdLane lookup(const T* table, Int i) { return {hn::GatherIndex(Tag(), table, i.v)}; }
  /// Floats: one permutation within each quarter of a vector, of which each holds the table.
  static HWY_INLINE SimdLane lookup4(const T* table, Int i) {
    if constexpr (sizeof(T) == 4)
      return {permute_quarters(table, i.v)};
    else
      return {hn::GatherIndex(Tag(), table, hn::And(i.v, hn::Set(typename Int::Tag(), 3)))};
  }
  /// Floats: permutations of the whole table, which look at the low bits of an index alone.
  static HWY_INLINE SimdLane lookup16(const T* table, Int i) {
    constexpr Tag kTag;
    if constexpr (sizeof(T) == 4 && HWY_LANES(T) == 16) {
      return {hn::TableLookupLanes(hn::Load(kTag, table), {i.v.raw})};
    } else if constexpr (sizeof(T) == 4) {
      const auto upper = hn::BroadcastSignBit(hn::ShiftLeft<28>(i.v));
      return {hn::IfVecThenElse(hn::BitCast(kTag, upper),
                                hn::TableLookupLanes(in_register(hn::Load(kTag, table + 8)), {i.v.raw}),
                                hn::TableLookupLanes(in_register(hn::Load(kTag, table)), {i.v.raw}))};
    } else {
      return {hn::GatherIndex(kTag, table, hn::And(i.v, hn::Set(typename Int::Tag(), 15)))};
    }
  }

  friend HWY_INLINE SimdLane operator+(SimdLane a, SimdLane b) { return {hn::Add(a.v, b.v)}; }
  friend HWY_INLINE SimdLane operator-(SimdLane a, SimdLane b) { return {hn::Sub(a.v, b.v)}; }
  friend HWY_INLINE SimdLane operator*(SimdLane a, SimdLane b) { return {hn::Mul(a.v, b.v)}; }
  friend HWY_INLINE SimdLane operator/(SimdLane a, SimdLane b) { return {hn::Div(a.v, b.v)}; }
  friend HWY_INLINE SimdLane operator-(SimdLane a) { return {hn::Neg(a.v)}; }
  friend HWY_INLINE SimdLane fma(SimdLane a, SimdLane b, SimdLane c) { return {hn::MulAdd(a.v, b.v, c.v)}; }
  friend HWY_INLINE SimdLane sqrt(SimdLane a) { return {hn::Sqrt(a.v)}; }
  friend HWY_INLINE SimdLane abs(SimdLane a) { return {hn::Abs(a.v)}; }
  friend HWY_INLINE SimdLane copysign(SimdLane a, SimdLane b) { return {hn::CopySign(a.v, b.v)}; }
  friend HWY_INLINE SimdLane min(SimdLane a, SimdLane b) { return {hn::Min(a.v, b.v)}; }
  friend HWY_INLINE SimdLane max(SimdLane a, SimdLane b) { return {hn::Max(a.v, b.v)}; }
  friend HWY_INLINE SimdLane floor(SimdLane a) { return {hn::Floor(a.v)}; }
  friend HWY_INLINE SimdLane ceil(SimdLane a) { return {hn::Ceil(a.v)}; }
  friend HWY_INLINE SimdLane trunc(SimdLane a) { return {hn::Trunc(a.v)}; }
  friend HWY_INLINE SimdLane round(SimdLane a) { return {hn::Round(a.v)}; }
  friend HWY_INLINE Mask operator<(SimdLane a, SimdLane b) { return {hn::Lt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator<=(SimdLane a, SimdLane b) { return {hn::Le(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>(SimdLane a, SimdLane b) { return {hn::Gt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>=(SimdLane a, SimdLane b) { return {hn::Ge(a.v, b.v)}; }
  friend HWY_INLINE Mask operator==(SimdLane a, SimdLane b) { return {hn::Eq(a.v, b.v)}; }
  /// Highway's Ne is false where an operand is NaN; this one is true there, as the operator of C++ is.
  friend HWY_INLINE Mask operator!=(SimdLane a, SimdLane b) { return {hn::Not(hn::Eq(a.v, b.v))}; }
  friend HWY_INLINE SimdLane select(Mask m, SimdLane a, SimdLane b) {
    return {hn::IfThenElse(m.v, a.v, b.v)};
  }
#if HWY_TARGET == HWY_AVX3
  // Highway 1.0.3 has no names for these.
  friend HWY_INLINE SimdLane scale(SimdLane a, SimdLane n) requires(sizeof(T) == 4) {
    return {{_mm512_scalef_ps(a.v.raw, n.v.raw)}};
  }
  friend HWY_INLINE SimdLane lesser(SimdLane a, SimdLane b) requires(sizeof(T) == 4) {
    return {{_mm512_range_ps(a.v.raw, b.v.raw, 0b0110)}};
  }
#endif
  friend HWY_INLINE Int bits(SimdLane a) { return {hn::BitCast(typename Int::Tag(), a.v)}; }

 private:
  /// `v` in a register: the compiler neither makes an operand in memory of it, with which a permutation of
  /// Zen 3 takes twice the time, nor does again in a loop what made it.
  static HWY_INLINE hn::Vec<Tag> in_register(hn::Vec<Tag> v) {
    asm("" : "+v"(v.raw));
    return v;
  }
  /// The numbers of each 16 bytes that the low two bits of `i` name in a table. Highway has no name for it.
  static HWY_INLINE hn::Vec<Tag> permute_quarters(const float* table, hn::Vec<typename Int::Tag> i) {
    const hn::Vec<Tag> four = hn::LoadDup128(Tag(), table);
#if HWY_TARGET == HWY_AVX3
    return {_mm512_permutevar_ps(in_register(four).raw, i.raw)};
#else
    return {_mm256_permutevar_ps(four.raw, i.raw)};
#endif
  }
};

template <sorus::math::Lane V>
inline constexpr std::size_t kLanes = HWY_LANES(typename V::Scalar);

/// kLanes<V> elements; no alignment is asked for.
template <sorus::math::Lane V>
HWY_INLINE V load(const typename V::Scalar* from) {
  return {hn::LoadU(typename V::Tag(), from)};
}

template <sorus::math::Lane V>
HWY_INLINE void store(V v, typename V::Scalar* to) {
  hn::StoreU(v.v, typename V::Tag(), to);
}

#endif  // HWY_TARGET == HWY_SCALAR

/// Asks for the cache line at `from`, which will be read soon. Any address may be asked for.
HWY_INLINE void prefetch(const void* from) { __builtin_prefetch(from, 0, 3); }

/// Asks for the cache line at `to`, which will be written soon: a store to memory outside the nearest caches
/// otherwise waits for it. Any address may be asked for.
HWY_INLINE void prefetch_write([[maybe_unused]] const void* to) {
#if HWY_ARCH_X86
  // Processors without the instruction take it for a no-op.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(to)));
#endif
}

/// The first `count` <= kLanes<V> elements; the others are zero. Reads nothing beyond them.
template <sorus::math::Lane V>
HWY_INLINE V load_some(const typename V::Scalar* from, std::size_t count) {
#if HWY_TARGET == HWY_SCALAR
  return {count > 0 ? *from : 0};
#else
  constexpr typename V::Tag kTag;
  return {hn::MaskedLoad(hn::FirstN(kTag, count), kTag, from)};
#endif
}

/// Writes the first `count` <= kLanes<V> elements and nothing beyond them.
template <sorus::math::Lane V>
HWY_INLINE void store_some(V v, typename V::Scalar* to, std::size_t count) {
#if HWY_TARGET == HWY_SCALAR
  if (count > 0) *to = v.v;
#else
  constexpr typename V::Tag kTag;
  hn::BlendedStore(v.v, hn::FirstN(kTag, count), kTag, to);
#endif
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SORUS_KERNELS_CPU_SIMD_LANE_H_
