#include <algorithm>

#include "sorus/data/audio/detail/signal.h"

/// Masks over frequencies or times of spectrograms.
namespace sorus::data::audio {
namespace {

void check_axis(const char* name, int axis) {
  SORUS_CHECK(axis == 1 || axis == 2, ValueError, "{}: axis is out of range: got {}, need 1 or 2", name,
              axis);
}

/// The extent that is masked.
int64_t masked_size(const char* name, const Shape& shape, int axis) {
  check_rank(name, shape, 2, "(..., frequency, time)");
  return shape.size(shape.rank() - 3 + axis);
}

void mask_one(const Shape& shape, Result y, int axis, int64_t start, int64_t width, double value) {
  int64_t times = shape.size(shape.rank() - 1);
  for (int64_t i = 0; i < std::ssize(y); ++i) {
    int64_t at = axis == 2 ? i % times : i / times;
    if (at >= start && at < start + width) y[static_cast<size_t>(i)] = value;
  }
}

}  // namespace

TransformPtr mask_along_axis(int64_t start, int64_t width, double value, int axis) {
  constexpr const char* kName = "MaskAlongAxis";
  SORUS_CHECK(start >= 0 && width >= 0, ValueError,
              "{}: mask_start or mask_width is out of range: got {} and {}, need 0 or more", kName, start,
              width);
  check_axis(kName, axis);
  auto fits = [=](const Shape& shape) {
    int64_t size = masked_size(kName, shape, axis);
    SORUS_CHECK(start + width <= size, ShapeError,
                "{}: mask is beyond the spectrogram: got {} from {} on for {}, need them within {}", kName,
                width, start, shape, size);
    return shape;
  };
  return signal(kName, fits, [=](const Shape& shape, Numbers x, Result y, Draws&) {
    std::copy(x.begin(), x.end(), y.begin());
    auto matrix = static_cast<size_t>(shape.size(shape.rank() - 1) * shape.size(shape.rank() - 2));
    for (size_t i = 0; i < y.size(); i += matrix)
      mask_one(shape, y.subspan(i, matrix), axis, start, width, value);
  });
}

TransformPtr mask_along_axis_iid(int64_t most, double value, int axis) {
  constexpr const char* kName = "MaskAlongAxisIID";
  SORUS_CHECK(most >= 0, ValueError, "{}: mask_param is out of range: got {}, need 0 or more", kName, most);
  check_axis(kName, axis);
  auto fits = [=](const Shape& shape) {
    int64_t size = masked_size(kName, shape, axis);
    SORUS_CHECK(most <= size, ShapeError,
                "{}: mask_param is beyond the spectrogram: got {} for {}, need at most {}", kName, most,
                shape, size);
    return shape;
  };
  return signal(kName, fits, [=](const Shape& shape, Numbers x, Result y, Draws& draws) {
    std::copy(x.begin(), x.end(), y.begin());
    auto matrix = static_cast<size_t>(shape.size(shape.rank() - 1) * shape.size(shape.rank() - 2));
    for (size_t i = 0; i < y.size(); i += matrix) {
      double width = draws.next() * static_cast<double>(most);
      double start = draws.next() * (static_cast<double>(shape.size(shape.rank() - 3 + axis)) - width);
      mask_one(shape, y.subspan(i, matrix), axis, static_cast<int64_t>(start), static_cast<int64_t>(width),
               value);
    }
  });
}

}  // namespace sorus::data::audio
