#include "sorus/autograd/grad.h"

#include <algorithm>

#include "sorus/core/generator.h"
#include "sorus/dispatch/builtin.h"

namespace sorus {
namespace {

/// Gradients with zeros where nothing flowed.
TensorList with_zeros(TensorList gradients, std::span<const Tensor> sources) {
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = builtin_ops().zeros(sources[i].type());
  return gradients;
}

std::span<const Tensor> differentiated(const TensorList& values, bool has_aux) {
  return has_aux ? std::span<const Tensor>(values.data(), std::min<size_t>(values.size(), 1))
                 : std::span<const Tensor>(values);
}

/// Notes the values from outside that a function uses and that a scope around it tracks.
class CaptureProbe final : public GradientRecorder {
 public:
  CaptureProbe(const TensorList& inputs, const GradientRecorder& outer) : outer_(outer) {
    for (const Tensor& t : inputs) known_.push_back(t);
  }
  void record(const OpDef& op, OperandSpan in, AttrsRef /*attrs*/, std::span<Tensor> out) override {
    if (!op.traits.differentiable) return;
    for (const Tensor* t : in)
      if (t) note(*t);
    for (const Tensor& t : out) known_.push_back(t);
  }
  void record_custom(std::span<const Tensor> in, std::span<const Tensor> out,
                     const std::shared_ptr<const GradientRule>&) override {
    for (const Tensor& t : in) note(t);
    for (const Tensor& t : out) known_.push_back(t);
  }
  [[nodiscard]] bool tracks(const Tensor&) const override { return true; }
  TensorList captured;

