#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/elementwise/select.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "sorus/core/dtype.h"
#include "sorus/kernels/cpu/elementwise/tiles.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace select_loops {

/// Elements are moved as words of their size.
template <class W>
void where_tile(void* out, const void* const* in, int64_t n, const double*) {
  const auto* condition = static_cast<const uint8_t*>(in[0]);
  const auto* a = static_cast<const W*>(in[1]);
  const auto* b = static_cast<const W*>(in[2]);
  auto* to = static_cast<W*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const W x = a[i];
    const W y = b[i];
    to[i] = condition[i] != 0 ? x : y;
  }
}

template <class From, class To>
void cast_tile(void* out, const void* const* in, int64_t n, const double*) {
  const auto* from = static_cast<const From*>(in[0]);
  auto* to = static_cast<To*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<To, bool>)
      to[i] = from[i] != From{0};
    else
      to[i] = static_cast<To>(from[i]);
  }
}

}  // namespace select_loops

TileFunction where_function(size_t size) {
  using namespace select_loops;  // NOLINT: the loops above
  switch (size) {
    case 1:
      return where_tile<uint8_t>;
    case 2:
      return where_tile<uint16_t>;
    case 4:
      return where_tile<uint32_t>;
    default:
      return where_tile<uint64_t>;
  }
}

/// Casts that programs do all the time and that are one exact instruction or a rounding; null for the others.
TileFunction frequent_cast(DType from, DType to) {
  using namespace select_loops;  // NOLINT: the loops above
  if (from == DType::kFloat32 && to == DType::kFloat64) return cast_tile<float, double>;
  if (from == DType::kFloat64 && to == DType::kFloat32) return cast_tile<double, float>;
  if (from == DType::kFloat32 && to == DType::kBool) return cast_tile<float, bool>;
  if (from == DType::kBool && to == DType::kFloat32) return cast_tile<uint8_t, float>;
  if (from == DType::kUInt8 && to == DType::kFloat32) return cast_tile<uint8_t, float>;
  if (from == DType::kInt32 && to == DType::kFloat32) return cast_tile<int32_t, float>;
  if (from == DType::kInt64 && to == DType::kFloat32) return cast_tile<int64_t, float>;
  if (from == DType::kInt32 && to == DType::kInt64) return cast_tile<int32_t, int64_t>;
  if (from == DType::kInt64 && to == DType::kInt32) return cast_tile<int64_t, int32_t>;
  if (from == DType::kBool && to == DType::kInt64) return cast_tile<uint8_t, int64_t>;
  return nullptr;
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(where_function);
HWY_EXPORT(frequent_cast);
}  // namespace sorus::simd

namespace sorus::cpu {
using namespace simd;  // NOLINT: the dispatch tables are named there

TileFunction find_frequent_cast(DType from, DType to) {
  return HWY_DYNAMIC_DISPATCH(frequent_cast)(from, to);
}

namespace {

ElementTile where_tile(const KernelCall& call) {
  const DType t = call.in[1].dtype;
  return {.function = HWY_DYNAMIC_DISPATCH(where_function)(dtype_size(t)),
          .compute = {DType::kBool, t, t},
          .result = t};
}

const KernelRegistrar registered{
    "where",
    Kernel{.name = "simd",
           .in_layout = Layout::kAny,
           .out_layout = Layout::kAny,
           .run = [](const KernelCall& call) { run_tiles(where_tile(call), call); },
           .in_place = 0b110,
           .tile = where_tile},
    kSimdRank};

}  // namespace
}  // namespace sorus::cpu
#endif  // HWY_ONCE
