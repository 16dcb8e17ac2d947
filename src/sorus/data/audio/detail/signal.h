#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sorus/data/audio/audio.h"

/// Operations on sound, written as functions of float64 numbers.
namespace sorus::data::audio {

/// The random numbers of one row, in [0, 1), one after the other.
class Draws {
 public:
  Draws(const RowContext& context, int64_t row) : context_(context), row_(row) {}
  double next() {
    if (used_ % 4 == 0) words_ = context_.draw(row_, used_ / 4);
    return to_unit(words_[used_++ % 4]);
  }
  /// An integer of [0, n).
  int64_t below(int64_t n) { return static_cast<int64_t>(next() * static_cast<double>(n)); }

 private:
  const RowContext& context_;
  int64_t row_;
  uint64_t used_ = 0;
  std::array<uint32_t, 4> words_{};
};

using Numbers = std::span<const double>;
using Result = std::span<double>;
using Samples = std::vector<double>;
/// The shape of a result; throws ShapeError for rows that do not fit.
using ShapeOf = std::function<Shape(const Shape&)>;
/// One row to its result.
using Work = std::function<void(const Shape&, Numbers, Result, Draws&)>;

/// What rows of integers become.
enum class Integers : uint8_t { kRefused, kFloat32 };

struct SignalTraits {
  Integers integers = Integers::kFloat32;
  std::optional<DType> result = {};  ///< none: float64 for float64 and float32 for all else
};
/// A transform that calls `work` for each row, in float64.
[[nodiscard]] TransformPtr signal(std::string name, ShapeOf shape_of, Work work, SignalTraits traits = {});

/// Throws ShapeError unless a row has `least` axes or more and no axis is empty; `form` is what is needed.
void check_rank(const std::string& name, const Shape& shape, int least, const char* form);
/// A ShapeOf that keeps shapes of `least` axes or more.
[[nodiscard]] ShapeOf same_shape(std::string name, int least = 1, const char* form = "(..., time)");
/// A ShapeOf that takes the last axis, of two parts, away.
[[nodiscard]] ShapeOf without_parts(std::string name);
/// Calls f(first sample, result's first sample) for each run along the last axis.
template <class F>
void each_line(const Shape& shape, Numbers x, Result y, int64_t length, const F& f) {
  auto n = static_cast<size_t>(shape.size(shape.rank() - 1));
  auto m = static_cast<size_t>(length);
  for (size_t i = 0; i * n < x.size(); ++i) f(x.subspan(i * n, n), y.subspan(i * m, m));
}

/// The shape with its last `dropped` axes replaced.
[[nodiscard]] Shape replaced(const Shape& shape, int dropped, std::initializer_list<int64_t> axes);

}  // namespace sorus::data::audio
