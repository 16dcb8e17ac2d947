#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "sorus/data/vision/detail/resize_area.h"
#include "sorus/data/vision/vision.h"

/// Resizing as OpenCV 4 does it (modules/imgproc, resize): pixel centres at half numbers; for uint8, weights
/// with 11 fractional bits, horizontally first. Its vector code drops 4 bits of each row sum before the
/// vertical step of the linear filter; its result is what counts here.
namespace sorus::data {
namespace {

constexpr int kWeightBits = 11;
constexpr float kWeightOne = 1 << kWeightBits;

/// Which source pixels make one target pixel, along one axis.
template <class W>
struct Tap {
  int64_t first = 0;  ///< may lie outside
  W weight[4] = {};
};

/// Weights of the cubic filter (a = -0.75) for a place `x` in [0, 1) behind the second of four pixels.
void cubic_weights(float x, float* w) {
  constexpr float kA = -0.75F;
  w[0] = ((kA * (x + 1) - 5 * kA) * (x + 1) + 8 * kA) * (x + 1) - 4 * kA;
  w[1] = ((kA + 2) * x - (kA + 3)) * x * x + 1;
  w[2] = ((kA + 2) * (1 - x) - (kA + 3)) * (1 - x) * (1 - x) + 1;
  w[3] = 1.F - w[0] - w[1] - w[2];
}

template <class W>
W to_weight(float w) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(std::lrintf(w * kWeightOne));
  else
    return static_cast<W>(w);
}

/// Where a target pixel lies in the source: the first of its two pixels, and how far it is from there.
struct Place {
  int64_t first;
  float x;
};

Place place_of(int64_t i, int64_t from, int64_t to, Interpolation kind) {
  double scale = static_cast<double>(from) / static_cast<double>(to);
  if (kind == Interpolation::kArea) {  // growing: pixels keep their areas, and only edges are blended
    auto first = static_cast<int64_t>(std::floor(static_cast<double>(i) * scale));
    double inverse = static_cast<double>(to) / static_cast<double>(from);
    auto x = static_cast<float>(static_cast<double>(i + 1) - static_cast<double>(first + 1) * inverse);
    return {first, x <= 0 ? 0.F : x - std::floor(x)};
  }
  auto place = static_cast<float>((static_cast<double>(i) + 0.5) * scale - 0.5);
  auto first = static_cast<int64_t>(std::floor(place));
  return {first, place - static_cast<float>(first)};
}

/// `clamp`: a place before the first or behind the last pixel takes that pixel alone.
template <class W>
std::vector<Tap<W>> make_taps(int64_t from, int64_t to, Interpolation kind, bool clamp) {
  std::vector<Tap<W>> taps(static_cast<size_t>(to));
  bool cubic = kind == Interpolation::kCubic;
  for (int64_t i = 0; i < to; ++i) {
    Tap<W>& tap = taps[static_cast<size_t>(i)];
    auto [first, x] = place_of(i, from, to, kind);
    if (clamp && (first < 0 || first >= from - 1)) {
      first = first < 0 ? 0 : from - 1;
      x = 0;
    }
    float w[4] = {1.F - x, x, 0, 0};
    if (cubic) cubic_weights(x, w);
    tap.first = cubic ? first - 1 : first;
    for (int k = 0; k < 4; ++k) tap.weight[k] = to_weight<W>(w[k]);
  }
  return taps;
}

/// One filter pass over source rows as they are needed: kept rows are found by their number.
template <class Sum, class Fill>
class RowCache {
 public:
  RowCache(int64_t width, Fill fill)
      : fill_(fill), width_(width), store_(static_cast<size_t>(width) * kRows) {}
  const Sum* row(int64_t y) {
    auto slot = static_cast<size_t>(y % kRows);
    Sum* at = store_.data() + slot * static_cast<size_t>(width_);
    if (numbers_[slot] != y) fill_(y, at);
    numbers_[slot] = y;
    return at;
  }
  void forget() { std::fill(std::begin(numbers_), std::end(numbers_), -1); }

