#include <algorithm>
#include <type_traits>

#include "sorus/kernels/cpu/reduce/axis_lines.h"
#include "sorus/kernels/cpu/reduce/half_lines.h"
#include "sorus/ops/reduce/attributes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/reduce/scan.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
//
#include "sorus/kernels/cpu/simd/dispatch.h"

// cumsum, cumprod, cummax and cummin. Every line is added up in order, as the reference does; what is gained
// is that lines go side by side: those that are neighbours in memory in vectors, or some rows at a time,
// whose sums do not wait for each other.

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace scan_loops {

struct Plus {
  template <class T>
  static T join(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
  static constexpr int kStart = 0;
};
struct Times {
  template <class T>
  static T join(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) *
                            static_cast<std::make_unsigned_t<T>>(b));
    else
      return a * b;
  }
  static constexpr int kStart = 1;
};

constexpr int64_t kRows = 8;

/// kRows rows of n elements, one after the other in memory.
template <class Op, class T>
void scan_rows(const T* x, T* y, int64_t n, const ScanAttrs& a) {
  T running[kRows];
  for (T& r : running) r = static_cast<T>(Op::kStart);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t at = a.reverse ? n - 1 - k : k;
    for (int64_t r = 0; r < kRows; ++r) {
      const T before = running[r], v = x[r * n + at];
      // The first element is taken as it is: 0 + -0 would lose its sign.
      running[r] = k == 0 ? v : Op::join(before, v);
      y[r * n + at] = a.exclusive ? before : running[r];
    }
  }
}

/// `count` lines side by side, whose elements are `step` apart.
template <class Op, class T>
void scan_lines(const T* x, T* y, int64_t n, int64_t step, int64_t count, const ScanAttrs& a) {
  using V = cpu::Wide<T>;
  constexpr int64_t kMost = cpu::AxisLines::kSideBySide;
  V running[kMost], wide[kMost], result[kMost];
  for (int64_t k = 0; k < n; ++k) {
    const int64_t at = (a.reverse ? n - 1 - k : k) * step;
    const V* from = cpu::widened(x + at, count, wide);
    V* to = result;
    if constexpr (!cpu::kHalf<T>) to = y + at;
    if (k == 0) {
      for (int64_t j = 0; j < count; ++j) {
        running[j] = from[j];
        to[j] = a.exclusive ? static_cast<V>(Op::kStart) : from[j];
      }
    } else if (a.exclusive) {
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) {
        const V v = from[j];
        to[j] = running[j];
        running[j] = Op::join(running[j], v);
      }
    } else {
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) to[j] = running[j] = Op::join(running[j], from[j]);
    }
    if constexpr (cpu::kHalf<T>) cpu::narrow(result, y + at, count);
  }
}

/// `rows` rows of n elements, one after the other in memory.
template <class Op, class V>
void scan_piece(const V* x, V* y, int64_t n, int64_t rows, const ScanAttrs& a) {
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows) scan_rows<Op>(x + r * n, y + r * n, n, a);
  for (; r < rows; ++r) scan_lines<Op>(x + r * n, y + r * n, n, 1, 1, a);
}

/// 16-bit floats add up in float32; only results are rounded.
template <class Op, class T>
void run(const KernelCall& call) {
  const auto& a = call.attrs<ScanAttrs>();
  const cpu::AxisLines lines(call, a.axis);
  const T* x = call.in[0].as<const T>();
  T* y = call.out[0].as<T>();
  if (lines.inner > 1)
    return lines.for_groups([&](int64_t offset, int64_t, int64_t count) {
      scan_lines<Op>(x + offset, y + offset, lines.extent, lines.inner, count, a);
    });
  lines.for_rows(kRows, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * lines.extent, rows = end - begin, n = rows * lines.extent;
    if constexpr (cpu::kHalf<T>) {
      const auto room = cpu::room_for<T>(2 * n);
      scan_piece<Op>(cpu::widened(x + at, n, room.get()), room.get() + n, lines.extent, rows, a);
      cpu::narrow(room.get() + n, y + at, n);
    } else {
      scan_piece<Op>(x + at, y + at, lines.extent, rows, a);
    }
  });
}

/// The best element so far of each of some lines, and its place. A later one takes its place when it is at
/// least as good, or NaN; a NaN stays.
template <bool kGreatest, class V>
HWY_INLINE bool takes_place(V next, V best) {
  return (next != next) | (kGreatest ? next >= best : next <= best);
}

template <bool kGreatest, class V>
void extreme_rows(const V* x, V* y, int64_t* index, int64_t n) {
  V best[kRows];
  int64_t place[kRows] = {};
  for (int64_t r = 0; r < kRows; ++r) best[r] = x[r * n];
  for (int64_t k = 0; k < n; ++k)
    for (int64_t r = 0; r < kRows; ++r) {
      const V v = x[r * n + k];
      const bool takes = takes_place<kGreatest>(v, best[r]);
      best[r] = takes ? v : best[r];
      place[r] = takes ? k : place[r];
      y[r * n + k] = best[r];
      index[r * n + k] = place[r];
    }
}

