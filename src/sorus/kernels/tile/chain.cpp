#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/tile/chain.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <algorithm>
#include <array>
#include <utility>

#include "sorus/kernels/cpu/simd/functions.h"
#include "sorus/kernels/tile/chain.h"
#include "sorus/math/rows.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace chain_rows {

using sorus::math::ExactRow;
using sorus::math::FloatingRow;
using sorus::math::RowList;
using sorus::math::RowTraits;
using sorus::math::Takes;
using tile::ChainCode;
using tile::ChainSide;
using tile::ChainSpread;
using tile::ChainStep;

#include "sorus/math/rows/activation.inc"
#include "sorus/math/rows/arithmetic.inc"
#include "sorus/math/rows/error_function.inc"
#include "sorus/math/rows/exponential.inc"
#include "sorus/math/rows/floating.inc"

/// As BFloat16 rounds: to nearest, ties to even; NaN stays NaN, and becomes quiet.
struct RoundBFloat16 {
  template <class V>
  V operator()(V x) const {
    using Int = typename V::Int;
    const Int b = bits(x), kept = Int::of(static_cast<int32_t>(0xffff0000));
    const Int rounded = (b + Int::of(0x7fff) + (shr<16>(b) & Int::of(1))) & kept;
    return V::from_bits(select(x == x, rounded, (b & kept) | Int::of(0x400000)));
  }
};
struct RoundFloat16 {
  template <class V>
  V operator()(V x) const {
#if HWY_TARGET == HWY_SCALAR
    return {static_cast<float>(Float16(x.v))};
#else
    const hn::Rebind<hwy::float16_t, typename V::Tag> half;
    return {hn::PromoteTo(typename V::Tag(), hn::DemoteTo(half, x.v))};
#endif
  }
};

using V = SimdLane<float>;
constexpr auto kWidth = static_cast<int64_t>(kLanes<V>);
/// Vectors that are under way at once: in registers throughout, which takes indices that are constants.
constexpr int kVectors = kWidth >= 16 ? 8 : 4;
constexpr int64_t kBlock = kVectors * kWidth;
static_assert(tile::kChainBlock % kBlock == 0);
static_assert(tile::kChainColumns % kWidth == 0);
using Each = std::make_index_sequence<kVectors>;

/// A block of elements side by side.
struct Flat {
  int64_t at;
  HWY_INLINE V get(const float* from, std::size_t k) const {
    return load<V>(from + at + static_cast<int64_t>(k) * kWidth);
  }
  HWY_INLINE void put(V x, float* to, std::size_t k) const {
    store(x, to + at + static_cast<int64_t>(k) * kWidth);
  }
  /// f(a function that gives vector k of the other operand of a step)
  template <class F>
  HWY_INLINE void with_other(const ChainStep& s, F f) const {
    f([&](std::size_t k) HWY_ATTR { return get(s.operand, k); });
  }
};

/// A block of one vector of columns in several rows, of which the last may stand there again and again: all
/// are read before any is written.
struct Rows {
  int64_t column;
  int64_t at[kVectors];
  HWY_INLINE V get(const float* from, std::size_t k) const { return load<V>(from + at[k]); }
  HWY_INLINE void put(V x, float* to, std::size_t k) const { store(x, to + at[k]); }
  template <class F>
  HWY_INLINE void with_other(const ChainStep& s, F f) const {
    if (s.spread == ChainSpread::kEach) return f([&](std::size_t k) HWY_ATTR { return get(s.operand, k); });
    const V same = s.spread == ChainSpread::kColumn ? load<V>(s.operand + column) : V::of(*s.operand);
    f([&](std::size_t) HWY_ATTR { return same; });
  }
};