 private:
  void note(const Tensor& t) {
    if (!t.defined() || !is_floating(t.dtype()) || !outer_.tracks(t)) return;
    if (std::any_of(known_.begin(), known_.end(), [&](const Tensor& k) { return k.value() == t.value(); }))
      return;
    captured.push_back(t);
    known_.push_back(t);
  }
  const GradientRecorder& outer_;
  std::vector<Tensor> known_;  // kept, so that no captured value can reuse an address
};

/// Results as values of their own, so that they can be told from the operands that they may be.
TensorList fresh(const TensorList& values) {
  TensorList out;
  for (const Tensor& v : values) out.push_back(builtin_ops().stop_gradient(v));
  return out;
}

}  // namespace

ValueAndGrad value_and_grad(const TensorFunction& f, const TensorList& inputs, std::span<const int> positions,
                            std::span<const Parameter> weights, bool has_aux, const TensorList& sensitivity) {
  Tape tape;
  TensorList sources;
  for (int p : positions) {
    SORUS_CHECK(p >= 0 && static_cast<size_t>(p) < inputs.size(), IndexError,
                "grad: position is out of range: got {}, need 0 to {}", p,
                static_cast<int64_t>(inputs.size()) - 1);
    sources.push_back(inputs[static_cast<size_t>(p)]);
  }
  for (const Parameter& w : weights) sources.push_back(w.value());
  for (const Tensor& s : sources) tape.watch(s);
  ValueAndGrad result;
  result.values = f(inputs);
  TensorList gradients =
      with_zeros(tape.gradients(differentiated(result.values, has_aux), sensitivity, sources), sources);
  for (size_t i = 0; i < gradients.size(); ++i)
    (i < positions.size() ? result.inputs : result.weights).push_back(std::move(gradients[i]));
  return result;
}

std::pair<Tensor, TensorList> value_and_grad(const std::function<Tensor()>& loss,
                                             std::span<const Parameter> weights) {
  ValueAndGrad r = value_and_grad([&](const TensorList&) { return TensorList{loss()}; }, {}, {}, weights);
  return {std::move(r.values[0]), std::move(r.weights)};
}

Tensor grad(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  constexpr int kFirst[] = {0};
  return std::move(
      value_and_grad([&](const TensorList& in) { return TensorList{f(in[0])}; }, {x}, kFirst, {}).inputs[0]);
}

Pullback vjp(const TensorFunction& f, const TensorList& inputs) {
  Pullback result;
  auto tape = std::make_shared<Tape>();
  TensorList sources;
  for (const Tensor& x : inputs)
    if (is_floating(x.dtype())) {
      tape->watch(x);
      sources.push_back(x);
    }
  result.values = f(inputs);
  tape->close();
  result.pull = [tape, values = result.values, inputs, sources](const TensorList& seeds) {
    TensorList found = with_zeros(tape->gradients(values, seeds, sources, true), sources);
    TensorList all;
    size_t next = 0;
    for (const Tensor& x : inputs) all.push_back(is_floating(x.dtype()) ? found[next++] : Tensor());
    return all;
  };
  return result;
}

std::pair<TensorList, TensorList> jvp(const TensorFunction& f, const TensorList& inputs,
                                      const TensorList& tangents) {
  SORUS_CHECK(tangents.size() == inputs.size(), ValueError,
              "jvp: number of tangents differs: got {}, need {}, one for each operand", tangents.size(),
              inputs.size());
  Tape linear;  // differentiates the pullback, which is linear in its seeds
  Tape inner;
  for (const Tensor& x : inputs) inner.watch(x);
  TensorList values = f(inputs);
  TensorList seeds;
  for (const Tensor& v : values) {
    seeds.push_back(builtin_ops().zeros(v.type()));
    linear.watch(seeds.back());
  }
  TensorList pulled = inner.gradients(values, seeds, inputs);
  TensorList along, cotangents;
  for (size_t i = 0; i < pulled.size(); ++i) {
    SORUS_CHECK(tangents[i].shape() == inputs[i].shape(), ShapeError,
                "jvp: tangent {} has another shape: got {}, need {}", i, tangents[i].shape(),
                inputs[i].shape());
    if (!pulled[i].defined()) continue;
    along.push_back(pulled[i]);
    cotangents.push_back(tangents[i]);
  }
  TensorList result = with_zeros(linear.gradients(along, cotangents, seeds), seeds);
  return {std::move(values), std::move(result)};
}

TensorList custom_gradient(const TensorFunction& f, const TensorList& inputs, GradientRule rule) {
  GradientRecorder* scope = scope_state().gradients;
  if (!scope) return f(inputs);
  TensorList out;
  {
    PausedGradients paused;
    out = fresh(f(inputs));
  }
  scope->record_custom(inputs, out, std::make_shared<const GradientRule>(std::move(rule)));
  return out;
}

TensorList recompute(const TensorFunction& f, const TensorList& inputs) {
  GradientRecorder* scope = scope_state().gradients;
  if (!scope) return f(inputs);
  CaptureProbe probe(inputs, *scope);
  auto keys = std::make_shared<std::vector<Tensor>>();
  TensorList out;
  {
    KeyScope noting(*keys, KeyUse::kNote);
    ScopedState<GradientRecorder*> probing(&ScopeState::gradients, &probe);
    out = f(inputs);
  }
  {
    PausedGradients paused;
    out = fresh(out);
  }
  TensorList operands = inputs;
  for (const Tensor& t : probe.captured) operands.push_back(t);
  size_t count = inputs.size();
  GradientRule rule = [f, count, keys](const TensorList& in, const TensorList&, const TensorList& grads) {
    Tape again;
    TensorList sources;
    for (const Tensor& t : in)
      if (t.defined() && is_floating(t.dtype())) {
        again.watch(t);
        sources.push_back(t);
      }
    TensorList values;
    {
      KeyScope repeating(*keys, KeyUse::kRepeat);
      values = f(TensorList(in.begin(), in.begin() + count));
    }
    TensorList found = again.gradients(values, grads, sources);
    TensorList all;
    size_t next = 0;
    for (const Tensor& t : in)
      all.push_back(t.defined() && is_floating(t.dtype()) ? found[next++] : Tensor());
    return all;
  };
  scope->record_custom(operands, out, std::make_shared<const GradientRule>(std::move(rule)));
  return out;
}

}  // namespace sorus
