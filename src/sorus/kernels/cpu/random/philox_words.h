// The generator's words, many blocks side by side: plain loops over arrays, which the compiler vectorizes for
// the target that is being compiled. Included once per target, after foreach_target.h; see simd/lane.h.

#include "sorus/kernels/cpu/simd/functions.h"

#if defined(SORUS_KERNELS_CPU_RANDOM_PHILOX_WORDS_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_RANDOM_PHILOX_WORDS_H_
#undef SORUS_KERNELS_CPU_RANDOM_PHILOX_WORDS_H_
#else
#define SORUS_KERNELS_CPU_RANDOM_PHILOX_WORDS_H_
#endif

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace philox_loops {

constexpr int64_t kBlocks = 64;
constexpr int64_t kWords = 4 * kBlocks;

/// The words of kBlocks blocks from `block` on, in order.
[[maybe_unused]] static void words_of(uint64_t key, uint64_t block, uint32_t* words) {
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

/// x / (1 - p) where the word of an element lets it stay, 0 elsewhere.
template <class S>
void keep(const S* x, const uint32_t* words, double p, S* out, int64_t n) {
  const auto scale = static_cast<S>(1.0 / (1.0 - p));
  const auto limit = static_cast<uint32_t>(static_cast<uint64_t>(p * 0x1p32));  // p < 1, so that it fits
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const S scaled = x[i] * scale;
    out[i] = words[i] >= limit ? scaled : S(0);
  }
}

/// The same in place, for elements [first, first + n) of the stream that starts at block `offset`.
template <class S>
void drop_part(S* x, int64_t n, uint64_t key, uint64_t offset, int64_t first, double p) {
  alignas(64) uint32_t words[kWords];
  for (int64_t at = first / 4 * 4; at < first + n; at += kWords) {
    words_of(key, offset + static_cast<uint64_t>(at / 4), words);
    const int64_t begin = std::max(at, first), end = std::min(at + kWords, first + n);
    keep(x + (begin - first), words + (begin - at), p, x + (begin - first), end - begin);
  }
}

}  // namespace philox_loops
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SORUS_KERNELS_CPU_RANDOM_PHILOX_WORDS_H_
