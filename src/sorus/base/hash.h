#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sorus {

/// Mixes a 64-bit value (the finalizer of splitmix64); equal inputs give equal outputs on every machine.
constexpr uint64_t mix_bits(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// Folds `value` into the running hash `seed`; the order of calls matters.
constexpr uint64_t hash_combine(uint64_t seed, uint64_t value) {
  return mix_bits(seed + 0x9e3779b97f4a7c15ULL + value);
}

/// FNV-1a over bytes; stable across runs and machines, so that it may be stored.
constexpr uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0xcbf29ce484222325ULL) {
  for (char c : bytes) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return seed;
}

}  // namespace sorus
