#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "binding/release_gil.h"
#include "sorus/core/parameter.h"
#include "sorus/core/scalar.h"

/// What every file of the binding shares: Python objects to tensors, dtypes and numbers, and back. Everything
/// here needs the GIL.
namespace sorus::python {

namespace nb = nanobind;

/// Types that this module defines, set while it is imported and alive as long as it is.
struct Types {
  PyTypeObject* tensor = nullptr;
  PyTypeObject* parameter = nullptr;
  PyTypeObject* dtype = nullptr;
  PyTypeObject* op = nullptr;
};
extern Types types;

[[nodiscard]] inline bool is_tensor(PyObject* o) {
  return Py_TYPE(o) == types.tensor || PyType_IsSubtype(Py_TYPE(o), types.tensor);
}
/// `self` of a method: nanobind refuses objects that are no Tensors, as in `Tensor.asnumpy(3)`.
using Self = nb::handle_t<TensorHandle>;
/// The handle inside a Python Tensor, which must be one.
[[nodiscard]] inline TensorHandle& handle_of(PyObject* o) {
  return *nb::inst_ptr<TensorHandle>(nb::handle(o));
}
/// The tensor inside a Python Tensor; valid until the object is given another value.
[[nodiscard]] inline const Tensor& tensor_of(PyObject* o) { return handle_of(o).get(); }
/// A new Python Tensor; a new reference.
[[nodiscard]] PyObject* wrap(Tensor tensor);
[[nodiscard]] inline nb::object wrap_object(Tensor tensor) {
  return nb::steal<nb::object>(nb::handle(wrap(std::move(tensor))));
}

/// Sets the Python error that corresponds to the C++ exception being handled. Call inside `catch (...)`.
void translate_exception() noexcept;
/// Runs `body` and returns its result, or null with a Python error set when it throws. A daemon thread that
/// Python ends in `body` sleeps: see until_the_end().
template <class F>
PyObject* guarded(F&& body) noexcept {
  try {
    return until_the_end(body);
  } catch (...) {
    translate_exception();
    return nullptr;
  }
}

/// Element types as Python sees them. Beside the DTypes of the core there are names without elements
/// (complex64, tensor_type, string ...), which are objects but no element types.
struct PyDType {
  int code = 0;
};
/// The one Python object of an element type; borrowed.
[[nodiscard]] PyObject* dtype_object(DType t);
/// Accepts a dtype object, bool / int / float, a NumPy dtype or scalar type. False when it is none of them.
[[nodiscard]] bool to_dtype(PyObject* o, DType* out);
/// The NumPy dtype of an element type, a new reference; bfloat16 has one only when ml_dtypes is installed.
[[nodiscard]] nb::object numpy_dtype(DType t);
void bind_dtypes(nb::module_& m);

/// True for what promotes weakly: bool, int, float and NumPy scalars of those kinds (not tensors).
[[nodiscard]] bool is_number(PyObject* o);
/// The number, which must be one. Throws ValueError for an integer beyond int64.
[[nodiscard]] Scalar to_scalar(PyObject* o);

/// Name of an object's type, for error texts: "Tensor", "str", "list".
[[nodiscard]] std::string type_text(PyObject* o);

/// A tensor from an array, a list (nested, of numbers or tensors) or a number. Copies. `dtype` null: Python
/// floats become float32, Python ints int64, arrays keep their dtype.
[[nodiscard]] Tensor tensor_from_object(PyObject* o, const DType* dtype);
/// A writable, row-major NumPy copy.
[[nodiscard]] nb::object to_numpy(const Tensor& t);
/// Casts on the host through the op table.
[[nodiscard]] Tensor cast_to(const Tensor& t, DType dtype);

[[nodiscard]] nb::tuple shape_tuple(const Shape& shape);

void bind_tensor(nb::module_& m);
void bind_arrays(nb::module_& m);
void bind_ops(nb::module_& m);
void bind_autograd(nb::module_& m);
void bind_train(nb::module_& m);
void bind_boundary(nb::module_& m);
void bind_control(nb::module_& m);
void bind_program(nb::module_& m);
void bind_dataset(nb::module_& m);
void bind_summary(nb::module_& m);
void bind_mindrecord(nb::module_& m);

}  // namespace sorus::python
