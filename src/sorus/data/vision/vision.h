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
/// What random_resized_crop() draws for each image: the part's share of the area, evenly from a range; its
/// width / height, evenly on a logarithmic scale; and its place. A part that does not fit is drawn again, at
/// most `attempts` times; then the middle of the image is taken, as much as the aspects allow.
struct CropDraw {
  std::pair<double, double> scale = {0.08, 1.0};
  std::pair<double, double> ratio = {3. / 4., 4. / 3.};
  int64_t attempts = 10;
};
/// A random part, resized to `height` x `width`.
[[nodiscard]] SORUS_API TransformPtr
random_resized_crop(int64_t height, int64_t width, const CropDraw& draw = {},
                    Interpolation interpolation = Interpolation::kLinear);

/// JPEG and PNG images, rows of encoded bytes (uint8 of rank 1), to RGB images (H, W, 3) with the bits of
/// OpenCV. In front of a crop only the part that it takes is decoded. Errors are IOError and name the file
/// where the source of the rows knows it.
[[nodiscard]] SORUS_API OperationPtr decode();
/// decode() and random_resized_crop() in one: the same pixels, and only the part is decoded.
[[nodiscard]] SORUS_API OperationPtr
random_crop_decode_resize(int64_t height, int64_t width, const CropDraw& draw = {},
                          Interpolation interpolation = Interpolation::kLinear);

/// How rotate() and affine() find pixels between pixels: the nearest one, or for uint8 a blend of the four
/// around with 5 fractional bits. Outside the image lies `fill`.
struct WarpOptions {
  std::vector<double> fill = {0};
  bool linear = false;
  std::optional<std::pair<double, double>> center = {};  ///< of rotate(): x and y; absent: the middle
};
/// Turned counter-clockwise.
[[nodiscard]] SORUS_API TransformPtr rotate(double degrees, const WarpOptions& options = {});
/// Shears in x and y, in degrees, then scales, turns clockwise about the middle, and moves by shares of width
/// and height.
struct AffineSteps {
  double degrees = 0;
  std::pair<double, double> translate = {0, 0};
  double scale = 1;
  std::pair<double, double> shear = {0, 0};
  std::pair<double, double> pixels = {0, 0};  ///< of translation, beside the shares
};
[[nodiscard]] SORUS_API TransformPtr affine(const AffineSteps& steps, const WarpOptions& options = {});
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
/// A blend of each RGB pixel with its luma, rounded as RandomColor has it: adjust_saturation() but for ties.
[[nodiscard]] SORUS_API TransformPtr blend_with_gray(double factor);
/// Hues of RGB pixels turned, -0.5 to 0.5 of the circle, with 8 bits for each of hue, saturation and value.
[[nodiscard]] SORUS_API TransformPtr adjust_hue(double factor);
/// A blend with the image smoothed by (1 1 1, 1 5 1, 1 1 1) / 13, whose border stays: factor 0 gives that
/// alone.
[[nodiscard]] SORUS_API TransformPtr adjust_sharpness(double factor);
/// Levels spread so that each is about as frequent, channel by channel.
[[nodiscard]] SORUS_API TransformPtr equalize();
/// Levels stretched to 0 to 255, channel by channel, without `cutoff` percent at both ends and the values of
/// `ignore`.
[[nodiscard]] SORUS_API TransformPtr auto_contrast(double cutoff = 0, std::vector<int64_t> ignore = {});
/// RGB to BGR and back.
[[nodiscard]] SORUS_API TransformPtr reverse_channels();
/// Luma of RGB (or BGR) pixels as (H, W), or as (H, W, channels) with equal channels.
[[nodiscard]] SORUS_API TransformPtr to_gray(bool from_bgr = false, int64_t channels = 0);

/// Ranges from which random_color_adjust() draws the factors of adjust_brightness() and its kin, which come
/// in random order.
struct ColorDraw {
  std::pair<double, double> brightness = {1, 1};
  std::pair<double, double> contrast = {1, 1};
  std::pair<double, double> saturation = {1, 1};
  std::pair<double, double> hue = {0, 0};
};
[[nodiscard]] SORUS_API TransformPtr random_color_adjust(const ColorDraw& draw);
/// blend_with_gray() by a factor drawn from `degrees`.
[[nodiscard]] SORUS_API TransformPtr random_color(std::pair<double, double> degrees = {0.1, 1.9});
/// adjust_sharpness() by a factor drawn from `degrees`.
[[nodiscard]] SORUS_API TransformPtr random_sharpness(std::pair<double, double> degrees = {0.1, 1.9});
/// posterize() to a number of bits drawn from low to high.
[[nodiscard]] SORUS_API TransformPtr random_posterize(int64_t low = 8, int64_t high = 8);
/// solarize() between two thresholds drawn from low to high.
[[nodiscard]] SORUS_API TransformPtr random_solarize(int64_t low = 0, int64_t high = 255);
/// A transform of images that keeps types, with this probability.
[[nodiscard]] SORUS_API TransformPtr with_probability(std::string name, TransformPtr transform,
                                                      double probability);
/// rotate() by degrees drawn from a range. Any numeric type.
[[nodiscard]] SORUS_API TransformPtr random_rotation(std::pair<double, double> degrees,
                                                     const WarpOptions& options = {});
/// Ranges from which random_affine() draws; translations become whole pixels.
struct AffineDraw {
  std::pair<double, double> degrees = {0, 0};
  std::pair<double, double> translate_x = {0, 0};
  std::pair<double, double> translate_y = {0, 0};
  std::pair<double, double> scale = {1, 1};
  std::pair<double, double> shear_x = {0, 0};
  std::pair<double, double> shear_y = {0, 0};
};
[[nodiscard]] SORUS_API TransformPtr random_affine(const AffineDraw& draw, const WarpOptions& options = {});
/// A rectangle of a (C, H, W) image of any numeric type erased, with a probability: its share of the area and
/// height / width are drawn from ranges; what does not fit is drawn again, at most `attempts` times.
struct ErasingDraw {
  double probability = 0.5;
  std::pair<double, double> scale = {0.02, 0.33};
  std::pair<double, double> ratio = {0.3, 3.3};
  std::vector<double> value = {0};  ///< one, or one for each channel; none: standard normal variates
  int64_t attempts = 10;
};
[[nodiscard]] SORUS_API TransformPtr random_erasing(ErasingDraw draw = {});
/// Squares of zeros with their middles anywhere in the image. Any numeric type.
[[nodiscard]] SORUS_API TransformPtr cut_out(int64_t length, int64_t patches = 1, bool is_hwc = true);

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
