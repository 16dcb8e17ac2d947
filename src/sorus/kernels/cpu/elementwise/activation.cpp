#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/elementwise/activation.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/kernels/cpu/elementwise/tile_loops.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace activation_rows {
#include "sorus/math/rows/activation.inc"
}  // namespace activation_rows

std::vector<cpu::TileRow> activation_tiles() { return tile_rows(activation_rows::ActivationRows{}); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(activation_tiles);
namespace {
[[maybe_unused]] const bool registered =
    (cpu::register_tiles(HWY_DYNAMIC_DISPATCH(activation_tiles)()), true);
}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
