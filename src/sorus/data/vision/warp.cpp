#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "sorus/data/vision/vision.h"

/// Rotation and blurring, with the fixed-point arithmetic of OpenCV 4.
namespace sorus::data {
namespace {

/// Rows of the map from target to source pixels.
struct Affine {
  double x[3];
  double y[3];
};

/// The inverse of a map from source to target pixels, in the order of operations of OpenCV.
Affine inverse_of(const double* forward) {
  double scale = 1 / (forward[0] * forward[4] - forward[1] * forward[3]);
  double m[4] = {forward[4] * scale, forward[1] * -scale, forward[3] * -scale, forward[0] * scale};
  return {{m[0], m[1], -m[0] * forward[2] - m[1] * forward[5]},
          {m[2], m[3], -m[2] * forward[2] - m[3] * forward[5]}};
}

/// Maps images; derived classes tell how.
class Warp : public Transform {
 public:
  Warp(std::string name, WarpOptions options) : name_(std::move(name)), options_(std::move(options)) {}
  std::string name() const override { return name_; }
  RowType infer(const RowType& in) const override {
    ImageSize size = image_size(*this, in);
    auto given = static_cast<int64_t>(options_.fill.size());
    SORUS_CHECK(given == 1 || given == size.channels, ValueError,
                "{}: fill values do not fit: got {}, need 1 or one for each of {} channels", name_, given,
                size.channels);
    SORUS_CHECK(!options_.linear || in.dtype == DType::kUInt8, DTypeError,
                "{}: image has the wrong type for linear interpolation: got {}, need uint8", name_, in.dtype);
    return in;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    ImageSize size = image_size(*this, in);
    Affine map = map_of(size);
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      const auto& fill = options_.fill;
      auto constant = std::make_unique<T[]>(static_cast<size_t>(size.channels));
      for (int64_t c = 0; c < size.channels; ++c)
        constant[static_cast<size_t>(c)] =
            static_cast<T>(static_cast<ComputeType<T>>(fill[fill.size() == 1 ? 0 : static_cast<size_t>(c)]));
      for (int64_t i = 0; i < rows; ++i) {
        const T* source = reinterpret_cast<const T*>(from) + i * in.items();
        T* target = reinterpret_cast<T*>(to) + i * in.items();
        if (!options_.linear) warp_nearest(map, source, target, size, constant.get());
        if constexpr (std::is_same_v<T, uint8_t>)
          if (options_.linear) warp_linear(map, source, target, size, constant.get());
      }
    });
  }

 protected:
  /// From target to source pixels.
  [[nodiscard]] virtual Affine map_of(ImageSize size) const = 0;
  [[nodiscard]] const WarpOptions& options() const { return options_; }

