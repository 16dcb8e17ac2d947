#pragma once

#include <cstdint>

namespace sorus::kernels::image_conv {

/// A row of the result of image_conv.cpp, and what it is computed from. Lengths are in floats.
struct Line {
  const float* source;   ///< first row of taps within the image, in its first plane
  const float* weights;  ///< of that row of taps: [plane][tap][channel]
  const float* bias;     ///< null for none
  float* to;
  int64_t planes, channels;
  int64_t taps_y;                  ///< rows of taps within the image
  int64_t taps_x;                  ///< taps of a row
  int64_t source_plane, row_step;  ///< from plane to plane, and from row of taps to row
  int64_t weights_plane;
  int64_t tap_step, step, pad;  ///< along a row of the image: dilation, stride and padding in front
  int64_t width;                ///< of the image
  bool relu;
};

}  // namespace sorus::kernels::image_conv
