#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/elementwise/exponential.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/kernels/cpu/elementwise/tile_loops.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace exponential_rows {
#include "sorus/math/rows/exponential.inc"
}  // namespace exponential_rows

std::vector<cpu::TileRow> exponential_tiles() { return tile_rows(exponential_rows::ExponentialRows{}); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(exponential_tiles);
namespace {
[[maybe_unused]] const bool registered =
    (cpu::register_tiles(HWY_DYNAMIC_DISPATCH(exponential_tiles)()), true);
}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
