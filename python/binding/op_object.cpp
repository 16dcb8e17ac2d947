#include <Python.h>
// After Python.h, which it needs.
#include <structmember.h>

#include <cstddef>
#include <memory>

#include "binding/spelling.h"

/// The Python class of every function, method and primitive of the package: one vectorcall object that reads
/// a spelling.
namespace sorus::python {
namespace {

struct Spelling {
  std::string name;
  std::vector<Overload> overloads;
};

struct PyOp {
  PyObject_HEAD vectorcallfunc call;
  Spelling* spelling;
  PyObject* name;
  PyObject* module;
  PyObject* doc;
  bool restates;  ///< errors are told in the words of this function
};

PyOp* as_op(PyObject* o) { return reinterpret_cast<PyOp*>(o); }

std::string describe(const Given& given) {
  std::string text = "(";
  for (size_t i = 0; i < given.count; ++i) text += (i ? ", " : "") + type_text(given.arguments[i]);
  for (Py_ssize_t k = 0; given.keywords && k < PyTuple_GET_SIZE(given.keywords); ++k)
    text += (text.size() > 1 ? ", " : "") +
            std::string(PyUnicode_AsUTF8(PyTuple_GET_ITEM(given.keywords, k))) + "=" +
            type_text(given.arguments[given.count + static_cast<size_t>(k)]);
  return text + ")";
}

PyObject* call_overloads(const Spelling& s, const Given& given) {
  std::string need;
  for (const Overload& o : s.overloads) {
    Bound bound;
    std::string why;
    if (fit(o, given, bound, why) && accepts(o, bound)) return evaluate(o, bound);
    need += "\n  " + o.text;
  }
  raise<TypeError>("{}: no overload takes these arguments: got {}, need one of{}", s.name, describe(given),
                   need);
}

/// Lets the package tell the error that is set in the words of this function (sorus/_errors.py). Returns
/// null.
[[gnu::cold]] PyObject* restate(PyObject* self, const Given& given) {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
  nb::python_error error;
  nb::object value = nb::borrow<nb::object>(error.value());
  try {
    nb::list arguments;
    for (size_t i = 0; i < given.count; ++i) arguments.append(nb::handle(given.arguments[i]));
    nb::dict keywords;
    for (Py_ssize_t k = 0; given.keywords && k < PyTuple_GET_SIZE(given.keywords); ++k)
      keywords[nb::handle(PyTuple_GET_ITEM(given.keywords, k))] =
          nb::handle(given.arguments[given.count + static_cast<size_t>(k)]);
    nb::object restated = nb::module_::import_("sorus._errors").attr("restated");
    value = restated(value, nb::handle(self), arguments, keywords);
  } catch (nb::python_error&) {
    error.restore();  // too little memory, or Python ends: the error stays as it is
    return nullptr;
  }
  PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()))), Py_NewRef(value.ptr()),
                PyException_GetTraceback(value.ptr()));
  return nullptr;
}

PyObject* call_op(PyObject* self, PyObject* const* arguments, size_t count, PyObject* keywords) {
  PyObject* result = guarded([&] {
    const Spelling& s = *as_op(self)->spelling;
    Given given{arguments, static_cast<size_t>(PyVectorcall_NARGS(count)), keywords};
    if (s.overloads.size() != 1) return call_overloads(s, given);
    const Overload& o = s.overloads.front();
    Bound bound;
    std::string why;
    if (!fit(o, given, bound, why)) raise<TypeError>("{}: {}, need {}", s.name, why, o.text);
    if (o.checked) check_kinds(s.name, o, bound);
    return evaluate(o, bound);
  });
  if (!result && as_op(self)->restates) [[unlikely]]
    guarded([&] {
      return restate(self, Given{arguments, static_cast<size_t>(PyVectorcall_NARGS(count)), keywords});
    });
  return result;
}

