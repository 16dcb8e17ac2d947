
#include "binding/bridge.h"
#include "binding/slots.h"
#include "sorus/dispatch/in_place.h"
#include "sorus/ops/elementwise/elementwise.h"

/// The Python class Tensor: construction, properties and conversion to Python numbers. Everything computed is
/// elsewhere: operators in slots.cpp, indexing in indexing.cpp, functions and methods as rows over the table.
namespace sorus::python {
namespace {

/// Placed once at import: makes a Tensor from (init, shape, dtype); what `Tensor(shape=.., init=..)` calls.
PyObject* initializer_hook = nullptr;

/// None stands for an extent that is unknown.
Shape shape_from(nb::handle o) {
  Shape shape;
  if (PyLong_Check(o.ptr())) {
    shape.push_back(nb::cast<int64_t>(o));
    return shape;
  }
  for (nb::handle item : nb::iter(o))
    shape.push_back(item.is_none() ? Dim::symbol("any") : Dim(nb::cast<int64_t>(nb::int_(item))));
  return shape;
}

/// Stands behind tensors that only declare a type.
class NoValue final : public PendingSource {
 public:
  static NoValue& instance() {
    static auto& source = *new NoValue;
    return source;
  }
  void materialize(Value& v) override {
    raise<ValueError>("Tensor: has no value: got a read of {}, which only declares the type of an input",
                      v.type);
  }
  void abandon(Value&) noexcept override {}
};

Tensor without_data(const TensorType& type) {
  Ref<Value> v;
  if (type.shape.is_concrete()) {
    v = make_dense(type);
    std::memset(v->storage->data(), 0, v->storage->bytes());
  } else {
    v = Value::make(type);
    v->source.store(&NoValue::instance(), std::memory_order_relaxed);
  }
  return Tensor(std::move(v));
}

Tensor initialized(nb::handle init, nb::handle shape, nb::handle dtype) {
  SORUS_CHECK(!shape.is_none() && !dtype.is_none(), ValueError,
              "Tensor: 'init' needs a type: got shape {} and dtype {}, need both beside 'init'",
              shape.is_none() ? "None" : "given", dtype.is_none() ? "None" : "given");
  nb::object made = nb::handle(initializer_hook)(init, shape, dtype);
  return tensor_of(made.ptr());
}

Tensor construct(nb::handle data, nb::handle dtype, nb::handle shape, nb::handle init) {
  if (!init.is_none()) return initialized(init, shape, dtype);
  DType wanted{};
  bool has_dtype = !dtype.is_none();
  SORUS_CHECK(!has_dtype || to_dtype(dtype.ptr(), &wanted), TypeError,
              "Tensor: argument 'dtype' has the wrong type: got {}, need a dtype such as float32",
              type_text(dtype.ptr()));
  if (data.is_none()) {
    SORUS_CHECK(!shape.is_none(), TypeError,
                "Tensor: nothing to make it from: got neither 'input_data' nor 'shape', need one");
    return without_data({has_dtype ? wanted : DType::kFloat32, {}, shape_from(shape)});
  }
  Tensor t = tensor_from_object(data.ptr(), has_dtype ? &wanted : nullptr);
  if (!shape.is_none()) {
    Shape need = shape_from(shape);
    SORUS_CHECK(need == t.shape(), ShapeError,
                "Tensor: 'shape' does not fit the data: got {} for data of shape {}", need, t.shape());
  }
  return t;
}

nb::object python_number(const Tensor& t) {
  DType d = t.dtype();
  if (d == DType::kBool) return nb::borrow<nb::object>(t.item<bool>() ? Py_True : Py_False);
  if (is_floating(d)) return nb::steal<nb::object>(PyFloat_FromDouble(t.item<double>()));
  if (d == DType::kUInt64) return nb::steal<nb::object>(PyLong_FromUnsignedLongLong(t.item<uint64_t>()));
  return nb::steal<nb::object>(PyLong_FromLongLong(t.item<int64_t>()));
}

const Tensor& single(nb::handle self, const char* what) {
  const Tensor& t = tensor_of(self.ptr());
  SORUS_CHECK(t.numel() == 1, ValueError,
              "{}: only a tensor of one element has a single value: got shape {}, need one element", what,
              t.shape());
  return t;
}

nb::object item(Self self, nb::args at) {
  const Tensor& t = tensor_of(self.ptr());
  if (at.size() == 0) return python_number(single(self, "item"));
  nb::object array = to_numpy(t);
  try {
    return array.attr("item")(*at);
  } catch (nb::python_error& e) {
    bool beyond = e.matches(PyExc_IndexError);
    std::string got = nb::repr(nb::handle(at.ptr())).c_str();
    std::string need = fmt::format("an int below {} or one for each axis of {}", t.numel(), t.shape());
    if (beyond) raise<IndexError>("item: index is out of range: got {}, need {}", got, need);
    raise<TypeError>("item: index does not fit: got {}, need {}", got, need);
  }
}

nb::tuple strides_tuple(Self self) {
  const Tensor& t = tensor_of(self.ptr());
  PyObject* out = PyTuple_New(t.rank());
  auto size = static_cast<int64_t>(dtype_size(t.dtype()));
  for (int i = 0; i < t.rank(); ++i) PyTuple_SET_ITEM(out, i, PyLong_FromLongLong(t.strides()[i] * size));
  return nb::steal<nb::tuple>(out);
}

int64_t element_size(Self self) { return static_cast<int64_t>(dtype_size(tensor_of(self.ptr()).dtype())); }

/// `self` becomes a handle to the value of `other`.
nb::object assign_value(Self self, nb::handle other) {
  TensorHandle& handle = handle_of(self.ptr());
  SORUS_CHECK(is_tensor(other.ptr()), TypeError,
              "assign_value: argument has the wrong type: got {}, need a Tensor", type_text(other.ptr()));
  handle.set(tensor_of(other.ptr()));
  return nb::borrow(self);
}

/// self += other (or -= other) in the dtype of `self`. One step: the lock is kept and no Python code runs
/// between reading and writing, so that neither another thread nor a signal handler comes in between.
nb::object accumulate(Self self, nb::handle other, bool subtract) {
  PyObject* o = other.ptr();
  TensorHandle& handle = handle_of(self.ptr());
  DType dtype = handle.get().dtype();
  Tensor value = is_number(o) ? scalar_beside(to_scalar(o), dtype) : tensor_from_object(o, nullptr);
  const Tensor& before = handle.get();
  const auto sum = [&] {
    const InPlaceUpdate update(before);
    return subtract ? sub(before, value) : add(before, value);
  };
  Tensor after = cast_to(sum(), dtype);
  SORUS_CHECK(after.shape() == before.shape(), ShapeError,
              "{}: value has another shape: got {}, need one that broadcasts to {}",
              subtract ? "assign_sub" : "assign_add", value.shape(), before.shape());
  handle.set(std::move(after));
  return nb::borrow(self);
}

void bind_conversions(nb::class_<TensorHandle>& cls) {
  cls.def("item", &item)
      .def("__int__",
           [](Self self) {
             return nb::steal<nb::object>(PyNumber_Long(python_number(single(self, "int")).ptr()));
           })
      .def("__float__",
           [](Self self) {
             return nb::steal<nb::object>(PyNumber_Float(python_number(single(self, "float")).ptr()));
           })
      .def("__index__",
           [](Self self) {
             const Tensor& t = single(self, "index");
             SORUS_CHECK(is_integer(t.dtype()) || t.dtype() == DType::kBool, TypeError,
                         "index: only an integer tensor is an index: got dtype {}", t.dtype());
             return nb::steal<nb::object>(PyNumber_Index(python_number(t).ptr()));
           })
      .def("__hash__",
           [](Self self) { return static_cast<Py_ssize_t>(reinterpret_cast<uintptr_t>(self.ptr()) >> 4); })
      .def("__copy__", [](Self self) { return wrap_object(tensor_of(self.ptr())); })
      .def(
          "__deepcopy__", [](Self self, nb::handle) { return wrap_object(tensor_of(self.ptr())); },
          nb::arg("memo").none())
      .def("_set_value", &assign_value)
      .def("_accumulate", &accumulate)
      .def("_defined", [](Self self) { return tensor_of(self.ptr()).defined(); })
      .def("_is_contiguous", [](Self self) { return tensor_of(self.ptr()).is_contiguous(); });
}

void bind_parameter(nb::module_& m) {
  auto cls = nb::class_<ParameterState, TensorHandle>(m, "ParameterBase", nb::dynamic_attr());
  cls.def(
         "__init__",
         [](ParameterState* self, nb::handle value, std::string name, bool requires_grad) {
           SORUS_CHECK(is_tensor(value.ptr()), TypeError,
                       "Parameter: argument 'default_input' has the wrong type: got {}, need a Tensor",
                       type_text(value.ptr()));
           new (self) ParameterState(tensor_of(value.ptr()));
           self->name = std::move(name);
           self->requires_grad = requires_grad;
         },
         nb::arg("value"), nb::arg("name") = "", nb::arg("requires_grad") = true)
      .def_rw("_name", &ParameterState::name)
      .def_rw("requires_grad", &ParameterState::requires_grad);
  types.parameter = reinterpret_cast<PyTypeObject*>(cls.ptr());
}

}  // namespace

void bind_tensor(nb::module_& m) {
  auto cls = nb::class_<TensorHandle>(m, "Tensor", nb::type_slots(tensor_slots()),
                                      nb::is_weak_referenceable(), nb::dynamic_attr());
  types.tensor = reinterpret_cast<PyTypeObject*>(cls.ptr());
  cls.def(
      "__init__",
      [](TensorHandle* self, nb::handle data, nb::handle dtype, nb::handle shape, nb::handle init, nb::handle,
         nb::handle) {
        new (self) TensorHandle(until_the_end([&] { return construct(data, dtype, shape, init); }));
      },
      nb::arg("input_data").none() = nb::none(), nb::arg("dtype").none() = nb::none(),
      nb::arg("shape").none() = nb::none(), nb::arg("init").none() = nb::none(),
      nb::arg("const_arg").none() = false, nb::arg("device").none() = nb::none());
  cls.def_prop_ro("shape", [](Self self) { return shape_tuple(tensor_of(self.ptr()).shape()); })
      .def_prop_ro("dtype", [](Self self) { return nb::borrow(dtype_object(tensor_of(self.ptr()).dtype())); })
      .def_prop_ro("ndim", [](Self self) { return tensor_of(self.ptr()).rank(); })
      .def_prop_ro("size", [](Self self) { return tensor_of(self.ptr()).numel(); })
      .def_prop_ro("itemsize", &element_size)
      .def_prop_ro("nbytes", [](Self self) { return element_size(self) * tensor_of(self.ptr()).numel(); })
      .def_prop_ro("strides", &strides_tuple)
      .def_prop_ro("device", [](Self) { return "CPU"; });
  bind_conversions(cls);
  bind_parameter(m);
  m.def("set_initializer_hook", [](nb::object hook) { initializer_hook = hook.release().ptr(); });
}

}  // namespace sorus::python
