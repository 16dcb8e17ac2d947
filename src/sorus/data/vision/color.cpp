#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "sorus/data/vision/vision.h"

/// Transforms of the values of uint8 images: brightness, contrast, colors, histograms. Sources: OpenCV 4 for
/// weights and rounding, the Python Imaging Library's ImageOps for the histograms.
namespace sorus::data {
namespace {

constexpr int kLevels = 256;
using Table = std::array<uint8_t, kLevels>;
using Histogram = std::array<int64_t, kLevels>;

uint8_t to_byte(double value) { return static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0, 255.0)); }

/// Luma of a pixel in RGB order, with weights of 15 fractional bits.
uint8_t luma(const uint8_t* p) {
  return static_cast<uint8_t>((p[0] * 9798 + p[1] * 19235 + p[2] * 3735 + 16384) >> 15);
}

const uint8_t* bytes(const std::byte* p) { return reinterpret_cast<const uint8_t*>(p); }
uint8_t* bytes(std::byte* p) { return reinterpret_cast<uint8_t*>(p); }

/// `channels` 0: any number.
void check_bytes(const Transform& transform, const RowType& in, int64_t channels) {
  ImageSize size = image_size(transform, in);
  SORUS_CHECK(in.dtype == DType::kUInt8, DTypeError, "{}: image has the wrong type: got {}, need uint8",
              transform.name(), in.dtype);
  SORUS_CHECK(channels == 0 || size.channels == channels, ShapeError,
              "{}: image has the wrong number of channels: got {}, need {}", transform.name(), size.channels,
              channels);
}

/// A transform of uint8 images of one size to images of that size.
class ByteTransform : public Transform {
 public:
  /// `channels` 0: any number.
  ByteTransform(std::string name, int64_t channels) : name_(std::move(name)), channels_(channels) {}
  std::string name() const override { return name_; }
  RowType infer(const RowType& in) const override {
    check_bytes(*this, in, channels_);
    return in;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    ImageSize size = image_size(*this, in);
    auto step = static_cast<int64_t>(in.bytes());
    for (int64_t i = 0; i < rows; ++i) run_image(bytes(from) + i * step, bytes(to) + i * step, size);
  }

 protected:
  virtual void run_image(const uint8_t* from, uint8_t* to, ImageSize size) const = 0;

 private:
  std::string name_;
  int64_t channels_;
};

/// One table for every element.
class TableTransform final : public ByteTransform {
 public:
  TableTransform(std::string name, const Table& table) : ByteTransform(std::move(name), 0), table_(table) {}
  std::optional<Pointwise> pointwise(const RowType&) const override { return Pointwise{}; }

 private:
  void run_image(const uint8_t* from, uint8_t* to, ImageSize size) const override {
    std::transform(from, from + size.height * size.width * size.channels, to,
                   [&](uint8_t v) { return table_[v]; });
  }
  Table table_;
};

template <class F>
TransformPtr table_transform(const char* name, F&& value) {
  Table table;
  for (int v = 0; v < kLevels; ++v) table[static_cast<size_t>(v)] = value(v);
  return std::make_shared<TableTransform>(name, table);
}

/// A table for each channel of each image, made from its histogram.
class HistogramTransform : public ByteTransform {
 public:
  using ByteTransform::ByteTransform;

 protected:
  [[nodiscard]] virtual Table table_of(Histogram histogram) const = 0;

 private:
  void run_image(const uint8_t* from, uint8_t* to, ImageSize size) const override {
    int64_t count = size.height * size.width * size.channels;
    for (int64_t c = 0; c < size.channels; ++c) {
      Histogram histogram{};
      for (int64_t i = c; i < count; i += size.channels) ++histogram[from[i]];
      Table table = table_of(histogram);
      for (int64_t i = c; i < count; i += size.channels) to[i] = table[from[i]];
    }
  }
};

class Equalize final : public HistogramTransform {
 public:
  Equalize() : HistogramTransform("Equalize", 0) {}

