#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/elementwise/integer.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/kernels/cpu/elementwise/tile_loops.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace integer_rows {
#include "sorus/math/rows/integer.inc"
}  // namespace integer_rows

std::vector<cpu::TileRow> integer_tiles() { return tile_rows(integer_rows::IntegerRows{}); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(integer_tiles);
namespace {
[[maybe_unused]] const bool registered = (cpu::register_tiles(HWY_DYNAMIC_DISPATCH(integer_tiles)()), true);
}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
