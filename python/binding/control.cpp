#include "sorus/ops/control/control.h"

#include <chrono>

#include "binding/bridge.h"
#include "binding/callables.h"
#include "sorus/base/interrupt.h"

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

/// Looks for signals (Ctrl-C) a few times a second.
void check_signals() {
  using Clock = std::chrono::steady_clock;
  thread_local Clock::time_point last;
  const Clock::time_point now = Clock::now();
  if (now - last < std::chrono::milliseconds(50)) return;
  last = now;
  GilAcquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

void bind_control(nb::module_& m) {
  set_interrupt_hook(&check_signals);
  m.def("cond", &bound_cond);
  m.def("while_loop", &bound_while_loop);
  m.def("scan", &bound_scan);
  m.def("fori_loop", &bound_fori_loop);
}

}  // namespace sorus::python
