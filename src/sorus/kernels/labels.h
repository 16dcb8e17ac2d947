#pragma once

#include "sorus/dispatch/kernel.h"

namespace sorus {

/// Class numbers of any of the label dtypes (int32, int64), row-major.
class Labels {
 public:
  explicit Labels(const Array& a)
      : narrow_(a.dtype == DType::kInt32 ? a.as<int32_t>() : nullptr),
        wide_(a.dtype == DType::kInt32 ? nullptr : a.as<int64_t>()) {}
  [[nodiscard]] int64_t operator[](int64_t i) const { return narrow_ ? narrow_[i] : wide_[i]; }

  /// Throws IndexError for the first of n labels that is neither `ignored` nor in [0, classes).
  void check(std::string_view op, int64_t n, int64_t classes, int64_t ignored) const {
    for (int64_t i = 0; i < n; ++i) {
      int64_t label = (*this)[i];
      SORUS_CHECK(label == ignored || (label >= 0 && label < classes), IndexError,
                  "{}: a label is out of range: got {} at position {}, need 0 to {} ({} classes)", op, label,
                  i, classes - 1, classes);
    }
  }

 private:
  const int32_t* narrow_;
  const int64_t* wide_;
};

}  // namespace sorus
