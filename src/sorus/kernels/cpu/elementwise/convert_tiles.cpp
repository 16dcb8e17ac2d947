#include "sorus/kernels/cpu/elementwise/convert_tiles.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/elementwise/convert_tiles.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/cache_control.h"
#include "sorus/base/cpu_features.h"
#include "sorus/kernels/cpu/simd/lane.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
constexpr int64_t kHalfLanes = 1;
#else
constexpr int64_t kHalfLanes = static_cast<int64_t>(HWY_LANES(float));
#endif

void widen_float16(const Float16* from, float* to, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> wide;
  const hn::Rebind<hwy::float16_t, decltype(wide)> half;
  for (; i + kHalfLanes <= n; i += kHalfLanes)
    hn::StoreU(hn::PromoteTo(wide, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from + i))), wide,
               to + i);
#endif
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

void narrow_float16(const float* from, Float16* to, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> wide;
  const hn::Rebind<hwy::float16_t, decltype(wide)> half;
  for (; i + kHalfLanes <= n; i += kHalfLanes)
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(wide, from + i)), half,
               reinterpret_cast<hwy::float16_t*>(to + i));
#endif
  for (; i < n; ++i) to[i] = Float16(from[i]);
}

void widen_bfloat16(const BFloat16* from, float* to, int64_t n) {
  const auto* bits = reinterpret_cast<const uint16_t*>(from);
  auto* words = reinterpret_cast<uint32_t*>(to);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) words[i] = static_cast<uint32_t>(bits[i]) << 16;
}

void narrow_bfloat16(const float* from, BFloat16* to, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> wide;
  const hn::RebindToUnsigned<decltype(wide)> words;
  const hn::Rebind<uint16_t, decltype(wide)> half;
  const auto bias = hn::Set(words, 0x7fffU), last = hn::Set(words, 1U), quiet = hn::Set(words, 0x40U);
  for (; i + kHalfLanes <= n; i += kHalfLanes) {
    const auto x = hn::LoadU(wide, from + i);
    const auto b = hn::BitCast(words, x);
    const auto upper = hn::ShiftRight<16>(b);
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(b, bias), hn::And(upper, last)));
    const auto is_nan = hn::RebindMask(words, hn::IsNaN(x));
    hn::StoreU(hn::TruncateTo(half, hn::IfThenElse(is_nan, hn::Or(upper, quiet), rounded)), half,
               reinterpret_cast<uint16_t*>(to + i));
  }
#endif
  for (; i < n; ++i) to[i] = BFloat16(from[i]);
}

void truncate_bfloat16(const float* from, BFloat16* to, int64_t n) {
  const auto* words = reinterpret_cast<const uint32_t*>(from);
  auto* bits = reinterpret_cast<uint16_t*>(to);
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint32_t> wide;
  const hn::Rebind<uint16_t, decltype(wide)> half;
  for (; i + kHalfLanes <= n; i += kHalfLanes)
    hn::StoreU(hn::TruncateTo(half, hn::ShiftRight<16>(hn::LoadU(wide, words + i))), half, bits + i);
#endif
  for (; i < n; ++i) bits[i] = static_cast<uint16_t>(words[i] >> 16);
}

void stream(const void* from, void* to, int64_t bytes) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> tag;
  const auto step = static_cast<int64_t>(hn::Lanes(tag));
  const auto* f = static_cast<const uint8_t*>(from);
  auto* t = static_cast<uint8_t*>(to);
  const int64_t head = -reinterpret_cast<intptr_t>(t) & (step - 1);
  int64_t i = head < bytes ? head : bytes;
  std::memcpy(t, f, static_cast<size_t>(i));
  for (; i + step <= bytes; i += step) hn::Stream(hn::LoadU(tag, f + i), tag, t + i);
  std::memcpy(t + i, f + i, static_cast<size_t>(bytes - i));
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(widen_float16);
HWY_EXPORT(narrow_float16);
HWY_EXPORT(widen_bfloat16);
HWY_EXPORT(narrow_bfloat16);
HWY_EXPORT(truncate_bfloat16);
HWY_EXPORT(stream);
}  // namespace sorus::simd

namespace sorus::cpu {
using namespace simd;  // NOLINT: the dispatch tables are named there

void widen(const Float16* from, float* to, int64_t n) { HWY_DYNAMIC_DISPATCH(widen_float16)(from, to, n); }
void narrow(const float* from, Float16* to, int64_t n) { HWY_DYNAMIC_DISPATCH(narrow_float16)(from, to, n); }
void widen(const BFloat16* from, float* to, int64_t n) { HWY_DYNAMIC_DISPATCH(widen_bfloat16)(from, to, n); }
void narrow(const float* from, BFloat16* to, int64_t n) {
  HWY_DYNAMIC_DISPATCH(narrow_bfloat16)(from, to, n);
}
void truncate(const float* from, BFloat16* to, int64_t n) {
  HWY_DYNAMIC_DISPATCH(truncate_bfloat16)(from, to, n);
}
// What goes past the last level leaves it cold for what is written there next, so that it is to be larger
// than what the caches keep; of a last level that others use too, that is no more than a part.
int64_t usual_streamed_bytes() {
  constexpr int64_t kMegabyte = 1 << 20;
  return last_level_cache_bytes() / 4 >= 64 * kMegabyte ? 64 * kMegabyte : 32 * kMegabyte;
}
void stream_bytes(const void* from, void* to, int64_t bytes) {
  HWY_DYNAMIC_DISPATCH(stream)(from, to, bytes);
}
void finish_streams() { hwy::FlushStream(); }

}  // namespace sorus::cpu
#endif  // HWY_ONCE
