#include <algorithm>
#include <cstring>

#include "sorus/data/vision.h"

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
    auto middle = [](int64_t whole, int64_t part) {
      return whole >= part ? (whole - part) / 2 : -((part - whole + 1) / 2);
    };
    int64_t top = corner_ ? corner_->first : middle(size.height, height_);
    int64_t left = corner_ ? corner_->second : middle(size.width, width_);
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += out.bytes())
      copy_window(from, size, to, {height_, width_, size.channels}, top, left, constant, Border::kConstant);
  }

 private:
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
    auto [top, left, bottom, right] = room(in);
    ImageSize size = image_size(*this, in);
    RowType out = infer(in);
    auto constant = outside_.pixel(*this, in);
    for (int64_t i = 0; i < rows; ++i, from += in.bytes(), to += out.bytes()) {
      auto words = context.draw(i);
      copy_window(from, size, to, {height_, width_, size.channels},
                  top + to_below(words[0], bottom - top + 1), left + to_below(words[1], right - left + 1),
                  constant, outside_.border);
    }
  }

 private:
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

}  // namespace

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
