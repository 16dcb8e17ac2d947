#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sorus/base/error.h"
#include "sorus/formats/image.h"
#include "sorus/formats/summary.h"

namespace sorus::formats {
namespace {

/// f(span of the elements, row-major).
template <class F>
void visit_elements(const Tensor& tensor, F&& f) {
  const Value& v = tensor.ready();
  const auto count = static_cast<size_t>(tensor.numel());
  std::vector<std::byte> copy;
  const std::byte* bytes = v.bytes();
  if (!is_contiguous(v.type.shape, v.strides)) {
    copy.resize(count * dtype_size(tensor.dtype()));
    copy_strided(v.bytes(), v.strides, copy.data(), Strides::contiguous(v.type.shape), v.type.shape,
                 dtype_size(tensor.dtype()));
    bytes = copy.data();
  }
  visit_dtype(tensor.dtype(), [&]<class S>(std::type_identity<S>) {
    f(std::span<const S>(reinterpret_cast<const S*>(bytes), count));
  });
}

template <class S>
double number(S s) {
  return static_cast<double>(static_cast<ComputeType<S>>(s));
}

void need_rank(const char* what, const Tensor& tensor) {
  SORUS_CHECK(tensor.rank() > 0, ValueError,
              "{}: value has the wrong rank: got a scalar, need a rank of 1 or more", what);
}

int64_t bucket_count(int64_t valid) {
  constexpr int64_t kMost = 90, kInEach = 10, kFew = 880;
  if (valid == 0) return 1;
  if (valid <= 5) return 2;
  if (valid <= 10) return 3;
  return valid <= kFew ? valid / kInEach + 1 : kMost;
}

/// The number of the type S beside a number: the nearest for floating types, the one below for others.
template <class S>
double rounded(double v) {
  if constexpr (std::is_integral_v<S>)
    return std::max(std::floor(v), static_cast<double>(std::numeric_limits<S>::lowest()));
  else if constexpr (std::is_same_v<S, double>)
    return v;
  else
    return number(S(static_cast<float>(v)));
}

template <class S>
std::vector<double> bucket_edges(double low, double high, int64_t buckets) {
  if (!(low < high)) {
    low -= 0.5;
    high += 0.5;
  }
  const auto n = static_cast<double>(buckets);
  // The difference of the greatest numbers is none.
  const double step = std::isfinite(high - low) ? (high - low) / n : high / n - low / n;
  std::vector<double> edges;
  for (int64_t i = 0; i < buckets; ++i) edges.push_back(rounded<S>(static_cast<double>(i) * step + low));
  edges.push_back(rounded<S>(high));
  return edges;
}

template <class S>
SummaryHistogram histogram_of(std::span<const S> elements) {
  SummaryHistogram h;
  h.count = static_cast<int64_t>(elements.size());
  SummaryHistogram::Range range{std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(), 0};
  for (S s : elements) {
    const double v = number(s);
    if (std::isfinite(v)) {
      range.min = std::min(range.min, v);
      range.max = std::max(range.max, v);
      range.sum += v;
    } else {
      ++(std::isnan(v) ? h.nans : v > 0 ? h.infinities : h.negative_infinities);
    }
  }
  const int64_t valid = h.count - h.nans - h.infinities - h.negative_infinities;
  if (valid == 0) return h;
  h.range = range;
  const std::vector<double> edges = bucket_edges<S>(range.min, range.max, bucket_count(valid));
  for (size_t i = 0; i + 1 < edges.size(); ++i)
    h.buckets.push_back({edges[i], rounded<S>(edges[i + 1] - edges[i]), 0});
  const auto last = static_cast<int64_t>(h.buckets.size()) - 1;
  double per_unit = static_cast<double>(last + 1) / (edges.back() - edges.front());
  if (!std::isfinite(per_unit)) per_unit = 0;  // for extents of next to nothing
  for (S s : elements) {
    const double v = number(s);
    if (!std::isfinite(v)) continue;
    // A bucket has its left edge; the last has its right one as well. Rounded edges are near the guess.
    int64_t b = per_unit > 0 ? std::min(static_cast<int64_t>((v - edges.front()) * per_unit), last) : 0;
    while (b > 0 && v < edges[static_cast<size_t>(b)]) --b;
    while (b < last && v >= edges[static_cast<size_t>(b) + 1]) ++b;
    ++h.buckets[static_cast<size_t>(b)].count;
  }
  return h;
}

/// Images beside each other: rows and columns of them, and their extents.
struct Canvas {
  int64_t images, channels, height, width, columns, rows;
};

Canvas canvas_of(const Shape& shape) {
  constexpr int64_t kMostColumns = 8;
  bool fits = shape.rank() == 4 && (shape.size(1) == 1 || shape.size(1) == 3);
  for (int i = 0; fits && i < 4; ++i) fits = shape.size(i) > 0;
  SORUS_CHECK(fits, ValueError,
              "summary_image: value is no image: got the shape {}, need (N, C, H, W) with C = 1 or 3 and no "
              "extent of 0",
              shape.text());
  const int64_t n = shape.size(0), columns = std::min(n, kMostColumns);
  return {n, shape.size(1), shape.size(2), shape.size(3), columns, (n + columns - 1) / columns};
}

/// How elements become bytes. The arithmetic is float32's.
struct Scale {
  float shift = 0, factor = 255;
};

template <class S>
Scale scale_of(std::span<const S> elements, bool has_blank) {
  double low = has_blank ? 0 : std::numeric_limits<double>::infinity(), high = -low;
  for (S s : elements)
    if (const double v = number(s); std::isfinite(v)) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
  if (low > high || (low >= 0 && high <= 1)) return {};
  return {static_cast<float>(low), low == high ? 1.F : static_cast<float>(255 / (high - low + 1))};
}

uint8_t byte_of(double v, const Scale& scale) {
  if (!std::isfinite(v)) return v > 0 ? 255 : 0;
  const float byte = (static_cast<float>(v) - scale.shift) * scale.factor;
  if (byte >= 255) return 255;
  return byte > 0 ? static_cast<uint8_t>(byte) : uint8_t{0};  // nothing for what is no number in float32
}

}  // namespace

int32_t message_data_type(DType dtype) {
  constexpr std::array<std::pair<DType, int32_t>, kDTypeCount> kNumbers = {{{DType::kBool, 1},
                                                                            {DType::kInt8, 2},
                                                                            {DType::kInt16, 3},
                                                                            {DType::kInt32, 4},
                                                                            {DType::kInt64, 5},
                                                                            {DType::kUInt8, 6},
                                                                            {DType::kUInt16, 7},
                                                                            {DType::kUInt32, 8},
                                                                            {DType::kUInt64, 9},
                                                                            {DType::kFloat16, 10},
                                                                            {DType::kFloat32, 11},
                                                                            {DType::kFloat64, 12},
                                                                            {DType::kBFloat16, 45}}};
  return std::find_if(kNumbers.begin(), kNumbers.end(), [&](const auto& p) { return p.first == dtype; })
      ->second;
}

float summary_scalar(const Tensor& tensor) {
  SORUS_CHECK(tensor.numel() == 1, ValueError,
              "summary_scalar: value has the wrong number of elements: got {}, need 1", tensor.numel());
  return static_cast<float>(tensor.item<double>());
}

SummaryTensor summary_tensor(const Tensor& tensor) {
  need_rank("summary_tensor", tensor);
  SummaryTensor out;
  const Ints dims = tensor.shape().sizes();
  out.dims.assign(dims.begin(), dims.end());
  out.data_type = message_data_type(tensor.dtype());
  out.values.reserve(static_cast<size_t>(tensor.numel()));
  visit_elements(tensor, [&](auto elements) {
    for (auto s : elements) out.values.push_back(static_cast<float>(number(s)));
  });
  return out;
}

SummaryHistogram summary_histogram(const Tensor& tensor) {
  need_rank("summary_histogram", tensor);
  SummaryHistogram out;
  visit_elements(tensor, [&](auto elements) { out = histogram_of(elements); });
  return out;
}

SummaryImage summary_image(const Tensor& tensor) {
  const Canvas c = canvas_of(tensor.shape());
  const int64_t height = c.rows * c.height, width = c.columns * c.width;
  const bool has_blank = c.rows * c.columns > c.images;
  std::vector<uint8_t> pixels;
  visit_elements(tensor, [&]<class S>(std::span<const S> elements) {
    const Scale scale = scale_of(elements, has_blank);
    pixels.assign(static_cast<size_t>(height * width * 3), byte_of(0, scale));
    size_t from = 0;
    for (int64_t n = 0; n < c.images; ++n)
      for (int64_t channel = 0; channel < c.channels; ++channel)
        for (int64_t y = 0; y < c.height; ++y)
          for (int64_t x = 0; x < c.width; ++x) {
            const int64_t row = n / c.columns * c.height + y, column = n % c.columns * c.width + x;
            const auto to = static_cast<size_t>((row * width + column) * 3 + channel);
            const uint8_t byte = byte_of(number(elements[from++]), scale);
            for (size_t k = 0; k < (c.channels == 1 ? 3 : 1); ++k) pixels[to + k] = byte;
          }
  });
  return {static_cast<int32_t>(height), static_cast<int32_t>(width), 3,
          encode_png(pixels, {height, width, 3})};
}

}  // namespace sorus::formats