 private:
  static constexpr int kBits = 10;
  /// A place along one axis with kBits fractional bits.
  static int64_t place(const double* row, int64_t x, int64_t y) {
    auto fixed = [](double v) { return static_cast<int64_t>(std::nearbyint(v * (1 << kBits))); };
    return fixed(row[0] * static_cast<double>(x)) + fixed(row[1] * static_cast<double>(y) + row[2]);
  }
  template <class T>
  static const T* pixel(const T* from, ImageSize size, int64_t x, int64_t y, const T* constant) {
    bool inside = x >= 0 && x < size.width && y >= 0 && y < size.height;
    return inside ? from + (y * size.width + x) * size.channels : constant;
  }
  template <class T>
  static void warp_nearest(const Affine& map, const T* from, T* to, ImageSize size, const T* constant) {
    constexpr int64_t kHalf = 1 << (kBits - 1);
    for (int64_t y = 0; y < size.height; ++y)
      for (int64_t x = 0; x < size.width; ++x) {
        const T* source = pixel(from, size, (place(map.x, x, y) + kHalf) >> kBits,
                                (place(map.y, x, y) + kHalf) >> kBits, constant);
        to = std::copy_n(source, size.channels, to);
      }
  }
  static void warp_linear(const Affine& map, const uint8_t* from, uint8_t* to, ImageSize size,
                          const uint8_t* constant) {
    constexpr int kFine = 5;  // fractional bits of a weight
    constexpr int64_t kOne = 1 << kFine;
    constexpr int64_t kHalf = 1 << (kBits - kFine - 1);
    for (int64_t y = 0; y < size.height; ++y)
      for (int64_t x = 0; x < size.width; ++x) {
        int64_t at_x = (place(map.x, x, y) + kHalf) >> (kBits - kFine);
        int64_t at_y = (place(map.y, x, y) + kHalf) >> (kBits - kFine);
        int64_t right = at_x & (kOne - 1);
        int64_t below = at_y & (kOne - 1);
        const uint8_t* four[4];
        for (int k = 0; k < 4; ++k)
          four[k] = pixel(from, size, (at_x >> kFine) + k % 2, (at_y >> kFine) + k / 2, constant);
        for (int64_t c = 0; c < size.channels; ++c) {
          int64_t top_sum = four[0][c] * (kOne - right) + four[1][c] * right;
          int64_t low_sum = four[2][c] * (kOne - right) + four[3][c] * right;
          int64_t sum = top_sum * (kOne - below) + low_sum * below;
          *to++ = static_cast<uint8_t>((sum + kOne * kOne / 2) >> (2 * kFine));
        }
      }
  }
  std::string name_;
  WarpOptions options_;
};

/// The middle of an image.
std::pair<double, double> middle_of(ImageSize size) {
  return {static_cast<double>(size.width - 1) / 2, static_cast<double>(size.height - 1) / 2};
}
double radians(double degrees) { return degrees * std::numbers::pi / 180; }

class Rotate final : public Warp {
 public:
  Rotate(double degrees, const WarpOptions& options) : Warp("Rotate", options), degrees_(degrees) {}

 private:
  Affine map_of(ImageSize size) const override {
    auto [x, y] = options().center.value_or(middle_of(size));
    double c = std::cos(radians(degrees_));
    double s = std::sin(radians(degrees_));
    const double forward[6] = {c, s, (1 - c) * x - s * y, -s, c, s * x + (1 - c) * y};
    return inverse_of(forward);
  }
  double degrees_;
};

class AffineTransform final : public Warp {
 public:
  AffineTransform(const AffineSteps& steps, const WarpOptions& options)
      : Warp("Affine", options), steps_(steps) {}

 private:
  Affine map_of(ImageSize size) const override {
    auto [x, y] = middle_of(size);
    double turn = radians(steps_.degrees);
    double shear_x = std::tan(radians(steps_.shear.first));
    double shear_y = radians(steps_.shear.second);
    double c = std::cos(turn - shear_y) / std::cos(shear_y);
    double s = std::sin(turn - shear_y) / std::cos(shear_y);
    double m[6] = {steps_.scale * c, steps_.scale * (-c * shear_x - std::sin(turn)), 0,
                   steps_.scale * s, steps_.scale * (-s * shear_x + std::cos(turn)), 0};
    const double right = steps_.translate.first * static_cast<double>(size.width) + steps_.pixels.first;
    const double down = steps_.translate.second * static_cast<double>(size.height) + steps_.pixels.second;
    m[2] = right + x - m[0] * x - m[1] * y;
    m[5] = down + y - m[3] * x - m[4] * y;
    for (double& v : m) v = static_cast<double>(static_cast<float>(v));  // as it is handed to OpenCV
    return inverse_of(m);
  }
  AffineSteps steps_;
};

