#include "binding/slots.h"

#include "binding/bridge.h"
#include "binding/indexing.h"
#include "binding/release_gil.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/logic.h"
#include "sorus/ops/linalg/linalg.h"

namespace sorus::python {
namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);

/// One side of an operator as a tensor. Numbers take the dtype they have beside the other side.
class Operand {
 public:
  /// False when `o` is nothing that an operator can take; then Python asks the other side.
  bool set(PyObject* o, PyObject* other) {
    if (is_tensor(o)) {
      given_ = &tensor_of(o);
      return true;
    }
    if (is_number(o)) {
      made_ = is_tensor(other) ? scalar_beside(to_scalar(o), tensor_of(other).dtype())
                               : tensor_from_object(o, nullptr);
    } else if (PyList_Check(o) || PyTuple_Check(o) || PyObject_HasAttrString(o, "__array_interface__")) {
      made_ = tensor_from_object(o, nullptr);
    } else {
      return false;
    }
    given_ = &made_;
    return true;
  }
  [[nodiscard]] const Tensor& get() const { return *given_; }

 private:
  const Tensor* given_ = nullptr;
  Tensor made_;
};

PyObject* compute(Binary f, PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Operand x;
    Operand y;
    if (!x.set(a, b) || !y.set(b, a)) return Py_NewRef(Py_NotImplemented);
    if (!is_large(x.get()) && !is_large(y.get())) return wrap(f(x.get(), y.get()));
    return wrap(without_gil([f, p = x.get(), q = y.get()] { return f(p, q); }));
  });
}

template <Binary kF>
PyObject* binary(PyObject* a, PyObject* b) {
  return compute(kF, a, b);
}
/// A number has no product with a matrix.
PyObject* matrix_product(PyObject* a, PyObject* b) {
  if (is_number(a) || is_number(b)) Py_RETURN_NOTIMPLEMENTED;
  return compute(&sorus::matmul, a, b);
}
/// `pow` has a third operand that no tensor uses.
PyObject* power(PyObject* a, PyObject* b, PyObject*) { return compute(&sorus::pow, a, b); }

template <Tensor (*kF)(const Tensor&)>
PyObject* unary(PyObject* a) {
  return guarded([&] {
    const Tensor& x = tensor_of(a);
    return is_large(x) ? wrap(without_gil([x] { return kF(x); })) : wrap(kF(x));
  });
}

PyObject* positive(PyObject* a) { return Py_NewRef(a); }

/// The bitwise operators are the logical ones for two bools.
bool both_bool(const Tensor& a, const Tensor& b) {
  return a.dtype() == DType::kBool && b.dtype() == DType::kBool;
}
Tensor bit_and(const Tensor& a, const Tensor& b) {
  return both_bool(a, b) ? logical_and(a, b) : bitwise_and(a, b);
}
Tensor bit_or(const Tensor& a, const Tensor& b) {
  return both_bool(a, b) ? logical_or(a, b) : bitwise_or(a, b);
}
Tensor bit_xor(const Tensor& a, const Tensor& b) {
  return both_bool(a, b) ? logical_xor(a, b) : bitwise_xor(a, b);
}
/// As MindSpore: the logical negation, whatever the dtype.
Tensor invert(const Tensor& x) { return logical_not(x); }

PyObject* compare(PyObject* a, PyObject* b, int how) {
  if (b == Py_None || PyUnicode_Check(b)) Py_RETURN_NOTIMPLEMENTED;
  switch (how) {
    case Py_LT:
      return compute(&less, a, b);
    case Py_LE:
      return compute(&less_equal, a, b);
    case Py_EQ:
      return compute(&equal, a, b);
    case Py_NE:
      return compute(&not_equal, a, b);
    case Py_GT:
      return compute(&greater, a, b);
    default:
      return compute(&greater_equal, a, b);
  }
}

int truth(PyObject* a) {
  int result = -1;
  PyObject* done = guarded([&] {
    const Tensor& t = tensor_of(a);
    SORUS_CHECK(
        t.numel() == 1, ValueError,
        "bool: the truth of a tensor with more or less than one element is ambiguous: got shape {}, need one "
        "element",
        t.shape());
    result = t.item<double>() != 0;
    return Py_None;
  });
  return done ? result : -1;
}

