#pragma once

#include "sorus/data/transform.h"

/// Transforms of images. A row is an image of shape (H, W, C) or (H, W), of any numeric type unless said
/// otherwise. Results have the bits of MindSpore's, which uses OpenCV.
namespace sorus::data {

using TransformPtr = std::shared_ptr<const Transform>;

enum class Interpolation : uint8_t { kNearest, kLinear, kCubic, kArea };
/// How an image goes on outside its border: a value, the edge pixel, mirrored without the edge pixel, or with
/// it.
enum class Border : uint8_t { kConstant, kEdge, kReflect, kSymmetric };

/// Left, top, right and bottom, in pixels.
struct Padding {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;
  int64_t bottom = 0;
};

/// uint8 in fixed point with 11 fractional bits as OpenCV has it, other types in float32 (float64 in itself).
[[nodiscard]] SORUS_API TransformPtr resize(int64_t height, int64_t width,
                                            Interpolation interpolation = Interpolation::kLinear);
/// The shorter side becomes `size`, the other follows, rounded down.
[[nodiscard]] SORUS_API TransformPtr resize_shorter(int64_t size,
                                                    Interpolation interpolation = Interpolation::kLinear);
/// x * rescale + shift in float32, as one fused multiply-add.
[[nodiscard]] SORUS_API TransformPtr rescale(double factor, double shift);
/// (x - mean[c]) / std[c] in float32; one number each stands for all channels.
[[nodiscard]] SORUS_API TransformPtr normalize(std::vector<float> mean, std::vector<float> std,
                                               bool is_hwc = true);
/// (H, W, C) to (C, H, W); (H, W) stays.
[[nodiscard]] SORUS_API TransformPtr hwc_to_chw();
/// x / 255 as float32 to `dtype`, and (H, W, C) or (H, W) to (C, H, W). uint8 images.
[[nodiscard]] SORUS_API TransformPtr to_tensor(DType dtype = DType::kFloat32);
[[nodiscard]] SORUS_API TransformPtr flip(bool horizontal);  ///< left to right, or upside down
/// Flips with this probability.
[[nodiscard]] SORUS_API TransformPtr random_flip(bool horizontal, double probability = 0.5);
/// Throws ShapeError when the image is smaller.
[[nodiscard]] SORUS_API TransformPtr crop(int64_t top, int64_t left, int64_t height, int64_t width);
/// The middle; what the image lacks is filled with zeros.
[[nodiscard]] SORUS_API TransformPtr center_crop(int64_t height, int64_t width);
/// `fill`: one value for all channels, or one for each.
[[nodiscard]] SORUS_API TransformPtr pad(Padding padding, std::vector<double> fill = {0},
                                         Border border = Border::kConstant);
/// A piece of the padded image, each place equally likely. `pad_if_needed` pads a smaller image further.
[[nodiscard]] SORUS_API TransformPtr random_crop(int64_t height, int64_t width, Padding padding = {},
                                                 bool pad_if_needed = false, std::vector<double> fill = {0},
                                                 Border border = Border::kConstant);
/// Turned counter-clockwise about the middle; each pixel is that of the nearest place, or `fill`.
[[nodiscard]] SORUS_API TransformPtr rotate(double degrees, std::vector<double> fill = {0});
/// Odd extents; a sigma of 0 or less follows from the extent. uint8 images.
[[nodiscard]] SORUS_API TransformPtr gaussian_blur(int64_t width, int64_t height, double sigma_x = 0,
                                                   double sigma_y = 0);
/// 255 - x. uint8 images.
[[nodiscard]] SORUS_API TransformPtr invert();

/// The upper `bits` bits of each value. All from here on take uint8 images.
[[nodiscard]] SORUS_API TransformPtr posterize(int64_t bits);
/// 255 - x where low <= x <= high.
[[nodiscard]] SORUS_API TransformPtr solarize(int64_t low, int64_t high);
/// factor * x, rounded.
[[nodiscard]] SORUS_API TransformPtr adjust_brightness(double factor);
/// A blend of an RGB image with the mean of its luma: factor 0 gives that alone, 1 the image.
[[nodiscard]] SORUS_API TransformPtr adjust_contrast(double factor);
/// A blend of each RGB pixel with its luma.
[[nodiscard]] SORUS_API TransformPtr adjust_saturation(double factor);
/// Levels spread so that each is about as frequent, channel by channel.
[[nodiscard]] SORUS_API TransformPtr equalize();
/// Levels stretched to 0 to 255, channel by channel, without `cutoff` percent at both ends and the values of
/// `ignore`.
[[nodiscard]] SORUS_API TransformPtr auto_contrast(double cutoff = 0, std::vector<int64_t> ignore = {});
/// RGB to BGR and back.
[[nodiscard]] SORUS_API TransformPtr reverse_channels();
/// Luma of RGB (or BGR) pixels as (H, W), or as (H, W, channels) with equal channels.
[[nodiscard]] SORUS_API TransformPtr to_gray(bool from_bgr = false, int64_t channels = 0);

/// Extents of an image row.
struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
};
/// Throws ShapeError naming the operation unless the row is an image with at least one pixel.
SORUS_API ImageSize image_size(const Transform& transform, const RowType& in);
/// The type of an image of another size: keeps dtype, rank and channels.
[[nodiscard]] SORUS_API RowType with_size(const RowType& in, int64_t height, int64_t width);

}  // namespace sorus::data
