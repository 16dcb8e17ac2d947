#pragma once

#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "sorus/core/value.h"

namespace sorus {

/// A multi-dimensional array: a handle to an immutable Value. Copying a Tensor copies the handle; an in-place
/// operation gives this handle another Value and leaves every other one as it was ("values, not aliases").
class SORUS_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<Value> value) : value_(std::move(value)) {}
  /// Scalar of rank 0.
  template <class T>
  requires requires { dtype_of<T>; }
  explicit Tensor(T scalar) : Tensor(std::span<const T>(&scalar, 1), Shape{}) {}
  /// Copies `items`, row-major. Throws ShapeError when their number is not shape.numel().
  template <class T>
  requires requires { dtype_of<T>; }
  Tensor(std::span<const T> items, const Shape& shape)
      : Tensor(copy_bytes({dtype_of<T>, {}, shape}, items.data(), items.size())) {}
  template <class T>
  requires requires { dtype_of<T>; }
  Tensor(std::initializer_list<T> items, const Shape& shape)
      : Tensor(std::span<const T>(items.begin(), items.size()), shape) {}
  template <class T>
  requires requires { dtype_of<T>; }
  Tensor(std::initializer_list<T> items) : Tensor(items, Shape{static_cast<int64_t>(items.size())}) {}

  [[nodiscard]] bool defined() const { return static_cast<bool>(value_); }
  [[nodiscard]] const TensorType& type() const { return checked().type; }
  [[nodiscard]] DType dtype() const { return type().dtype; }
  [[nodiscard]] const Shape& shape() const { return type().shape; }
  [[nodiscard]] Device device() const { return type().device; }
  [[nodiscard]] int rank() const { return shape().rank(); }
  /// Extent of an axis, which may be negative. Throws ValueError when out of range.
  [[nodiscard]] int64_t size(int64_t axis) const {
    return shape().size(normalize_axis("size", axis, rank()));
  }
  [[nodiscard]] int64_t numel() const { return shape().numel(); }

  /// Strides in elements; computes the value if it is pending.
  [[nodiscard]] const Strides& strides() const { return ready().strides; }
  [[nodiscard]] bool is_contiguous() const { return sorus::is_contiguous(shape(), strides()); }
  /// The first element's address. Throws ValueError unless contiguous: take contiguous() first.
  template <class T>
  [[nodiscard]] const T* data() const {
    return static_cast<const T*>(contiguous_bytes(dtype_of<T>));
  }
  /// The only element, converted to T. Throws ValueError unless numel() is 1.
  template <class T>
  [[nodiscard]] T item() const {
    return read_item<T>();
  }
  /// All elements, row-major. Throws DTypeError unless T is the element type.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector() const {
    std::vector<T> out(static_cast<size_t>(numel()));
    copy_to(out.data(), dtype_of<T>);
    return out;
  }
  /// Copies all elements row-major to `out`, which holds numel() elements of `dtype`. Throws DTypeError on
  /// another.
  void copy_to(void* out, DType dtype) const;

  [[nodiscard]] const Ref<Value>& value() const { return value_; }
  /// The value with its bytes there, read by the host program.
  [[nodiscard]] Value& ready() const {
    Value& v = checked();
    v.read();
    return v;
  }
  /// Forgets the value, so that its bytes can be reused by who holds the last reference.
  Ref<Value> release() { return std::move(value_); }
  void swap(Tensor& other) { std::swap(value_, other.value_); }

 private:
  [[nodiscard]] Value& checked() const {
    if (!value_) [[unlikely]]
      refuse_undefined();
    return *value_;
  }
  [[noreturn]] static void refuse_undefined();
  static Ref<Value> copy_bytes(const TensorType& type, const void* items, size_t count);
  [[nodiscard]] const void* contiguous_bytes(DType dtype) const;
  [[nodiscard]] const std::byte* single_element() const;
  template <class T>
  [[nodiscard]] T read_item() const {
    const std::byte* p = single_element();
    return visit_dtype(dtype(), [&]<class S>(std::type_identity<S>) {
      S s;
      std::memcpy(&s, p, sizeof(S));
      return static_cast<T>(static_cast<ComputeType<S>>(s));
    });
  }

  Ref<Value> value_;
};

/// A strided view of raw bytes, row-major in logical order: calls f(offset in elements) for each logical
/// index.
SORUS_API void copy_strided(const std::byte* from, const Strides& from_strides, std::byte* to,
                            const Strides& to_strides, const Shape& shape, size_t element_size);

}  // namespace sorus
