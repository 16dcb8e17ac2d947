#pragma once

#include <tuple>

#include "sorus/dispatch/attributes.h"

/// Attributes of the neural-network ops. The public functions fill them in completely, so that equal calls
/// have equal attributes: lists have one number per spatial axis, paddings two (low, high).
namespace sorus {

struct ConvAttrs {
  Ints stride;
  Ints padding;
  Ints dilation;
  int64_t groups = 1;
  /// Spatial extents of the result; of the backward ops alone, which cannot tell them from their operands.
  Ints size;
  static constexpr auto fields() {
    return std::tuple{field("stride", &ConvAttrs::stride), field("padding", &ConvAttrs::padding),
                      field("dilation", &ConvAttrs::dilation), field("groups", &ConvAttrs::groups),
                      field("size", &ConvAttrs::size)};
  }
};

struct PoolAttrs {
  Ints kernel;  ///< window extents; the output's extents when adaptive
  Ints stride;
  Ints padding;
  Ints dilation;
  bool ceil_mode = false;         ///< a last window may hang over the high border, if it starts before it
  bool count_include_pad = true;  ///< averages count padding (not overhang) as elements of the window
  int64_t divisor = 0;            ///< of averages; 0: the number of elements
  bool adaptive = false;          ///< window o of an axis is [floor(o*in/out), ceil((o+1)*in/out))
  Ints size;                      ///< spatial extents of the operand; of the backward ops alone
  static constexpr auto fields() {
    return std::tuple{field("kernel", &PoolAttrs::kernel),
                      field("stride", &PoolAttrs::stride),
                      field("padding", &PoolAttrs::padding),
                      field("dilation", &PoolAttrs::dilation),
                      field("ceil_mode", &PoolAttrs::ceil_mode),
                      field("count_include_pad", &PoolAttrs::count_include_pad),
                      field("divisor", &PoolAttrs::divisor),
                      field("adaptive", &PoolAttrs::adaptive),
                      field("size", &PoolAttrs::size)};
  }
};

struct SoftmaxAttrs {
  int64_t axis = -1;  ///< counted from the front
  static constexpr auto fields() { return std::tuple{field("axis", &SoftmaxAttrs::axis)}; }
};

struct AttentionAttrs {
  bool causal = false;
  double scale = 1;
  double dropout = 0;  ///< probability with which a weight becomes 0; above 0 beside a key only
  static constexpr auto fields() {
    return std::tuple{field("causal", &AttentionAttrs::causal), field("scale", &AttentionAttrs::scale),
                      field("dropout", &AttentionAttrs::dropout)};
  }
};

struct CrossEntropyAttrs {
  int64_t ignore_index = -100;  ///< rows with this label have loss 0
  double label_smoothing = 0;   ///< weight of the uniform distribution in the target
  static constexpr auto fields() {
    return std::tuple{field("ignore_index", &CrossEntropyAttrs::ignore_index),
                      field("label_smoothing", &CrossEntropyAttrs::label_smoothing)};
  }
};

struct NormAttrs {
  int64_t begin_axis = 0;  ///< layer_norm, rms_norm: the first normalized axis
  int64_t groups = 1;      ///< group_norm: the channels fall into this many
  double epsilon = 1e-5;   ///< added to the variance (the mean square)
  static constexpr auto fields() {
    return std::tuple{field("begin_axis", &NormAttrs::begin_axis), field("groups", &NormAttrs::groups),
                      field("epsilon", &NormAttrs::epsilon)};
  }
};

/// The cell of a recurrent layer, by its activation or its name.
enum class RecurrentKind : uint8_t { kTanh, kRelu, kLstm, kGru };

struct RecurrentAttrs {
  RecurrentKind kind = RecurrentKind::kTanh;
  bool reverse = false;      ///< from the last step to the first
  bool batch_first = false;  ///< sequences are (B, T, ...) rather than (T, B, ...)
  static constexpr auto fields() {
    return std::tuple{field("kind", &RecurrentAttrs::kind), field("reverse", &RecurrentAttrs::reverse),
                      field("batch_first", &RecurrentAttrs::batch_first)};
  }
  /// How many gates a cell has, stacked in its weights.
  [[nodiscard]] int64_t gates() const {
    return kind == RecurrentKind::kLstm ? 4 : kind == RecurrentKind::kGru ? 3 : 1;
  }
};

/// How interpolation reads between elements.
enum class ResizeMode : uint8_t {
  kNearest,       ///< the element at floor(o * scale)
  kNearestExact,  ///< the element at floor((o + 1/2) * scale)
  kLinear,        ///< between 2 elements of each axis
  kCubic          ///< between 4 elements of each axis, a = -3/4
};

struct ResizeAttrs {
  Ints size;  ///< spatial extents of the result
  ResizeMode mode = ResizeMode::kNearest;
  bool align_corners = false;  ///< the first and last elements fall on each other
  double scale0 = 0;           ///< extents of x per result element of each axis; 0: the ratio of extents
  double scale1 = 0;
  double scale2 = 0;
  Ints input_size;  ///< spatial extents of the operand; of the backward op alone
  static constexpr auto fields() {
    return std::tuple{field("size", &ResizeAttrs::size),
                      field("mode", &ResizeAttrs::mode),
                      field("align_corners", &ResizeAttrs::align_corners),
                      field("scale0", &ResizeAttrs::scale0),
                      field("scale1", &ResizeAttrs::scale1),
                      field("scale2", &ResizeAttrs::scale2),
                      field("input_size", &ResizeAttrs::input_size)};
  }
};

}  // namespace sorus
