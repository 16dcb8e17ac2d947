#pragma once

#include <string>

#include "sorus/base/hash.h"
#include "sorus/core/device.h"
#include "sorus/core/dtype.h"
#include "sorus/core/shape.h"

namespace sorus {

/// What inference maps and what a graph value has: element type, shape and device.
struct TensorType {
  DType dtype = DType::kFloat32;
  Device device;
  Shape shape;

  friend bool operator==(const TensorType& a, const TensorType& b) {
    return a.dtype == b.dtype && a.device == b.device && a.shape == b.shape;
  }
  [[nodiscard]] uint64_t hash() const { return hash_combine(hash_without_shape(), shape.hash()); }
  /// The same for types that differ in extents alone.
  [[nodiscard]] uint64_t family_hash() const {
    return hash_combine(hash_without_shape(), static_cast<uint64_t>(shape.rank()));
  }
  /// "float32(2, 3)"
  [[nodiscard]] std::string text() const { return std::string(dtype_name(dtype)) + shape.text(); }

 private:
  [[nodiscard]] uint64_t hash_without_shape() const {
    return hash_combine(static_cast<uint64_t>(dtype),
                        static_cast<uint64_t>(device.kind) << 16 | static_cast<uint16_t>(device.index));
  }
};

}  // namespace sorus

template <>
struct fmt::formatter<sorus::TensorType> : fmt::formatter<std::string_view> {
  auto format(const sorus::TensorType& t, format_context& c) const {
    return formatter<std::string_view>::format(t.text(), c);
  }
};
