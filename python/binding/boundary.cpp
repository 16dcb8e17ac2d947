#include "sorus/compiler/boundary.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/bridge.h"
#include "binding/callables.h"
#include "binding/release_gil.h"
#include "sorus/base/denormals.h"
#include "sorus/base/hash.h"
#include "sorus/base/host_lock.h"
#include "sorus/compiler/compile_cache.h"
#include "sorus/compiler/compile_stats.h"
#include "sorus/compiler/dump.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/compiler/replay.h"
#include "sorus/compiler/signatures.h"
#include "sorus/core/allocator.h"
#include "sorus/engine/choice.h"
#include "sorus/engine/engine.h"
#include "sorus/engine/load.h"

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
  BoundaryKey key(id);
  for (nb::handle t : nb::iter(tensors))
    if (is_tensor(t.ptr())) key.add(tensor_of(t.ptr()).type());
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

std::string package_folder;            // frames of the package itself are not the user's
PyObject* cell_code = nullptr;         // of the function that runs when a cell is called; never given back
PyObject* cell_description = nullptr;  // (cells, innermost first) -> "in Dense 'fc' of Net"

std::string_view text_of(PyObject* string) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(string, &size);  // kept in the string
  if (text) return {text, static_cast<size_t>(size)};
  PyErr_Clear();
  return "?";
}

/// "file.py:12 in construct" of the innermost frame of the user's own code. Called for each call recorded.
/// What will run without Python gets the cells beside it whose calls are under way, which errors could not
/// tell then.
std::string python_call_site() {
  if (!Py_IsInitialized()) return "";
  GilAcquire gil;
  const bool wants_cells = cell_code && scope_state().recorder && scope_state().recorder->checks_at_run();
  std::string found;
  nb::list cells;
  PyFrameObject* f = PyThreadState_GetFrame(PyThreadState_Get());
  while (f && (found.empty() || wants_cells)) {
    PyCodeObject* code = PyFrame_GetCode(f);
    if (wants_cells && reinterpret_cast<PyObject*>(code) == cell_code)
      cells.append(nb::handle(reinterpret_cast<PyObject*>(f)).attr("f_locals")["self"]);
    else if (const std::string_view file = text_of(code->co_filename);
             found.empty() && !file.starts_with(package_folder))
      found = fmt::format("{}:{} in {}", file, PyFrame_GetLineNumber(f), text_of(code->co_name));
    Py_DECREF(code);
    PyFrameObject* back = found.empty() || wants_cells ? PyFrame_GetBack(f) : nullptr;
    Py_DECREF(f);
    f = back;
  }
  Py_XDECREF(f);
  if (cells.size() == 0) return found;
  return found + (found.empty() ? "" : ", ") + nb::cast<std::string>(nb::handle(cell_description)(cells));
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
  d["specialized"] = s.specialized;
  d["instances"] = s.instances;
  return d;
}

nb::dict compiling() {
  const CompileStats s = compile_stats();
  nb::dict d;
  d["programs"] = s.programs;
  d["cache_hits"] = s.cache_hits;
  d["cache_misses"] = s.cache_misses;
  d["cache_stored"] = s.cache_stored;
  d["cache_damaged"] = s.cache_damaged;
  d["pass_seconds"] = s.pass_seconds;
  d["bindings"] = s.bindings;
  d["bind_seconds"] = s.bind_seconds;
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
  m.def("set_cell_call", [](nb::object code, nb::object describe) {
    cell_code = code.release().ptr();
    cell_description = describe.release().ptr();
  });
  m.def("new_boundary_id", &new_boundary_id);
  m.def("run_boundary", &bound_run_boundary);
  m.def("in_boundary", [] { return scope_state().recorder != nullptr; });
  m.def("follow_stats", &stats);
  m.def("compile_stats", &compiling);
  m.def("set_compile_cache", [](const std::string& folder) { set_compile_cache(folder); });
  m.def("clear_recordings", &clear_recordings);
  m.def("dump_graphs",
        [](int level, const std::string& folder) { dump_graphs(static_cast<GraphDump>(level), folder); });
  m.def("set_relaxed_numerics", [](bool on) { scope_state().relaxed_numerics = on; });
  m.def("load_engine",
        [](const std::string& path) { return without_gil([&] { return load_engine(path); }); });
  m.def("engine_names", [] {
    std::vector<std::string> names{std::string(kHostEngine)};
    for (const auto& e : engines()) names.push_back(e->name());
    return names;
  });
  m.def("set_engines",
        [](std::string use, std::map<std::string, std::string> use_for, std::vector<std::string> forbid) {
          set_engine_choice({std::move(use), std::move(use_for), std::move(forbid)});
        });
  m.def("set_flush_denormal", &set_flush_denormal);
  m.def("set_memory_limit", &set_memory_limit);
  m.def("memory_stats", [] {
    const MemoryStats s = memory_stats();
    return std::map<std::string, int64_t>{
        {"live", s.live}, {"peak", s.peak}, {"cached", s.cached}, {"reserved", s.reserved}};
  });
  m.def("reset_peak_memory", &reset_peak_memory);
  m.def("release_cached_memory", &release_cached_memory);
}

}  // namespace sorus::python
