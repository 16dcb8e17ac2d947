#pragma once

#include <cstdint>

namespace sorus::kernels::depthwise {

/// A row of positions of the result with what they are computed from: what depthwise.cpp hands to its loops.
/// Steps are in floats.
struct Line {
  const float* source;    ///< row of the source that the first row of taps meets, from its first position on
  int64_t source_floats;  ///< of such a row
  int64_t channels;
  int64_t taps_y;  ///< rows of taps that lie within the source
  int64_t taps_x;
  int64_t row_step;       ///< of the source, from row to row of taps
  int64_t tap_step;       ///< of the source, from tap to tap of a row
  int64_t step;           ///< of the source, from position to position of the result
  int64_t pad;            ///< before the first position of the source
  const float* weights;   ///< packed, from the first of these rows of taps on
  int64_t block_weights;  ///< of the weights, from block to block of channels
  const float* bias;      ///< null for none
  bool relu;
  float* to;
};

}  // namespace sorus::kernels::depthwise
