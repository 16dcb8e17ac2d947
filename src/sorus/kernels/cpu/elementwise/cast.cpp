#include <algorithm>

#include "sorus/kernels/convert.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"
#include "sorus/kernels/cpu/elementwise/tiles.h"

namespace sorus::cpu {
namespace {

template <class From, class To>
void convert_tile(void* out, const void* const* in, int64_t n, const double*) {
  const auto* from = static_cast<const From*>(in[0]);
  auto* to = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = convert_element<To>(from[i]);
}

template <class Half>
void widen_tile(void* out, const void* const* in, int64_t n, const double*) {
  widen(static_cast<const Half*>(in[0]), static_cast<float*>(out), n);
}
template <class Half>
void narrow_tile(void* out, const void* const* in, int64_t n, const double*) {
  narrow(static_cast<const float*>(in[0]), static_cast<Half*>(out), n);
}

void truncate_tile(void* out, const void* const* in, int64_t n, const double*) {
  truncate(static_cast<const float*>(in[0]), static_cast<BFloat16*>(out), n);
}
template <class Half>
void round_tile(void* out, const void* const* in, int64_t n, const double*) {
  constexpr int64_t kBuffer = 256;
  Half rounded[kBuffer];
  for (int64_t at = 0; at < n; at += kBuffer) {
    const int64_t count = std::min(kBuffer, n - at);
    narrow(static_cast<const float*>(in[0]) + at, rounded, count);
    widen(rounded, static_cast<float*>(out) + at, count);
  }
}

/// Between any two dtypes; 16-bit floats on the left are widened first.
TileFunction any_cast(DType from, DType to) {
  return visit_dtype(from, [&]<class From>(std::type_identity<From>) -> TileFunction {
    using Wide = ComputeType<From>;
    return visit_dtype(to, []<class To>(std::type_identity<To>) -> TileFunction {
      if constexpr (std::is_same_v<Wide, float> && !std::is_same_v<ComputeType<To>, To>)
        return narrow_tile<To>;
      else
        return convert_tile<Wide, To>;
    });
  });
}

ElementTile cast_tile(const KernelCall& call) {
  const DType from = call.in[0].dtype;
  const DType to = call.out[0].dtype;
  if (is_half(from) && to == DType::kFloat32)
    return {.function = widen_function(from), .compute = {from}, .result = to};
  const DType wide = is_half(from) ? DType::kFloat32 : from;
  const TileFunction frequent = find_frequent_cast(wide, to);
  return {.function = frequent ? frequent : any_cast(from, to), .compute = {wide}, .result = to};
}

const KernelRegistrar registered{
    "cast",
    Kernel{.name = "simd",
           .in_layout = Layout::kAny,
           .out_layout = Layout::kAny,
           .run = [](const KernelCall& call) { run_tiles(cast_tile(call), call); },
           .tile = cast_tile},
    kSimdRank};

}  // namespace

TileFunction widen_function(DType half) {
  return half == DType::kFloat16 ? widen_tile<Float16> : widen_tile<BFloat16>;
}
TileFunction narrow_function(DType half) {
  return half == DType::kFloat16 ? narrow_tile<Float16> : narrow_tile<BFloat16>;
}
TileFunction store_function(DType half) {
  return half == DType::kFloat16 ? narrow_tile<Float16> : truncate_tile;
}
TileFunction round_function(DType half) {
  return half == DType::kFloat16 ? round_tile<Float16> : round_tile<BFloat16>;
}

}  // namespace sorus::cpu
