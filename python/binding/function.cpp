#include "binding/function.h"

#include <algorithm>

#include "binding/spelling.h"
#include "sorus/ops/elementwise/elementwise.h"

namespace sorus::python {

const char* words_of(Kind kind) {
  static constexpr const char* kWords[] = {
      "a Tensor", "a list or tuple of Tensors", "a number", "a bool", "an int",
      "a number", "an int or a tuple of ints",  "a dtype",  "a str",  "another type",
  };
  return kWords[static_cast<size_t>(kind)];
}

std::string Frame::name_of(size_t i) const {
  if (call && call->arguments[i].from == Source::From::kParameter)
    return nb::str(nb::handle(overload->names[call->arguments[i].index])).c_str();
  return i < function.names.size() ? nb::str(nb::handle(function.names[i])).c_str() : std::to_string(i);
}

void Frame::refuse(size_t i, const char* need) const {
  raise<TypeError>("{}: argument '{}' has the wrong type: got {}, need {}", function.name, name_of(i),
                   type_text(at(i)), need);
}

bool Frame::beside(DType* dtype) const {
  bool found = false;
  for (size_t i = 0; i < function.kinds.size(); ++i) {
    if (!(function.weak >> i & 1U) || !is_tensor(at(i))) continue;
    DType mine = tensor_of(at(i)).dtype();
    *dtype = found ? promote(*dtype, mine) : mine;
    found = true;
  }
  return found;
}

void convert(Frame& f, size_t i, TensorArgument& out) {
  PyObject* o = f.at(i);
  if (is_tensor(o)) [[likely]] {
    out.given = &tensor_of(o);
    if (out.given->defined()) f.largest = std::max(f.largest, out.given->numel());
    return;
  }
  bool weak = f.function.weak >> i & 1U;
  if (weak && is_number(o)) {
    DType beside;
    out.made = f.beside(&beside) ? scalar_beside(to_scalar(o), beside) : tensor_from_object(o, nullptr);
  } else if (weak &&
             (PyList_Check(o) || PyTuple_Check(o) || PyObject_HasAttrString(o, "__array_interface__"))) {
    out.made = tensor_from_object(o, nullptr);
  } else {
    f.refuse(i, weak ? "a Tensor or a number" : "a Tensor");
  }
  out.given = &out.made;
}

void convert(Frame& f, size_t i, std::vector<Tensor>& out) {
  PyObject* o = f.at(i);
  if (is_tensor(o)) {  // a tensor stands for its rows
    const Tensor& t = tensor_of(o);
    for (int64_t r = 0; r < (t.rank() > 0 ? t.shape().size(0) : 0); ++r)
      out.push_back(tensor_of(nb::steal<nb::object>(PySequence_GetItem(o, r)).ptr()));
    return;
  }
  if (!PyList_Check(o) && !PyTuple_Check(o)) f.refuse(i, "a list or tuple of Tensors");
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, k);
    if (!is_tensor(item))
      raise<TypeError>("{}: element {} has the wrong type: got {}, need a list or tuple of Tensors",
                       f.function.name, k, type_text(item));
    out.push_back(tensor_of(item));
    f.largest = std::max(f.largest, out.back().numel());
  }
}

void convert(Frame& f, size_t i, std::optional<Scalar>& out) {
  PyObject* o = f.at(i);
  if (is_number(o)) {
    out = to_scalar(o);
  } else if (is_tensor(o) && tensor_of(o).numel() == 1) {
    const Tensor& t = tensor_of(o);
    if (is_floating(t.dtype()))
      out = t.item<double>();
    else if (t.dtype() == DType::kBool)
      out = t.item<bool>();
    else
      out = t.item<int64_t>();
  } else {
    f.refuse(i, "a number");
  }
}

void convert(Frame& f, size_t i, bool& out) {
  PyObject* o = f.at(i);
  if (o == Py_True || o == Py_False) {
    out = o == Py_True;
  } else if (is_number(o) || (is_tensor(o) && tensor_of(o).numel() == 1)) {
    out = PyObject_IsTrue(o) != 0;
  } else {
    f.refuse(i, "a bool");
  }
}

