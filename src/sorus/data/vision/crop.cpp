#include <algorithm>
#include <cmath>
#include <cstring>

#include "sorus/data/vision/vision.h"

/// Transforms that move pixels: flips, crops and padding.
namespace sorus::data {
namespace {

/// Bytes of a pixel.
size_t pixel_bytes(const Transform& transform, const RowType& in) {
  return static_cast<size_t>(image_size(transform, in).channels) * dtype_size(in.dtype);
}

void flip_image(ImageSize size, size_t pixel, bool horizontal, const std::byte* from, std::byte* to) {
  size_t line = static_cast<size_t>(size.width) * pixel;
  for (int64_t y = 0; y < size.height; ++y, to += line) {
    if (!horizontal) {
      std::memcpy(to, from + static_cast<size_t>(size.height - 1 - y) * line, line);
      continue;
    }
    const std::byte* source = from + static_cast<size_t>(y) * line;
    for (int64_t x = 0; x < size.width; ++x)
      std::memcpy(to + static_cast<size_t>(x) * pixel,
                  source + static_cast<size_t>(size.width - 1 - x) * pixel, pixel);
  }
}

class Flip final : public Transform {
 public:
  Flip(bool horizontal, std::optional<double> probability)
      : horizontal_(horizontal), probability_(probability) {
    SORUS_CHECK(!probability || (*probability >= 0 && *probability <= 1), ValueError,
                "{}: prob is out of range: got {}, need 0 to 1", name(), probability.value_or(0));
  }
  std::string name() const override {
    return std::string(probability_ ? "Random" : "") + (horizontal_ ? "HorizontalFlip" : "VerticalFlip");
  }
  RowType infer(const RowType& in) const override {
    image_size(*this, in);
    return in;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext& context) const override {
    ImageSize size = image_size(*this, in);
    size_t pixel = pixel_bytes(*this, in);
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += in.bytes()) {
      if (!probability_ || to_unit(context.draw(i)[0]) < *probability_)
        flip_image(size, pixel, horizontal_, from, to);
      else
        std::memcpy(to, from, in.bytes());
    }
  }

 private:
  bool horizontal_;
  std::optional<double> probability_;
};

/// Where a place outside [0, n) is taken from; -1: from nowhere.
int64_t border_place(int64_t i, int64_t n, Border border) {
  if (i >= 0 && i < n) return i;
  if (border == Border::kConstant) return -1;
  if (border == Border::kEdge || n == 1) return std::clamp<int64_t>(i, 0, n - 1);
  int64_t period = border == Border::kReflect ? 2 * (n - 1) : 2 * n;
  int64_t at = ((i % period) + period) % period;
  if (at < n) return at;
  return border == Border::kReflect ? period - at : period - 1 - at;
}

/// What lies outside an image.
struct Outside {
  std::vector<double> fill;
  Border border = Border::kConstant;

  /// The bytes of a constant pixel.
  std::vector<std::byte> pixel(const Transform& transform, const RowType& in) const {
    ImageSize size = image_size(transform, in);
    auto given = static_cast<int64_t>(fill.size());
    SORUS_CHECK(given == 1 || given == size.channels, ValueError,
                "{}: fill values do not fit: got {}, need 1 or one for each of {} channels", transform.name(),
                given, size.channels);
    std::vector<std::byte> bytes(pixel_bytes(transform, in));
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      for (int64_t c = 0; c < size.channels; ++c) {
        auto value =
            static_cast<T>(static_cast<ComputeType<T>>(fill[given == 1 ? 0 : static_cast<size_t>(c)]));
        std::memcpy(bytes.data() + static_cast<size_t>(c) * sizeof(T), &value, sizeof(T));
      }
    });
    return bytes;
  }
};

