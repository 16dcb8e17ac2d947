#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/elementwise/error_function.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/kernels/cpu/elementwise/tile_loops.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace error_function_rows {
#include "sorus/math/rows/error_function.inc"
}  // namespace error_function_rows

std::vector<cpu::TileRow> error_function_tiles() {
  return tile_rows(error_function_rows::ErrorFunctionRows{});
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(error_function_tiles);
namespace {
[[maybe_unused]] const bool registered =
    (cpu::register_tiles(HWY_DYNAMIC_DISPATCH(error_function_tiles)()), true);
}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