/// Weights with 8 fractional bits that sum to 1: what rounding leaves over goes on to the next one inwards.
std::vector<int> gaussian_weights(int64_t size, double sigma) {
  if (sigma <= 0) sigma = 0.3 * (static_cast<double>(size - 1) * 0.5 - 1) + 0.8;
  std::vector<double> exact;
  double total = 0;
  for (int64_t i = 0; i < size; ++i) {
    double x = static_cast<double>(i) - static_cast<double>(size - 1) / 2;
    exact.push_back(std::exp(-x * x / (2 * sigma * sigma)));
    total += exact.back();
  }
  std::vector<int> weights(exact.size());
  int left = 256;
  double rest = 0;
  for (size_t i = 0; i < weights.size() / 2; ++i) {
    double value = exact[i] / total * 256 + rest;
    int rounded = static_cast<int>(std::nearbyint(value));
    rest = value - rounded;
    weights[i] = weights[weights.size() - 1 - i] = rounded;
    left -= 2 * rounded;
  }
  weights[weights.size() / 2] = left;
  return weights;
}

/// Mirrored at the edge pixel.
int64_t mirrored(int64_t i, int64_t n) {
  if (n == 1) return 0;
  int64_t period = 2 * (n - 1);
  int64_t at = ((i % period) + period) % period;
  return at < n ? at : period - at;
}

class GaussianBlur final : public Transform {
 public:
  GaussianBlur(std::vector<int> across, std::vector<int> down)
      : across_(std::move(across)), down_(std::move(down)) {}
  std::string name() const override { return "GaussianBlur"; }
  RowType infer(const RowType& in) const override {
    image_size(*this, in);
    SORUS_CHECK(in.dtype == DType::kUInt8, DTypeError,
                "GaussianBlur: image has the wrong type: got {}, need uint8", in.dtype);
    return in;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    ImageSize size = image_size(*this, in);
    std::vector<uint32_t> sums(static_cast<size_t>(in.items()));
    for (int64_t i = 0; i < rows; ++i)
      blur(reinterpret_cast<const uint8_t*>(from) + i * in.items(),
           reinterpret_cast<uint8_t*>(to) + i * in.items(), size, sums);
  }

 private:
  void blur(const uint8_t* from, uint8_t* to, ImageSize size, std::vector<uint32_t>& sums) const {
    int64_t channels = size.channels;
    int64_t line = size.width * channels;
    auto radius_x = static_cast<int64_t>(across_.size() / 2);
    auto radius_y = static_cast<int64_t>(down_.size() / 2);
    for (int64_t y = 0; y < size.height; ++y)
      for (int64_t i = 0; i < line; ++i) {
        int sum = 0;
        for (int64_t k = 0; k < std::ssize(across_); ++k) {
          int64_t x = mirrored(i / channels + k - radius_x, size.width);
          sum += across_[static_cast<size_t>(k)] * from[y * line + x * channels + i % channels];
        }
        sums[static_cast<size_t>(y * line + i)] = static_cast<uint32_t>(sum);
      }
    for (int64_t y = 0; y < size.height; ++y)
      for (int64_t i = 0; i < line; ++i) {
        int64_t sum = 1 << 15;
        for (int64_t k = 0; k < std::ssize(down_); ++k)
          sum += int64_t{down_[static_cast<size_t>(k)]} *
                 sums[static_cast<size_t>(mirrored(y + k - radius_y, size.height) * line + i)];
        to[y * line + i] = static_cast<uint8_t>(std::min<int64_t>(sum >> 16, 255));
      }
  }
  std::vector<int> across_;
  std::vector<int> down_;
};

}  // namespace

TransformPtr rotate(double degrees, const WarpOptions& options) {
  return std::make_shared<Rotate>(degrees, options);
}
TransformPtr affine(const AffineSteps& steps, const WarpOptions& options) {
  SORUS_CHECK(steps.scale > 0, ValueError, "Affine: scale is out of range: got {}, need more than 0",
              steps.scale);
  return std::make_shared<AffineTransform>(steps, options);
}

TransformPtr gaussian_blur(int64_t width, int64_t height, double sigma_x, double sigma_y) {
  for (int64_t size : {width, height})
    SORUS_CHECK(size > 0 && size % 2 == 1 && size < 256, ValueError,
                "GaussianBlur: kernel_size is out of range: got {}, need an odd number from 1 to 255", size);
  return std::make_shared<GaussianBlur>(gaussian_weights(width, sigma_x), gaussian_weights(height, sigma_y));
}

}  // namespace sorus::data
