#include <array>

#include "binding/bridge.h"

namespace sorus::python {
namespace {

/// Names of dtype objects in the order of their codes: first the DTypes of the core in their order, then
/// names that are no element types. `shown` is what str() gives.
struct DTypeName {
  const char* name;
  const char* shown;
};
constexpr DTypeName kNames[] = {
    {"bool_", "Bool"},        {"int8", "Int8"},           {"int16", "Int16"},
    {"int32", "Int32"},       {"int64", "Int64"},         {"uint8", "UInt8"},
    {"uint16", "UInt16"},     {"uint32", "UInt32"},       {"uint64", "UInt64"},
    {"float16", "Float16"},   {"bfloat16", "BFloat16"},   {"float32", "Float32"},
    {"float64", "Float64"},   {"complex64", "Complex64"}, {"complex128", "Complex128"},
    {"int4", "Int4"},         {"qint4x2", "QInt4x2"},     {"int_", "Int"},
    {"uint", "UInt"},         {"float_", "Float"},        {"complex", "Complex"},
    {"number", "Number"},     {"tensor_type", "Tensor"},  {"string", "String"},
    {"list_", "List"},        {"tuple_", "Tuple"},        {"none_type", "None"},
    {"function", "Func"},     {"type_none", "TypeNone"},  {"type_type", "TypeType"},
    {"slice", "Slice"},       {"ellipsis", "Ellipsis"},   {"mstype_null", "Null"},
    {"type_refkey", "RefKey"}};
constexpr int kNameCount = static_cast<int>(std::size(kNames));
std::array<PyObject*, kNameCount> objects{};

int code_of(PyObject* o) { return nb::inst_ptr<PyDType>(nb::handle(o))->code; }

/// Size of an element in bytes; 0 for names that are no element types.
size_t item_size(const PyDType& d) {
  if (d.code < kDTypeCount) return dtype_size(static_cast<DType>(d.code));
  return std::string_view(kNames[d.code].name) == "complex64"    ? 8
         : std::string_view(kNames[d.code].name) == "complex128" ? 16
                                                                 : 0;
}

}  // namespace

PyObject* dtype_object(DType t) { return objects[static_cast<size_t>(t)]; }

bool to_dtype(PyObject* o, DType* out) {
  if (Py_TYPE(o) == types.dtype) {
    int code = code_of(o);
    if (code >= kDTypeCount) {
      std::string_view name = kNames[code].name;
      if (name == "int_")
        *out = DType::kInt64;
      else if (name == "float_")
        *out = DType::kFloat32;
      else
        raise<NotSupportedError>("dtype: not an element type here: got {}, need bool, an integer or a float",
                                 kNames[code].shown);
      return true;
    }
    *out = static_cast<DType>(code);
    return true;
  }
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return *out = DType::kBool, true;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return *out = DType::kInt64, true;
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return *out = DType::kFloat32, true;
  if (PyUnicode_Check(o)) return false;
  if (!PyObject_HasAttrString(o, "dtype") && !PyObject_HasAttrString(o, "kind")) return false;
  if (is_tensor(o)) return false;
  nb::object described =
      nb::steal<nb::object>(PyObject_CallOneArg(nb::module_::import_("numpy").attr("dtype").ptr(), o));
  if (!described.is_valid()) {
    PyErr_Clear();
    return false;
  }
  nb::str name(described.attr("name"));
  try {
    *out = dtype_from_name(name.c_str());
  } catch (const ValueError&) {
    return false;
  }
  return true;
}

nb::object numpy_dtype(DType t) {
  static std::array<PyObject*, kDTypeCount> cache{};
  PyObject*& slot = cache[static_cast<size_t>(t)];
  if (!slot) {
    nb::object source =
        t == DType::kBFloat16
            ? nb::module_::import_("ml_dtypes").attr("bfloat16")
            : nb::module_::import_("numpy").attr(t == DType::kBool ? "bool_" : dtype_name(t).data());
    slot = nb::module_::import_("numpy").attr("dtype")(source).release().ptr();
  }
  return nb::borrow<nb::object>(slot);
}

void bind_dtypes(nb::module_& m) {
  auto cls =
      nb::class_<PyDType>(m, "Type")
          .def("__repr__", [](const PyDType& d) { return std::string("sorus.") + kNames[d.code].name; })
          .def("__str__", [](const PyDType& d) { return kNames[d.code].shown; })
          .def("__hash__", [](const PyDType& d) { return d.code + 7919; })
          .def(
              "__eq__",
              [](nb::handle a, nb::handle b) {
                return Py_TYPE(b.ptr()) == types.dtype && code_of(a.ptr()) == code_of(b.ptr());
              },
              nb::arg().none())
          .def("__reduce__", [](const PyDType& d) { return kNames[d.code].name; })  // a name of the module
          .def("__copy__", [](nb::object self) { return self; })
          .def(
              "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg().none())
          .def_prop_ro("name", [](const PyDType& d) { return kNames[d.code].name; })
          .def_prop_ro("itemsize", item_size)
          .def_prop_ro("is_floating_point",
                       [](const PyDType& d) {
                         return d.code < kDTypeCount && is_floating(static_cast<DType>(d.code));
                       })
          .def_prop_ro("is_signed", [](const PyDType& d) {
            return d.code < kDTypeCount && d.code != 0 && !is_unsigned(static_cast<DType>(d.code));
          });
  types.dtype = reinterpret_cast<PyTypeObject*>(cls.ptr());
  nb::dict table;
  for (int i = 0; i < kNameCount; ++i) {
    nb::object o = nb::inst_alloc(cls);
    new (nb::inst_ptr<PyDType>(o)) PyDType{i};
    nb::inst_mark_ready(o);
    objects[static_cast<size_t>(i)] = o.inc_ref().ptr();
    table[kNames[i].name] = o;
    m.attr(kNames[i].name) = o;
  }
  m.attr("dtypes") = table;
  m.def(
      "dtype_of",
      [](nb::handle o) -> nb::object {
        DType t;
        if (!to_dtype(o.ptr(), &t)) return nb::none();
        return nb::borrow<nb::object>(dtype_object(t));
      },
      nb::arg().none());
  m.def("numpy_dtype", [](nb::handle o) {
    DType t;
    SORUS_CHECK(to_dtype(o.ptr(), &t), TypeError,
                "dtype_to_nptype: not a dtype: got {}, need one such as float32", type_text(o.ptr()));
    return numpy_dtype(t);
  });
  m.def("promote_types", [](nb::handle a, nb::handle b) {
    DType x;
    DType y;
    SORUS_CHECK(to_dtype(a.ptr(), &x) && to_dtype(b.ptr(), &y), TypeError,
                "promote_types: not a dtype: got {} and {}, need two dtypes", type_text(a.ptr()),
                type_text(b.ptr()));
    return nb::borrow<nb::object>(dtype_object(promote(x, y)));
  });
}

}  // namespace sorus::python