Py_ssize_t length(PyObject* a) {
  Py_ssize_t result = -1;
  guarded([&] {
    const Tensor& t = tensor_of(a);
    SORUS_CHECK(t.rank() > 0, TypeError,
                "len: a scalar tensor has no length: got shape (), need rank 1 or more");
    result = static_cast<Py_ssize_t>(t.shape().size(0));
    return Py_None;
  });
  return result;
}

PyObject* subscript(PyObject* a, PyObject* key) {
  return guarded([&] { return wrap(get_item(tensor_of(a), key)); });
}

int assign_subscript(PyObject* a, PyObject* key, PyObject* value) {
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "Tensor: elements cannot be deleted");
    return -1;
  }
  PyObject* done = guarded([&] {
    TensorHandle& handle = handle_of(a);
    handle.set(set_item(handle.get(), key, value));
    return Py_None;
  });
  return done ? 0 : -1;
}

PyObject* element(PyObject* a, Py_ssize_t i) {
  return guarded([&] {
    const Tensor& t = tensor_of(a);
    SORUS_CHECK(t.rank() > 0, TypeError,
                "Tensor: a scalar tensor cannot be iterated: got shape (), need rank 1 or more");
    SORUS_CHECK(i < t.shape().size(0), IndexError, "Tensor: index out of range: got {}, need less than {}", i,
                t.shape().size(0));
    return wrap(row_of(t, i));
  });
}

PyType_Slot slots[] = {
    {Py_nb_add, reinterpret_cast<void*>(&binary<&sorus::add>)},
    {Py_nb_subtract, reinterpret_cast<void*>(&binary<&sorus::sub>)},
    {Py_nb_multiply, reinterpret_cast<void*>(&binary<&sorus::mul>)},
    {Py_nb_true_divide, reinterpret_cast<void*>(&binary<&sorus::div>)},
    {Py_nb_floor_divide, reinterpret_cast<void*>(&binary<&sorus::floor_div>)},
    {Py_nb_remainder, reinterpret_cast<void*>(&binary<&sorus::mod>)},
    {Py_nb_power, reinterpret_cast<void*>(&power)},
    {Py_nb_absolute, reinterpret_cast<void*>(&unary<&sorus::abs>)},
    {Py_nb_positive, reinterpret_cast<void*>(&positive)},
    {Py_nb_invert, reinterpret_cast<void*>(&unary<&invert>)},
    {Py_nb_and, reinterpret_cast<void*>(&binary<&bit_and>)},
    {Py_nb_or, reinterpret_cast<void*>(&binary<&bit_or>)},
    {Py_nb_xor, reinterpret_cast<void*>(&binary<&bit_xor>)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(&matrix_product)},
    // Operators with assignment give a new tensor, as the others do.
    {Py_nb_inplace_add, reinterpret_cast<void*>(&binary<&sorus::add>)},
    {Py_nb_inplace_subtract, reinterpret_cast<void*>(&binary<&sorus::sub>)},
    {Py_nb_inplace_multiply, reinterpret_cast<void*>(&binary<&sorus::mul>)},
    {Py_nb_inplace_true_divide, reinterpret_cast<void*>(&binary<&sorus::div>)},
    {Py_nb_inplace_floor_divide, reinterpret_cast<void*>(&binary<&sorus::floor_div>)},
    {Py_nb_inplace_remainder, reinterpret_cast<void*>(&binary<&sorus::mod>)},
    {Py_nb_negative, reinterpret_cast<void*>(&unary<&sorus::neg>)},
    {Py_nb_bool, reinterpret_cast<void*>(&truth)},
    {Py_tp_richcompare, reinterpret_cast<void*>(&compare)},
    {Py_mp_length, reinterpret_cast<void*>(&length)},
    {Py_mp_subscript, reinterpret_cast<void*>(&subscript)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(&assign_subscript)},
    {Py_sq_item, reinterpret_cast<void*>(&element)},
    {Py_sq_length, reinterpret_cast<void*>(&length)},
    {0, nullptr},
};

}  // namespace

PyType_Slot* tensor_slots() { return slots; }

}  // namespace sorus::python