/// `count` lines side by side, whose elements are `step` apart.
template <bool kGreatest, class T>
void extreme_lines(const T* x, T* y, int64_t* index, int64_t n, int64_t step, int64_t count) {
  using V = cpu::Wide<T>;
  constexpr int64_t kMost = cpu::AxisLines::kSideBySide;
  V best[kMost], wide[kMost];
  int64_t place[kMost];
  for (int64_t k = 0; k < n; ++k) {
    const V* from = cpu::widened(x + k * step, count, wide);
    if (k == 0) std::copy(from, from + count, best), std::fill(place, place + count, 0);
#pragma GCC ivdep
    for (int64_t j = 0; j < count; ++j) {
      const V v = from[j];
      const bool takes = takes_place<kGreatest>(v, best[j]);
      best[j] = takes ? v : best[j];
      place[j] = takes ? k : place[j];
    }
    if constexpr (cpu::kHalf<T>)
      cpu::narrow(best, y + k * step, count);
    else
      std::copy(best, best + count, y + k * step);
    std::copy(place, place + count, index + k * step);
  }
}

/// `rows` rows of n elements, one after the other in memory.
template <bool kGreatest, class V>
void extreme_piece(const V* x, V* y, int64_t* index, int64_t n, int64_t rows) {
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows) extreme_rows<kGreatest>(x + r * n, y + r * n, index + r * n, n);
  for (; r < rows; ++r) extreme_lines<kGreatest>(x + r * n, y + r * n, index + r * n, n, 1, 1);
}

template <bool kGreatest, class T>
void run_extreme(const KernelCall& call) {
  const cpu::AxisLines lines(call, call.attrs<CumulativeAttrs>().axis);
  const T* x = call.in[0].as<const T>();
  T* y = call.out[0].as<T>();
  auto* index = call.out[1].as<int64_t>();
  if (lines.inner > 1)
    return lines.for_groups([&](int64_t offset, int64_t, int64_t count) {
      extreme_lines<kGreatest>(x + offset, y + offset, index + offset, lines.extent, lines.inner, count);
    });
  lines.for_rows(kRows, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * lines.extent, rows = end - begin, n = rows * lines.extent;
    if constexpr (cpu::kHalf<T>) {
      const auto room = cpu::room_for<T>(2 * n);
      extreme_piece<kGreatest>(cpu::widened(x + at, n, room.get()), room.get() + n, index + at, lines.extent,
                               rows);
      cpu::narrow(room.get() + n, y + at, n);
    } else {
      extreme_piece<kGreatest>(x + at, y + at, index + at, lines.extent, rows);
    }
  });
}

/// Calls f(type) for the types that these kernels take.
template <class F>
void by_dtype(const KernelCall& call, F f) {
  switch (call.in[0].dtype) {
    case DType::kFloat32:
      return f(std::type_identity<float>());
    case DType::kFloat16:
      return f(std::type_identity<Float16>());
    case DType::kBFloat16:
      return f(std::type_identity<BFloat16>());
    case DType::kFloat64:
      return f(std::type_identity<double>());
    case DType::kInt32:
      return f(std::type_identity<int32_t>());
    default:
      return f(std::type_identity<int64_t>());
  }
}
template <class Op>
void scan(const KernelCall& call) {
  by_dtype(call, [&]<class T>(std::type_identity<T>) { run<Op, T>(call); });
}
template <bool kGreatest>
void extreme(const KernelCall& call) {
  by_dtype(call, [&]<class T>(std::type_identity<T>) { run_extreme<kGreatest, T>(call); });
}

}  // namespace scan_loops

void cumsum(const KernelCall& call) { scan_loops::scan<scan_loops::Plus>(call); }
void cumprod(const KernelCall& call) { scan_loops::scan<scan_loops::Times>(call); }
void cummax(const KernelCall& call) { scan_loops::extreme<true>(call); }
void cummin(const KernelCall& call) { scan_loops::extreme<false>(call); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(cumsum);
HWY_EXPORT(cumprod);
HWY_EXPORT(cummax);
HWY_EXPORT(cummin);

Refusal takes_frequent_types(const KernelCall& call) {
  const DType t = call.in[0].dtype;
  const bool takes = is_floating(t) || t == DType::kInt32 || t == DType::kInt64;
  if (!takes) return "takes floating types, int32 and int64";
  return call.in[0].numel() == 0 ? "the operand is empty" : kAccepted;
}

Kernel scan_kernel(void (*run)(const KernelCall&)) {
  return {.name = "simd", .supports = takes_frequent_types, .run = run};
}
const SimdRegistrar registered[] = {{"cumsum", scan_kernel(run_best<HWY_DISPATCH_TABLE(cumsum)>)},
                                    {"cumprod", scan_kernel(run_best<HWY_DISPATCH_TABLE(cumprod)>)},
                                    {"cummax", scan_kernel(run_best<HWY_DISPATCH_TABLE(cummax)>)},
                                    {"cummin", scan_kernel(run_best<HWY_DISPATCH_TABLE(cummin)>)}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
