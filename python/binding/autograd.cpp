#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <memory>

#include "binding/bridge.h"
#include "binding/callables.h"
#include "binding/release_gil.h"
#include "sorus/autograd/grad.h"

/// Gradients. Python functions are closures over their own arguments: the library tracks values, so it needs
/// to call them, not to know their signatures. The lock is given up while the library works and taken again
/// for every call into Python.
namespace sorus::python {
namespace {

/// `call()` as a function of tensors that ignores them: it holds its own handles to the same values.
TensorFunction closure(const Shared& call) {
  return [call](const TensorList&) {
    GilAcquire gil;
    return tensors_of(until_the_end([&] { return (*call)(); }), "grad");
  };
}
std::vector<Parameter> parameters_of(nb::handle sequence) {
  std::vector<Parameter> out;
  for (nb::handle item : nb::iter(sequence)) {
    SORUS_CHECK(PyType_IsSubtype(Py_TYPE(item.ptr()), types.parameter), TypeError,
                "grad: weight has the wrong type: got {}, need a Parameter", type_text(item.ptr()));
    out.emplace_back(nb::cast<std::shared_ptr<ParameterState>>(item));
  }
  return out;
}

/// (results, gradients of inputs, gradients of weights) of `call()`, which returns a sequence of tensors.
nb::tuple bound_value_and_grad(nb::object call, nb::handle inputs, nb::handle weights, bool has_aux,
                               nb::handle sensitivity) {
  TensorList in = tensors_of(inputs, "grad");
  TensorList seeds = tensors_of(sensitivity, "grad");
  std::vector<Parameter> parameters = parameters_of(weights);
  std::vector<int> positions;
  for (size_t i = 0; i < in.size(); ++i) positions.push_back(static_cast<int>(i));
  ValueAndGrad r;
  {
    TensorFunction f = closure(share(std::move(call)));
    GilRelease release;
    r = value_and_grad(f, in, positions, parameters, has_aux, seeds);
  }
  return nb::make_tuple(tuple_of(r.values), tuple_of(r.inputs), tuple_of(r.weights));
}

/// (results, pull): `pull(gradients)` gives the gradient of each input.
nb::tuple bound_vjp(nb::object call, nb::handle inputs) {
  TensorList in = tensors_of(inputs, "vjp");
  Pullback p;
  {
    TensorFunction f = closure(share(std::move(call)));
    GilRelease release;
    p = vjp(f, in);
  }
  nb::object pull = nb::cpp_function([pull = p.pull](nb::handle gradients) {
    TensorList seeds = tensors_of(gradients, "vjp");
    TensorList out;
    {
      GilRelease release;
      out = pull(seeds);
    }
    return tuple_of(out);
  });
  return nb::make_tuple(tuple_of(p.values), pull);
}

nb::tuple bound_jvp(nb::object call, nb::handle inputs, nb::handle tangents) {
  TensorList in = tensors_of(inputs, "jvp");
  TensorList along = tensors_of(tangents, "jvp");
  std::pair<TensorList, TensorList> r;
  {
    TensorFunction f = closure(share(std::move(call)));
    GilRelease release;
    r = jvp(f, in, along);
  }
  return nb::make_tuple(tuple_of(r.first), tuple_of(r.second));
}

/// `call(*inputs)` whose gradient is `rule(inputs, results, gradients)`.
nb::tuple bound_custom_gradient(nb::object call, nb::handle inputs, nb::object rule) {
  TensorList in = tensors_of(inputs, "bprop");
  Shared shared_rule = share(std::move(rule));
  GradientRule wrapped = [shared_rule](const TensorList& operands, const TensorList& out,
                                       const TensorList& grads) {
    GilAcquire gil;
    return tensors_of((*shared_rule)(tuple_of(operands), tuple_of(out), tuple_of(grads)), "bprop");
  };
  TensorFunction f = function_of(share(std::move(call)), "bprop");
  TensorList out;
  {
    GilRelease release;
    out = custom_gradient(f, in, std::move(wrapped));
  }
  return tuple_of(out);
}

nb::tuple bound_recompute(nb::object call, nb::handle inputs) {
  TensorList in = tensors_of(inputs, "recompute");
  TensorFunction f = function_of(share(std::move(call)), "recompute");
  TensorList out;
  {
    GilRelease release;
    out = recompute(f, in);
  }
  return tuple_of(out);
}

}  // namespace

namespace {

/// What a `with` statement of Python, whose scopes nest, needs of PausedGradients.
struct GradientPauses {
  GradientPauses() = default;
  GradientPauses(const GradientPauses&) = delete;
  GradientPauses& operator=(const GradientPauses&) = delete;

  std::vector<std::unique_ptr<PausedGradients>> open;
};

}  // namespace

void bind_autograd(nb::module_& m) {
  nb::class_<GradientPauses>(m, "GradientPauses")
      .def(nb::init<>())
      .def("begin", [](GradientPauses& p) { p.open.push_back(std::make_unique<PausedGradients>()); })
      .def("end", [](GradientPauses& p) {
        SORUS_CHECK(!p.open.empty(), ValueError,
                    "no_grad: was not entered: got an exit, need an entry first");
        p.open.pop_back();
      });
  m.def("value_and_grad", &bound_value_and_grad);
  m.def("vjp", &bound_vjp);
  m.def("jvp", &bound_jvp);
  m.def("custom_gradient", &bound_custom_gradient);
  m.def("recompute", &bound_recompute);
  m.def("in_gradient_scope", [] { return scope_state().gradients != nullptr; });
  m.def("tracks_gradients", [](nb::handle inputs) {
    const GradientRecorder* scope = scope_state().gradients;
    return scope && std::ranges::any_of(tensors_of(inputs, "tracks_gradients"),
                                        [scope](const Tensor& t) { return scope->tracks(t); });
  });
}

}  // namespace sorus::python
