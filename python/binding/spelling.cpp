#include "binding/spelling.h"

#include <bit>
#include <map>

namespace sorus::python {
namespace {

std::map<std::string, Function, std::less<>>& functions() {
  static std::map<std::string, Function, std::less<>> table;
  return table;
}

/// Evaluates "x, axes=(), keepdims=False" by letting Python compile it as a list of parameters.
void read_signature(Function& f) {
  nb::dict scope;
  nb::dict names = nb::cast<nb::dict>(nb::module_::import_("sorus._core").attr("dtypes"));
  for (auto [key, value] : names) scope[key] = value;
  std::string text = "lambda " + std::string(f.signature) + ": 0";
  nb::object made =
      nb::steal<nb::object>(PyRun_String(text.c_str(), Py_eval_input, scope.ptr(), scope.ptr()));
  if (!made.is_valid()) throw nb::python_error();
  nb::tuple variables = nb::cast<nb::tuple>(made.attr("__code__").attr("co_varnames"));
  SORUS_INTERNAL(variables.size() == f.kinds.size(), "{}: signature '{}' has {} parameters, the function {}",
                 f.name, f.signature, variables.size(), f.kinds.size());
  nb::object defaults = made.attr("__defaults__");
  size_t count = defaults.is_none() ? 0 : nb::len(defaults);
  for (size_t i = 0; i < variables.size(); ++i) {
    f.names.push_back(nb::object(variables[i]).release().ptr());
    size_t required = variables.size() - count;
    f.defaults.push_back(i < required ? nullptr : nb::object(defaults[i - required]).release().ptr());
  }
}

bool is_int_like(PyObject* o) {
  return PyLong_Check(o) ||
         (!PyFloat_Check(o) && PyIndex_Check(o) && (!is_tensor(o) || tensor_of(o).rank() == 0));
}

bool accepts_one(Kind kind, bool weak, PyObject* o) {
  switch (kind) {
    case Kind::kTensor:
      return is_tensor(o) || (weak && (is_number(o) || PyList_Check(o) || PyTuple_Check(o) ||
                                       PyObject_HasAttrString(o, "__array_interface__")));
    case Kind::kTensors:
      return PyList_Check(o) || PyTuple_Check(o) || is_tensor(o);
    case Kind::kNumber:
    case Kind::kFloat:
      return is_number(o) || (is_tensor(o) && tensor_of(o).rank() == 0);
    case Kind::kBool:
      return PyBool_Check(o);
    case Kind::kInt:
      return is_int_like(o) && !PyBool_Check(o);
    case Kind::kInts:
      return (is_int_like(o) && !PyBool_Check(o)) || PyTuple_Check(o) || PyList_Check(o);
    case Kind::kDType: {
      DType ignored;
      return Py_TYPE(o) == types.dtype || (PyType_Check(o) && to_dtype(o, &ignored));
    }
    case Kind::kString:
      return PyUnicode_Check(o);
    case Kind::kAny:
      break;
  }
  return true;
}

size_t find_parameter(const Overload& o, PyObject* name) {
  for (size_t i = 0; i < o.names.size(); ++i)
    if (o.names[i] == name) return i;
  for (size_t i = 0; i < o.names.size(); ++i)
    if (PyUnicode_Compare(o.names[i], name) == 0) return i;
  return o.names.size();
}

std::string word(PyObject* o) { return nb::str(nb::handle(o)).c_str(); }

PyObject* evaluate_call(const Overload& o, const Bound& bound, const Call& call) {
  PyObject* arguments[kMaxParameters];
  nb::object owned[kMaxParameters];
  size_t count = call.arguments.size();
  for (size_t i = 0; i < count; ++i) {
    const Source& s = call.arguments[i];
    if (s.from == Source::From::kParameter) {
      arguments[i] = bound.values[s.index];
    } else if (s.from == Source::From::kConstant) {
      arguments[i] = o.constants[s.index];
    } else {
      owned[i] = nb::steal<nb::object>(nb::handle(evaluate_call(o, bound, o.calls[s.index])));
      arguments[i] = owned[i].ptr();
    }
  }
  nb::object result;
  if (call.function) {
    for (size_t i = 0; i < count; ++i)  // None stands for the function's own default
      if (arguments[i] == Py_None && call.function->defaults[i]) arguments[i] = call.function->defaults[i];
    Frame frame{*call.function, arguments, &o, &call};
    result = nb::steal<nb::object>(nb::handle(call.function->invoke(call.function->pointer, frame)));
  } else {
    result = nb::steal<nb::object>(nb::handle(PyObject_Vectorcall(call.callable, arguments, count, nullptr)));
  }
  if (!result.is_valid()) throw nb::python_error();
  if (call.select >= 0) {
    result = nb::steal<nb::object>(nb::handle(PySequence_GetItem(result.ptr(), call.select)));
    if (!result.is_valid()) throw nb::python_error();
  }
  return result.release().ptr();
}

/// What a Python callable's annotation says of a parameter; kAny for what is not told apart here.
Kind annotated(nb::handle annotations, nb::handle parameter) {
  nb::object found = nb::steal<nb::object>(PyObject_GetItem(annotations.ptr(), parameter.ptr()));
  if (!found.is_valid()) {
    PyErr_Clear();
    return Kind::kAny;
  }
  std::string text = nb::str(found).c_str();
  if (text == "Tensor") return Kind::kTensor;
  if (text == "int") return Kind::kInt;
  if (text == "float") return Kind::kFloat;
  return text == "str" ? Kind::kString : Kind::kAny;
}

/// Takes over what a Python callable says of the parameters that it is given.
void read_annotations(Overload& o, const Call& call) {
  nb::object code = nb::getattr(nb::handle(call.callable), "__code__", nb::none());
  if (code.is_none()) return;
  nb::object annotations = nb::handle(call.callable).attr("__annotations__");
  nb::tuple variables = nb::cast<nb::tuple>(code.attr("co_varnames"));
  for (size_t i = 0; i < call.arguments.size() && i < variables.size(); ++i) {
    const Source& s = call.arguments[i];
    Kind kind = s.from == Source::From::kParameter ? annotated(annotations, variables[i]) : Kind::kAny;
    if (kind == Kind::kAny) continue;
    o.kinds[s.index] = kind;
    o.checked |= 1U << s.index;
  }
}

/// Reads ("parameter", i), ("constant", object) or ("call", target, arguments, select); calls are appended.
Source read_source(Overload& o, nb::handle item) {
  nb::tuple t = nb::cast<nb::tuple>(item);
  std::string kind = nb::cast<std::string>(t[0]);
  if (kind == "parameter") return {Source::From::kParameter, nb::cast<uint16_t>(t[1])};
  if (kind == "constant") {
    o.constants.push_back(nb::object(t[1]).release().ptr());
    return {Source::From::kConstant, static_cast<uint16_t>(o.constants.size() - 1)};
  }
  Call call;
  nb::object target = t[1];
  if (nb::isinstance<nb::str>(target)) {
    std::string name = nb::cast<std::string>(target);
    call.function = find_function(name);
    SORUS_CHECK(call.function, ValueError,
                "spelling: unknown function: got '{}' in '{}', need one of the library", name, o.text);
  } else {
    call.callable = target.inc_ref().ptr();
  }
  for (nb::handle argument : nb::cast<nb::tuple>(t[2])) call.arguments.push_back(read_source(o, argument));
  call.select = nb::cast<int>(t[3]);
  if (!call.function) read_annotations(o, call);
  if (call.function) {
    SORUS_CHECK(call.arguments.size() == call.function->kinds.size(), ValueError,
                "spelling: wrong number of arguments: got {} for {}({}) in '{}'", call.arguments.size(),
                call.function->name, call.function->signature, o.text);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Source& s = call.arguments[i];
      if (s.from != Source::From::kParameter) continue;
      o.kinds[s.index] = call.function->kinds[i];
      if (call.function->weak >> i & 1U) o.weak |= 1U << s.index;
    }
  }
  o.calls.push_back(std::move(call));
  return {Source::From::kCall, static_cast<uint16_t>(o.calls.size() - 1)};
}

}  // namespace

