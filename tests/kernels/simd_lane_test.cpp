// Every word of the vocabulary and every scalar function gives on the SIMD lanes of every target the bits
// that it gives on ScalarLane.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/simd_lane_test.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/kernels/cpu/simd/functions.h"

#ifndef SORUS_TESTS_KERNELS_SIMD_LANE_ENTRY
#define SORUS_TESTS_KERNELS_SIMD_LANE_ENTRY
namespace sorus::simd {
/// to[i] = function(a[i]) or function(a[i], b[i]).
template <class T>
struct Entry {
  const char* name;
  void (*run)(const T* a, const T* b, T* to, std::size_t count);
};
}  // namespace sorus::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {

template <class V, V (*kFunction)(V)>
void map1(const typename V::Scalar* a, const typename V::Scalar*, typename V::Scalar* to, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes<V> <= count; i += kLanes<V>) store(kFunction(load<V>(a + i)), to + i);
  if (i < count) store_some(kFunction(load_some<V>(a + i, count - i)), to + i, count - i);
}

template <class V, V (*kFunction)(V, V)>
void map2(const typename V::Scalar* a, const typename V::Scalar* b, typename V::Scalar* to,
          std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes<V> <= count; i += kLanes<V>) store(kFunction(load<V>(a + i), load<V>(b + i)), to + i);
  if (i < count) {
    const std::size_t rest = count - i;
    store_some(kFunction(load_some<V>(a + i, rest), load_some<V>(b + i, rest)), to + i, rest);
  }
}

using sorus::math::Lane;
#include "tests/kernels/lane_words.inc"

template <class T>
const std::vector<Entry<T>>& entries() {
  using V = SimdLane<T>;
  static const std::vector<Entry<T>> all = {
#include "tests/kernels/simd_functions.inc"
  };
  return all;
}

const std::vector<Entry<float>>& entries_float() { return entries<float>(); }
const std::vector<Entry<double>>& entries_double() { return entries<double>(); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace sorus::simd {
namespace {

HWY_EXPORT(entries_float);
HWY_EXPORT(entries_double);

template <class T>
const std::vector<Entry<T>>& entries_of_target() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(entries_float)();
  } else {
    return HWY_DYNAMIC_DISPATCH(entries_double)();
  }
}

namespace reference {

template <class V, V (*kFunction)(V)>
void map1(const typename V::Scalar* a, const typename V::Scalar*, typename V::Scalar* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = kFunction({a[i]}).v;
}

template <class V, V (*kFunction)(V, V)>
void map2(const typename V::Scalar* a, const typename V::Scalar* b, typename V::Scalar* to,
          std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = kFunction({a[i]}, {b[i]}).v;
}

using sorus::math::Lane;
namespace math = sorus::math;
#include "tests/kernels/lane_words.inc"

template <class T>
std::vector<Entry<T>> entries() {
  using V = math::ScalarLane<T>;
  return {
#include "tests/kernels/simd_functions.inc"
  };
}

}  // namespace reference

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Evenly over all representations, then over common values; an odd count, so that the last vector is
/// partial.
template <class T>
std::vector<T> sweep() {
  std::vector<T> x;
  const Bits<T> step = (~Bits<T>{0} / 60'000) | 1;
  for (std::uint64_t i = 0; i < 60'001; ++i) x.push_back(std::bit_cast<T>(Bits<T>(i * step)));
  for (double limit : {1.0, 20.0, 800.0}) {
    for (int i = 0; i <= 4000; ++i) x.push_back(T(limit * (i / 2000.0 - 1)));
  }
  for (T v :
       {T(0), T(INFINITY), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(), T(NAN)}) {
    x.push_back(v);
    x.push_back(-v);
  }
  return x;
}

template <class T>
void expect_equal_bits() {
  const std::vector<T> a = sweep<T>();
  std::vector<T> b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) b[i] = a[(i * 7919 + 13) % a.size()];
  std::vector<T> want(a.size());
  constexpr T kUntouched = T(1234.5);
  std::vector<T> got(a.size() + 64,
                     kUntouched);  // the rest shows that a partial vector writes nothing beyond
  const auto reference = reference::entries<T>();
  for (std::size_t k = 0; k < reference.size(); ++k) {
    reference[k].run(a.data(), b.data(), want.data(), a.size());
    for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(target);
      entries_of_target<T>()[k].run(a.data(), b.data(), got.data(), a.size());
      std::size_t wrong = 0;
      std::size_t first = 0;
      for (std::size_t i = a.size(); i-- > 0;) {
        // Of two NaNs an instruction passes on its first operand, and compilers choose which one that is.
        if (std::isnan(got[i]) && std::isnan(want[i])) continue;
        if (std::bit_cast<Bits<T>>(got[i]) != std::bit_cast<Bits<T>>(want[i])) {
          ++wrong;
          first = i;
        }
      }
      EXPECT_EQ(wrong, 0u) << reference[k].name << " on " << hwy::TargetName(target) << ": first at "
                           << a[first] << ", " << b[first] << ": " << got[first] << ", want " << want[first];
    }
  }
  for (std::size_t i = a.size(); i < got.size(); ++i) EXPECT_EQ(got[i], kUntouched);
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(SimdLane, float32_has_the_bits_of_the_reference) { expect_equal_bits<float>(); }
TEST(SimdLane, float64_has_the_bits_of_the_reference) { expect_equal_bits<double>(); }

}  // namespace
}  // namespace sorus::simd

#endif  // HWY_ONCE
