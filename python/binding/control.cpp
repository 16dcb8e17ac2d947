#include "sorus/ops/control/control.h"

#include <nanobind/stl/string.h>

#include "binding/bridge.h"
#include "binding/callables.h"
#include "binding/signals.h"
#include "sorus/base/interrupt.h"
#include "sorus/dispatch/apply.h"
#include "sorus/dispatch/body.h"
#include "sorus/ir/graph_body.h"

/// Control flow over Python functions: each is called once, to be recorded.
namespace sorus::python {
namespace {

nb::tuple bound_cond(nb::handle predicate, nb::object if_true, nb::object if_false, nb::handle operands) {
  SORUS_CHECK(is_tensor(predicate.ptr()), TypeError,
              "cond: predicate has the wrong type: got {}, need a Tensor", type_text(predicate.ptr()));
  const Tensor chosen_by = tensor_of(predicate.ptr());
  const TensorList in = tensors_of(operands, "cond");
  const TensorFunction yes = function_of(share(std::move(if_true)), "cond");
  const TensorFunction no = function_of(share(std::move(if_false)), "cond");
  return tuple_of(without_gil([&] { return cond(chosen_by, yes, no, in); }));
}

nb::tuple bound_while_loop(nb::object condition, nb::object body, nb::handle init) {
  const TensorList in = tensors_of(init, "while_loop");
  const TensorFunction test = function_of(share(std::move(condition)), "while_loop");
  const TensorFunction step = function_of(share(std::move(body)), "while_loop");
  return tuple_of(without_gil([&] { return while_loop(test, step, in); }));
}

/// (carry, ys)
nb::tuple bound_scan(nb::object body, nb::handle init, nb::handle xs, int64_t length, bool reverse) {
  const TensorList carry = tensors_of(init, "scan"), rows = tensors_of(xs, "scan");
  const TensorFunction step = function_of(share(std::move(body)), "scan");
  const ScanResult r =
      without_gil([&] { return scan(step, carry, rows, {.length = length, .reverse = reverse}); });
  return nb::make_tuple(tuple_of(r.carry), tuple_of(r.ys));
}

nb::tuple bound_fori_loop(int64_t lower, int64_t upper, nb::object body, nb::handle init) {
  const TensorList in = tensors_of(init, "fori_loop");
  const TensorFunction step = function_of(share(std::move(body)), "fori_loop");
  return tuple_of(without_gil([&] { return fori_loop(lower, upper, step, in); }));
}

/// A dtype and a shape from Python.
TensorType type_of(nb::handle pair) {
  TensorType type;
  SORUS_CHECK(nb::len(pair) == 2 && to_dtype(nb::object(pair[0]).ptr(), &type.dtype), TypeError,
              "trace_body: type is unknown: got {}, need (dtype, shape)", type_text(pair.ptr()));
  for (nb::handle extent : nb::iter(nb::object(pair[1]))) type.shape.push_back(nb::cast<int64_t>(extent));
  return type;
}

/// A function of tensors that computes and does nothing else, traced for a list of types.
Traced traced(const std::string& name, nb::object function, nb::handle types) {
  std::vector<TensorType> in;
  for (nb::handle t : nb::iter(types)) in.push_back(type_of(t));
  const TensorFunction f = function_of(share(std::move(function)), "loop");
  return without_gil([&] { return trace(name, f, in, TraceRule::kComputes); });
}

/// A traced body with other operands after what it takes.
Traced with_captured(const Traced& traced, nb::handle captured) {
  return {traced.body, tensors_of(captured, "loop"), {}};
}

void bind_bodies(nb::module_& m) {
  nb::class_<Traced>(m, "TracedBody")
      .def_prop_ro("captured", [](const Traced& t) { return tuple_of(t.captured); })
      .def_prop_ro("calls", [](const Traced& t) { return graph_of(*t.body).nodes.size(); })
      .def_prop_ro("checks_values", [](const Traced& t) { return t.body->checks_values(); })
      .def_prop_ro("results", [](const Traced& t) {
        nb::list types;
        for (const TensorType& type : t.body->output_types())
          types.append(nb::make_tuple(nb::borrow(dtype_object(type.dtype)), shape_tuple(type.shape)));
        return types;
      });
  m.def("trace_body", &traced);
  m.def("run_cond", [](nb::handle predicate, const Traced& yes, nb::handle yes_captured, const Traced& no,
                       nb::handle no_captured, nb::handle operands) {
    const Tensor chosen_by = tensor_of(predicate.ptr());
    const TensorList in = tensors_of(operands, "cond");
    const Traced first = with_captured(yes, yes_captured), second = with_captured(no, no_captured);
    return tuple_of(without_gil([&] { return cond(chosen_by, first, second, in); }));
  });
  m.def("run_while", [](const Traced& condition, nb::handle test_captured, const Traced& body,
                        nb::handle captured, nb::handle init) {
    const TensorList in = tensors_of(init, "while_loop");
    const Traced test = with_captured(condition, test_captured), step = with_captured(body, captured);
    return tuple_of(without_gil([&] { return while_loop(test, step, in); }));
  });
  m.def("run_scan",
        [](const Traced& body, nb::handle captured, nb::handle init, nb::handle xs, int64_t length) {
          const TensorList carry = tensors_of(init, "scan"), rows = tensors_of(xs, "scan");
          const Traced step = with_captured(body, captured);
          return tuple_of(without_gil([&] { return scan(step, carry, rows, {.length = length}); }).carry);
        });
  m.def("scope_hash", [] { return scope_state().hash(); });
  m.def("is_abstract", [] { return scope_state().recorder && scope_state().recorder->is_abstract(); });
}

}  // namespace

void bind_control(nb::module_& m) {
  listen_to_signals();
  set_interrupt_hook(&check_signals);
  bind_bodies(m);
  m.def("cond", &bound_cond);
  m.def("while_loop", &bound_while_loop);
  m.def("scan", &bound_scan);
  m.def("fori_loop", &bound_fori_loop);
}

}  // namespace sorus::python
