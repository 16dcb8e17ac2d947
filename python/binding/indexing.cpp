#include "binding/indexing.h"

#include "sorus/dispatch/in_place.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"

namespace sorus::python {
namespace {

std::optional<int64_t> bound_of(PyObject* o) {
  if (o == Py_None) return std::nullopt;
  int64_t v = PyNumber_AsSsize_t(o, nullptr);  // clamps, as Python's slices do
  if (v == -1 && PyErr_Occurred()) throw nb::python_error();
  return v;
}

bool is_array_like(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o) || PyObject_HasAttrString(o, "__array_interface__");
}

/// True for NumPy's arrays with axes and its bools, which are arrays to us although they claim to be
/// integers.
bool is_array_index(PyObject* o) {
  if (!PyObject_HasAttrString(o, "__array_interface__")) return false;
  nb::object rank = nb::getattr(nb::handle(o), "ndim", nb::int_(0));
  if (nb::cast<int64_t>(rank) > 0) return true;
  return nb::cast<std::string>(nb::str(nb::getattr(nb::handle(o), "dtype"))) == "bool";
}

IndexItem item_of(PyObject* o) {
  if (PyLong_CheckExact(o)) return to_scalar(o).as_int();
  if (PySlice_Check(o)) {
    auto* s = reinterpret_cast<PySliceObject*>(o);
    return SliceItem{bound_of(s->start), bound_of(s->stop), bound_of(s->step)};
  }
  if (o == Py_Ellipsis) return EllipsisItem{};
  if (o == Py_None) return NewAxisItem{};
  if (PyBool_Check(o)) return Tensor(o == Py_True);
  if (is_tensor(o)) {
    const Tensor& t = tensor_of(o);
    SORUS_CHECK(is_integer(t.dtype()) || t.dtype() == DType::kBool, IndexError,
                "Tensor: index tensor has the wrong dtype: got {}, need an integer or bool", t.dtype());
    return t;
  }
  if (PyIndex_Check(o) && !is_array_index(o)) {
    int64_t v = PyNumber_AsSsize_t(o, PyExc_IndexError);
    if (v == -1 && PyErr_Occurred()) throw nb::python_error();
    return v;
  }
  SORUS_CHECK(
      is_array_like(o), IndexError,
      "Tensor: index has the wrong type: got {}, need an int, slice, None, Ellipsis, bool, list or Tensor",
      type_text(o));
  Tensor t = tensor_from_object(o, nullptr);
  return t.numel() == 0 && is_floating(t.dtype()) ? cast(t, DType::kInt64) : t;
}

SmallVector<IndexItem, 4> items_of(PyObject* key) {
  SmallVector<IndexItem, 4> items;
  if (PyTuple_Check(key)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) items.push_back(item_of(PyTuple_GET_ITEM(key, i)));
  } else {
    items.push_back(item_of(key));
  }
  return items;
}

}  // namespace

Tensor row_of(const Tensor& t, int64_t i) {
  IndexItem item = i;
  return index(t, IndexSpan(&item, 1));
}

Tensor get_item(const Tensor& t, PyObject* key) {
  SmallVector<IndexItem, 4> items = items_of(key);
  return index(t, IndexSpan(items.data(), items.size()));
}

Tensor set_item(const Tensor& t, PyObject* key, PyObject* value) {
  SmallVector<IndexItem, 4> items = items_of(key);
  Tensor given = is_tensor(value)   ? tensor_of(value)
                 : is_number(value) ? cast_to(tensor_from_object(value, nullptr), t.dtype())
                                    : tensor_from_object(value, nullptr);
  const InPlaceUpdate update(t);
  return index_update(t, IndexSpan(items.data(), items.size()), given);
}

}  // namespace sorus::python
