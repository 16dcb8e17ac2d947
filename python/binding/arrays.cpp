#include <nanobind/ndarray.h>

#include "binding/bridge.h"
#include "binding/release_gil.h"
#include "sorus/ops/elementwise/elementwise.h"

/// NumPy and DLPack, both ways. Construction copies; sharing memory is asked for by name.
namespace sorus::python {
namespace {

using ReadOnlyArray = nb::ndarray<nb::ro>;
using AnyArray = nb::ndarray<>;

nb::dlpack::dtype dlpack_of(DType t) {
  using Code = nb::dlpack::dtype_code;
  Code code = t == DType::kBool       ? Code::Bool
              : t == DType::kBFloat16 ? Code::Bfloat
              : is_floating(t)        ? Code::Float
              : is_unsigned(t)        ? Code::UInt
                                      : Code::Int;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * dtype_size(t)), 1};
}

DType dtype_of_dlpack(nb::dlpack::dtype d) {
  if (d.lanes == 1)
    for (int i = 0; i < kDTypeCount; ++i)
      if (dlpack_of(static_cast<DType>(i)) == d) return static_cast<DType>(i);
  raise<DTypeError>(
      "Tensor: unsupported element type: got DLPack code {} of {} bits, need bool, an integer or a float",
      static_cast<int>(d.code), static_cast<int>(d.bits));
}

/// An array object whose owner keeps the value alive.
template <class Array>
Array array_over(const Tensor& t) {
  const Value& v = t.ready();
  v.storage->mark_exported();
  size_t shape[kMaxRank];
  int64_t strides[kMaxRank];
  int rank = v.type.shape.rank();
  for (int i = 0; i < rank; ++i) {
    shape[i] = static_cast<size_t>(v.type.shape.size(i));
    strides[i] = v.strides[i];
  }
  auto* kept = new Tensor(t);
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  return Array(v.bytes(), static_cast<size_t>(rank), shape, owner, strides, dlpack_of(v.type.dtype));
}

/// A read-only NumPy view of the elements, without a copy. NumPy itself has no bfloat16: there it is float32
/// values unless ml_dtypes is installed.
nb::object numpy_view(const Tensor& t) {
  if (t.dtype() == DType::kBFloat16) {
    Tensor wide = cast(t, DType::kFloat32);
    nb::object values = numpy_view(wide);
    try {
      return values.attr("astype")(numpy_dtype(DType::kBFloat16));
    } catch (nb::python_error&) {
      return values;
    }
  }
  return nb::cast(array_over<nb::ndarray<nb::numpy, nb::ro>>(t));
}

Shape shape_of(const nb::ndarray<nb::ro>& a) {
  Shape shape;
  SORUS_CHECK(a.ndim() <= kMaxRank, ValueError, "Tensor: too many dimensions: got {}, need at most {}",
              a.ndim(), kMaxRank);
  for (size_t i = 0; i < a.ndim(); ++i) shape.push_back(static_cast<int64_t>(a.shape(i)));
  return shape;
}

/// NumPy lets other bytes than 0 and 1 stand for bools, as in uint8 memory seen as bool; kernels do not.
bool has_other_bools(const std::byte* from, const Strides& strides, const Shape& shape, int axis = 0) {
  int64_t extent = axis < shape.rank() ? shape.size(axis) : 1;
  for (int64_t i = 0; i < extent; ++i) {
    const std::byte* at = axis < shape.rank() ? from + i * strides[axis] : from;
    if (axis + 1 >= shape.rank() ? *at > std::byte{1} : has_other_bools(at, strides, shape, axis + 1))
      return true;
  }
  return false;
}

Tensor copy_array(const ReadOnlyArray& a) {
  DType dtype = dtype_of_dlpack(a.dtype());
  Shape shape = shape_of(a);
  Strides strides;
  for (size_t i = 0; i < a.ndim(); ++i) strides[static_cast<int>(i)] = a.stride(i);
  Ref<Value> v = make_dense({dtype, {}, shape});
  const auto* from = static_cast<const std::byte*>(a.data_handle()) + a.byte_offset();
  std::byte* to = v->storage->data();
  copy_strided(from, strides, to, v->strides, shape, dtype_size(dtype));
  if (dtype == DType::kBool)
    for (int64_t i = 0, n = shape.numel(); i < n; ++i) to[i] = std::byte{to[i] != std::byte{0}};
  return Tensor(std::move(v));
}

/// Bits of a NumPy array of ml_dtypes.bfloat16, which no array protocol can name.
Tensor from_bfloat16_array(nb::handle array) {
  nb::object bits = array.attr("view")("uint16");
  Tensor t = copy_array(nb::cast<ReadOnlyArray>(bits));
  Ref<Value> v = make_dense({DType::kBFloat16, {}, t.shape()});
  std::memcpy(v->storage->data(), t.ready().bytes(), static_cast<size_t>(t.numel()) * 2);
  return Tensor(std::move(v));
}

