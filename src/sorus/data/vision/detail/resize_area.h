#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sorus/data/vision/vision.h"

/// Shrinking by the mean of the area that a pixel covers, as OpenCV 4 does it: in whole pixels where both
/// scales are whole numbers, else with weights of the parts, in float32 and row by row.
namespace sorus::data::detail {

/// A source pixel's share in a target pixel.
struct AreaPart {
  int64_t from;
  int64_t to;
  float weight;
};

inline std::vector<AreaPart> area_parts(int64_t from, int64_t to) {
  constexpr double kNothing = 1e-3;  // a narrower part is left out
  double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<AreaPart> parts;
  for (int64_t i = 0; i < to; ++i) {
    double begin = static_cast<double>(i) * scale;
    double end = begin + scale;
    double width = std::min(scale, static_cast<double>(from) - begin);
    auto last = std::min(static_cast<int64_t>(std::floor(end)), from - 1);
    auto first = std::min(static_cast<int64_t>(std::ceil(begin)), last);
    double before = static_cast<double>(first) - begin;
    double behind = end - static_cast<double>(last);
    if (before > kNothing) parts.push_back({first - 1, i, static_cast<float>(before / width)});
    for (int64_t j = first; j < last; ++j) parts.push_back({j, i, static_cast<float>(1.0 / width)});
    if (behind > kNothing)
      parts.push_back({last, i, static_cast<float>(std::min(std::min(behind, 1.0), width) / width)});
  }
  return parts;
}

template <class T>
T round_area(float sum) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(sum);
  } else {
    auto limit = [](T v) { return static_cast<double>(v); };
    double rounded = std::nearbyint(static_cast<double>(sum));
    return static_cast<T>(
        std::clamp(rounded, limit(std::numeric_limits<T>::min()), limit(std::numeric_limits<T>::max())));
  }
}

/// Means of whole blocks; integers are summed exactly.
template <class T>
void shrink_blocks(const T* from, ImageSize in, T* to, ImageSize out) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;
  int64_t rows = in.height / out.height;
  int64_t columns = in.width / out.width;
  float share = 1.F / static_cast<float>(rows * columns);
  for (int64_t y = 0; y < out.height; ++y)
    for (int64_t x = 0; x < out.width; ++x)
      for (int64_t c = 0; c < in.channels; ++c) {
        Sum sum = 0;
        for (int64_t j = 0; j < rows; ++j)
          for (int64_t i = 0; i < columns; ++i)
            sum += static_cast<Sum>(from[((y * rows + j) * in.width + x * columns + i) * in.channels + c]);
        if constexpr (std::is_same_v<T, uint8_t>)
          if (rows == 2 && columns == 2) {
            *to++ = static_cast<T>((sum + 2) >> 2);
            continue;
          }
        *to++ = round_area<T>(static_cast<float>(sum) * share);
      }
}

template <class T>
void shrink_parts(const T* from, ImageSize in, T* to, ImageSize out, const std::vector<AreaPart>& xs,
                  const std::vector<AreaPart>& ys) {
  auto line = static_cast<size_t>(out.width * in.channels);
  std::vector<float> row(line);
  std::vector<float> sum(line);
  auto add_row = [&](const AreaPart& y, bool begins) {
    std::fill(row.begin(), row.end(), 0.F);
    const T* source = from + y.from * in.width * in.channels;
    for (const AreaPart& x : xs)
      for (int64_t c = 0; c < in.channels; ++c)
        row[static_cast<size_t>(x.to * in.channels + c)] +=
            static_cast<float>(source[x.from * in.channels + c]) * x.weight;
    for (size_t i = 0; i < line; ++i) sum[i] = begins ? y.weight * row[i] : sum[i] + y.weight * row[i];
  };
  for (size_t j = 0; j < ys.size(); ++j) {
    add_row(ys[j], j == 0 || ys[j].to != ys[j - 1].to);
    if (j + 1 < ys.size() && ys[j + 1].to == ys[j].to) continue;
    for (size_t i = 0; i < line; ++i) *to++ = round_area<T>(sum[i]);
  }
}

/// `from` and `to` hold `rows` images each; no side grows.
template <class T>
void shrink_area(const T* from, ImageSize in, T* to, ImageSize out, int64_t rows) {
  bool whole = in.height % out.height == 0 && in.width % out.width == 0;
  auto xs = area_parts(in.width, out.width);
  auto ys = area_parts(in.height, out.height);
  for (int64_t i = 0; i < rows; ++i) {
    if (whole)
      shrink_blocks(from, in, to, out);
    else
      shrink_parts(from, in, to, out, xs, ys);
    from += in.height * in.width * in.channels;
    to += out.height * out.width * out.channels;
  }
}

}  // namespace sorus::data::detail
