#pragma once

#include <string>

#include "sorus/nn/cell.h"
#include "sorus/nn/window.h"

/// Pooling over the last 1, 2 or 3 axes of (N, C, spatial...) or (C, spatial...).
namespace sorus::nn {

/// Lists have one number for each spatial axis, or one for all.
struct MaxPoolOptions {
  Ints stride = {1};
  PadMode pad_mode = PadMode::kValid;
  Ints padding = {};  ///< one number, one per axis, or (low, high) per axis; only with PadMode::kPad
  Ints dilation = {1};
  bool ceil_mode = false;
};
/// What max pooling layers share.
class SORUS_API MaxPoolCell : public Cell {
 protected:
  MaxPoolCell(int axes, Place place, const Ints& kernel_size, const MaxPoolOptions& options);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  std::string name_;
  Ints kernel_;
  MaxPoolOptions options_;
};

/// As MaxPoolOptions, for means.
struct AvgPoolOptions {
  Ints stride = {1};
  PadMode pad_mode = PadMode::kValid;
  Ints padding = {};  ///< one number, one per axis, or (low, high) per axis; only with PadMode::kPad
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< zeros of PadMode::kPad count as elements; those of kSame never do
  int64_t divisor_override = 0;   ///< divides the sums instead of the number of elements; 0: none
};
/// What average pooling layers share.
class SORUS_API AvgPoolCell : public Cell {
 protected:
  AvgPoolCell(int axes, Place place, const Ints& kernel_size, const AvgPoolOptions& options);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  std::string name_;
  Ints kernel_;
  AvgPoolOptions options_;
};

/// What pooling to given extents shares.
class SORUS_API AdaptivePoolCell : public Cell {
 protected:
  AdaptivePoolCell(std::string_view kind, int axes, Place place, const Ints& output_size);
  Ints size_;
};
/// What means over windows that give the output size share.
class SORUS_API AdaptiveAvgPoolCell : public AdaptivePoolCell {
 protected:
  AdaptiveAvgPoolCell(int axes, Place place, const Ints& output_size);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};
/// What largest elements over windows that give the output size share.
class SORUS_API AdaptiveMaxPoolCell : public AdaptivePoolCell {
 protected:
  AdaptiveMaxPoolCell(int axes, Place place, const Ints& output_size);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// Largest element of each window.
template <int kAxes>
class MaxPool : public MaxPoolCell {
 public:
  explicit MaxPool(Place place, const Ints& kernel_size = {1}, const MaxPoolOptions& options = {})
      : MaxPoolCell(kAxes, place, kernel_size, options) {}
};
using MaxPool1d = MaxPool<1>;
using MaxPool2d = MaxPool<2>;
using MaxPool3d = MaxPool<3>;

/// Mean of each window.
template <int kAxes>
class AvgPool : public AvgPoolCell {
 public:
  explicit AvgPool(Place place, const Ints& kernel_size = {1}, const AvgPoolOptions& options = {})
      : AvgPoolCell(kAxes, place, kernel_size, options) {}
};
using AvgPool1d = AvgPool<1>;
using AvgPool2d = AvgPool<2>;
using AvgPool3d = AvgPool<3>;

/// Means over windows that give the output size: one number for all axes, or one each; -1 keeps an axis.
template <int kAxes>
class AdaptiveAvgPool : public AdaptiveAvgPoolCell {
 public:
  AdaptiveAvgPool(Place place, const Ints& output_size) : AdaptiveAvgPoolCell(kAxes, place, output_size) {}
};
using AdaptiveAvgPool1d = AdaptiveAvgPool<1>;
using AdaptiveAvgPool2d = AdaptiveAvgPool<2>;
using AdaptiveAvgPool3d = AdaptiveAvgPool<3>;

/// Largest elements over windows that give the output size: one number for all axes, or one each; -1 keeps an
/// axis.
template <int kAxes>
class AdaptiveMaxPool : public AdaptiveMaxPoolCell {
 public:
  AdaptiveMaxPool(Place place, const Ints& output_size) : AdaptiveMaxPoolCell(kAxes, place, output_size) {}
};
using AdaptiveMaxPool1d = AdaptiveMaxPool<1>;
using AdaptiveMaxPool2d = AdaptiveMaxPool<2>;
using AdaptiveMaxPool3d = AdaptiveMaxPool<3>;

}  // namespace sorus::nn