void add_functions(std::vector<Function> table) {
  for (Function& f : table) functions().emplace(f.name, std::move(f));
}

const Function* find_function(std::string_view name) {
  auto found = functions().find(name);
  if (found == functions().end()) return nullptr;
  if (found->second.names.empty() && !found->second.kinds.empty()) read_signature(found->second);
  return &found->second;
}

bool fit(const Overload& o, const Given& given, Bound& bound, std::string& why) {
  size_t taken = given.count;
  if (o.variadic >= 0 && given.count >= static_cast<size_t>(o.variadic)) {
    auto at = static_cast<size_t>(o.variadic);
    bool one_list =
        given.count == at + 1 && (PyTuple_Check(given.arguments[at]) || PyList_Check(given.arguments[at]));
    if (one_list) {
      bound.values[at] = given.arguments[at];
    } else if (given.count > at) {
      PyObject* rest = PyTuple_New(static_cast<Py_ssize_t>(given.count - at));
      for (size_t i = at; i < given.count; ++i)
        PyTuple_SET_ITEM(rest, static_cast<Py_ssize_t>(i - at), Py_NewRef(given.arguments[i]));
      bound.owned = nb::steal<nb::object>(nb::handle(rest));
      bound.values[at] = rest;
    }
    taken = at;
  } else if (given.count > o.positional) {
    why = "too many positional arguments: got " + std::to_string(given.count) + ", need at most " +
          std::to_string(o.positional);
    return false;
  }
  for (size_t i = 0; i < taken; ++i) bound.values[i] = given.arguments[i];
  size_t keywords = given.keywords ? static_cast<size_t>(PyTuple_GET_SIZE(given.keywords)) : 0;
  for (size_t k = 0; k < keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(given.keywords, static_cast<Py_ssize_t>(k));
    size_t i = find_parameter(o, name);
    if (i == o.names.size() || bound.values[i]) {
      why = (i == o.names.size() ? "unexpected keyword argument: got '" : "argument given twice: got '") +
            word(name) + "'";
      return false;
    }
    bound.values[i] = given.arguments[given.count + k];
  }
  for (size_t i = 0; i < o.names.size(); ++i) {
    if (bound.values[i]) continue;
    if (!o.defaults[i]) {
      why = "missing argument: got none for '" + word(o.names[i]) + "'";
      return false;
    }
    bound.values[i] = o.defaults[i];
  }
  return true;
}

