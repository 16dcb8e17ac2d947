#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <numeric>

#include "sorus/data/vision/vision.h"

/// Transforms that draw how much of a transform without chance each image gets.
namespace sorus::data {
namespace {

/// The random numbers of one image, in [0, 1), one after the other.
class Draws {
 public:
  Draws(const RowContext& context, int64_t row) : context_(context), row_(row) {}
  double next() {
    if (used_ % 4 == 0) words_ = context_.draw(row_, used_ / 4);
    return to_unit(words_[used_++ % 4]);
  }
  double within(std::pair<double, double> range) {
    return range.first + next() * (range.second - range.first);
  }
  /// An integer of [low, high].
  int64_t integer(int64_t low, int64_t high) {
    return low + std::min(static_cast<int64_t>(next() * static_cast<double>(high - low + 1)), high - low);
  }

 private:
  const RowContext& context_;
  int64_t row_;
  uint64_t used_ = 0;
  std::array<uint32_t, 4> words_{};
};

using Chain = std::vector<TransformPtr>;
/// The transforms of one image; all keep types.
using Make = std::function<Chain(Draws&, ImageSize)>;

/// Runs for each image what is made from its draws. `typical` is such a chain, to tell what images fit.
class Drawn final : public Transform {
 public:
  Drawn(std::string name, TransformPtr typical, Make make)
      : name_(std::move(name)), typical_(std::move(typical)), make_(std::move(make)) {}
  std::string name() const override { return name_; }
  RowType infer(const RowType& in) const override {
    image_size(*this, in);
    return typical_->infer(in);
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext& context) const override {
    ImageSize size = image_size(*this, in);
    Ref<Storage> scratch;
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += in.bytes()) {
      Draws draws(context, i);
      Chain chain = make_(draws, size);
      if (chain.empty()) std::memcpy(to, from, in.bytes());
      if (chain.size() > 1 && !scratch) scratch = Storage::allocate(2 * in.bytes());
      const std::byte* source = from;
      for (size_t k = 0; k < chain.size(); ++k) {
        std::byte* target = k + 1 == chain.size() ? to : scratch->data() + (k % 2) * in.bytes();
        chain[k]->run(in, source, target, 1, context);
        source = target;
      }
    }
  }

 private:
  std::string name_;
  TransformPtr typical_;
  Make make_;
};

TransformPtr drawn(std::string name, TransformPtr typical, Make make) {
  return std::make_shared<Drawn>(std::move(name), std::move(typical), std::move(make));
}

void check_range(const char* op, const char* what, std::pair<double, double> range, double low, double high) {
  SORUS_CHECK(low <= range.first && range.first <= range.second && range.second <= high, ValueError,
              "{}: {} is out of range: got ({}, {}), need (low, high) within {} to {}", op, what, range.first,
              range.second, low, high);
}
void check_probability(const char* op, double probability) {
  SORUS_CHECK(probability >= 0 && probability <= 1, ValueError,
              "{}: prob is out of range: got {}, need 0 to 1", op, probability);
}
constexpr double kLarge = std::numeric_limits<float>::max();

/// Erases rectangles of (C, H, W) images.
class RandomErasing final : public Transform {
 public:
  explicit RandomErasing(ErasingDraw draw) : draw_(std::move(draw)) {
    check_probability("RandomErasing", draw_.probability);
    check_range("RandomErasing", "scale", draw_.scale, 0, kLarge);
    check_range("RandomErasing", "ratio", draw_.ratio, 1e-9, kLarge);
    SORUS_CHECK(draw_.attempts >= 1, ValueError,
                "RandomErasing: max_attempts is out of range: got {}, need 1 or more", draw_.attempts);
  }
  std::string name() const override { return "RandomErasing"; }
  RowType infer(const RowType& in) const override {
    SORUS_CHECK(in.shape.rank() == 3 && in.items() > 0, ShapeError,
                "RandomErasing: image has the wrong shape: got {}, need (C, H, W) with at least one pixel",
                in.shape);
    auto given = std::ssize(draw_.value);
    SORUS_CHECK(given <= 1 || given == in.shape.size(0), ValueError,
                "RandomErasing: values do not fit: got {}, need 1 or one for each of {} channels", given,
                in.shape.size(0));
    return in;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext& context) const override {
    std::memcpy(to, from, in.bytes() * static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i, to += in.bytes()) {
      Draws draws(context, i);
      if (draws.next() >= draw_.probability) continue;
      auto window = choose(draws, in.shape.size(1), in.shape.size(2));
      if (window) erase(in, to, *window, draws);
    }
  }