namespace {

/// Refuses what Python could not convert to int64.
[[noreturn]] void refuse_int(Frame& f, size_t i, PyObject* o, const char* need) {
  PyErr_Clear();
  SORUS_CHECK(!PyLong_Check(o), ValueError, "{}: argument '{}' is out of range: got {}, need 64 bits",
              f.function.name, f.name_of(i), nb::repr(nb::handle(o)).c_str());
  f.refuse(i, need);
}

}  // namespace

void convert(Frame& f, size_t i, int64_t& out) {
  PyObject* o = f.at(i);
  if (PyFloat_Check(o)) f.refuse(i, "an int");
  out = PyLong_AsLongLong(o);
  if (out == -1 && PyErr_Occurred()) refuse_int(f, i, o, "an int");
}

void convert(Frame& f, size_t i, double& out) {
  PyObject* o = f.at(i);
  if (PyFloat_CheckExact(o)) {
    out = PyFloat_AS_DOUBLE(o);
    return;
  }
  if (PyUnicode_Check(o)) f.refuse(i, "a number");
  out = PyFloat_AsDouble(o);
  if (out == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    f.refuse(i, "a number");
  }
}

namespace {

/// Appends the ints of a number, list, tuple, tensor or other iterable; None gives none.
template <class List>
void collect_ints(Frame& f, size_t i, PyObject* o, List& out) {
  auto add = [&](PyObject* item) {
    int64_t v = PyFloat_Check(item) ? -1 : PyLong_AsLongLong(item);
    if (v == -1 && (PyFloat_Check(item) || PyErr_Occurred()))
      refuse_int(f, i, item, "an int or a list or tuple of ints");
    out.push_back(v);
  };
  bool list = PyTuple_Check(o) || PyList_Check(o);
  if (o == Py_None) return;
  if (!list && (PyLong_Check(o) || PyUnicode_Check(o) || (is_tensor(o) && tensor_of(o).rank() == 0) ||
                !PyObject_HasAttrString(o, "__iter__")))
    return add(o);
  nb::object items = nb::steal<nb::object>(nb::handle(PySequence_Fast(o, "")));
  if (!items.is_valid()) throw nb::python_error();
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(items.ptr()); ++k)
    add(PySequence_Fast_GET_ITEM(items.ptr(), k));
}

}  // namespace

void convert(Frame& f, size_t i, Ints& out) { collect_ints(f, i, f.at(i), out); }
void convert(Frame& f, size_t i, std::vector<int64_t>& out) { collect_ints(f, i, f.at(i), out); }

void convert(Frame& f, size_t i, std::vector<double>& out) {
  PyObject* o = f.at(i);
  bool list = PyTuple_Check(o) || PyList_Check(o);
  for (Py_ssize_t k = 0; k < (list ? PySequence_Fast_GET_SIZE(o) : 1); ++k) {
    PyObject* item = list ? PySequence_Fast_GET_ITEM(o, k) : o;
    if (!is_number(item)) f.refuse(i, "a number or a list or tuple of numbers");
    out.push_back(to_scalar(item).as_double());
  }
}

void convert(Frame& f, size_t i, DType& out) {
  if (!to_dtype(f.at(i), &out)) f.refuse(i, "a dtype such as float32");
}

void convert(Frame& f, size_t i, std::string& out) {
  PyObject* o = f.at(i);
  if (!PyUnicode_Check(o)) f.refuse(i, "a str");
  out = PyUnicode_AsUTF8(o);
}

int64_t convert_word(Frame& f, size_t i, std::span<const char* const> words) {
  std::string got;
  convert(f, i, got);
  std::string known;
  for (size_t k = 0; k < words.size(); ++k) {
    if (got == words[k]) return static_cast<int64_t>(k);
    known += (k ? ", '" : "'") + std::string(words[k]) + "'";
  }
  raise<ValueError>("{}: argument '{}' has an unknown value: got '{}', need one of {}", f.function.name,
                    f.name_of(i), got, known);
}

PyObject* to_python(const Ints& v) {
  PyObject* out = PyTuple_New(v.size());
  for (int i = 0; i < v.size(); ++i) PyTuple_SET_ITEM(out, i, PyLong_FromLongLong(v[i]));
  return out;
}

PyObject* to_python(std::span<Tensor> list) {
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(list.size()));
  for (size_t i = 0; i < list.size(); ++i)
    PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), to_python(std::move(list[i])));
  return out;
}

}  // namespace sorus::python
