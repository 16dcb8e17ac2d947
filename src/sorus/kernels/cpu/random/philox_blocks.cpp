#include <algorithm>

#include "sorus/base/thread_pool.h"
#include "sorus/core/philox.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"
#include "sorus/ops/random/attributes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/random/philox_blocks.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/kernels/cpu/random/philox_words.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/kernels/cpu/simd/functions.h"

// Dropout, uniform and normal numbers with many blocks of the generator side by side: plain loops over
// arrays, which the compiler vectorizes for each target. The words are those of core/philox.h.

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace philox_loops {

void unit(const uint32_t* words, float* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24F;
}

/// Quantiles of the normal distribution at the words, as numbers in (0, 1).
void normal(const uint32_t* words, float* out, int64_t n) {
  using V = SimdLane<double>;
  constexpr auto kStep = static_cast<int64_t>(kLanes<V>);
  alignas(64) double p[kWords];
  for (int64_t i = 0; i < n; ++i) p[i] = (static_cast<double>(words[i]) + 0.5) * 0x1p-32;
  for (int64_t i = n; i % kStep != 0; ++i) p[i] = 0.5;
  for (int64_t i = 0; i < n; i += kStep) store(math::inverse_normal(load<V>(p + i)), p + i);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(p[i]);
}

}  // namespace philox_loops

using philox_loops::kWords;
constexpr int64_t kNumbersPerPiece = 32768;

/// Calls f(words, begin, count) for the numbers of the stream in tiles of kWords.
template <class F>
void for_each_tile(const Array& key, int64_t count, F f) {
  const uint64_t seed = key.as<uint64_t>()[0];
  const uint64_t offset = key.as<uint64_t>()[1];
  parallel_ranges(count, kNumbersPerPiece, [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[kWords];
    for (int64_t at = begin; at < end; at += kWords) {
      philox_loops::words_of(seed, offset + static_cast<uint64_t>(at / 4), words);
      f(words, at, std::min(kWords, end - at));
    }
  });
}

void dropout(const KernelCall& call) {
  const Array& x = call.in[0];
  const Array& out = call.out[0];
  const double p = call.attrs<DropoutAttrs>().p;
  for_each_tile(call.in[1], out.numel(), [&](const uint32_t* words, int64_t at, int64_t n) {
    alignas(64) float buffer[kWords];
    if (x.dtype == DType::kFloat32)
      return philox_loops::keep(x.as<const float>() + at, words, p, out.as<float>() + at, n);
    if (x.dtype == DType::kFloat16) {
      cpu::widen(x.as<const Float16>() + at, buffer, n);
      philox_loops::keep(buffer, words, p, buffer, n);
      return cpu::narrow(buffer, out.as<Float16>() + at, n);
    }
    cpu::widen(x.as<const BFloat16>() + at, buffer, n);
    philox_loops::keep(buffer, words, p, buffer, n);
    cpu::narrow(buffer, out.as<BFloat16>() + at, n);
  });
}

/// Numbers of 16 or 32 bits, made from words by `make`.
template <class Make>
void fill(const KernelCall& call, Make make) {
  const Array& out = call.out[0];
  for_each_tile(call.in[0], out.numel(), [&](const uint32_t* words, int64_t at, int64_t n) {
    alignas(64) float buffer[kWords];
    if (out.dtype == DType::kFloat32) return make(words, out.as<float>() + at, n);
    make(words, buffer, n);
    if (out.dtype == DType::kFloat16) return cpu::narrow(buffer, out.as<Float16>() + at, n);
    cpu::narrow(buffer, out.as<BFloat16>() + at, n);
  });
}
void uniform(const KernelCall& call) { fill(call, philox_loops::unit); }
void normal(const KernelCall& call) { fill(call, philox_loops::normal); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(dropout);
HWY_EXPORT(uniform);
HWY_EXPORT(normal);
namespace {

const SimdRegistrar registered[] = {
    {"dropout",
     {.name = "simd",
      .supports = refuse_float64,
      .run = run_best<HWY_DISPATCH_TABLE(dropout)>,
      .in_place = 1}},
    {"random_uniform",
     {.name = "simd", .supports = refuse_float64, .run = run_best<HWY_DISPATCH_TABLE(uniform)>}},
    {"random_normal",
     {.name = "simd", .supports = refuse_float64, .run = run_best<HWY_DISPATCH_TABLE(normal)>}},
};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
