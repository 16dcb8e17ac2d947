#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/elementwise/trigonometric.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/kernels/cpu/elementwise/tile_loops.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace trigonometric_rows {
#include "sorus/math/rows/trigonometric.inc"
}  // namespace trigonometric_rows

std::vector<cpu::TileRow> trigonometric_tiles() { return tile_rows(trigonometric_rows::TrigonometricRows{}); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(trigonometric_tiles);
namespace {
[[maybe_unused]] const bool registered =
    (cpu::register_tiles(HWY_DYNAMIC_DISPATCH(trigonometric_tiles)()), true);
}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
