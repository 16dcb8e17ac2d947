#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

/// Orders by chance as MindSpore draws them.
namespace sorus::data::detail {

/// An integer in [0, n), n at most 2^32, by the division that libstdc++ had before GCC 11 and MindSpore has.
inline int64_t draw_below(std::mt19937& random, int64_t n) {
  constexpr uint64_t kRange = std::mt19937::max();
  auto wanted = static_cast<uint64_t>(n);
  if (wanted > kRange) return random();
  uint64_t scale = kRange / wanted;
  uint64_t drawn = random();
  while (drawn >= wanted * scale) drawn = random();
  return static_cast<int64_t>(drawn / scale);
}

/// std::shuffle as libstdc++ has it since GCC 7, with those draws: two places from one draw while they fit.
inline void shuffle(std::vector<int64_t>& ids, std::mt19937& random) {
  auto count = std::ssize(ids);
  auto swap = [&](int64_t i, int64_t j) {
    std::swap(ids[static_cast<size_t>(i)], ids[static_cast<size_t>(j)]);
  };
  if (count == 0) return;
  int64_t i = 1;
  if (static_cast<int64_t>(std::mt19937::max()) / count < count) {
    for (; i < count; ++i) swap(i, draw_below(random, i + 1));
    return;
  }
  if (count % 2 == 0) swap(i++, draw_below(random, 2));
  for (; i < count; i += 2) {
    int64_t both = draw_below(random, (i + 1) * (i + 2));
    swap(i, both / (i + 2));
    swap(i + 1, both % (i + 2));
  }
}

}  // namespace sorus::data::detail
