#pragma once

#include <cstdint>

/// What the two files of Winograd's kernels share. Places of a tile, 16 of them, lie `place` floats apart,
/// and at each there is a row of channels.
namespace sorus::kernels::winograd {

inline constexpr int64_t kTaps = 9;
inline constexpr int64_t kPlaces = 16;  // of a tile
inline constexpr int64_t kLine = 16;    // floats

/// Rows of `pitch` channels, of which the first `channels` count.
struct ImageView {
  const float* data;
  int64_t size_y, size_x, pitch, channels;

  [[nodiscard]] bool has(int64_t y, int64_t x) const { return y >= 0 && x >= 0 && y < size_y && x < size_x; }
  [[nodiscard]] const float* at(int64_t y, int64_t x) const { return data + (y * size_x + x) * pitch; }
};

/// Transforms the tile of 4x4 positions from (y, x) on; what lies outside of the image is zero. `patch` has
/// room for the tile.
void read_tile(const ImageView& image, int64_t y, int64_t x, float* patch, float* to, int64_t place);

}  // namespace sorus::kernels::winograd