 private:
  Table table_of(Histogram histogram) const override {
    int64_t total = 0;
    for (int64_t n : histogram) total += n;
    size_t first = 0;
    while (histogram[first] == 0) ++first;
    Table table{};
    if (histogram[first] == total) {
      table.fill(static_cast<uint8_t>(first));
      return table;
    }
    float scale = 255.F / static_cast<float>(total - histogram[first]);
    int64_t below = 0;
    for (size_t v = first + 1; v < kLevels; ++v) {
      below += histogram[v];
      table[v] = to_byte(static_cast<double>(static_cast<float>(below) * scale));
    }
    return table;
  }
};

class AutoContrast final : public HistogramTransform {
 public:
  AutoContrast(double cutoff, std::vector<int64_t> ignore)
      : HistogramTransform("AutoContrast", 0), cutoff_(cutoff), ignore_(std::move(ignore)) {
    SORUS_CHECK(cutoff >= 0 && cutoff < 50, ValueError,
                "AutoContrast: cutoff is out of range: got {}, need 0 to less than 50", cutoff);
    for (int64_t v : ignore_)
      SORUS_CHECK(v >= 0 && v < kLevels, ValueError,
                  "AutoContrast: ignore is out of range: got {}, need 0 to 255", v);
  }

 private:
  /// Takes `count` pixels away from one end.
  template <class Iterator>
  static void cut(Iterator begin, Iterator end, int64_t count) {
    for (; begin != end && count > 0; ++begin) {
      int64_t taken = std::min(*begin, count);
      *begin -= taken;
      count -= taken;
    }
  }
  Table table_of(Histogram histogram) const override {
    for (int64_t v : ignore_) histogram[static_cast<size_t>(v)] = 0;
    int64_t total = 0;
    for (int64_t n : histogram) total += n;
    auto count = static_cast<int64_t>(static_cast<double>(total) * cutoff_ / 100);
    cut(histogram.begin(), histogram.end(), count);
    cut(histogram.rbegin(), histogram.rend(), count);
    int low = 0;
    int high = kLevels - 1;
    while (low < kLevels && histogram[static_cast<size_t>(low)] == 0) ++low;
    while (high >= 0 && histogram[static_cast<size_t>(high)] == 0) --high;
    Table table;
    float scale = high > low ? 255.F / static_cast<float>(high - low) : 1.F;
    float shift = high > low ? static_cast<float>(-low) * scale : 0.F;
    for (int v = 0; v < kLevels; ++v)
      table[static_cast<size_t>(v)] =
          static_cast<uint8_t>(std::clamp(static_cast<int>(static_cast<float>(v) * scale + shift), 0, 255));
    return table;
  }
  double cutoff_;
  std::vector<int64_t> ignore_;
};

/// a * x + b * y in float32 with one rounding of the sum, as OpenCV's addWeighted has it.
uint8_t blend(uint8_t x, float a, uint8_t y, float b) {
  return to_byte(static_cast<double>(std::fma(static_cast<float>(x), a, static_cast<float>(y) * b)));
}

/// A blend of the image with the mean of its luma.
class AdjustContrast final : public ByteTransform {
 public:
  explicit AdjustContrast(double factor)
      : ByteTransform("AdjustContrast", 3),
        factor_(static_cast<float>(factor)),
        rest_(static_cast<float>(1.0 - static_cast<double>(factor_))) {}

 private:
  void run_image(const uint8_t* from, uint8_t* to, ImageSize size) const override {
    int64_t pixels = size.height * size.width;
    int64_t sum = 0;
    for (int64_t i = 0; i < pixels; ++i) sum += luma(from + 3 * i);
    auto mean = static_cast<uint8_t>((2 * sum + pixels) / (2 * pixels));
    Table table;
    for (size_t v = 0; v < kLevels; ++v) table[v] = blend(mean, rest_, static_cast<uint8_t>(v), factor_);
    for (int64_t i = 0; i < 3 * pixels; ++i) to[i] = table[from[i]];
  }
  float factor_;
  float rest_;
};

/// A blend of each pixel with its luma; which of both products is rounded differs with the operation.
class GrayBlend final : public ByteTransform {
 public:
  GrayBlend(std::string name, double factor, bool gray_first)
      : ByteTransform(std::move(name), 3),
        factor_(static_cast<float>(factor)),
        rest_(static_cast<float>(1.0 - static_cast<double>(factor_))),
        gray_first_(gray_first) {}

