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

PyObject* call_op(PyObject* self, PyObject* const* arguments, size_t count, PyObject* keywords) {
  return guarded([&] {
    const Spelling& s = *as_op(self)->spelling;
    Given given{arguments, static_cast<size_t>(PyVectorcall_NARGS(count)), keywords};
    if (s.overloads.size() != 1) return call_overloads(s, given);
    const Overload& o = s.overloads.front();
    Bound bound;
    std::string why;
    if (!fit(o, given, bound, why)) raise<TypeError>("{}: {}, need {}", s.name, why, o.text);
    return evaluate(o, bound);
  });
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
                       {0, nullptr}};
PyType_Spec spec = {"sorus.Op", sizeof(PyOp), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};

/// An op from its name, module, doc and the descriptions of its overloads.
nb::object make_op(nb::str name, nb::str module, nb::str doc, nb::list overloads) {
  auto spelling = std::make_unique<Spelling>();
  spelling->name = name.c_str();
  for (nb::handle o : overloads) spelling->overloads.push_back(overload_from(nb::cast<nb::tuple>(o)));
  PyOp* op = PyObject_New(PyOp, types.op);
  op->call = &call_op;
  op->spelling = spelling.release();
  op->name = name.release().ptr();
  op->module = module.release().ptr();
  op->doc = doc.release().ptr();
  return nb::steal<nb::object>(nb::handle(reinterpret_cast<PyObject*>(op)));
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
  m.def("make_op", &make_op);
  m.def("signature_of", &signature_of);
  m.def("types_of", &types_of);
  m.def("op_doc", [](const std::string& name) -> std::string {
    const OpDef* op = find_op(name);
    return op ? std::string(op->doc) : std::string();
  });
}

}  // namespace sorus::python