Tensor from_numpy_array(nb::object array, const DType* dtype) {
  std::string name = nb::cast<nb::str>(array.attr("dtype").attr("name")).c_str();
  SORUS_CHECK(name != "object" && name.compare(0, 3, "str") != 0, TypeError,
              "Tensor: elements are not numbers: got an array of {}, need bool, integers or floats", name);
  if (name == "bfloat16") {
    Tensor t = from_bfloat16_array(array);
    return dtype ? cast_to(t, *dtype) : t;
  }
  if (dtype && *dtype == DType::kBFloat16)
    return cast_to(from_numpy_array(array.attr("astype")("float32"), nullptr), DType::kBFloat16);
  if (dtype && dtype_name(*dtype) != name) array = array.attr("astype")(numpy_dtype(*dtype));
  if (nb::cast<std::string>(array.attr("dtype").attr("byteorder")) == ">")
    array = array.attr("astype")(array.attr("dtype").attr("newbyteorder")("="));
  ReadOnlyArray view;
  if (!nb::try_cast(array, view))
    raise<DTypeError>(
        "Tensor: unsupported element type: got an array of {}, need bool, an integer or a float", name);
  return copy_array(view);
}

/// Lists: the kind of number decides the dtype, not the width of NumPy scalars among them.
Tensor from_sequence(PyObject* o, const DType* dtype) {
  nb::object array;
  try {
    array = nb::module_::import_("numpy").attr("asarray")(nb::handle(o));
  } catch (nb::python_error& e) {
    raise<TypeError>(
        "Tensor: list cannot be an array: got rows of different lengths or unsupported elements, need "
        "a rectangular list of numbers");
  }
  std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  SORUS_CHECK(kind == "f" || kind == "i" || kind == "u" || kind == "b", TypeError,
              "Tensor: list holds unsupported elements: got elements of NumPy kind '{}', need numbers", kind);
  if (dtype) return from_numpy_array(array, dtype);
  DType natural = kind == "f" ? DType::kFloat32 : kind == "b" ? DType::kBool : DType::kInt64;
  return from_numpy_array(array, &natural);
}

Tensor from_number(Scalar s, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    using C = ComputeType<T>;
    if constexpr (std::is_same_v<T, bool>)
      return Tensor(s.as_double() != 0);
    else if constexpr (std::is_floating_point_v<C>)
      return Tensor(T(static_cast<C>(s.as_double())));
    else
      return Tensor(static_cast<T>(s.as_int()));
  });
}

/// Wraps the memory of an array without a copy; it stays alive as long as the tensor. `what` is who asks.
/// Bools of other bytes than 0 and 1 are copied.
Tensor share_array(const AnyArray& a, const char* what) {
  DType dtype = dtype_of_dlpack(a.dtype());
  SORUS_CHECK(a.device_type() == nb::device::cpu::value, NotSupportedError,
              "{}: memory is on another device: got DLPack device type {}, need host memory (1)", what,
              a.device_type());
  TensorType type{dtype, {}, shape_of(ReadOnlyArray(a))};
  int64_t bytes = static_cast<int64_t>(dtype_size(dtype));
  int64_t last = 0;
  Ref<Value> v = Value::make(type);
  for (size_t i = 0; i < a.ndim(); ++i) {
    SORUS_CHECK(a.stride(i) >= 0, ValueError,
                "{}: memory runs backwards: got stride {} along axis {}, need positive strides", what,
                a.stride(i), i);
    v->strides[static_cast<int>(i)] = a.stride(i);
    if (a.shape(i) > 0) last += a.stride(i) * static_cast<int64_t>(a.shape(i) - 1);
  }
  auto* start = static_cast<std::byte*>(a.data_handle()) + a.byte_offset();
  SORUS_CHECK(reinterpret_cast<uintptr_t>(start) % dtype_size(dtype) == 0, ValueError,
              "{}: memory is not aligned: got an address that is no multiple of {}, need one", what,
              dtype_size(dtype));
  if (dtype == DType::kBool && has_other_bools(start, v->strides, type.shape))
    return copy_array(ReadOnlyArray(a));
  v->storage = Storage::external(
      start, static_cast<size_t>((last + 1) * bytes), {}, new AnyArray(a),
      [](void* p) { drop_with_lock(p, [](void* array) { delete static_cast<AnyArray*>(array); }); });
  return Tensor(std::move(v));
}

