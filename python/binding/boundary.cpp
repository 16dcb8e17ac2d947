#include "sorus/compiler/boundary.h"

#include <nanobind/stl/string.h>

#include "binding/bridge.h"
#include "binding/callables.h"
#include "binding/release_gil.h"
#include "sorus/base/hash.h"
#include "sorus/base/host_lock.h"
#include "sorus/compiler/dump.h"
#include "sorus/compiler/replay.h"
#include "sorus/compiler/signatures.h"

/// Boundaries for Python: the outermost calls that graph mode records once and compiles.
namespace sorus::python {
namespace {

struct Body {
  nb::handle call;
  nb::object result;
};

void run_body(void* context) {
  GilAcquire gil;
  auto* body = static_cast<Body*>(context);
  body->result = until_the_end([&] { return nb::object(body->call()); });
}

/// The types of a sequence's tensors.
std::vector<TensorType> types_given(const void* sequence) {
  GilAcquire gil;
  std::vector<TensorType> types;
  for (nb::handle t : nb::iter(nb::handle(static_cast<PyObject*>(const_cast<void*>(sequence)))))
    if (is_tensor(t.ptr())) types.push_back(handle_of(t.ptr()).peek().type());
  return types;
}

/// `call()` as a boundary known by `id` and the types of the tensors given.
nb::object bound_run_boundary(uint64_t id, nb::handle tensors, nb::handle call) {
  uint64_t key = id;
  for (nb::handle t : nb::iter(tensors))
    if (is_tensor(t.ptr())) key = hash_combine(key, tensor_of(t.ptr()).type().hash());
  Body body{call, {}};
  {
    GilRelease release;
    NamedCall named(id, &types_given, tensors.ptr());
    run_boundary(key, &run_body, &body);
  }
  return std::move(body.result);
}

/// `function`, which maps a list of tensors to a list of tensors, as a function declared pure.
TensorFunction over_lists(nb::object function) {
  return [held = share(std::move(function))](const TensorList& in) {
    GilAcquire gil;
    return tensors_of((*held)(nb::list(tuple_of(in))), "jit");
  };
}

nb::list call_pure(PureFunction& f, nb::handle tensors) {
  TensorList in;
  for (nb::handle t : nb::iter(tensors)) in.push_back(tensor_of(t.ptr()));
  TensorList out;
  {
    GilRelease release;
    out = f(in);
  }
  nb::list results;
  for (Tensor& t : out) results.append(wrap_object(std::move(t)));
  return results;
}

std::string package_folder;  // frames of the package itself are not the user's

/// "file.py:12 in construct" of the innermost frame of the user's own code.
std::string python_call_site() {
  if (!Py_IsInitialized()) return "";
  GilAcquire gil;
  nb::object frame = nb::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame.is_valid()) {
    auto* f = reinterpret_cast<PyFrameObject*>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(f)));
    auto file = nb::cast<std::string>(code.attr("co_filename"));
    if (!file.starts_with(package_folder))
      return file + ":" + std::to_string(PyFrame_GetLineNumber(f)) + " in " +
             nb::cast<std::string>(code.attr("co_name"));
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  return "";
}

void* take_gil() { return Py_IsInitialized() ? new GilAcquire : nullptr; }
void give_gil(void* taken) { delete static_cast<GilAcquire*>(taken); }

nb::dict stats() {
  const FollowStats& s = follow_stats();
  nb::dict d;
  d["signatures"] = s.signatures;
  d["recorded"] = s.recorded;
  d["followed"] = s.followed;
  d["mismatches"] = s.mismatches;
  d["branches"] = s.branches;
  d["programs"] = s.programs;
  d["runs"] = s.runs;
  return d;
}

}  // namespace

void bind_boundary(nb::module_& m) {
  // Waits keep the lock: operands are borrowed from handles, which other threads must not change meanwhile,
  // and what runs needs no Python.
  set_host_lock_hooks({.take = &take_gil, .give = &give_gil});
  nb::class_<PureFunction>(m, "PureFunction")
      .def("__init__", [](PureFunction* self,
                          nb::object function) { new (self) PureFunction(over_lists(std::move(function))); })
      .def("__call__", &call_pure)
      .def_prop_ro("program_count", &PureFunction::program_count);
  m.def("set_package_folder", [](std::string folder) {
    package_folder = std::move(folder);
    set_call_site_hook(&python_call_site);
  });
  m.def("new_boundary_id", &new_boundary_id);
  m.def("run_boundary", &bound_run_boundary);
  m.def("in_boundary", [] { return scope_state().recorder != nullptr; });
  m.def("follow_stats", &stats);
  m.def("clear_recordings", &clear_recordings);
  m.def("dump_graphs",
        [](int level, const std::string& folder) { dump_graphs(static_cast<GraphDump>(level), folder); });
  m.def("set_relaxed_numerics", [](bool on) { scope_state().relaxed_numerics = on; });
}

}  // namespace sorus::python