 private:
  void run_image(const uint8_t* from, uint8_t* to, ImageSize size) const override {
    for (int64_t i = 0; i < 3 * size.height * size.width; i += 3) {
      uint8_t gray = luma(from + i);
      for (int64_t c = i; c < i + 3; ++c)
        to[c] = gray_first_ ? blend(gray, rest_, from[c], factor_) : blend(from[c], factor_, gray, rest_);
    }
  }
  float factor_;
  float rest_;
  bool gray_first_;
};

class AdjustSharpness final : public ByteTransform {
 public:
  explicit AdjustSharpness(double factor)
      : ByteTransform("AdjustSharpness", 0),
        factor_(static_cast<float>(factor)),
        rest_(static_cast<float>(1.0 - static_cast<double>(factor_))) {}

 private:
  void run_image(const uint8_t* from, uint8_t* to, ImageSize size) const override {
    int64_t line = size.width * size.channels;
    for (int64_t y = 0; y < size.height; ++y)
      for (int64_t i = 0; i < line; ++i) {
        const uint8_t* p = from + y * line + i;
        bool inside = y > 0 && y + 1 < size.height && i >= size.channels && i + size.channels < line;
        to[y * line + i] = blend(*p, factor_, inside ? smoothed(p, line, size.channels) : *p, rest_);
      }
  }
  static uint8_t smoothed(const uint8_t* p, int64_t line, int64_t step) {
    int sum = 4 * *p;
    for (int64_t y = -line; y <= line; y += line) sum += p[y - step] + p[y] + p[y + step];
    constexpr int kSum = 13;
    return static_cast<uint8_t>((2 * sum + kSum) / (2 * kSum));
  }
  float factor_;
  float rest_;
};

/// Hue, saturation and value of 8 bits each: to them in fixed point with 12 fractional bits and hues of 256
/// to the circle, and back in float32 with hues of 255 to the circle.
class AdjustHue final : public ByteTransform {
 public:
  explicit AdjustHue(double factor)
      : ByteTransform("AdjustHue", 3), shift_(static_cast<int>(static_cast<float>(factor) * 255)) {
    for (int i = 1; i < kLevels; ++i) {
      saturations_[static_cast<size_t>(i)] = static_cast<int>(std::nearbyint((255 << kBits) / (1. * i)));
      hues_[static_cast<size_t>(i)] = static_cast<int>(std::nearbyint((256 << kBits) / (6. * i)));
    }
  }

 private:
  static constexpr int kBits = 12;
  void run_image(const uint8_t* from, uint8_t* to, ImageSize size) const override {
    for (int64_t i = 0; i < 3 * size.height * size.width; i += 3) turn(from + i, to + i);
  }
  void turn(const uint8_t* rgb, uint8_t* to) const {
    int r = rgb[0];
    int g = rgb[1];
    int b = rgb[2];
    int value = std::max({r, g, b});
    int span = value - std::min({r, g, b});
    constexpr int kHalf = 1 << (kBits - 1);
    int saturation = (span * saturations_[static_cast<size_t>(value)] + kHalf) >> kBits;
    int sixths = value == r ? g - b : value == g ? b - r + 2 * span : r - g + 4 * span;
    int hue = (sixths * hues_[static_cast<size_t>(span)] + kHalf) >> kBits;
    if (hue < 0) hue += kLevels;
    back((std::min(hue, 255) + shift_) & 255, saturation, value, to);
  }
  static void back(int hue, int saturation, int value, uint8_t* to) {
    constexpr float kByte = 1.F / 255;
    float h = static_cast<float>(hue) * (6.F / 255);
    float s = static_cast<float>(saturation) * kByte;
    float v = static_cast<float>(value) * kByte;
    int sector = static_cast<int>(h);
    h -= static_cast<float>(sector);
    const float levels[4] = {v, v * (1.F - s), v * (1.F - s * h), v * (1.F - s * (1.F - h))};
    // Which level red, green and blue have in each sector.
    constexpr int kPlaces[6][3] = {{0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}};
    for (int c = 0; c < 3; ++c) to[c] = to_byte(static_cast<double>(levels[kPlaces[sector % 6][c]] * 255.F));
  }
  int shift_;
  std::array<int, kLevels> saturations_{};
  std::array<int, kLevels> hues_{};
};