template <class Where, std::size_t... k>
HWY_INLINE void load_block(V (&a)[kVectors], const float* from, const Where& where,
                           std::index_sequence<k...>) {
  ((a[k] = where.get(from, k)), ...);
}
template <class Where, std::size_t... k>
HWY_INLINE void store_block(const V (&a)[kVectors], float* to, const Where& where,
                            std::index_sequence<k...>) {
  (where.put(a[k], to, k), ...);
}
template <class Row, std::size_t... k>
HWY_INLINE void one_each(V (&a)[kVectors], std::index_sequence<k...>) {
  ((a[k] = Row{}(a[k])), ...);
}
template <class Row, class Other, std::size_t... k>
HWY_INLINE void two_each(V (&a)[kVectors], ChainSide side, const Other& other, std::index_sequence<k...>) {
  if (side == ChainSide::kFirst)
    ((a[k] = Row{}(a[k], other(k))), ...);
  else
    ((a[k] = Row{}(other(k), a[k])), ...);
}
template <class Row, std::size_t... k>
HWY_INLINE void both_each(V (&a)[kVectors], std::index_sequence<k...>) {
  ((a[k] = Row{}(a[k], a[k])), ...);
}
template <class Row>
HWY_INLINE void one(V (&a)[kVectors]) {
  one_each<Row>(a, Each{});
}
template <class Row, class Where>
HWY_INLINE void two(V (&a)[kVectors], const ChainStep& s, const Where& where) {
  if (s.side == ChainSide::kBoth) return both_each<Row>(a, Each{});
  where.with_other(s, [&](const auto& other) HWY_ATTR { two_each<Row>(a, s.side, other, Each{}); });
}

template <class Where>
HWY_INLINE void step(V (&a)[kVectors], const ChainStep& s, const Where& where) {
  switch (s.code) {
    case ChainCode::kNone:
      return;
    case ChainCode::kAdd:
      return two<Add>(a, s, where);
    case ChainCode::kSub:
      return two<Sub>(a, s, where);
    case ChainCode::kMul:
      return two<Mul>(a, s, where);
    case ChainCode::kDiv:
      return two<Div>(a, s, where);
    case ChainCode::kMaximum:
      return two<Maximum>(a, s, where);
    case ChainCode::kMinimum:
      return two<Minimum>(a, s, where);
    case ChainCode::kReluBackward:
      return two<ReluBackward>(a, s, where);
    case ChainCode::kRelu:
      return one<Relu>(a);
    case ChainCode::kRelu6:
      return one<Relu6>(a);
    case ChainCode::kNeg:
      return one<Neg>(a);
    case ChainCode::kAbs:
      return one<Abs>(a);
    case ChainCode::kSquare:
      return one<Square>(a);
    case ChainCode::kSqrt:
      return one<Sqrt>(a);
    case ChainCode::kReciprocal:
      return one<Reciprocal>(a);
    case ChainCode::kExp:
      return one<Exp>(a);
    case ChainCode::kTanh:
      return one<Tanh>(a);
    case ChainCode::kSigmoid:
      return one<Sigmoid>(a);
    case ChainCode::kSilu:
      return one<Silu>(a);
    case ChainCode::kGelu:
      return one<Gelu>(a);
    case ChainCode::kGeluTanh:
      return one<GeluTanh>(a);
    case ChainCode::kHardsigmoid:
      return one<Hardsigmoid>(a);
    case ChainCode::kHardswish:
      return one<Hardswish>(a);
    case ChainCode::kRoundFloat16:
      return one<RoundFloat16>(a);
    case ChainCode::kRoundBFloat16:
      return one<RoundBFloat16>(a);
  }
}

template <class Where>
HWY_INLINE void run_block(const ChainStep* steps, int count, const float* first, float* out,
                          const Where& where) {
  V a[kVectors];
  load_block(a, first, where, Each{});
  for (int s = 0; s < count; ++s) {
    step(a, steps[s], where);
    if (float* to = steps[s].store) store_block(a, to, where, Each{});
  }
  store_block(a, out, where, Each{});
}

}  // namespace chain_rows

/// The whole blocks; gives the number of elements done.
[[gnu::flatten]] int64_t chain_blocks(const tile::ChainStep* steps, int count, const float* first, float* out,
                                      int64_t n) {
  using namespace chain_rows;  // NOLINT: the vectors above
  int64_t at = 0;
  for (; at + kBlock <= n; at += kBlock) run_block(steps, count, first, out, Flat{at});
  return at;
}