void free_op(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete as_op(self)->spelling;
  Py_XDECREF(as_op(self)->name);
  Py_XDECREF(as_op(self)->module);
  Py_XDECREF(as_op(self)->doc);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* bind_method(PyObject* self, PyObject* object, PyObject*) {
  return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

PyObject* represent(PyObject* self) { return PyUnicode_FromFormat("<sorus function %U>", as_op(self)->name); }
PyObject* reduce(PyObject* self, PyObject*) { return Py_NewRef(as_op(self)->name); }

PyMethodDef methods[] = {{"__reduce__", &reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
/// For inspect.signature: made by the package (sorus/_rows.py) when somebody asks.
PyObject* signature(PyObject* self, void*) {
  return guarded([&] {
    return nb::object(nb::module_::import_("sorus._rows").attr("signature_of")(nb::handle(self)))
        .release()
        .ptr();
  });
}

PyGetSetDef properties[] = {{"__signature__", &signature, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyOp, call), READONLY, nullptr},
                         {"__name__", T_OBJECT, offsetof(PyOp, name), READONLY, nullptr},
                         {"__qualname__", T_OBJECT, offsetof(PyOp, name), READONLY, nullptr},
                         {"__module__", T_OBJECT, offsetof(PyOp, module), READONLY, nullptr},
                         {"__doc__", T_OBJECT, offsetof(PyOp, doc), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(&free_op)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(&bind_method)},
                       {Py_tp_repr, reinterpret_cast<void*>(&represent)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_getset, properties},
                       {0, nullptr}};
PyType_Spec spec = {"sorus.Op", sizeof(PyOp), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};

/// An op from its name, module, doc and the descriptions of its overloads; `restates` says that users call
/// it.
nb::object make_op(nb::str name, nb::str module, nb::str doc, nb::list overloads, bool restates) {
  auto spelling = std::make_unique<Spelling>();
  spelling->name = name.c_str();
  for (nb::handle o : overloads) spelling->overloads.push_back(overload_from(nb::cast<nb::tuple>(o)));
  PyOp* op = PyObject_New(PyOp, types.op);
  op->call = &call_op;
  op->spelling = spelling.release();
  op->name = name.release().ptr();
  op->module = module.release().ptr();
  op->doc = doc.release().ptr();
  op->restates = restates;
  return nb::steal<nb::object>(nb::handle(reinterpret_cast<PyObject*>(op)));
}

/// The value, which the variable takes over when `inplace` is true.
PyObject* written(void (*)(), Frame& f) {
  PyObject* variable = f.at(0);
  if (!is_tensor(variable)) f.refuse(0, words_of(Kind::kTensor));
  int inplace = PyObject_IsTrue(f.at(2));
  if (inplace < 0) throw nb::python_error();
  if (inplace == 0) return Py_NewRef(f.at(1));
  const Tensor& before = tensor_of(variable);
  Tensor value = cast_to(tensor_of(f.at(1)), before.dtype());
  SORUS_CHECK(value.shape() == before.shape(), ShapeError,
              "{}: result has another shape than the tensor: got {}, need {}", f.function.name, value.shape(),
              before.shape());
  handle_of(variable).set(std::move(value));
  return Py_NewRef(variable);
}

/// (names, defaults, required) of a C++ function, or None when there is none of that name.
nb::object signature_of(const std::string& name, nb::object required) {
  const Function* f = find_function(name);
  if (!f) return nb::none();
  nb::list names;
  nb::list defaults;
  for (size_t i = 0; i < f->names.size(); ++i) {
    names.append(nb::handle(f->names[i]));
    defaults.append(f->defaults[i] ? nb::handle(f->defaults[i]) : nb::handle(required));
  }
  return nb::make_tuple(names, defaults, f->signature);
}

/// (what each parameter accepts, the result's type) of a C++ function, in the words of `Kind` and of Python;
/// "weak tensor" takes numbers, too. None when there is no function of that name.
nb::object types_of(const std::string& name) {
  static constexpr const char* kWords[] = {"tensor", "tensors", "number", "bool",   "int",
                                           "float",  "ints",    "dtype",  "string", "any"};
  const Function* f = find_function(name);
  if (!f) return nb::none();
  nb::list kinds;
  for (size_t i = 0; i < f->kinds.size(); ++i) {
    std::string word = kWords[static_cast<size_t>(f->kinds[i])];
    kinds.append((f->weak >> i & 1U ? "weak " : "") + word);
  }
  return nb::make_tuple(kinds, f->result);
}

}  // namespace

void bind_ops(nb::module_& m) {
  types.op = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  m.attr("Op") = nb::borrow<nb::object>(reinterpret_cast<PyObject*>(types.op));
  add_functions({{"written",
                  "variable, value, inplace",
                  nullptr,
                  &written,
                  {Kind::kTensor, Kind::kTensor, Kind::kBool},
                  "Tensor"}});
  m.def("make_op", &make_op);
  m.def("signature_of", &signature_of);
  m.def("types_of", &types_of);
  m.def("op_doc", [](const std::string& name) -> std::string {
    const OpDef* op = find_op(name);
    return op ? std::string(op->doc) : std::string();
  });
}

}  // namespace sorus::python
