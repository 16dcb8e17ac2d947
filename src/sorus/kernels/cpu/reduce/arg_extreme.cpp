#include <limits>
#include <type_traits>

#include "sorus/kernels/cpu/reduce/axis_lines.h"
#include "sorus/kernels/cpu/reduce/half_lines.h"
#include "sorus/ops/reduce/attributes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/reduce/arg_extreme.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
//
#include "sorus/kernels/cpu/simd/dispatch.h"

// argmax and argmin. Along rows, the extreme value is found first and its first place after, block by block,
// so that the second search looks at one block; along another axis, many lines side by side. Plain loops,
// which the compiler vectorizes for each target; the results are those of the reference, the first of equals
// and the first NaN.

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace extreme_loops {

template <class T>
bool is_number(T v) {
  if constexpr (std::is_floating_point_v<T>)
    return v == v;
  else
    return true;
}

template <bool kGreatest, class T>
constexpr T worst() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return kGreatest ? -Limits::infinity() : Limits::infinity();
  else
    return kGreatest ? Limits::lowest() : Limits::max();
}

constexpr int64_t kLanesAtOnce = 64;
constexpr int64_t kBlockElements = 2048;

/// The extreme of n elements, a multiple of kLanesAtOnce; `nan` is set where a NaN was met.
template <bool kGreatest, class T>
T extreme_of(const T* x, int64_t n, bool& nan) {
  T best[kLanesAtOnce];
  uint8_t odd[kLanesAtOnce] = {};
  for (T& b : best) b = worst<kGreatest, T>();
  for (int64_t i = 0; i < n; i += kLanesAtOnce) {
    for (int64_t j = 0; j < kLanesAtOnce; ++j) {
      const T v = x[i + j];
      best[j] = (kGreatest ? v > best[j] : v < best[j]) ? v : best[j];
    }
    if constexpr (std::is_floating_point_v<T>)
      for (int64_t j = 0; j < kLanesAtOnce; ++j) odd[j] |= static_cast<uint8_t>(x[i + j] != x[i + j]);
  }
  T all = worst<kGreatest, T>();
  for (int64_t j = 0; j < kLanesAtOnce; ++j) {
    all = (kGreatest ? best[j] > all : best[j] < all) ? best[j] : all;
    nan |= odd[j] != 0;
  }
  return all;
}

/// Index of the first extreme, or of the first NaN, of a row.
template <bool kGreatest, class T>
int64_t arg_of_row(const T* x, int64_t n) {
  T best = x[0];
  int64_t index = 0;
  if (!is_number(best)) return 0;
  for (int64_t at = 0; at < n; at += kBlockElements) {
    const int64_t count = std::min(kBlockElements, n - at);
    const int64_t whole = count / kLanesAtOnce * kLanesAtOnce;
    bool nan = false;
    T value = extreme_of<kGreatest>(x + at, whole, nan);
    for (int64_t i = whole; i < count; ++i) {
      const T v = x[at + i];
      nan |= !is_number(v);
      value = (kGreatest ? v > value : v < value) ? v : value;
    }
    if (nan) {
      int64_t i = at;
      while (is_number(x[i])) ++i;
      return i;
    }
    if (kGreatest ? value > best : value < best) {
      best = value;
      index = at;  // of the block; its place in it follows below
    }
  }
  while (!(x[index] == best)) ++index;
  return index;
}

/// The same for `count` lines side by side, whose elements are `step` apart.
template <bool kGreatest, class T>
void arg_of_lines(const T* x, int64_t extent, int64_t step, int64_t count, int64_t* out) {
  using V = cpu::Wide<T>;
  constexpr int64_t kMost = cpu::AxisLines::kSideBySide;
  V best[kMost], wide[kMost];
  int64_t index[kMost] = {};
  const V* first = cpu::widened(x, count, wide);
  for (int64_t j = 0; j < count; ++j) best[j] = first[j];
  for (int64_t k = 1; k < extent; ++k) {
    const V* row = cpu::widened(x + k * step, count, wide);
#pragma GCC ivdep
    for (int64_t j = 0; j < count; ++j) {
      const V v = row[j], b = best[j];
      const bool better = (kGreatest ? v > b : v < b) | (!is_number(v) & is_number(b));
      best[j] = better ? v : b;
      index[j] = better ? k : index[j];
    }
  }
  for (int64_t j = 0; j < count; ++j) out[j] = index[j];
}

template <bool kGreatest, class T>
void run(const KernelCall& call) {
  const cpu::AxisLines lines(call, call.attrs<ArgAttrs>().axis);
  const T* x = call.in[0].as<const T>();
  auto* out = call.out[0].as<int64_t>();
  if (lines.inner == 1)
    lines.for_rows(1, [&](int64_t begin, int64_t end) {
      const auto room = cpu::room_for<T>(lines.extent);
      for (int64_t r = begin; r < end; ++r)
        out[r] =
            arg_of_row<kGreatest>(cpu::widened(x + r * lines.extent, lines.extent, room.get()), lines.extent);
    });
  else
    lines.for_groups([&](int64_t offset, int64_t line, int64_t count) {
      arg_of_lines<kGreatest>(x + offset, lines.extent, lines.inner, count, out + line);
    });
}

template <bool kGreatest>
void by_dtype(const KernelCall& call) {
  switch (call.in[0].dtype) {
    case DType::kFloat32:
      return run<kGreatest, float>(call);
    case DType::kFloat16:
      return run<kGreatest, Float16>(call);
    case DType::kBFloat16:
      return run<kGreatest, BFloat16>(call);
    case DType::kFloat64:
      return run<kGreatest, double>(call);
    case DType::kInt32:
      return run<kGreatest, int32_t>(call);
    case DType::kInt64:
      return run<kGreatest, int64_t>(call);
    default:
      return run<kGreatest, uint8_t>(call);
  }
}

}  // namespace extreme_loops

void argmax(const KernelCall& call) { extreme_loops::by_dtype<true>(call); }
void argmin(const KernelCall& call) { extreme_loops::by_dtype<false>(call); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(argmax);
HWY_EXPORT(argmin);

Refusal takes_frequent_types(const KernelCall& call) {
  const DType t = call.in[0].dtype;
  const bool takes = is_floating(t) || t == DType::kInt32 || t == DType::kInt64 || t == DType::kUInt8;
  if (!takes) return "takes floating types, int32, int64 and uint8";
  return call.in[0].numel() == 0 ? "the operand is empty" : kAccepted;
}

const SimdRegistrar registered[] = {
    {"argmax",
     {.name = "simd", .supports = takes_frequent_types, .run = run_best<HWY_DISPATCH_TABLE(argmax)>}},
    {"argmin",
     {.name = "simd", .supports = takes_frequent_types, .run = run_best<HWY_DISPATCH_TABLE(argmin)>}}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
