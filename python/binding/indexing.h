#pragma once

#include "binding/bridge.h"

/// Python indices: integers, slices, None, Ellipsis, bool and integer tensors, and tuples of them.
namespace sorus::python {

[[nodiscard]] Tensor get_item(const Tensor& t, PyObject* key);
/// `t` with the elements at `key` replaced by `value` (a tensor, an array or a number, broadcast).
[[nodiscard]] Tensor set_item(const Tensor& t, PyObject* key, PyObject* value);
/// Element `i` along axis 0; `i` counts from either end and is in range.
[[nodiscard]] Tensor row_of(const Tensor& t, int64_t i);

}  // namespace sorus::python