 private:
  static constexpr int64_t kRows = 4;
  Fill fill_;
  int64_t width_;
  int64_t numbers_[kRows] = {-1, -1, -1, -1};
  std::vector<Sum> store_;
};

/// Vertical step of the linear filter on row sums without their lowest 4 bits.
void blend_rows(const int16_t* a, const int16_t* b, int16_t wa, int16_t wb, uint8_t* to, int64_t count) {
  auto one = [&](int64_t i) {
    auto high = [](int16_t x, int16_t y) { return static_cast<int16_t>((int32_t{x} * y) >> 16); };
    to[i] = static_cast<uint8_t>((high(a[i], wa) + high(b[i], wb) + 2) >> 2);
  };
  constexpr int64_t kBlock = 16;  // a fixed count, which the compiler turns into vectors
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock)
    for (int64_t j = 0; j < kBlock; ++j) one(i + j);
  for (; i < count; ++i) one(i);
}

/// `from` and `to` hold `rows` images each.
void linear_bytes(const uint8_t* from, ImageSize in, uint8_t* to, ImageSize out, int64_t rows,
                  Interpolation kind) {
  auto xs = make_taps<int16_t>(in.width, out.width, kind, true);
  auto ys = make_taps<int16_t>(in.height, out.height, kind, false);
  int64_t channels = in.channels;
  int64_t line = out.width * channels;
  auto fill = [&](int64_t y, int16_t* sums) {
    const uint8_t* source = from + y * in.width * channels;
    for (int64_t x = 0; x < out.width; ++x) {
      const Tap<int16_t>& tap = xs[static_cast<size_t>(x)];
      const uint8_t* a = source + tap.first * channels;
      const uint8_t* b = source + std::min(tap.first + 1, in.width - 1) * channels;
      for (int64_t c = 0; c < channels; ++c)
        *sums++ = static_cast<int16_t>((a[c] * tap.weight[0] + b[c] * tap.weight[1]) >> 4);
    }
  };
  RowCache<int16_t, decltype(fill)> cache(line, fill);
  for (int64_t image = 0; image < rows; ++image) {
    cache.forget();
    for (int64_t y = 0; y < out.height; ++y, to += line) {
      const Tap<int16_t>& tap = ys[static_cast<size_t>(y)];
      const int16_t* a = cache.row(std::clamp<int64_t>(tap.first, 0, in.height - 1));
      const int16_t* b = cache.row(std::clamp<int64_t>(tap.first + 1, 0, in.height - 1));
      blend_rows(a, b, tap.weight[0], tap.weight[1], to, line);
    }
    from += in.height * in.width * channels;
  }
}

template <class T>
T round_to(double sum) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(sum);
  } else {
    double rounded = std::nearbyint(sum);
    rounded = std::clamp(rounded, static_cast<double>(std::numeric_limits<T>::min()),
                         static_cast<double>(std::numeric_limits<T>::max()));
    return static_cast<T>(rounded);
  }
}

/// Any filter on any type: T elements, W weights, Sum sums.
template <class T, class W, class Sum>
void filter_image(const T* from, ImageSize in, T* to, ImageSize out, int64_t rows, Interpolation kind) {
  bool cubic = kind == Interpolation::kCubic;
  int taps = cubic ? 4 : 2;
  auto xs = make_taps<W>(in.width, out.width, kind, !cubic);
  auto ys = make_taps<W>(in.height, out.height, kind, false);
  int64_t channels = in.channels;
  int64_t line = out.width * channels;
  auto fill = [&](int64_t y, Sum* sums) {
    const T* source = from + y * in.width * channels;
    for (int64_t i = 0; i < line; ++i) {
      const Tap<W>& tap = xs[static_cast<size_t>(i / channels)];
      Sum sum = 0;
      for (int k = 0; k < taps; ++k) {
        int64_t x = std::clamp<int64_t>(tap.first + k, 0, in.width - 1);
        sum += static_cast<Sum>(source[x * channels + i % channels]) * static_cast<Sum>(tap.weight[k]);
      }
      sums[i] = sum;
    }
  };
  RowCache<Sum, decltype(fill)> cache(line, fill);
  for (int64_t image = 0; image < rows; ++image, from += in.height * in.width * channels) {
    cache.forget();
    for (int64_t y = 0; y < out.height; ++y, to += line) {
      const Tap<W>& tap = ys[static_cast<size_t>(y)];
      const Sum* source[4];
      for (int k = 0; k < taps; ++k)
        source[k] = cache.row(std::clamp<int64_t>(tap.first + k, 0, in.height - 1));
      for (int64_t i = 0; i < line; ++i) {
        Sum sum = 0;
        for (int k = 0; k < taps; ++k) sum += source[k][i] * static_cast<Sum>(tap.weight[k]);
        if constexpr (std::is_integral_v<W>)
          to[i] =
              static_cast<T>(std::clamp((sum + (1 << (2 * kWeightBits - 1))) >> (2 * kWeightBits), 0, 255));
        else
          to[i] = round_to<T>(static_cast<double>(sum));
      }
    }
  }
}

