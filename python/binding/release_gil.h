#pragma once

#include <nanobind/nanobind.h>

#include "sorus/core/tensor.h"

namespace sorus::python {

/// Calls on tensors of at least this many elements let other Python threads run; below, giving up the lock
/// and taking it again costs more than the work.
inline constexpr int64_t kLargeElements = 32768;

[[nodiscard]] inline bool is_large(const Tensor& t) {
  return t.defined() && t.shape().rank() > 0 && t.numel() >= kLargeElements;
}

/// Runs `body` without the interpreter's lock. It must hold its own references to tensors, since another
/// thread may give the handles other values meanwhile.
template <class F>
auto without_gil(F&& body) {
  nanobind::gil_scoped_release release;
  return body();
}

}  // namespace sorus::python
