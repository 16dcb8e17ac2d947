#pragma once

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "sorus/base/hash.h"

namespace sorus {

/// A hash of 128 bits over bytes of any size, equal on every machine. (Not against malice: who can write
/// where such names are looked up can make entries anyway.)
class Digest {
 public:
  using Words = std::array<uint64_t, 2>;

  void add(std::string_view bytes) {
    add(bytes.size());
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
      uint64_t v = 0;
      std::memcpy(&v, bytes.data(), 8);
      add(v);
    }
    uint64_t rest = 0;
    if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
    add(rest);
  }
  void add(uint64_t v) {
    lanes_[0] = hash_combine(lanes_[0], v);
    lanes_[1] = mix_bits(lanes_[1] * 0x9fb21c651e98df25ULL + (v ^ 0xd6e8feb86659fd93ULL));
  }
  [[nodiscard]] const Words& words() const { return lanes_; }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}{:016x}", lanes_[0], lanes_[1]); }

 private:
  Words lanes_{1, 2};
};

}  // namespace sorus