 private:
  std::optional<Window> choose(Draws& draws, int64_t height, int64_t width) const {
    auto area = static_cast<double>(height * width);
    for (int64_t attempt = 0; attempt < draw_.attempts; ++attempt) {
      double erased = area * draws.within(draw_.scale);
      double ratio = draws.within(draw_.ratio);
      int64_t h = std::llround(std::sqrt(erased * ratio));
      int64_t w = std::llround(std::sqrt(erased / ratio));
      if (h < height && w < width)
        return Window{draws.integer(0, height - h), draws.integer(0, width - w), h, w};
    }
    return std::nullopt;
  }
  void erase(const RowType& in, std::byte* image, const Window& window, Draws& draws) const {
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      for (int64_t c = 0; c < in.shape.size(0); ++c)
        for (int64_t y = window.top; y < window.top + window.height; ++y)
          for (int64_t x = window.left; x < window.left + window.width; ++x) {
            double value = draw_.value.empty()
                               ? normal(draws)
                               : draw_.value[draw_.value.size() == 1 ? 0 : static_cast<size_t>(c)];
            auto* plane = reinterpret_cast<T*>(image) + c * in.shape.size(1) * in.shape.size(2);
            plane[y * in.shape.size(2) + x] = static_cast<T>(static_cast<ComputeType<T>>(value));
          }
    });
  }
  /// A standard normal variate, by Box and Muller.
  static double normal(Draws& draws) {
    double radius = std::sqrt(-2 * std::log(1 - draws.next()));
    return radius * std::cos(2 * std::numbers::pi * draws.next());
  }
  ErasingDraw draw_;
};

/// Sets squares to zero; each has its middle anywhere in the image.
class CutOut final : public Transform {
 public:
  CutOut(int64_t length, int64_t patches, bool is_hwc) : length_(length), patches_(patches), is_hwc_(is_hwc) {
    SORUS_CHECK(length >= 1 && patches >= 1, ValueError,
                "CutOut: length or num_patches is out of range: got {} and {}, need 1 or more", length,
                patches);
  }
  std::string name() const override { return "CutOut"; }
  RowType infer(const RowType& in) const override {
    image_size(*this, in);
    auto [height, width] = sides(in);
    SORUS_CHECK(length_ <= height && length_ <= width, ShapeError,
                "CutOut: square is larger than the image: got {} for an image {}, need at most its sides",
                length_, in.shape);
    return in;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext& context) const override {
    std::memcpy(to, from, in.bytes() * static_cast<size_t>(rows));
    auto [height, width] = sides(in);
    bool planes = !is_hwc_ && in.shape.rank() == 3;
    int64_t count = planes ? in.shape.size(0) : 1;
    auto pixel = in.bytes() / static_cast<size_t>(count * height * width);
    for (int64_t i = 0; i < rows; ++i, to += in.bytes()) {
      Draws draws(context, i);
      for (int64_t p = 0; p < patches_; ++p) {
        int64_t top = draws.integer(0, height) - length_ / 2;
        int64_t left = draws.integer(0, width) - length_ / 2;
        int64_t begin = std::clamp<int64_t>(left, 0, width);
        int64_t end = std::clamp<int64_t>(left + length_, begin, width);
        for (int64_t c = 0; c < count; ++c)
          for (int64_t y = std::max<int64_t>(top, 0); y < std::min(top + length_, height); ++y)
            std::memset(to + static_cast<size_t>((c * height + y) * width + begin) * pixel, 0,
                        static_cast<size_t>(end - begin) * pixel);
      }
    }
  }

 private:
  [[nodiscard]] std::pair<int64_t, int64_t> sides(const RowType& in) const {
    int first = !is_hwc_ && in.shape.rank() == 3 ? 1 : 0;
    return {in.shape.size(first), in.shape.size(first + 1)};
  }
  int64_t length_;
  int64_t patches_;
  bool is_hwc_;
};

}  // namespace

