#include <array>
#include <cmath>
#include <limits>

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
          double u = kNormal ? math::inverse_normal(math::ScalarLane<double>{open_interval<T>(words, lane)}).v
                             : unit_interval<T>(words, lane);
          out[i] = static_cast<T>(static_cast<ComputeType<T>>(u));
        });
  });
}

/// The words of one number of a gamma distribution: a stream of its own, keyed by its block of the counter.
class WordStream {
 public:
  WordStream(Key key, int64_t number) {
    const auto words = philox(key.seed, key.offset + static_cast<uint64_t>(number));
    key_ = wide_bits(words, 0) ^ wide_bits(words, 1);
  }
  double next() {
    if (used_ == 2) {
      words_ = philox(key_, block_++);
      used_ = 0;
    }
    return open_interval<double>(words_, used_++);
  }

 private:
  uint64_t key_;
  uint64_t block_ = 0;
  std::array<uint32_t, 4> words_{};
  int64_t used_ = 2;
};

double log_of(double x) { return math::log(math::ScalarLane<double>{x}).v; }

/// Marsaglia and Tsang 2000: a cube of a normal number, taken or refused by a uniform one.
double gamma_number(double alpha, WordStream& words) {
  if (!(alpha > 0)) return alpha == 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(alpha)) return alpha;
  double factor = 1;
  if (alpha < 1) {  // Gamma(a) = Gamma(a + 1) U^(1/a)
    factor = math::exp(math::ScalarLane<double>{log_of(words.next()) / alpha}).v;
    alpha += 1;
  }
  const double d = alpha - 1.0 / 3.0;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = math::inverse_normal(math::ScalarLane<double>{words.next()}).v;
    const double u = words.next();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (log_of(u) < 0.5 * x * x + d * (1 - v + log_of(v))) return d * v * factor;
  }
}

void run_gamma(const KernelCall& call) {
  const Key key = key_of(call.in[0]);
  visit_floating(call.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    const T* alpha = call.in[1].as<T>();
    T* out = call.out[0].as<T>();
    parallel_ranges(call.out[0].numel(), kGrain / 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        WordStream words(key, i);
        const double number = gamma_number(static_cast<double>(static_cast<ComputeType<T>>(alpha[i])), words);
        out[i] = static_cast<T>(static_cast<ComputeType<T>>(number));
      }
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

void run_cumulative_weights(const KernelCall& call) {
  const double* x = call.in[0].as<double>();
  double* out = call.out[0].as<double>();
  const int64_t classes = call.in[0].size(call.in[0].rank() - 1);
  double sum = 0;
  for (int64_t i = 0; i < call.in[0].numel(); ++i) out[i] = sum = (i % classes == 0 ? 0 : sum) + x[i];
}

const KernelRegistrar registered[] = {
    {"random_uniform", Kernel{.name = "reference", .run = run_random<false>}, kReferenceRank},
    {"random_normal", Kernel{.name = "reference", .run = run_random<true>}, kReferenceRank},
    {"random_gamma", Kernel{.name = "reference", .run = run_gamma}, kReferenceRank},
    {"cumulative_weights", Kernel{.name = "reference", .run = run_cumulative_weights}, kReferenceRank},
    {"dropout", Kernel{.name = "reference", .run = run_dropout, .in_place = 1}, kReferenceRank},
};

}  // namespace
}  // namespace sorus::reference
