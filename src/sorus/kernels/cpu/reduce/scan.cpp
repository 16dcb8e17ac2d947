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

// cumsum and cumprod. Every line is added up in order, as the reference does; what is gained is that lines go
// side by side: those that are neighbours in memory in vectors, or some rows at a time, whose sums do not
// wait for each other.

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

template <class Op>
void by_dtype(const KernelCall& call) {
  switch (call.in[0].dtype) {
    case DType::kFloat32:
      return run<Op, float>(call);
    case DType::kFloat16:
      return run<Op, Float16>(call);
    case DType::kBFloat16:
      return run<Op, BFloat16>(call);
    case DType::kFloat64:
      return run<Op, double>(call);
    case DType::kInt32:
      return run<Op, int32_t>(call);
    default:
      return run<Op, int64_t>(call);
  }
}

}  // namespace scan_loops

void cumsum(const KernelCall& call) { scan_loops::by_dtype<scan_loops::Plus>(call); }
void cumprod(const KernelCall& call) { scan_loops::by_dtype<scan_loops::Times>(call); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(cumsum);
HWY_EXPORT(cumprod);

Refusal takes_frequent_types(const KernelCall& call) {
  const DType t = call.in[0].dtype;
  const bool takes = is_floating(t) || t == DType::kInt32 || t == DType::kInt64;
  if (!takes) return "takes floating types, int32 and int64";
  return call.in[0].numel() == 0 ? "the operand is empty" : kAccepted;
}

const SimdRegistrar registered[] = {
    {"cumsum",
     {.name = "simd", .supports = takes_frequent_types, .run = run_best<HWY_DISPATCH_TABLE(cumsum)>}},
    {"cumprod",
     {.name = "simd", .supports = takes_frequent_types, .run = run_best<HWY_DISPATCH_TABLE(cumprod)>}}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