bool accepts(const Overload& o, const Bound& bound) {
  for (size_t i = 0; i < o.names.size(); ++i) {
    PyObject* v = bound.values[i];
    if (v == o.defaults[i]) continue;
    if (!accepts_one(o.kinds[i], o.weak >> i & 1U, v)) return false;
  }
  return true;
}

void check_kinds(const std::string& name, const Overload& o, const Bound& bound) {
  for (uint32_t left = o.checked; left != 0; left &= left - 1) {
    auto i = static_cast<size_t>(std::countr_zero(left));
    PyObject* v = bound.values[i];
    if (v == o.defaults[i] || accepts_one(o.kinds[i], o.weak >> i & 1U, v)) continue;
    if (o.kinds[i] == Kind::kInt && PyBool_Check(v)) continue;
    raise<TypeError>("{}: argument '{}' has the wrong type: got {}, need {}", name, word(o.names[i]),
                     type_text(v), words_of(o.kinds[i]));
  }
}

PyObject* evaluate(const Overload& o, const Bound& bound) { return evaluate_call(o, bound, o.calls.back()); }

Overload overload_from(nb::tuple d) {
  Overload o;
  o.text = nb::cast<std::string>(d[0]);
  for (nb::handle name : nb::cast<nb::tuple>(d[1])) {
    PyObject* interned = name.inc_ref().ptr();
    PyUnicode_InternInPlace(&interned);
    o.names.push_back(interned);
  }
  nb::object required = d[3];
  for (nb::handle value : nb::cast<nb::tuple>(d[2]))
    o.defaults.push_back(value.is(required) ? nullptr : value.inc_ref().ptr());
  o.positional = nb::cast<size_t>(d[4]);
  o.variadic = nb::cast<int>(d[5]);
  SORUS_CHECK(o.names.size() <= kMaxParameters, ValueError,
              "spelling: too many parameters: got {}, need at most {}", o.names.size(), kMaxParameters);
  o.kinds.assign(o.names.size(), Kind::kAny);
  read_source(o, d[6]);
  return o;
}

}  // namespace sorus::python
