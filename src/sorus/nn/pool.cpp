#include "sorus/nn/pool.h"

#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/pool.h"

namespace sorus::nn {
namespace {

/// Checks the input's rank and gives the geometry that all pooling has.
template <class Options>
PoolOptions geometry(std::string_view name, const Options& given, const Tensor& x, const Ints& kernel) {
  int axes = kernel.size();
  SORUS_CHECK(x.rank() == axes + 1 || x.rank() == axes + 2, ShapeError,
              "{}: wrong number of axes: got shape {}, need {} or {} axes", name, x.shape(), axes + 1,
              axes + 2);
  PoolOptions pool;
  pool.stride = given.stride;
  pool.padding = given.pad_mode == PadMode::kSame ? same_padding(spatial_size(x, axes), kernel, given.stride)
                                                  : given.padding;
  pool.ceil_mode = given.ceil_mode;
  return pool;
}

}  // namespace

MaxPoolCell::MaxPoolCell(int axes, Place place, const Ints& kernel_size, const MaxPoolOptions& options)
    : Cell(place),
      name_(fmt::format("MaxPool{}d", axes)),
      kernel_(window_numbers(name_, "kernel_size", kernel_size, axes)),
      options_(options) {
  options_.stride = window_numbers(name_, "stride", options.stride, axes);
  options_.dilation = window_numbers(name_, "dilation", options.dilation, axes);
  check_padding(name_, options.pad_mode, options.padding);
}

Tensor MaxPoolCell::construct(const Tensor& x) {
  PoolOptions pool = geometry(name_, options_, x, kernel_);
  pool.dilation = options_.dilation;
  return max_pool(x, kernel_, pool);
}

AvgPoolCell::AvgPoolCell(int axes, Place place, const Ints& kernel_size, const AvgPoolOptions& options)
    : Cell(place),
      name_(fmt::format("AvgPool{}d", axes)),
      kernel_(window_numbers(name_, "kernel_size", kernel_size, axes)),
      options_(options) {
  options_.stride = window_numbers(name_, "stride", options.stride, axes);
  check_padding(name_, options.pad_mode, options.padding);
}

Tensor AvgPoolCell::construct(const Tensor& x) {
  PoolOptions pool = geometry(name_, options_, x, kernel_);
  pool.count_include_pad = options_.count_include_pad && options_.pad_mode != PadMode::kSame;
  pool.divisor = options_.divisor_override;
  return avg_pool(x, kernel_, pool);
}

AdaptivePoolCell::AdaptivePoolCell(std::string_view kind, int axes, Place place, const Ints& output_size)
    : Cell(place), size_(output_size.size() == 1 ? Ints::filled(axes, output_size[0]) : output_size) {
  SORUS_CHECK(size_.size() == axes, ValueError, "{}{}d: output_size has {} numbers: got {}, need 1 or {}",
              kind, axes, size_.size(), output_size, axes);
}

AdaptiveAvgPoolCell::AdaptiveAvgPoolCell(int axes, Place place, const Ints& output_size)
    : AdaptivePoolCell("AdaptiveAvgPool", axes, place, output_size) {}

Tensor AdaptiveAvgPoolCell::construct(const Tensor& x) { return adaptive_avg_pool(x, size_); }

AdaptiveMaxPoolCell::AdaptiveMaxPoolCell(int axes, Place place, const Ints& output_size)
    : AdaptivePoolCell("AdaptiveMaxPool", axes, place, output_size) {}

Tensor AdaptiveMaxPoolCell::construct(const Tensor& x) { return adaptive_max_pool(x, size_); }

}  // namespace sorus::nn