/// The window of `out` pixels whose first pixel is (top, left) of the image, which may lie outside it.
void copy_window(const std::byte* from, ImageSize in, std::byte* to, ImageSize out, int64_t top, int64_t left,
                 const std::vector<std::byte>& constant, Border border) {
  size_t pixel = constant.size();
  auto fill = [&](std::byte* at, int64_t count) {
    for (int64_t i = 0; i < count; ++i, at += pixel) std::memcpy(at, constant.data(), pixel);
  };
  for (int64_t y = 0; y < out.height; ++y, to += static_cast<size_t>(out.width) * pixel) {
    int64_t source_y = border_place(top + y, in.height, border);
    if (source_y < 0) {
      fill(to, out.width);
      continue;
    }
    const std::byte* line = from + static_cast<size_t>(source_y * in.width) * pixel;
    int64_t begin = std::clamp<int64_t>(-left, 0, out.width);
    int64_t end = std::clamp<int64_t>(in.width - left, begin, out.width);
    if (end > begin)
      std::memcpy(to + static_cast<size_t>(begin) * pixel, line + static_cast<size_t>(left + begin) * pixel,
                  static_cast<size_t>(end - begin) * pixel);
    auto outside = [&](int64_t x) {
      int64_t source_x = border_place(left + x, in.width, border);
      const std::byte* source = source_x < 0 ? constant.data() : line + static_cast<size_t>(source_x) * pixel;
      std::memcpy(to + static_cast<size_t>(x) * pixel, source, pixel);
    };
    for (int64_t x = 0; x < begin; ++x) outside(x);
    for (int64_t x = end; x < out.width; ++x) outside(x);
  }
}

void check_window(const char* op, int64_t height, int64_t width) {
  SORUS_CHECK(height > 0 && width > 0, ValueError, "{}: size is out of range: got ({}, {}), need 1 or more",
              op, height, width);
}

/// The window when it lies within the image.
std::optional<Window> window_within(ImageSize size, const Window& w) {
  bool inside =
      w.top >= 0 && w.left >= 0 && w.top + w.height <= size.height && w.left + w.width <= size.width;
  return inside ? std::optional(w) : std::nullopt;
}

class Crop final : public Transform {
 public:
  /// Without a corner the window lies in the middle.
  Crop(std::optional<std::pair<int64_t, int64_t>> corner, int64_t height, int64_t width)
      : corner_(corner), height_(height), width_(width) {
    check_window(name().c_str(), height, width);
  }
  std::string name() const override { return corner_ ? "Crop" : "CenterCrop"; }
  RowType infer(const RowType& in) const override {
    ImageSize size = image_size(*this, in);
    if (corner_)
      SORUS_CHECK(corner_->first >= 0 && corner_->second >= 0 && corner_->first + height_ <= size.height &&
                      corner_->second + width_ <= size.width,
                  ShapeError, "Crop: window leaves the image: got ({}, {}) at ({}, {}), need a part of {}",
                  height_, width_, corner_->first, corner_->second, in.shape);
    return with_size(in, height_, width_);
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    ImageSize size = image_size(*this, in);
    RowType out = infer(in);
    auto constant = Outside{{0}}.pixel(*this, in);
    auto [top, left] = place(size);
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += out.bytes())
      copy_window(from, size, to, {height_, width_, size.channels}, top, left, constant, Border::kConstant);
  }
  bool crops() const override { return true; }
  std::optional<Window> window(const RowType& in, int64_t, const RowContext&) const override {
    ImageSize size = image_size(*this, in);
    auto [top, left] = place(size);
    return window_within(size, {top, left, height_, width_});
  }

 private:
  /// The window's first pixel.
  std::pair<int64_t, int64_t> place(ImageSize size) const {
    auto middle = [](int64_t whole, int64_t part) {
      return whole >= part ? (whole - part) / 2 : -((part - whole + 1) / 2);
    };
    return corner_ ? *corner_ : std::pair(middle(size.height, height_), middle(size.width, width_));
  }
  std::optional<std::pair<int64_t, int64_t>> corner_;
  int64_t height_;
  int64_t width_;
};

void check_padding(const char* op, const Padding& p) {
  SORUS_CHECK(std::min({p.left, p.top, p.right, p.bottom}) >= 0, ValueError,
              "{}: padding is out of range: got ({}, {}, {}, {}), need 0 or more", op, p.left, p.top, p.right,
              p.bottom);
}

