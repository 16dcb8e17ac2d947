#pragma once

#include <algorithm>
#include <cstdint>

#include "sorus/kernels/cpu/onednn/conv.h"

namespace sorus::kernels::small_conv {

/// A convolution of one or two spatial dimensions, spelt out in two, with the layout of its planes.
///
/// A channel of the padded input is cut into stride_y x stride_x planes by the remainders of the position, so
/// that the positions which one tap meets follow each other in a plane, whatever stride and dilation.
/// Position (y, x) of the output is flat index y * pitch + x; tap (ky, kx) of channel c adds tap_offset(c,
/// ky, kx) to it.
struct Geometry {
  int64_t in_channels, out_channels;
  int64_t in_y, in_x, out_y, out_x;
  int64_t kernel_y, kernel_x, stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  int64_t pitch, plane_rows, plane_size;

  /// Elements that may be read past the last position of a plane.
  static constexpr int64_t kSlack = 64;

  explicit Geometry(const onednn::ConvProblem& p) : in_channels(p.in_channels), out_channels(p.out_channels) {
    int y = 0, x = p.rank - 1;
    bool flat = p.rank == 1;
    in_y = flat ? 1 : p.in[y], in_x = p.in[x];
    out_y = flat ? 1 : p.out(y), out_x = p.out(x);
    kernel_y = flat ? 1 : p.kernel[y], kernel_x = p.kernel[x];
    stride_y = flat ? 1 : p.stride[y], stride_x = p.stride[x];
    dilation_y = flat ? 1 : p.dilation[y], dilation_x = p.dilation[x];
    pad_y = flat ? 0 : p.pad_low[y], pad_x = p.pad_low[x];
    pitch = out_x + (kernel_x - 1) * dilation_x / stride_x;
    plane_rows = out_y + (kernel_y - 1) * dilation_y / stride_y;
    plane_size = (plane_rows * pitch + kSlack + 15) / 16 * 16;
  }
  [[nodiscard]] int64_t taps() const { return kernel_y * kernel_x; }
  [[nodiscard]] int64_t planes() const { return in_channels * stride_y * stride_x; }
  /// Flat positions of the output, those between rows included.
  [[nodiscard]] int64_t flat_positions() const { return (out_y - 1) * pitch + out_x; }
  [[nodiscard]] int64_t tap_offset(int64_t channel, int64_t ky, int64_t kx) const {
    int64_t y = ky * dilation_y, x = kx * dilation_x;
    int64_t plane = (channel * stride_y + y % stride_y) * stride_x + x % stride_x;
    return plane * plane_size + y / stride_y * pitch + x / stride_x;
  }
};

/// Taps [first, end) along an axis that lie within `length` positions, when tap 0 lies at `at`.
struct Taps {
  int64_t first, end;
  Taps(int64_t at, int64_t count, int64_t dilation, int64_t length)
      : first(at < 0 ? (-at + dilation - 1) / dilation : 0),
        end(std::min(count, (length - at + dilation - 1) / dilation)) {
    end = std::max(end, first);
  }
};

/// Positions of a row of the result whose taps all lie within the input.
struct Inner {
  int64_t begin, end;
  explicit Inner(const Geometry& g) : begin(std::min(g.out_x, (g.pad_x + g.stride_x - 1) / g.stride_x)) {
    const int64_t last = g.in_x - 1 - (g.kernel_x - 1) * g.dilation_x + g.pad_x;
    end = std::clamp(last < 0 ? 0 : last / g.stride_x + 1, begin, g.out_x);
  }
};

/// Pieces of so many rows of the result, each of which stays in the second-level cache; as many for each of
/// two threads.
inline int64_t pieces_of_rows(int64_t rows, int64_t row_floats) {
  constexpr int64_t kPieceFloats = 16 * 1024;
  const int64_t wanted = std::min(rows, rows * row_floats / kPieceFloats + 1);
  return wanted == 1 ? 1 : std::min(rows, (wanted + 1) / 2 * 2);
}

}  // namespace sorus::kernels::small_conv
