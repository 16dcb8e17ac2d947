#include "sorus/kernels/cpu/linalg/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/linalg/panels.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;

template <class V>
HWY_INLINE V multiply_add(V a, V b, V sum) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>())
    return hn::MulAdd(a, b, sum);
  else
    return hn::Add(sum, hn::Mul(a, b));
}

/// One tile: its rows stay in registers over the whole depth.
template <class T>
HWY_INLINE void multiply_tile(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* HWY_RESTRICT sums,
                              int64_t depth, bool first) {
  const Tag<T> tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  const int64_t width = 2 * lanes;
  auto row = [&](int64_t i, int64_t half)
                 HWY_ATTR { return first ? hn::Zero(tag) : hn::LoadU(tag, sums + i * width + half * lanes); };
  auto s00 = row(0, 0), s01 = row(0, 1), s10 = row(1, 0), s11 = row(1, 1);
  auto s20 = row(2, 0), s21 = row(2, 1), s30 = row(3, 0), s31 = row(3, 1);
  auto s40 = row(4, 0), s41 = row(4, 1), s50 = row(5, 0), s51 = row(5, 1);
  for (int64_t p = 0; p < depth; ++p, a += kTileRows, b += width) {
    const auto b0 = hn::LoadU(tag, b);
    const auto b1 = hn::LoadU(tag, b + lanes);
    auto step = [&](int64_t i, auto& left, auto& right) HWY_ATTR {
      const auto x = hn::Set(tag, a[i]);
      left = multiply_add(x, b0, left);
      right = multiply_add(x, b1, right);
    };
    step(0, s00, s01);
    step(1, s10, s11);
    step(2, s20, s21);
    step(3, s30, s31);
    step(4, s40, s41);
    step(5, s50, s51);
  }
  auto put = [&](int64_t i, auto left, auto right) HWY_ATTR {
    hn::StoreU(left, tag, sums + i * width);
    hn::StoreU(right, tag, sums + i * width + lanes);
  };
  put(0, s00, s01);
  put(1, s10, s11);
  put(2, s20, s21);
  put(3, s30, s31);
  put(4, s40, s41);
  put(5, s50, s51);
}

template <class T>
HWY_INLINE void multiply_panels(const T* a, const T* b, T* sums, int64_t depth, int64_t row_panels,
                                int64_t column_panels, bool first) {
  const int64_t width = 2 * static_cast<int64_t>(hn::Lanes(Tag<T>()));
  for (int64_t i = 0; i < row_panels; ++i)
    for (int64_t j = 0; j < column_panels; ++j)
      multiply_tile(a + i * depth * kTileRows, b + j * depth * width,
                    sums + (i * column_panels + j) * kTileRows * width, depth, first);
}

int64_t width_of_double() { return 2 * static_cast<int64_t>(hn::Lanes(Tag<double>())); }
int64_t width_of_uint32() { return 2 * static_cast<int64_t>(hn::Lanes(Tag<uint32_t>())); }
int64_t width_of_uint64() { return 2 * static_cast<int64_t>(hn::Lanes(Tag<uint64_t>())); }

void multiply_double(const double* a, const double* b, double* sums, int64_t depth, int64_t m, int64_t n,
                     bool first) {
  multiply_panels(a, b, sums, depth, m, n, first);
}
void multiply_uint32(const uint32_t* a, const uint32_t* b, uint32_t* sums, int64_t depth, int64_t m,
                     int64_t n, bool first) {
  multiply_panels(a, b, sums, depth, m, n, first);
}
void multiply_uint64(const uint64_t* a, const uint64_t* b, uint64_t* sums, int64_t depth, int64_t m,
                     int64_t n, bool first) {
  multiply_panels(a, b, sums, depth, m, n, first);
}

}  // namespace sorus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus {

HWY_EXPORT(width_of_double);
HWY_EXPORT(width_of_uint32);
HWY_EXPORT(width_of_uint64);
HWY_EXPORT(multiply_double);
HWY_EXPORT(multiply_uint32);
HWY_EXPORT(multiply_uint64);

template <>
int64_t Panels<double>::width() {
  return HWY_DYNAMIC_DISPATCH(width_of_double)();
}
template <>
int64_t Panels<uint32_t>::width() {
  return HWY_DYNAMIC_DISPATCH(width_of_uint32)();
}
template <>
int64_t Panels<uint64_t>::width() {
  return HWY_DYNAMIC_DISPATCH(width_of_uint64)();
}
template <>
void Panels<double>::multiply(const double* a, const double* b, double* sums, int64_t depth,
                              int64_t row_panels, int64_t column_panels, bool first) {
  HWY_DYNAMIC_DISPATCH(multiply_double)(a, b, sums, depth, row_panels, column_panels, first);
}
template <>
void Panels<uint32_t>::multiply(const uint32_t* a, const uint32_t* b, uint32_t* sums, int64_t depth,
                                int64_t row_panels, int64_t column_panels, bool first) {
  HWY_DYNAMIC_DISPATCH(multiply_uint32)(a, b, sums, depth, row_panels, column_panels, first);
}
template <>
void Panels<uint64_t>::multiply(const uint64_t* a, const uint64_t* b, uint64_t* sums, int64_t depth,
                                int64_t row_panels, int64_t column_panels, bool first) {
  HWY_DYNAMIC_DISPATCH(multiply_uint64)(a, b, sums, depth, row_panels, column_panels, first);
}

}  // namespace sorus
#endif
