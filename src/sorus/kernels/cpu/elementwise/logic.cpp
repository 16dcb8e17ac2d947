#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/elementwise/logic.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/kernels/cpu/elementwise/tile_loops.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace logic_rows {
#include "sorus/math/rows/logic.inc"
}  // namespace logic_rows

std::vector<cpu::TileRow> logic_tiles() { return tile_rows(logic_rows::LogicRows{}); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(logic_tiles);
namespace {
[[maybe_unused]] const bool registered = (cpu::register_tiles(HWY_DYNAMIC_DISPATCH(logic_tiles)()), true);
}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
