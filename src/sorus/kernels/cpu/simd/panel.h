// Panels of float32 matrices: as many columns as the inner loops of products sum at once, compiled once per
// target. Include it where a file of kernels is compiled for all targets (simd/targets.h).

#if defined(SORUS_KERNELS_CPU_SIMD_PANEL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_SIMD_PANEL_H_
#undef SORUS_KERNELS_CPU_SIMD_PANEL_H_
#else
#define SORUS_KERNELS_CPU_SIMD_PANEL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::panel::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;

constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag()));
constexpr int kVecs = kLanes >= 16 ? 4 : 2;  // by 6 rows: 24 sums of 32 registers, or 12 of 16
constexpr int64_t kWidth = kVecs * kLanes;

}  // namespace sorus::kernels::panel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
