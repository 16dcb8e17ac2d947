#include <algorithm>

#include "sorus/core/strided_copy.h"

namespace sorus {
namespace {

/// Copies one run of `n` elements along the innermost axis.
void copy_run(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step, int64_t n,
              size_t size) {
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * size);
    return;
  }
  auto each = [&]<class T>(std::type_identity<T>) {
    const T* f = reinterpret_cast<const T*>(from);
    T* t = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) t[i * to_step] = f[i * from_step];
  };
  switch (size) {
    case 1:
      return each(std::type_identity<uint8_t>{});
    case 2:
      return each(std::type_identity<uint16_t>{});
    case 4:
      return each(std::type_identity<uint32_t>{});
    default:
      return each(std::type_identity<uint64_t>{});
  }
}

constinit auto strided_copy = &copy_strided_plainly;

}  // namespace

void set_strided_copy(decltype(&copy_strided) copy) { strided_copy = copy; }

void copy_strided(const std::byte* from, const Strides& from_strides, std::byte* to,
                  const Strides& to_strides, const Shape& shape, size_t element_size) {
  strided_copy(from, from_strides, to, to_strides, shape, element_size);
}

void copy_strided_plainly(const std::byte* from, const Strides& from_strides, std::byte* to,
                          const Strides& to_strides, const Shape& shape, size_t element_size) {
  if (shape.numel() == 0) return;
  if (is_contiguous(shape, from_strides) && is_contiguous(shape, to_strides)) {
    std::memcpy(to, from, static_cast<size_t>(shape.numel()) * element_size);
    return;
  }
  int rank = shape.rank();
  int64_t inner = rank > 0 ? shape.size(rank - 1) : 1;
  int64_t rows = shape.numel() / inner;
  int64_t index[kMaxRank] = {};
  int64_t at_from = 0;
  int64_t at_to = 0;
  auto size = static_cast<int64_t>(element_size);
  for (int64_t row = 0; row < rows; ++row) {
    copy_run(from + at_from * size, rank > 0 ? from_strides[rank - 1] : 1, to + at_to * size,
             rank > 0 ? to_strides[rank - 1] : 1, inner, element_size);
    for (int axis = rank - 1; axis-- > 0;) {
      at_from += from_strides[axis];
      at_to += to_strides[axis];
      if (++index[axis] < shape.size(axis)) break;
      at_from -= from_strides[axis] * index[axis];
      at_to -= to_strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

void Tensor::refuse_undefined() {
  raise<ValueError>("tensor: has no value: got an undefined tensor, need one with a value");
}

Ref<Value> Tensor::copy_bytes(const TensorType& type, const void* items, size_t count) {
  SORUS_CHECK(static_cast<int64_t>(count) == type.shape.numel(), ShapeError,
              "tensor: number of items does not fit the shape: got {} items for {}, need {}", count,
              type.shape, type.shape.numel());
  Ref<Value> v = make_dense(type);
  if (count > 0) std::memcpy(v->storage->data(), items, count * dtype_size(type.dtype));
  return v;
}

const void* Tensor::contiguous_bytes(DType wanted) const {
  SORUS_CHECK(dtype() == wanted, DTypeError, "data: element type differs: got {}, need {}", dtype(), wanted);
  const Value& v = ready();
  SORUS_CHECK(sorus::is_contiguous(v.type.shape, v.strides), ValueError,
              "data: elements are not contiguous: got a strided view of shape {}, need contiguous() first",
              shape());
  return v.bytes();
}

const std::byte* Tensor::single_element() const {
  SORUS_CHECK(numel() == 1, ValueError, "item: tensor has not one element: got shape {}, need one element",
              shape());
  return ready().bytes();
}

void Tensor::copy_to(void* out, DType wanted) const {
  SORUS_CHECK(dtype() == wanted, DTypeError, "to_vector: element type differs: got {}, need {}", dtype(),
              wanted);
  const Value& v = ready();
  copy_strided(v.bytes(), v.strides, static_cast<std::byte*>(out), Strides::contiguous(shape()), shape(),
               dtype_size(wanted));
}

}  // namespace sorus
