#pragma once

#include <concepts>
#include <cstdint>

#include "sorus/core/promotion.h"

namespace sorus {

/// A plain number in the host language, which promotes weakly: it has a kind but no width.
class Scalar {
 public:
  using Kind = ScalarKind;
  Scalar(bool v) : kind_(Kind::kBool), int_(v) {}  // NOLINT: a number is a Scalar
  template <std::integral T>
  Scalar(T v) : kind_(Kind::kInt), int_(static_cast<int64_t>(v)) {}  // NOLINT
  template <std::floating_point T>
  Scalar(T v) : kind_(Kind::kFloat), float_(static_cast<double>(v)) {}  // NOLINT

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] double as_double() const {
    return kind_ == Kind::kFloat ? float_ : static_cast<double>(int_);
  }
  [[nodiscard]] int64_t as_int() const { return kind_ == Kind::kFloat ? static_cast<int64_t>(float_) : int_; }

 private:
  Kind kind_;
  int64_t int_ = 0;
  double float_ = 0;
};

}  // namespace sorus
