#pragma once

#include <string_view>

#include "sorus/core/tensor.h"

/// What convolution and pooling layers share: how windows lie over the spatial axes.
namespace sorus::nn {

/// How a window meets the border: "valid" windows lie inside, "same" gives ceil(extent / stride) results,
/// "pad" adds `padding` zeros.
enum class PadMode { kSame, kValid, kPad };

/// One positive number for each of `n` axes. Throws ValueError naming layer and argument.
[[nodiscard]] SORUS_API Ints window_numbers(std::string_view layer, std::string_view what, const Ints& items,
                                            int n);
/// Throws ValueError unless `padding` is empty, has zeros alone or goes with PadMode::kPad.
SORUS_API void check_padding(std::string_view layer, PadMode mode, const Ints& padding);
/// The extents of the last `n` axes of x.
[[nodiscard]] SORUS_API Ints spatial_size(const Tensor& x, int n);

}  // namespace sorus::nn
