#include "binding/callables.h"

#include "binding/release_gil.h"

namespace sorus::python {

Shared share(nb::object o) {
  return {new nb::object(std::move(o)), [](nb::object* p) {
            drop_with_lock(p, [](void* object) { delete static_cast<nb::object*>(object); });
          }};
}

TensorList tensors_of(nb::handle sequence, const char* what) {
  TensorList out;
  for (nb::handle item : nb::iter(sequence)) {
    if (item.is_none()) {
      out.push_back(Tensor());
      continue;
    }
    SORUS_CHECK(is_tensor(item.ptr()), TypeError, "{}: element has the wrong type: got {}, need a Tensor",
                what, type_text(item.ptr()));
    out.push_back(tensor_of(item.ptr()));
  }
  return out;
}

nb::tuple tuple_of(const TensorList& list) {
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(list.size()));
  for (size_t i = 0; i < list.size(); ++i)
    PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), list[i].defined() ? wrap(list[i]) : Py_NewRef(Py_None));
  return nb::steal<nb::tuple>(nb::handle(out));
}

TensorFunction function_of(const Shared& call, const char* what) {
  return [call, what](const TensorList& in) {
    GilAcquire gil;
    return tensors_of(until_the_end([&] { return (*call)(*tuple_of(in)); }), what);
  };
}

}  // namespace sorus::python