/// Columns are whole vectors.
[[gnu::flatten]] void chain_columns(const tile::ChainStep* steps, int count, const float* first, float* out,
                                    int64_t rows, int64_t columns) {
  using namespace chain_rows;  // NOLINT: the vectors above
  Rows where{};
  for (int64_t row = 0; row < rows; row += kVectors)
    for (where.column = 0; where.column < columns; where.column += kWidth) {
      for (int64_t k = 0; k < kVectors; ++k)
        where.at[k] = std::min(row + k, rows - 1) * columns + where.column;
      run_block(steps, count, first, out, where);
    }
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(chain_blocks);
HWY_EXPORT(chain_columns);
namespace {
constexpr auto run_blocks = [](auto... x) { return HWY_DYNAMIC_DISPATCH(chain_blocks)(x...); };
constexpr auto run_columns = [](auto... x) { return HWY_DYNAMIC_DISPATCH(chain_columns)(x...); };
}  // namespace
}  // namespace sorus::simd

namespace sorus::tile {

ChainCode chain_code(std::string_view op) {
  static constexpr std::pair<std::string_view, ChainCode> kCodes[] = {
      {"add", ChainCode::kAdd},
      {"sub", ChainCode::kSub},
      {"mul", ChainCode::kMul},
      {"div", ChainCode::kDiv},
      {"maximum", ChainCode::kMaximum},
      {"minimum", ChainCode::kMinimum},
      {"relu", ChainCode::kRelu},
      {"neg", ChainCode::kNeg},
      {"relu6", ChainCode::kRelu6},
      {"relu_backward", ChainCode::kReluBackward},
      {"abs", ChainCode::kAbs},
      {"square", ChainCode::kSquare},
      {"sqrt", ChainCode::kSqrt},
      {"reciprocal", ChainCode::kReciprocal},
      {"exp", ChainCode::kExp},
      {"tanh", ChainCode::kTanh},
      {"sigmoid", ChainCode::kSigmoid},
      {"silu", ChainCode::kSilu},
      {"gelu", ChainCode::kGelu},
      {"gelu_tanh", ChainCode::kGeluTanh},
      {"hardsigmoid", ChainCode::kHardsigmoid},
      {"hardswish", ChainCode::kHardswish}};
  for (const auto& [name, code] : kCodes)
    if (name == op) return code;
  return ChainCode::kNone;
}

bool needs_no_rounding(ChainCode code) {
  switch (code) {
    case ChainCode::kMaximum:
    case ChainCode::kMinimum:
    case ChainCode::kRelu:
    case ChainCode::kReluBackward:
    case ChainCode::kRelu6:
    case ChainCode::kNeg:
    case ChainCode::kAbs:
      return true;
    default:
      return false;
  }
}

void run_chain(const ChainStep* steps, int count, const float* first, float* out, int64_t n) {
  const int64_t done = simd::run_blocks(steps, count, first, out, n);
  if (done == n) return;
  // The rest, by the tile functions, in a buffer for the running value.
  constexpr int64_t kRest = 64;
  float value[kRest];
  for (int64_t at = done; at < n; at += kRest) {
    const int64_t rest = std::min(kRest, n - at);
    std::copy_n(first + at, rest, value);
    for (int s = 0; s < count; ++s) {
      const ChainStep& step = steps[s];
      const void* other = step.operand ? step.operand + at : value;
      const void* in[2] = {value, other};
      if (step.side == ChainSide::kSecond) std::swap(in[0], in[1]);
      step.function(value, in, rest, nullptr);
      if (step.store) std::copy_n(value, rest, step.store + at);
    }
    std::copy_n(value, rest, out + at);
  }
}

void run_chain_on_matrix(const ChainStep* steps, int count, const float* first, float* out, int64_t rows,
                         int64_t columns) {
  simd::run_columns(steps, count, first, out, rows, columns);
}

}  // namespace sorus::tile
#endif  // HWY_ONCE
