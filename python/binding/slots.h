#pragma once

#include <Python.h>

namespace sorus::python {

/// Type slots of the Python class Tensor: arithmetic, comparison, truth, length, iteration, indexing. Slots
/// rather than methods, because Python finds them without a lookup by name.
[[nodiscard]] PyType_Slot* tensor_slots();

}  // namespace sorus::python
