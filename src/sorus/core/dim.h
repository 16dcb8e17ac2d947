#pragma once

#include <cstdint>
#include <string>

#include "sorus/base/error.h"

namespace sorus {

/// One dimension of a shape: a count, or a symbol that stands for one. Counts cost nothing beyond an int64.
/// Arithmetic with a symbol gives another symbol, an interned expression, so that equal expressions compare
/// equal.
class Dim {
 public:
  constexpr Dim() = default;
  constexpr Dim(int64_t value) : raw_(value) {}  // NOLINT: a count is a dimension

  /// The symbol of that name; the same name gives the same symbol everywhere in the process.
  static SORUS_API Dim symbol(const std::string& name);

  [[nodiscard]] constexpr bool is_symbol() const { return raw_ < kSymbolLimit; }
  /// The count. Throws ValueError for a symbol.
  [[nodiscard]] int64_t value() const {
    if (is_symbol()) [[unlikely]]
      refuse_symbol();
    return raw_;
  }
  /// The count, or the expression of a symbol.
  [[nodiscard]] SORUS_API std::string text() const;
  [[nodiscard]] constexpr int64_t raw() const { return raw_; }

  friend constexpr bool operator==(Dim a, Dim b) { return a.raw_ == b.raw_; }
  friend Dim operator+(Dim a, Dim b) {
    return both_counts(a, b) ? checked_add(a.raw_, b.raw_) : combine('+', a, b);
  }
  friend Dim operator-(Dim a, Dim b) { return both_counts(a, b) ? Dim(a.raw_ - b.raw_) : combine('-', a, b); }
  friend Dim operator*(Dim a, Dim b) {
    return both_counts(a, b) ? checked_multiply(a.raw_, b.raw_) : combine('*', a, b);
  }
  /// Rounds towards minus infinity.
  friend Dim floor_divide(Dim a, Dim b) { return combine('/', a, b); }

 private:
  static constexpr int64_t kSymbolLimit = INT64_MIN / 2;
  static constexpr bool both_counts(Dim a, Dim b) { return !a.is_symbol() && !b.is_symbol(); }
  static SORUS_API Dim combine(char op, Dim a, Dim b);
  static SORUS_API Dim checked_add(int64_t a, int64_t b);
  static SORUS_API Dim checked_multiply(int64_t a, int64_t b);
  [[noreturn]] SORUS_API void refuse_symbol() const;

  int64_t raw_ = 0;
};
/// a / b, rounded down. Throws ValueError for b = 0.
Dim floor_divide(Dim a, Dim b);

}  // namespace sorus
