// The functions of math/functions.h for SimdLane, as sorus::simd::HWY_NAMESPACE::math::exp and so on;
// `math::exp(x)` finds them from inside sorus::simd::HWY_NAMESPACE. Included once per target; see
// simd/lane.h.

#include "sorus/kernels/cpu/simd/lane.h"

#if defined(SORUS_KERNELS_CPU_SIMD_FUNCTIONS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_SIMD_FUNCTIONS_H_
#undef SORUS_KERNELS_CPU_SIMD_FUNCTIONS_H_
#else
#define SORUS_KERNELS_CPU_SIMD_FUNCTIONS_H_
#endif

#include "sorus/math/functions.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
namespace math = sorus::math;
#else
namespace math {

using sorus::math::kErf;
using sorus::math::kGateSlope;
using sorus::math::kGateTail;
using sorus::math::kMillsRatio;
using sorus::math::kNormalSlope;
using sorus::math::kNormalTail;
using sorus::math::kSingle;
using sorus::math::kTanh;
using sorus::math::kTwoOverPi;
using sorus::math::Lane;
using sorus::math::ScalingLane;

#include "sorus/math/functions/all.inc"

}  // namespace math
#endif

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SORUS_KERNELS_CPU_SIMD_FUNCTIONS_H_