class Pad final : public Transform {
 public:
  Pad(Padding padding, Outside outside) : padding_(padding), outside_(std::move(outside)) {
    check_padding("Pad", padding);
  }
  std::string name() const override { return "Pad"; }
  RowType infer(const RowType& in) const override {
    ImageSize size = image_size(*this, in);
    return with_size(in, size.height + padding_.top + padding_.bottom,
                     size.width + padding_.left + padding_.right);
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    RowType out = infer(in);
    auto constant = outside_.pixel(*this, in);
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += out.bytes())
      copy_window(from, image_size(*this, in), to, image_size(*this, out), -padding_.top, -padding_.left,
                  constant, outside_.border);
  }

 private:
  Padding padding_;
  Outside outside_;
};

class RandomCrop final : public Transform {
 public:
  RandomCrop(int64_t height, int64_t width, Padding padding, bool pad_if_needed, Outside outside)
      : height_(height),
        width_(width),
        padding_(padding),
        grow_(pad_if_needed),
        outside_(std::move(outside)) {
    check_window("RandomCrop", height, width);
    check_padding("RandomCrop", padding);
  }
  std::string name() const override { return "RandomCrop"; }
  RowType infer(const RowType& in) const override {
    auto [top, left, bottom, right] = room(in);
    SORUS_CHECK(
        top <= bottom && left <= right, ShapeError,
        "RandomCrop: window is larger than the padded image: got ({}, {}) for an image {}, need at most its "
        "size, or pad_if_needed",
        height_, width_, in.shape);
    return with_size(in, height_, width_);
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext& context) const override {
    ImageSize size = image_size(*this, in);
    RowType out = infer(in);
    auto constant = outside_.pixel(*this, in);
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += out.bytes()) {
      Window w = place(in, i, context);
      copy_window(from, size, to, {height_, width_, size.channels}, w.top, w.left, constant, outside_.border);
    }
  }
  bool crops() const override { return true; }
  std::optional<Window> window(const RowType& in, int64_t i, const RowContext& context) const override {
    return window_within(image_size(*this, in), place(in, i, context));
  }

 private:
  Window place(const RowType& in, int64_t i, const RowContext& context) const {
    auto [top, left, bottom, right] = room(in);
    auto words = context.draw(i);
    return {top + to_below(words[0], bottom - top + 1), left + to_below(words[1], right - left + 1), height_,
            width_};
  }
  struct Room {
    int64_t top, left, bottom, right;  ///< places of the window's first pixel, ends included
  };
  Room room(const RowType& in) const {
    ImageSize size = image_size(*this, in);
    Padding p = padding_;
    if (grow_) {
      // As much on both sides as is lacking, as the engine that this follows does.
      int64_t lacks_y = std::max<int64_t>(height_ - (size.height + p.top + p.bottom), 0);
      int64_t lacks_x = std::max<int64_t>(width_ - (size.width + p.left + p.right), 0);
      p = {p.left + lacks_x, p.top + lacks_y, p.right + lacks_x, p.bottom + lacks_y};
    }
    return {-p.top, -p.left, size.height + p.bottom - height_, size.width + p.right - width_};
  }
  int64_t height_;
  int64_t width_;
  Padding padding_;
  bool grow_;
  Outside outside_;
};