/// The capsule that the object gives. It is asked for here because a capsule handed to nanobind itself is
/// marked as used, so that an object that gives the same one twice does no harm.
nb::object capsule_of(nb::handle source) {
  if (!PyObject_HasAttrString(source.ptr(), "__dlpack__")) return nb::borrow(source);
  nb::object give = source.attr("__dlpack__");
  try {
    return give(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
  }
  return give();  // from before versions were told
}

nb::object from_dlpack(nb::handle source) {
  AnyArray a;
  nb::object capsule = capsule_of(source);
  if (PyCapsule_CheckExact(capsule.ptr()) && nb::try_cast(capsule, a))
    return wrap_object(share_array(a, "from_dlpack"));
  raise<TypeError>(
      "from_dlpack: object gives no usable memory: got {}, need an object with __dlpack__ (writable "
      "host memory)",
      type_text(source.ptr()));
}

nb::object from_numpy(nb::handle array) {
  AnyArray a;
  SORUS_CHECK(PyObject_HasAttrString(array.ptr(), "__array_interface__"), TypeError,
              "from_numpy: argument 'array' has the wrong type: got {}, need a NumPy array",
              type_text(array.ptr()));
  if (nb::try_cast(array, a)) return wrap_object(share_array(a, "from_numpy"));
  return wrap_object(tensor_from_object(array.ptr(), nullptr));  // read-only memory cannot be shared safely
}

nb::object to_dlpack(Self self, const nb::kwargs& options) {
  const Tensor& t = tensor_of(self.ptr());
  nb::object array = nb::cast(array_over<nb::ndarray<nb::array_api, nb::ro>>(t));
  return array.attr("__dlpack__")(**options);
}

nb::object array_protocol(Self self, nb::handle dtype, nb::handle copy) {
  bool copies = !copy.is_none() && nb::cast<bool>(copy);
  nb::object view = copies ? to_numpy(tensor_of(self.ptr())) : numpy_view(tensor_of(self.ptr()));
  if (dtype.is_none()) return view;
  return view.attr("astype")(dtype, nb::arg("copy") = false);
}

}  // namespace

Tensor cast_to(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : cast(t, dtype); }

Tensor tensor_from_object(PyObject* o, const DType* dtype) {
  if (is_tensor(o)) return dtype ? cast_to(tensor_of(o), *dtype) : tensor_of(o);
  if (PyFloat_CheckExact(o)) return from_number(PyFloat_AS_DOUBLE(o), dtype ? *dtype : DType::kFloat32);
  if (PyBool_Check(o)) return from_number(o == Py_True, dtype ? *dtype : DType::kBool);
  if (PyLong_CheckExact(o)) return from_number(to_scalar(o), dtype ? *dtype : DType::kInt64);
  if (PyList_Check(o) || PyTuple_Check(o)) return from_sequence(o, dtype);
  if (PyObject_HasAttrString(o, "__array_interface__"))
    return from_numpy_array(nb::module_::import_("numpy").attr("asarray")(nb::handle(o)), dtype);
  ReadOnlyArray view;
  if (!PyUnicode_Check(o) && !PyBytes_Check(o) && o != Py_None && nb::try_cast(nb::handle(o), view)) {
    Tensor t = copy_array(view);
    return dtype ? cast_to(t, *dtype) : t;
  }
  raise<TypeError>(
      "Tensor: argument 'input_data' has the wrong type: got {}, need a Tensor, an array, a list or tuple "
      "of numbers, or a number",
      type_text(o));
}

nb::object to_numpy(const Tensor& t) {
  nb::object view = numpy_view(t);
  // NumPy gives up the lock while it copies. Nothing that holds Python objects may be unwound on that way.
  PyObject* copy = until_the_end([&] { return PyObject_CallMethod(view.ptr(), "copy", "s", "C"); });
  if (!copy) nb::raise_python_error();
  return nb::steal(copy);
}

void bind_arrays(nb::module_& m) {
  m.def("from_dlpack", &from_dlpack, nb::arg("ext_tensor"));
  m.def(
      "from_numpy", [](nb::handle array) { return until_the_end([&] { return from_numpy(array); }); },
      nb::arg("array"));
  auto cls = nb::borrow<nb::class_<TensorHandle>>(nb::handle(reinterpret_cast<PyObject*>(types.tensor)));
  cls.def("asnumpy", [](Self self) { return to_numpy(tensor_of(self.ptr())); })
      .def("__array__", &array_protocol, nb::arg("dtype").none() = nb::none(), nb::kw_only(),
           nb::arg("copy").none() = nb::none())
      .def("__dlpack__", &to_dlpack)
      .def("__dlpack_device__", [](Self) { return nb::make_tuple(1, 0); });
}

}  // namespace sorus::python
