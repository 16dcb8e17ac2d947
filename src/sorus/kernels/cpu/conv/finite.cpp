#include "sorus/kernels/cpu/conv/finite.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/conv/finite.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::conv::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whether all magnitudes, as bits, are below `limit`: otherwise adding what a limit lacks to the sign's bit
/// sets that bit.
template <class Bits>
HWY_INLINE bool bits_below(Bits limit, const Bits* data, int64_t count) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  constexpr int kAtOnce = 4;
  const hn::ScalableTag<Bits> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto magnitude = hn::Set(d, static_cast<Bits>(kSign - 1));
  const auto lack = hn::Set(d, static_cast<Bits>(kSign - limit));
  auto seen = hn::Zero(d);
  int64_t i = 0;
  for (; i + kAtOnce * lanes <= count; i += kAtOnce * lanes) {
#pragma GCC unroll 4
    for (int k = 0; k < kAtOnce; ++k)
      seen = hn::Or(seen, hn::Add(hn::And(hn::LoadU(d, data + i + k * lanes), magnitude), lack));
  }
  bool below = hn::AllTrue(d, hn::Eq(hn::And(seen, hn::Set(d, kSign)), hn::Zero(d)));
  for (; i < count; ++i) below &= (data[i] & (kSign - 1)) < limit;
  return below;
}

bool words_below(uint32_t limit, const uint32_t* data, int64_t count) {
  return bits_below(limit, data, count);
}
bool halves_below(uint16_t limit, const uint16_t* data, int64_t count) {
  return bits_below(limit, data, count);
}

}  // namespace sorus::kernels::conv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::kernels::conv {
namespace {

HWY_EXPORT(words_below);
HWY_EXPORT(halves_below);

}  // namespace

bool all_below(int exponent, onednn::ElementType type, const void* data, int64_t count) {
  const uint32_t limit = static_cast<uint32_t>(exponent + 127) << 23;
  if (type == onednn::ElementType::kFloat32)
    return HWY_DYNAMIC_DISPATCH(words_below)(limit, static_cast<const uint32_t*>(data), count);
  return HWY_DYNAMIC_DISPATCH(halves_below)(static_cast<uint16_t>(limit >> 16),
                                            static_cast<const uint16_t*>(data), count);
}

}  // namespace sorus::kernels::conv
#endif