/// A random part, resized.
class RandomResizedCrop final : public Transform {
 public:
  RandomResizedCrop(int64_t height, int64_t width, const CropDraw& draw, Interpolation interpolation)
      : draw_(draw), resize_(data::resize(height, width, interpolation)) {
    check_range("scale", draw.scale);
    check_range("ratio", draw.ratio);
    SORUS_CHECK(draw.attempts >= 1, ValueError,
                "RandomResizedCrop: max_attempts is out of range: got {}, need 1 or more", draw.attempts);
  }
  std::string name() const override { return "RandomResizedCrop"; }
  RowType infer(const RowType& in) const override {
    image_size(*this, in);
    return resize_->infer(in);
  }
  bool crops() const override { return true; }
  std::optional<Window> window(const RowType& in, int64_t i, const RowContext& context) const override {
    return choose(image_size(*this, in), i, context);
  }
  TransformPtr after_window() const override { return resize_; }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext& context) const override {
    ImageSize size = image_size(*this, in);
    size_t bytes = infer(in).bytes();
    size_t pixel = pixel_bytes(*this, in);
    Ref<Storage> part = Storage::allocate(in.bytes());
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += bytes) {
      Window w = choose(size, i, context);
      copy_window(from, size, part->data(), {w.height, w.width, size.channels}, w.top, w.left,
                  std::vector<std::byte>(pixel), Border::kConstant);
      resize_->run(with_size(in, w.height, w.width), part->data(), to, 1, context);
    }
  }

 private:
  static void check_range(const char* what, std::pair<double, double> range) {
    SORUS_CHECK(range.first > 0 && range.first <= range.second && std::isfinite(range.second), ValueError,
                "RandomResizedCrop: {} is out of range: got ({}, {}), need (low, high) above 0", what,
                range.first, range.second);
  }
  Window choose(ImageSize size, int64_t i, const RowContext& context) const {
    auto area = static_cast<double>(size.height * size.width);
    double low = std::log(draw_.ratio.first);
    double span = std::log(draw_.ratio.second) - low;
    for (int64_t attempt = 0; attempt < draw_.attempts; ++attempt) {
      auto words = context.draw(i, static_cast<uint64_t>(attempt));
      double share = draw_.scale.first + to_unit(words[0]) * (draw_.scale.second - draw_.scale.first);
      double ratio = std::exp(low + to_unit(words[1]) * span);
      auto width = std::max<int64_t>(std::llround(std::sqrt(area * share * ratio)), 1);
      auto height = std::max<int64_t>(std::llround(static_cast<double>(width) / ratio), 1);
      if (width <= size.width && height <= size.height)
        return {to_below(words[2], size.height - height + 1), to_below(words[3], size.width - width + 1),
                height, width};
    }
    return middle(size);
  }
  /// As much of the middle as the aspects allow.
  Window middle(ImageSize size) const {
    auto h = static_cast<double>(size.height);
    auto w = static_cast<double>(size.width);
    int64_t height = size.height;
    int64_t width = size.width;
    if (w / h < draw_.ratio.first)
      height = std::clamp<int64_t>(std::llround(w / draw_.ratio.first), 1, height);
    else if (w / h > draw_.ratio.second)
      width = std::clamp<int64_t>(std::llround(h * draw_.ratio.second), 1, width);
    return {(size.height - height + 1) / 2, (size.width - width + 1) / 2, height, width};
  }
  CropDraw draw_;
  TransformPtr resize_;
};

}  // namespace

TransformPtr random_resized_crop(int64_t height, int64_t width, const CropDraw& draw,
                                 Interpolation interpolation) {
  return std::make_shared<RandomResizedCrop>(height, width, draw, interpolation);
}
TransformPtr flip(bool horizontal) { return std::make_shared<Flip>(horizontal, std::nullopt); }
TransformPtr random_flip(bool horizontal, double probability) {
  return std::make_shared<Flip>(horizontal, probability);
}
TransformPtr crop(int64_t top, int64_t left, int64_t height, int64_t width) {
  return std::make_shared<Crop>(std::pair(top, left), height, width);
}
TransformPtr center_crop(int64_t height, int64_t width) {
  return std::make_shared<Crop>(std::nullopt, height, width);
}
TransformPtr pad(Padding padding, std::vector<double> fill, Border border) {
  return std::make_shared<Pad>(padding, Outside{std::move(fill), border});
}
TransformPtr random_crop(int64_t height, int64_t width, Padding padding, bool pad_if_needed,
                         std::vector<double> fill, Border border) {
  return std::make_shared<RandomCrop>(height, width, padding, pad_if_needed,
                                      Outside{std::move(fill), border});
}

}  // namespace sorus::data
