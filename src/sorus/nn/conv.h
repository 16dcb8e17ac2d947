#pragma once

#include "sorus/nn/cell.h"
#include "sorus/nn/initializer.h"
#include "sorus/nn/window.h"

/// Convolutions and their transposes over 1, 2 or 3 spatial axes of (N, in, spatial...), giving (N, out,
/// spatial...). `group` splits in and out channels into independent parts; group = in is a depthwise
/// convolution.
namespace sorus::nn {

/// Lists have one number for each spatial axis, or one for all.
struct ConvCellOptions {
  Ints stride = {1};
  PadMode pad_mode = PadMode::kSame;
  Ints padding = {};  ///< one number, one per axis, or (low, high) per axis; only with PadMode::kPad
  Ints dilation = {1};
  int64_t group = 1;
  Ints output_padding = {};  ///< of the transposes alone; only with PadMode::kPad
  bool has_bias = false;
  Initializer weight_init = {};
  Initializer bias_init = {};
  DType dtype = DType::kFloat32;
};

/// What these layers share: parameters and the checks of arguments.
class SORUS_API ConvCell : public Cell {
 public:
  Parameter weight, bias;

 protected:
  struct Kind {
    std::string_view name;
    int axes;
    bool transposed;
  };
  ConvCell(Kind kind, Place place, int64_t in, int64_t out, const Ints& kernel_size,
           const ConvCellOptions& options);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  Tensor run(const Tensor& x, const Tensor& kernel) const;
  Tensor run_transposed(const Tensor& x, const Tensor& kernel) const;
  Kind kind_;
  Ints kernel_;
  ConvCellOptions options_;
};

/// Cross-correlation over one axis; weight (out, in / group, 1, kernel), bias (out,).
class SORUS_API Conv1d : public ConvCell {
 public:
  Conv1d(Place place, int64_t in, int64_t out, const Ints& kernel_size, const ConvCellOptions& options = {})
      : ConvCell({"Conv1d", 1, false}, place, in, out, kernel_size, options) {}
};

/// Cross-correlation over height and width; weight (out, in / group, height, width), bias (out,).
class SORUS_API Conv2d : public ConvCell {
 public:
  Conv2d(Place place, int64_t in, int64_t out, const Ints& kernel_size, const ConvCellOptions& options = {})
      : ConvCell({"Conv2d", 2, false}, place, in, out, kernel_size, options) {}
};

/// Cross-correlation over depth, height and width; weight (out, in / group, depth, height, width), bias
/// (out,).
class SORUS_API Conv3d : public ConvCell {
 public:
  Conv3d(Place place, int64_t in, int64_t out, const Ints& kernel_size, const ConvCellOptions& options = {})
      : ConvCell({"Conv3d", 3, false}, place, in, out, kernel_size, options) {}
};

/// The transpose of Conv1d; weight (in, out / group, 1, kernel), bias (out,).
class SORUS_API Conv1dTranspose : public ConvCell {
 public:
  Conv1dTranspose(Place place, int64_t in, int64_t out, const Ints& kernel_size,
                  const ConvCellOptions& options = {})
      : ConvCell({"Conv1dTranspose", 1, true}, place, in, out, kernel_size, options) {}
};

/// The transpose of Conv2d; weight (in, out / group, height, width), bias (out,).
class SORUS_API Conv2dTranspose : public ConvCell {
 public:
  Conv2dTranspose(Place place, int64_t in, int64_t out, const Ints& kernel_size,
                  const ConvCellOptions& options = {})
      : ConvCell({"Conv2dTranspose", 2, true}, place, in, out, kernel_size, options) {}
};

/// The transpose of Conv3d; weight (in, out / group, depth, height, width), bias (out,).
class SORUS_API Conv3dTranspose : public ConvCell {
 public:
  Conv3dTranspose(Place place, int64_t in, int64_t out, const Ints& kernel_size,
                  const ConvCellOptions& options = {})
      : ConvCell({"Conv3dTranspose", 3, true}, place, in, out, kernel_size, options) {}
};

}  // namespace sorus::nn
