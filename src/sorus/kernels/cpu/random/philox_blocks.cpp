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
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/kernels/cpu/simd/functions.h"

// Dropout, uniform and normal numbers with many blocks of the generator side by side: plain loops over
// arrays, which the compiler vectorizes for each target. The words are those of core/philox.h.

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace philox_loops {

constexpr int64_t kBlocks = 64;

/// The words of kBlocks blocks from `block` on, in order.
void words_of(uint64_t key, uint64_t block, uint32_t* words) {
  uint32_t c0[kBlocks];
  uint32_t c1[kBlocks];
  uint32_t c2[kBlocks];
  uint32_t c3[kBlocks];
  for (int64_t b = 0; b < kBlocks; ++b) {
    const uint64_t number = block + static_cast<uint64_t>(b);
    c0[b] = static_cast<uint32_t>(number);
    c1[b] = static_cast<uint32_t>(number >> 32);
    c2[b] = 0;
    c3[b] = 0;
  }
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int64_t b = 0; b < kBlocks; ++b) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c0[b];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * c2[b];
      const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1[b] ^ k0;
      const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3[b] ^ k1;
      c1[b] = static_cast<uint32_t>(p1);
      c3[b] = static_cast<uint32_t>(p0);
      c0[b] = n0;
      c2[b] = n2;
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  for (int64_t b = 0; b < kBlocks; ++b) {
    words[4 * b] = c0[b];
    words[4 * b + 1] = c1[b];
    words[4 * b + 2] = c2[b];
    words[4 * b + 3] = c3[b];
  }
}

void keep(const float* x, const uint32_t* words, uint64_t threshold, float scale, float* out, int64_t n) {
  const auto limit = static_cast<uint32_t>(threshold);  // p < 1, so that it fits
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float scaled = x[i] * scale;
    out[i] = words[i] >= limit ? scaled : 0.0F;
  }
}

void unit(const uint32_t* words, float* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24F;
}

/// Quantiles of the normal distribution at the words, as numbers in (0, 1).
void normal(const uint32_t* words, float* out, int64_t n) {
  using V = SimdLane<double>;
  constexpr auto kStep = static_cast<int64_t>(kLanes<V>);
  alignas(64) double p[4 * kBlocks];
  for (int64_t i = 0; i < n; ++i) p[i] = (static_cast<double>(words[i]) + 0.5) * 0x1p-32;
  for (int64_t i = n; i % kStep != 0; ++i) p[i] = 0.5;
  for (int64_t i = 0; i < n; i += kStep) store(math::inverse_normal(load<V>(p + i)), p + i);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(p[i]);
}

}  // namespace philox_loops

constexpr int64_t kWords = 4 * philox_loops::kBlocks;
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
  const auto scale = static_cast<float>(1.0 / (1.0 - p));
  const auto threshold = static_cast<uint64_t>(p * 0x1p32);
  for_each_tile(call.in[1], out.numel(), [&](const uint32_t* words, int64_t at, int64_t n) {
    alignas(64) float buffer[kWords];
    if (x.dtype == DType::kFloat32)
      return philox_loops::keep(x.as<const float>() + at, words, threshold, scale, out.as<float>() + at, n);
    if (x.dtype == DType::kFloat16) {
      cpu::widen(x.as<const Float16>() + at, buffer, n);
      philox_loops::keep(buffer, words, threshold, scale, buffer, n);
      return cpu::narrow(buffer, out.as<Float16>() + at, n);
    }
    cpu::widen(x.as<const BFloat16>() + at, buffer, n);
    philox_loops::keep(buffer, words, threshold, scale, buffer, n);
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
