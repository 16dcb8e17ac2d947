#include "binding/bridge.h"

#include <cstring>
#include <new>
#include <stdexcept>

namespace sorus::python {

Types types;

PyObject* wrap(Tensor tensor) {
  PyObject* o = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(types.tensor))).release().ptr();
  new (nb::inst_ptr<TensorHandle>(nb::handle(o))) TensorHandle(std::move(tensor));
  nb::inst_mark_ready(nb::handle(o));
  return o;
}

namespace {

PyObject* exception_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kValue:
    case ErrorKind::kShape:
      return PyExc_ValueError;
    case ErrorKind::kType:
    case ErrorKind::kDType:
      return PyExc_TypeError;
    case ErrorKind::kIndex:
      return PyExc_IndexError;
    case ErrorKind::kKey:
      return PyExc_KeyError;
    case ErrorKind::kIO:
      return PyExc_OSError;
    case ErrorKind::kMemory:
      return PyExc_MemoryError;
    case ErrorKind::kNotSupported:
      return PyExc_NotImplementedError;
    case ErrorKind::kRuntime:
    case ErrorKind::kInternal:
      break;
  }
  return PyExc_RuntimeError;
}

/// Texts may quote bytes of a file, of any kind.
void set_error(PyObject* kind, const char* text) {
  PyObject* decoded = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
  if (!decoded) return;
  PyErr_SetObject(kind, decoded);
  Py_DECREF(decoded);
}

}  // namespace

void translate_exception() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const Error& e) {
    set_error(exception_of(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "memory: out of memory: got more than the system gives, need less");
  } catch (const std::length_error&) {
    PyErr_SetString(PyExc_MemoryError, "memory: out of memory: got more elements than fit, need less");
  } catch (const nb::builtin_exception& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const std::exception& e) {
    set_error(PyExc_RuntimeError, e.what());
  }
}

std::string type_text(PyObject* o) {
  std::string name = Py_TYPE(o)->tp_name;
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

bool is_number(PyObject* o) {
  if (PyFloat_Check(o) || PyLong_Check(o)) return true;  // bool is an int
  // NumPy scalars have __array_interface__ and no length; arrays of rank 0 are arrays, not numbers.
  static PyObject* generic = nb::object(nb::module_::import_("numpy").attr("number")).release().ptr();
  static PyObject* boolean = nb::object(nb::module_::import_("numpy").attr("bool_")).release().ptr();
  return PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(generic)) != 0 ||
         PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(boolean)) != 0;
}

Scalar to_scalar(PyObject* o) {
  if (PyFloat_Check(o)) return PyFloat_AS_DOUBLE(o);
  if (PyBool_Check(o)) return o == Py_True;
  if (PyLong_Check(o)) {
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(o, &overflow);
    SORUS_CHECK(overflow == 0, ValueError, "number: integer out of range: got {}, need one of 64 bits",
                nb::str(nb::handle(o)).c_str());
    return value;
  }
  nb::object item = nb::steal<nb::object>(PyObject_CallMethod(o, "item", nullptr));
  if (!item.is_valid()) throw nb::python_error();
  SORUS_CHECK(PyFloat_Check(item.ptr()) || PyLong_Check(item.ptr()), TypeError,
              "number: unsupported kind: got {}, need bool, int or float", type_text(o));
  return to_scalar(item.ptr());
}

nb::tuple shape_tuple(const Shape& shape) {
  PyObject* t = PyTuple_New(shape.rank());
  for (int i = 0; i < shape.rank(); ++i)
    PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(shape[i].is_symbol() ? -1 : shape.size(i)));
  return nb::steal<nb::tuple>(t);
}

}  // namespace sorus::python
