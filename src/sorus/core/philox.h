#pragma once

#include <array>
#include <cstdint>

namespace sorus {

/// Philox4x32-10: four random 32-bit words for a 64-bit key and a 64-bit block number. Source: Salmon,
/// Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
inline std::array<uint32_t, 4> philox(uint64_t key, uint64_t block) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53;
  constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0};
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = kMultiplier0 * c[0];
    uint64_t p1 = kMultiplier1 * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return c;
}

}  // namespace sorus