TransformPtr random_color_adjust(const ColorDraw& d) {
  constexpr const char* kName = "RandomColorAdjust";
  check_range(kName, "brightness", d.brightness, 0, kLarge);
  check_range(kName, "contrast", d.contrast, 0, kLarge);
  check_range(kName, "saturation", d.saturation, 0, kLarge);
  check_range(kName, "hue", d.hue, -0.5, 0.5);
  return drawn(kName, adjust_saturation(1), [d](Draws& draws, ImageSize) {
    Chain chain;
    auto add = [&](TransformPtr (*make)(double), std::pair<double, double> range, double neutral) {
      double factor = draws.within(range);
      if (range != std::pair(neutral, neutral)) chain.push_back(make(factor));
    };
    add(adjust_brightness, d.brightness, 1);
    add(adjust_contrast, d.contrast, 1);
    add(adjust_saturation, d.saturation, 1);
    add(adjust_hue, d.hue, 0);
    for (size_t i = chain.size(); i > 1; --i)
      std::swap(chain[i - 1], chain[static_cast<size_t>(draws.integer(0, static_cast<int64_t>(i) - 1))]);
    return chain;
  });
}

TransformPtr random_color(std::pair<double, double> degrees) {
  check_range("RandomColor", "degrees", degrees, 0, kLarge);
  return drawn("RandomColor", blend_with_gray(1),
               [degrees](Draws& draws, ImageSize) { return Chain{blend_with_gray(draws.within(degrees))}; });
}
TransformPtr random_sharpness(std::pair<double, double> degrees) {
  check_range("RandomSharpness", "degrees", degrees, 0, kLarge);
  return drawn("RandomSharpness", adjust_sharpness(1),
               [degrees](Draws& draws, ImageSize) { return Chain{adjust_sharpness(draws.within(degrees))}; });
}
TransformPtr random_posterize(int64_t low, int64_t high) {
  SORUS_CHECK(1 <= low && low <= high && high <= 8, ValueError,
              "RandomPosterize: bits are out of range: got ({}, {}), need (low, high) within 1 to 8", low,
              high);
  return drawn("RandomPosterize", posterize(8),
               [=](Draws& draws, ImageSize) { return Chain{posterize(draws.integer(low, high))}; });
}
TransformPtr random_solarize(int64_t low, int64_t high) {
  SORUS_CHECK(0 <= low && low <= high && high <= 255, ValueError,
              "RandomSolarize: threshold is out of range: got ({}, {}), need (low, high) within 0 to 255",
              low, high);
  return drawn("RandomSolarize", solarize(0, 255), [=](Draws& draws, ImageSize) {
    auto ends = std::minmax({draws.integer(low, high), draws.integer(low, high)});
    return Chain{solarize(ends.first, ends.second)};
  });
}
TransformPtr with_probability(std::string name, TransformPtr transform, double probability) {
  check_probability(name.c_str(), probability);
  return drawn(std::move(name), transform, [transform, probability](Draws& draws, ImageSize) {
    return draws.next() < probability ? Chain{transform} : Chain{};
  });
}

TransformPtr random_rotation(std::pair<double, double> degrees, const WarpOptions& options) {
  check_range("RandomRotation", "degrees", degrees, -kLarge, kLarge);
  return drawn("RandomRotation", rotate(0, options), [degrees, options](Draws& draws, ImageSize) {
    return Chain{rotate(draws.within(degrees), options)};
  });
}
TransformPtr random_affine(const AffineDraw& d, const WarpOptions& options) {
  constexpr const char* kName = "RandomAffine";
  check_range(kName, "degrees", d.degrees, -kLarge, kLarge);
  check_range(kName, "translate", d.translate_x, -1, 1);
  check_range(kName, "translate", d.translate_y, -1, 1);
  check_range(kName, "scale", d.scale, 1e-9, kLarge);
  check_range(kName, "shear", d.shear_x, -kLarge, kLarge);
  check_range(kName, "shear", d.shear_y, -kLarge, kLarge);
  return drawn(kName, affine({}, options), [d, options](Draws& draws, ImageSize size) {
    AffineSteps steps;
    steps.degrees = draws.within(d.degrees);
    // Whole pixels, as the engine that this follows draws them.
    auto shift = [&](std::pair<double, double> range, int64_t side) {
      auto n = static_cast<double>(side);
      return std::nearbyint(draws.within(range) * n) / n;
    };
    steps.translate = {shift(d.translate_x, size.width), shift(d.translate_y, size.height)};
    steps.scale = draws.within(d.scale);
    steps.shear = {draws.within(d.shear_x), draws.within(d.shear_y)};
    return Chain{affine(steps, options)};
  });
}

TransformPtr random_erasing(ErasingDraw draw) { return std::make_shared<RandomErasing>(std::move(draw)); }
TransformPtr cut_out(int64_t length, int64_t patches, bool is_hwc) {
  return std::make_shared<CutOut>(length, patches, is_hwc);
}

}  // namespace sorus::data
