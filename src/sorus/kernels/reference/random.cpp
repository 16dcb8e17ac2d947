#include <cmath>

#include "sorus/base/thread_pool.h"
#include "sorus/core/philox.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/math/functions.h"
#include "sorus/math/scalar_lane.h"
#include "sorus/ops/random/attributes.h"

namespace sorus::reference {
namespace {

constexpr int64_t kGrain = 16384;  // numbers a piece; a multiple of the numbers a block gives

struct Key {
  uint64_t seed, offset;
};
Key key_of(const Array& a) { return {a.as<uint64_t>()[0], a.as<uint64_t>()[1]}; }

/// Four words give four numbers in the types up to float32 and two in float64.
template <class T>
constexpr int64_t kNumbersPerBlock = sizeof(T) == 8 ? 2 : 4;

uint64_t wide_bits(const std::array<uint32_t, 4>& words, int64_t lane) {
  auto at = static_cast<size_t>(lane * 2);
  return static_cast<uint64_t>(words[at]) << 32 | words[at + 1];
}

template <class T>
double unit_interval(const std::array<uint32_t, 4>& words, int64_t lane) {
  if constexpr (sizeof(T) == 8)
    return static_cast<double>(wide_bits(words, lane) >> 11) * 0x1p-53;
  else
    return static_cast<double>(words[static_cast<size_t>(lane)] >> 8) * 0x1p-24;
}

/// As unit_interval but never 0 or 1, and with all bits of the words: for the inverse of a distribution
/// function.
template <class T>
double open_interval(const std::array<uint32_t, 4>& words, int64_t lane) {
  if constexpr (sizeof(T) == 8)
    return (static_cast<double>(wide_bits(words, lane) >> 12) + 0.5) * 0x1p-52;
  else
    return (static_cast<double>(words[static_cast<size_t>(lane)]) + 0.5) * 0x1p-32;
}

template <size_t kN>
double polynomial(const double (&c)[kN], double x) {
  double sum = c[kN - 1];
  for (size_t i = kN - 1; i-- > 0;) sum = std::fma(sum, x, c[i]);
  return sum;
}

/// Inverse of the normal distribution function for 0 < p < 1; relative error about 1e-16. Wichura, AS 241
/// (PPND16).
double inverse_normal(double p) {
  constexpr double kA[] = {3.3871328727963666080,    1.3314166789178437745e+2, 1.9715909503065514427e+3,
                           1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                           3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double kB[] = {1.0,
                           4.2313330701600911252e+1,
                           6.8718700749205790830e+2,
                           5.3941960214247511077e+3,
                           2.1213794301586595867e+4,
                           3.9307895800092710610e+4,
                           2.8729085735721942674e+4,
                           5.2264952788528545610e+3};
  constexpr double kC[] = {1.42343711074968357734,    4.63033784615654529590,   5.76949722146069140550,
                           3.64784832476320460504,    1.27045825245236838258,   2.41780725177450611770e-1,
                           2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double kD[] = {1.0,
                           2.05319162663775882187,
                           1.67638483018380384940,
                           6.89767334985100004550e-1,
                           1.48103976427480074590e-1,
                           1.51986665636164571966e-2,
                           5.47593808499534494600e-4,
                           1.05075007164441684324e-9};
  constexpr double kE[] = {6.65790464350110377720,    5.46378491116411436990,    1.78482653991729133580,
                           2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double kF[] = {1.0,
                           5.99832206555887937690e-1,
                           1.36929880922735805310e-1,
                           1.48753612908506148525e-2,
                           7.86869131145613259100e-4,
                           1.84631831751005468180e-5,
                           1.42151175831644588870e-7,
                           2.04426310338993978564e-15};
  double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  double tail = q < 0 ? p : 1.0 - p;
  double r = std::sqrt(-math::log(math::ScalarLane<double>{tail}).v);
  double x = r <= 5.0 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                      : polynomial(kE, r - 5.0) / polynomial(kF, r - 5.0);
  return q < 0 ? -x : x;
}

/// Calls f(words, lane, i) for every number i of the result, in pieces that depend on the count alone.
template <class T, class F>
void for_each_number(Key key, int64_t count, F f) {
  constexpr int64_t kEach = kNumbersPerBlock<T>;
  parallel_ranges(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += kEach) {
      auto words = philox(key.seed, key.offset + static_cast<uint64_t>(i / kEach));
      for (int64_t lane = 0; lane < kEach && i + lane < end; ++lane) f(words, lane, i + lane);
    }
  });
}

template <bool kNormal>
void run_random(const KernelCall& call) {
  visit_floating(call.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    T* out = call.out[0].as<T>();
    for_each_number<T>(
        key_of(call.in[0]), call.out[0].numel(), [&](const auto& words, int64_t lane, int64_t i) {
          double u = kNormal ? inverse_normal(open_interval<T>(words, lane)) : unit_interval<T>(words, lane);
          out[i] = static_cast<T>(static_cast<ComputeType<T>>(u));
        });
  });
}

void run_dropout(const KernelCall& call) {
  double p = call.attrs<DropoutAttrs>().p;
  visit_floating(call.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    using C = ComputeType<T>;
    const T* x = call.in[0].as<T>();
    T* out = call.out[0].as<T>();
    C scale = static_cast<C>(1.0 / (1.0 - p));
    auto threshold = static_cast<uint64_t>(p * 0x1p32);
    for_each_number<float>(key_of(call.in[1]), call.out[0].numel(),
                           [&](const auto& words, int64_t lane, int64_t i) {
                             bool kept = words[static_cast<size_t>(lane)] >= threshold;
                             out[i] = kept ? static_cast<T>(static_cast<C>(x[i]) * scale) : T{};
                           });
  });
}

const KernelRegistrar registered[] = {
    {"random_uniform", Kernel{.name = "reference", .run = run_random<false>}, kReferenceRank},
    {"random_normal", Kernel{.name = "reference", .run = run_random<true>}, kReferenceRank},
    {"dropout", Kernel{.name = "reference", .run = run_dropout, .in_place = 1}, kReferenceRank},
};

}  // namespace
}  // namespace sorus::reference
