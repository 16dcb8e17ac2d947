#pragma once

#include <algorithm>
#include <cstdint>

namespace sorus::kernels {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t round_up(int64_t value, int64_t step) { return ceil_div(value, step) * step; }

/// One direction of a product cut into `count` tiles of `size`, of which the last may be shorter.
struct Cut {
  int64_t total = 0, size = 0, count = 0;
  Cut() = default;
  Cut(int64_t whole, int64_t tile) : total(whole), size(tile), count(ceil_div(whole, tile)) {}
  /// At most `tiles` tiles, whole multiples of `step`.
  static Cut into(int64_t whole, int64_t tiles, int64_t step) {
    return {whole, std::min(whole, round_up(ceil_div(whole, std::max<int64_t>(tiles, 1)), step))};
  }
  [[nodiscard]] int64_t begin(int64_t i) const { return i * size; }
  [[nodiscard]] int64_t length(int64_t i) const { return std::min(size, total - i * size); }
};

}  // namespace sorus::kernels
