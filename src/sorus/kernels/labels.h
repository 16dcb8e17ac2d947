#pragma once

#include "sorus/dispatch/kernel.h"

namespace sorus {

/// Class numbers of any of the label dtypes (int32, int64), row-major. The op has checked their range.
class Labels {
 public:
  explicit Labels(const Array& a)
      : narrow_(a.dtype == DType::kInt32 ? a.as<int32_t>() : nullptr),
        wide_(a.dtype == DType::kInt32 ? nullptr : a.as<int64_t>()) {}
  [[nodiscard]] int64_t operator[](int64_t i) const { return narrow_ ? narrow_[i] : wide_[i]; }

 private:
  const int32_t* narrow_;
  const int64_t* wide_;
};

}  // namespace sorus
