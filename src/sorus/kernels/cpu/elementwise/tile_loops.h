// Tile functions made from rows (math/rows.h), for the target that is being compiled. Included once per
// target, after foreach_target.h; see simd/lane.h.

#include "sorus/kernels/cpu/simd/functions.h"

#if defined(SORUS_KERNELS_CPU_ELEMENTWISE_TILE_LOOPS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_ELEMENTWISE_TILE_LOOPS_H_
#undef SORUS_KERNELS_CPU_ELEMENTWISE_TILE_LOOPS_H_
#else
#define SORUS_KERNELS_CPU_ELEMENTWISE_TILE_LOOPS_H_
#endif

#include <utility>
#include <vector>

#include "sorus/kernels/cpu/elementwise/tiles.h"
#include "sorus/kernels/integer_lane.h"
#include "sorus/math/rows.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

using sorus::math::ExactRow;
using sorus::math::FloatingRow;
using sorus::math::RowList;
using sorus::math::RowTraits;
using sorus::math::Takes;

template <class Row, class V, class... X>
HWY_INLINE V call_row(const V* parameters, X... x) {
  if constexpr (Row::kParameters > 0)
    return Row{}(x..., parameters);
  else
    return Row{}(x...);
}

/// How far ahead of its use memory is asked for. Measured on 3 MB, which only the cache of both cores holds:
/// two threads take 187 us for GELU so, 255 without and 275 where only the result is asked for.
constexpr int64_t kAheadBytes = 1024;

/// Floating rows that give numbers, on SIMD lanes.
template <class Row, class T, std::size_t... kI>
HWY_INLINE void lane_loop(T* out, const void* const* in, int64_t n, const double* parameters,
                          std::index_sequence<kI...>) {
  using V = SimdLane<T>;
  constexpr auto kStep = static_cast<int64_t>(kLanes<V>);
  V p[Row::kParameters > 0 ? Row::kParameters : 1];
  for (int k = 0; k < Row::kParameters; ++k) p[k] = V::of(Row::template parameter<T>(parameters, k));
  constexpr auto kAhead = kAheadBytes / static_cast<int64_t>(sizeof(T));
  const T* from[] = {static_cast<const T*>(in[kI])...};
  // One place that computes: constants stay in registers, and each function is compiled once. What is left
  // beside whole vectors goes through it in a second round, in vectors of its own.
  alignas(64) T room[sizeof...(kI) + 1][kLanes<V>];
  const int64_t whole = n / kStep * kStep;
  T* to = out;
  int64_t end = whole;
  for (bool last = false;; last = true) {
    for (int64_t i = 0; i < end; i += kStep) {
      (prefetch(from[kI] + i + kAhead), ...);
      prefetch_write(to + i + kAhead);
      store(call_row<Row, V>(p, load<V>(from[kI] + i)...), to + i);
    }
    if (last || whole == n) break;
    const auto rest = static_cast<std::size_t>(n - whole);
    ((store(load_some<V>(from[kI] + whole, rest), room[kI]), from[kI] = room[kI]), ...);
    to = room[sizeof...(kI)];
    end = kStep;
  }
  if (whole < n) store_some(load<V>(to), out + whole, static_cast<std::size_t>(n - whole));
}
template <class Row, class T>
[[gnu::flatten]] void lane_tile(void* out, const void* const* in, int64_t n, const double* parameters) {
  lane_loop<Row>(static_cast<T*>(out), in, n, parameters, std::make_index_sequence<Row::kOperands>{});
}

/// One element of T as plain code computes it.
template <class T>
HWY_INLINE auto plain_lane(T v) {
  if constexpr (std::is_integral_v<T>)
    return IntegerLane<T>{v};
  else
    return sorus::math::ScalarLane<T>{v};
}

/// Rows of integers, and rows that give bools: plain loops, which the compiler vectorizes.
template <class Row, class Out, class T, class... More>
HWY_INLINE void plain_loop(Out* out, int64_t n, const T* first, const More*... more) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    // The number at once: a lane kept in a variable is memory to the vectorizer of GCC 12.
    const auto y = Row{}(plain_lane<T>(first[i]), plain_lane<More>(more[i])...).v;
    if constexpr (std::is_same_v<Out, bool>)
      out[i] = static_cast<bool>(y);
    else
      out[i] = static_cast<Out>(y);
  }
}
template <class Row, class T>
void plain_tile(void* out, const void* const* in, int64_t n, const double*) {
  using Out = std::conditional_t<Row::kGivesTruth, bool, T>;
  using In = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;  // bools are bytes of 0 and 1
  [&]<std::size_t... kI>(std::index_sequence<kI...>) {
    plain_loop<Row>(static_cast<Out*>(out), n, static_cast<const In*>(in[kI])...);
  }
  (std::make_index_sequence<Row::kOperands>{});
}

template <class Row, class T>
void add_type(cpu::TileRow& row) {
  constexpr bool kLaneLoop = std::is_floating_point_v<T> && !Row::kGivesTruth;
  row.by_type[static_cast<int>(dtype_of<T>)] = [] {
    if constexpr (kLaneLoop)
      return lane_tile<Row, T>;
    else
      return plain_tile<Row, T>;
  }();
}

template <class Row>
void add_row(std::vector<cpu::TileRow>& rows) {
  cpu::TileRow row{.op = Row::kName, .operands = Row::kOperands, .gives_truth = Row::kGivesTruth};
  constexpr Takes kTakes = Row::kTakes;
  if constexpr (kTakes == Takes::kFloating || kTakes == Takes::kNumber || kTakes == Takes::kAny) {
    add_type<Row, float>(row);
    add_type<Row, double>(row);
  }
  if constexpr (kTakes != Takes::kFloating) {
    add_type<Row, int8_t>(row);
    add_type<Row, int16_t>(row);
    add_type<Row, int32_t>(row);
    add_type<Row, int64_t>(row);
    add_type<Row, uint8_t>(row);
    add_type<Row, uint16_t>(row);
    add_type<Row, uint32_t>(row);
    add_type<Row, uint64_t>(row);
  }
  if constexpr (kTakes == Takes::kAny || kTakes == Takes::kIntegerOrBool) add_type<Row, bool>(row);
  rows.push_back(row);
}

template <class... Rows>
std::vector<cpu::TileRow> tile_rows(RowList<Rows...>) {
  std::vector<cpu::TileRow> rows;
  (add_row<Rows>(rows), ...);
  return rows;
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SORUS_KERNELS_CPU_ELEMENTWISE_TILE_LOOPS_H_
