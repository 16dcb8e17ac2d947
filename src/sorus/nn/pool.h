#pragma once

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
  MaxPoolCell(std::string_view name, int axes, Place place, const Ints& kernel_size,
              const MaxPoolOptions& options);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  std::string_view name_;
  Ints kernel_;
  MaxPoolOptions options_;
};

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
  AvgPoolCell(std::string_view name, int axes, Place place, const Ints& kernel_size,
              const AvgPoolOptions& options);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  std::string_view name_;
  Ints kernel_;
  AvgPoolOptions options_;
};

/// What pooling to given extents shares.
class SORUS_API AdaptivePoolCell : public Cell {
 protected:
  AdaptivePoolCell(std::string_view name, int axes, Place place, const Ints& output_size);
  Ints size_;
};

/// Largest element of each window.
class SORUS_API MaxPool1d : public MaxPoolCell {
 public:
  explicit MaxPool1d(Place place, const Ints& kernel_size = {1}, const MaxPoolOptions& options = {})
      : MaxPoolCell("MaxPool1d", 1, place, kernel_size, options) {}
};

/// Mean of each window.
class SORUS_API AvgPool1d : public AvgPoolCell {
 public:
  explicit AvgPool1d(Place place, const Ints& kernel_size = {1}, const AvgPoolOptions& options = {})
      : AvgPoolCell("AvgPool1d", 1, place, kernel_size, options) {}
};

/// Largest element of each window.
class SORUS_API MaxPool2d : public MaxPoolCell {
 public:
  explicit MaxPool2d(Place place, const Ints& kernel_size = {1}, const MaxPoolOptions& options = {})
      : MaxPoolCell("MaxPool2d", 2, place, kernel_size, options) {}
};

/// Mean of each window.
class SORUS_API AvgPool2d : public AvgPoolCell {
 public:
  explicit AvgPool2d(Place place, const Ints& kernel_size = {1}, const AvgPoolOptions& options = {})
      : AvgPoolCell("AvgPool2d", 2, place, kernel_size, options) {}
};

/// Largest element of each window.
class SORUS_API MaxPool3d : public MaxPoolCell {
 public:
  explicit MaxPool3d(Place place, const Ints& kernel_size = {1}, const MaxPoolOptions& options = {})
      : MaxPoolCell("MaxPool3d", 3, place, kernel_size, options) {}
};

/// Mean of each window.
class SORUS_API AvgPool3d : public AvgPoolCell {
 public:
  explicit AvgPool3d(Place place, const Ints& kernel_size = {1}, const AvgPoolOptions& options = {})
      : AvgPoolCell("AvgPool3d", 3, place, kernel_size, options) {}
};

/// Means over windows that give the output size: one number for all axes, or one each; -1 keeps an axis.
class SORUS_API AdaptiveAvgPool1d : public AdaptivePoolCell {
 public:
  AdaptiveAvgPool1d(Place place, const Ints& output_size)
      : AdaptivePoolCell("AdaptiveAvgPool1d", 1, place, output_size) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// Means over windows that give the output size: one number for all axes, or one each; -1 keeps an axis.
class SORUS_API AdaptiveAvgPool2d : public AdaptivePoolCell {
 public:
  AdaptiveAvgPool2d(Place place, const Ints& output_size)
      : AdaptivePoolCell("AdaptiveAvgPool2d", 2, place, output_size) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// Means over windows that give the output size: one number for all axes, or one each; -1 keeps an axis.
class SORUS_API AdaptiveAvgPool3d : public AdaptivePoolCell {
 public:
  AdaptiveAvgPool3d(Place place, const Ints& output_size)
      : AdaptivePoolCell("AdaptiveAvgPool3d", 3, place, output_size) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// Largest elements over windows that give the output size: one number for all axes, or one each; -1 keeps an
/// axis.
class SORUS_API AdaptiveMaxPool1d : public AdaptivePoolCell {
 public:
  AdaptiveMaxPool1d(Place place, const Ints& output_size)
      : AdaptivePoolCell("AdaptiveMaxPool1d", 1, place, output_size) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// Largest elements over windows that give the output size: one number for all axes, or one each; -1 keeps an
/// axis.
class SORUS_API AdaptiveMaxPool2d : public AdaptivePoolCell {
 public:
  AdaptiveMaxPool2d(Place place, const Ints& output_size)
      : AdaptivePoolCell("AdaptiveMaxPool2d", 2, place, output_size) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// Largest elements over windows that give the output size: one number for all axes, or one each; -1 keeps an
/// axis.
class SORUS_API AdaptiveMaxPool3d : public AdaptivePoolCell {
 public:
  AdaptiveMaxPool3d(Place place, const Ints& output_size)
      : AdaptivePoolCell("AdaptiveMaxPool3d", 3, place, output_size) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

}  // namespace sorus::nn
