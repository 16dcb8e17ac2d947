#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "sorus/data/vision.h"

/// Rotation and blurring, with the fixed-point arithmetic of OpenCV 4.
namespace sorus::data {
namespace {

/// Rows of the map from target to source pixels.
struct Affine {
  double x[3];
  double y[3];
};

class Rotate final : public Transform {
 public:
  Rotate(double degrees, std::vector<double> fill) : degrees_(degrees), fill_(std::move(fill)) {}
  std::string name() const override { return "Rotate"; }
  RowType infer(const RowType& in) const override {
    ImageSize size = image_size(*this, in);
    auto given = static_cast<int64_t>(fill_.size());
    SORUS_CHECK(given == 1 || given == size.channels, ValueError,
                "Rotate: fill values do not fit: got {}, need 1 or one for each of {} channels", given,
                size.channels);
    return in;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    ImageSize size = image_size(*this, in);
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      auto constant = std::make_unique<T[]>(static_cast<size_t>(size.channels));
      for (int64_t c = 0; c < size.channels; ++c)
        constant[static_cast<size_t>(c)] = static_cast<T>(
            static_cast<ComputeType<T>>(fill_[fill_.size() == 1 ? 0 : static_cast<size_t>(c)]));
      for (int64_t i = 0; i < rows; ++i)
        rotate(reinterpret_cast<const T*>(from) + i * in.items(), reinterpret_cast<T*>(to) + i * in.items(),
               size, constant.get());
    });
  }

 private:
  [[nodiscard]] Affine inverse(ImageSize size) const {
    double x = static_cast<double>(size.width - 1) / 2;
    double y = static_cast<double>(size.height - 1) / 2;
    double angle = degrees_ * std::numbers::pi / 180;
    double c = std::cos(angle);
    double s = std::sin(angle);
    const double forward[6] = {c, s, (1 - c) * x - s * y, -s, c, s * x + (1 - c) * y};
    double scale = 1 / (forward[0] * forward[4] - forward[1] * forward[3]);
    double m[4] = {forward[4] * scale, forward[1] * -scale, forward[3] * -scale, forward[0] * scale};
    return {{m[0], m[1], -m[0] * forward[2] - m[1] * forward[5]},
            {m[2], m[3], -m[2] * forward[2] - m[3] * forward[5]}};
  }
  template <class T>
  void rotate(const T* from, T* to, ImageSize size, const T* constant) const {
    constexpr int kBits = 10;
    Affine map = inverse(size);
    auto fixed = [](double v) { return static_cast<int64_t>(std::nearbyint(v * (1 << kBits))); };
    auto place = [&](const double* row, int64_t x, int64_t y) {
      int64_t sum = fixed(row[0] * static_cast<double>(x)) + fixed(row[1] * static_cast<double>(y) + row[2]);
      return (sum + (1 << (kBits - 1))) >> kBits;
    };
    for (int64_t y = 0; y < size.height; ++y)
      for (int64_t x = 0; x < size.width; ++x) {
        int64_t source_x = place(map.x, x, y);
        int64_t source_y = place(map.y, x, y);
        bool inside = source_x >= 0 && source_x < size.width && source_y >= 0 && source_y < size.height;
        const T* pixel = inside ? from + (source_y * size.width + source_x) * size.channels : constant;
        to = std::copy_n(pixel, size.channels, to);
      }
  }
  double degrees_;
  std::vector<double> fill_;
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

TransformPtr rotate(double degrees, std::vector<double> fill) {
  return std::make_shared<Rotate>(degrees, std::move(fill));
}

TransformPtr gaussian_blur(int64_t width, int64_t height, double sigma_x, double sigma_y) {
  for (int64_t size : {width, height})
    SORUS_CHECK(size > 0 && size % 2 == 1 && size < 256, ValueError,
                "GaussianBlur: kernel_size is out of range: got {}, need an odd number from 1 to 255", size);
  return std::make_shared<GaussianBlur>(gaussian_weights(width, sigma_x), gaussian_weights(height, sigma_y));
}

}  // namespace sorus::data