class ReverseChannels final : public ByteTransform {
 public:
  ReverseChannels() : ByteTransform("ConvertColor", 3) {}

 private:
  void run_image(const uint8_t* from, uint8_t* to, ImageSize size) const override {
    for (int64_t i = 0; i < 3 * size.height * size.width; i += 3)
      std::reverse_copy(from + i, from + i + 3, to + i);
  }
};

class ToGray final : public Transform {
 public:
  ToGray(bool from_bgr, int64_t channels) : from_bgr_(from_bgr), channels_(channels) {}
  std::string name() const override { return "ConvertColor"; }
  RowType infer(const RowType& in) const override {
    check_bytes(*this, in, 3);
    Shape shape{in.shape[0], in.shape[1]};
    if (channels_ > 0) shape.push_back(channels_);
    return {ItemKind::kNumbers, DType::kUInt8, shape};
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    int64_t copies = std::max<int64_t>(channels_, 1);
    uint8_t* target = bytes(to);
    for (int64_t i = 0; i < rows * in.items(); i += 3) {
      const uint8_t* p = bytes(from) + i;
      const uint8_t rgb[3] = {p[2], p[1], p[0]};
      target = std::fill_n(target, copies, luma(from_bgr_ ? rgb : p));
    }
  }

 private:
  bool from_bgr_;
  int64_t channels_;
};

void check_factor(const char* op, double factor) {
  SORUS_CHECK(factor >= 0, ValueError, "{}: factor is out of range: got {}, need 0 or more", op, factor);
}

}  // namespace

TransformPtr posterize(int64_t bits) {
  SORUS_CHECK(bits >= 0 && bits <= 8, ValueError, "Posterize: bits are out of range: got {}, need 0 to 8",
              bits);
  auto mask = static_cast<uint8_t>(0xff00 >> bits);
  return table_transform("Posterize", [=](int v) { return static_cast<uint8_t>(v & mask); });
}
TransformPtr solarize(int64_t low, int64_t high) {
  SORUS_CHECK(0 <= low && low <= high && high < kLevels, ValueError,
              "Solarize: threshold is out of range: got ({}, {}), need a range within 0 to 255", low, high);
  return table_transform("Solarize",
                         [=](int v) { return static_cast<uint8_t>(v >= low && v <= high ? 255 - v : v); });
}
TransformPtr adjust_brightness(double factor) {
  check_factor("AdjustBrightness", factor);
  auto f = static_cast<float>(factor);
  return table_transform("AdjustBrightness",
                         [=](int v) { return to_byte(static_cast<double>(static_cast<float>(v) * f)); });
}
TransformPtr adjust_contrast(double factor) {
  check_factor("AdjustContrast", factor);
  return std::make_shared<AdjustContrast>(factor);
}
TransformPtr adjust_saturation(double factor) {
  check_factor("AdjustSaturation", factor);
  return std::make_shared<GrayBlend>("AdjustSaturation", factor, true);
}
TransformPtr blend_with_gray(double factor) {
  check_factor("RandomColor", factor);
  return std::make_shared<GrayBlend>("RandomColor", factor, false);
}
TransformPtr adjust_sharpness(double factor) {
  check_factor("AdjustSharpness", factor);
  return std::make_shared<AdjustSharpness>(factor);
}
TransformPtr adjust_hue(double factor) {
  SORUS_CHECK(factor >= -0.5 && factor <= 0.5, ValueError,
              "AdjustHue: hue_factor is out of range: got {}, need -0.5 to 0.5", factor);
  return std::make_shared<AdjustHue>(factor);
}
TransformPtr equalize() { return std::make_shared<Equalize>(); }
TransformPtr auto_contrast(double cutoff, std::vector<int64_t> ignore) {
  return std::make_shared<AutoContrast>(cutoff, std::move(ignore));
}
TransformPtr reverse_channels() { return std::make_shared<ReverseChannels>(); }
TransformPtr to_gray(bool from_bgr, int64_t channels) {
  SORUS_CHECK(channels == 0 || channels == 1 || channels == 3, ValueError,
              "to_gray: number of channels is out of range: got {}, need 0, 1 or 3", channels);
  return std::make_shared<ToGray>(from_bgr, channels);
}

}  // namespace sorus::data
