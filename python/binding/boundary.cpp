#include "sorus/compiler/boundary.h"

#include "binding/bridge.h"
#include "sorus/base/hash.h"

/// Boundaries for Python: the outermost calls that graph mode records once and compiles.
namespace sorus::python {
namespace {

struct Body {
  nb::handle call;
  nb::object result;
};

void run_body(void* context) {
  nb::gil_scoped_acquire gil;
  auto* body = static_cast<Body*>(context);
  body->result = nb::object(body->call());
}

/// `call()` as a boundary known by `id` and the types of the tensors given.
nb::object bound_run_boundary(uint64_t id, nb::handle tensors, nb::handle call) {
  uint64_t key = id;
  for (nb::handle t : nb::iter(tensors))
    if (is_tensor(t.ptr())) key = hash_combine(key, tensor_of(t.ptr()).type().hash());
  Body body{call, {}};
  {
    nb::gil_scoped_release release;
    run_boundary(key, &run_body, &body);
  }
  return std::move(body.result);
}

nb::dict stats() {
  const FollowStats& s = follow_stats();
  nb::dict d;
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
  m.def("new_boundary_id", &new_boundary_id);
  m.def("run_boundary", &bound_run_boundary);
  m.def("in_boundary", [] { return scope_state().recorder != nullptr; });
  m.def("follow_stats", &stats);
  m.def("clear_recordings", &clear_recordings);
  m.def("set_relaxed_numerics", [](bool on) { scope_state().relaxed_numerics = on; });
}

}  // namespace sorus::python