template <class T>
void nearest(const T* from, ImageSize in, T* to, ImageSize out, int64_t rows) {
  auto places = [](int64_t source, int64_t target) {
    std::vector<int64_t> at(static_cast<size_t>(target));
    double scale = static_cast<double>(source) / static_cast<double>(target);
    for (int64_t i = 0; i < target; ++i)
      at[static_cast<size_t>(i)] = std::min(static_cast<int64_t>(static_cast<double>(i) * scale), source - 1);
    return at;
  };
  auto ys = places(in.height, out.height);
  auto xs = places(in.width, out.width);
  for (int64_t image = 0; image < rows; ++image, from += in.height * in.width * in.channels)
    for (int64_t y : ys)
      for (int64_t x : xs) to = std::copy_n(from + (y * in.width + x) * in.channels, in.channels, to);
}

class Resize final : public Transform {
 public:
  /// Width 0: `height` is the length of the shorter side.
  Resize(int64_t height, int64_t width, Interpolation interpolation)
      : height_(height), width_(width), interpolation_(interpolation) {
    SORUS_CHECK(height > 0 && width >= 0, ValueError,
                "Resize: size is out of range: got ({}, {}), need 1 or more", height, width);
  }
  std::string name() const override { return "Resize"; }
  RowType infer(const RowType& in) const override {
    ImageSize size = image_size(*this, in);
    bool fits = in.dtype != DType::kBool && !is_half(in.dtype);
    if (is_integer(in.dtype)) fits = dtype_size(in.dtype) <= 2 || in.dtype == DType::kInt32;
    SORUS_CHECK(
        fits, DTypeError,
        "Resize: image has the wrong type: got {}, need uint8, int8, uint16, int16, int32, float32 or "
        "float64",
        in.dtype);
    if (width_ > 0) return with_size(in, height_, width_);
    if (size.height < size.width) return with_size(in, height_, height_ * size.width / size.height);
    return with_size(in, height_ * size.height / size.width, height_);
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    ImageSize source = image_size(*this, in);
    ImageSize target = image_size(*this, infer(in));
    if (source.height == target.height && source.width == target.width) {
      std::memcpy(to, from, in.bytes() * static_cast<size_t>(rows));
      return;
    }
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
        run_typed(reinterpret_cast<const T*>(from), source, reinterpret_cast<T*>(to), target, rows);
    });
  }

 private:
  template <class T>
  void run_typed(const T* from, ImageSize in, T* to, ImageSize out, int64_t rows) const {
    bool shrinks = in.height >= out.height && in.width >= out.width;
    if (interpolation_ == Interpolation::kNearest) {
      nearest(from, in, to, out, rows);
    } else if (interpolation_ == Interpolation::kArea && shrinks) {
      detail::shrink_area(from, in, to, out, rows);
    } else if constexpr (std::is_same_v<T, uint8_t>) {
      if (interpolation_ == Interpolation::kCubic)
        filter_image<uint8_t, int16_t, int32_t>(from, in, to, out, rows, interpolation_);
      else
        linear_bytes(from, in, to, out, rows, interpolation_);
    } else {
      using Sum =
          std::conditional_t<sizeof(T) == 8 || std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t>,
                             double, float>;
      filter_image<T, float, Sum>(from, in, to, out, rows, interpolation_);
    }
  }
  int64_t height_;
  int64_t width_;
  Interpolation interpolation_;
};

}  // namespace

TransformPtr resize(int64_t height, int64_t width, Interpolation interpolation) {
  SORUS_CHECK(width > 0, ValueError, "Resize: size is out of range: got ({}, {}), need 1 or more", height,
              width);
  return std::make_shared<Resize>(height, width, interpolation);
}
TransformPtr resize_shorter(int64_t size, Interpolation interpolation) {
  return std::make_shared<Resize>(size, 0, interpolation);
}

}  // namespace sorus::data
