#include "sorus/ops/nn/detail/recurrent_ops.h"

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

/// `recurrent` is what runs where no gradient is wanted. A tape makes it `recurrent_train`, which also gives
/// what the gradient reads; the gradient itself is an op with a sweep of its own, which a tape that wants
/// gradients through it makes a sweep of public ops.
namespace sorus {
namespace {

using detail::RecurrentOperands;
using detail::RecurrentOutput;

enum Operand : uint8_t { kX, kH, kC, kInput, kWeight, kBias, kHiddenBias, kLengths };
/// Of recurrent_train; RNN has the first three, GRU the first four.
enum Result : uint8_t { kGates, kY, kLastH, kParts, kLastC };
enum BackwardOperand : uint8_t {
  kOfGates,
  kOfParts,
  kStates,   ///< y, of GRU alone
  kInitial,  ///< c of LSTM, h of GRU
  kOfWeight,
  kOfLengths,
  kGradY,
  kGradH,
  kGradC,
  kGradGates,
  kGradParts,
  kBackwardOperands
};

bool is_lstm(const RecurrentAttrs& a) { return a.kind == RecurrentKind::kLstm; }
bool is_gru(const RecurrentAttrs& a) { return a.kind == RecurrentKind::kGru; }

// --------------------------------------------------------------------------------------------------- types

/// The types of a call whose operand 0 is a sequence.
struct Types {
  TensorType gates, sequence, state;
  Types(const InferContext& c, size_t weight) : gates(c.in(0)), sequence(gates), state(gates) {
    const auto& a = c.attrs<RecurrentAttrs>();
    SORUS_CHECK(gates.dtype == DType::kFloat32 || gates.dtype == DType::kFloat64, DTypeError,
                "{}: '{}' has the wrong dtype: got {}, need float32 or float64", c.name(),
                c.op().inputs[0].name, gates.dtype);
    const Shape& w = c.shape(weight);
    const Shape& x = c.shape(0);
    SORUS_CHECK(x.rank() == 3 && w.rank() == 2 && w[0] == w[1] * Dim(a.gates()), ShapeError,
                "{}: shapes do not fit: got {} {} and weight {}, need 3 axes and (G * H, H), G {}", c.name(),
                c.op().inputs[0].name, x, w, a.gates());
    need(c, weight, {gates.dtype, gates.device, w});
    gates.shape = {x[0], x[1], w[0]};
    sequence.shape = {x[0], x[1], w[1]};
    state.shape = {x[a.batch_first ? 0 : 1], w[1]};
  }
  static void need(const InferContext& c, size_t i, const TensorType& type) {
    if (!c.has(i)) return;
    std::string_view what = c.op().inputs[i].name;
    SORUS_CHECK(c.dtype(i) == type.dtype, DTypeError, "{}: '{}' has the wrong dtype: got {}, need {}",
                c.name(), what, c.dtype(i), type.dtype);
    SORUS_CHECK(c.shape(i) == type.shape, ShapeError, "{}: '{}' does not fit: got shape {}, need {}",
                c.name(), what, c.shape(i), type.shape);
  }
  void need_lengths(const InferContext& c, size_t i) const {
    need(c, i, {DType::kInt64, state.device, {state.shape[0]}});
  }
};

/// Throws unless the operand is there for cells that have it, and for no others.
void need_presence(const InferContext& c, size_t i, bool wanted) {
  SORUS_CHECK(c.has(i) == wanted, ValueError, "{}: '{}' does not fit the kind: got {}, need {}", c.name(),
              c.op().inputs[i].name, c.has(i) ? "one" : "none", wanted ? "one" : "none");
}

Types check_forward(const InferContext& c) {
  const auto& a = c.attrs<RecurrentAttrs>();
  const Types types(c, kWeight);
  need_presence(c, kC, is_lstm(a));
  if (c.has(kInput))
    Types::need(c, kInput, {types.gates.dtype, types.gates.device, {types.gates.shape[2], c.shape(kX)[2]}});
  else
    Types::need(c, kX, types.gates);
  if (!is_gru(a)) need_presence(c, kHiddenBias, false);
  Types::need(c, kH, types.state);
  Types::need(c, kC, types.state);
  Types::need(c, kBias, {types.gates.dtype, types.gates.device, {types.gates.shape[2]}});
  Types::need(c, kHiddenBias, {types.gates.dtype, types.gates.device, {types.state.shape[1]}});
  types.need_lengths(c, kLengths);
  return types;
}

TypeList infer_recurrent(const InferContext& c) {
  const Types types = check_forward(c);
  TypeList out{types.sequence, types.state};
  if (is_lstm(c.attrs<RecurrentAttrs>())) out.push_back(types.state);
  return out;
}

TypeList infer_train(const InferContext& c) {
  const auto& a = c.attrs<RecurrentAttrs>();
  const Types types = check_forward(c);
  TypeList out{types.gates, types.sequence, types.state};
  if (is_lstm(a) || is_gru(a)) out.push_back(types.sequence);
  if (is_lstm(a)) out.push_back(types.state);
  return out;
}

TypeList infer_backward(const InferContext& c) {
  const auto& a = c.attrs<RecurrentAttrs>();
  const Types types(c, kOfWeight);
  for (size_t i : {kOfParts, kInitial}) need_presence(c, i, is_lstm(a) || is_gru(a));
  need_presence(c, kStates, is_gru(a));
  Types::need(c, kOfGates, types.gates);
  for (size_t i : {kOfParts, kStates, kGradY, kGradParts}) Types::need(c, i, types.sequence);
  for (size_t i : {kInitial, kGradH, kGradC}) Types::need(c, i, types.state);
  Types::need(c, kGradGates, types.gates);
  types.need_lengths(c, kOfLengths);
  TypeList out{types.gates, types.state};
  if (is_lstm(a)) out.push_back(types.state);
  if (is_gru(a)) out.push_back(types.sequence);
  return out;
}

Cost cost_of(const InferContext& c, size_t weight, double inputs) {
  const Shape &x = c.shape(0), &w = c.shape(weight);
  const double rows = static_cast<double>(x.size(0)) * static_cast<double>(x.size(1));
  const double gates = rows * static_cast<double>(w.size(0));
  return {gates * (2 * static_cast<double>(w.size(1)) + 2 * inputs + 20),
          2 * gates * static_cast<double>(dtype_size(c.dtype(0)))};
}
Cost recurrent_cost(const InferContext& c) {
  return cost_of(c, kWeight, c.has(kInput) ? static_cast<double>(c.shape(kX).size(2)) : 0);
}
Cost backward_cost(const InferContext& c) { return cost_of(c, kOfWeight, 0); }

// ------------------------------------------------------------------------------------ the sweep, written out

int64_t time_axis(const RecurrentAttrs& a) { return a.batch_first ? 1 : 0; }

/// (T, B, 1) or (B, T, 1): steps at which a sample runs and, for `before`, has run already.
Tensor steps_of(const Tensor& lengths, const TensorType& sequence, const RecurrentAttrs& a, int64_t ahead) {
  const int64_t steps = sequence.shape.size(static_cast<int>(time_axis(a)));
  const Tensor step = arange(0, static_cast<double>(steps), 1) + ahead;
  const Ints sides = a.batch_first ? Ints{0, 2} : Ints{1, 2};
  return less(expand_dims(step, sides), expand_dims(lengths, a.batch_first ? Ints{1, 2} : Ints{0, 2}));
}

/// The state before each step: `states` of the step before, `first` before the first one.
Tensor before_steps(const Tensor& states, const Tensor& first, const Tensor& lengths,
                    const RecurrentAttrs& a) {
  const int64_t axis = time_axis(a), steps = states.size(axis);
  const Tensor initial = expand_dims(first, axis);
  const Tensor others = narrow(states, axis, a.reverse ? 1 : 0, steps - 1);
  if (!a.reverse) return concat(std::vector<Tensor>{initial, others}, axis);
  const Tensor before = concat(std::vector<Tensor>{others, initial}, axis);
  if (!lengths.defined()) return before;
  return where(steps_of(lengths, states.type(), a, 1), before, initial);
}

Tensor plus(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? a + b : a.defined() ? a : b;
}

/// What flows back from one step to the one before, and the gradients of the step.
struct Flow {
  Tensor h, c;
};
struct StepGradient {
  Tensor gates, hidden;  ///< of the sums; the hidden part of GRU's new gate
  Flow before;
};
/// One step: gates after their activations, LSTM's new cells or GRU's hidden part, and the state before.
struct StepValues {
  TensorList gates;
  Tensor parts, previous;
  TensorList more;  ///< further gradients of the gates, or nothing
  Tensor more_parts;
};

Tensor of_sigmoid(const Tensor& gradient, const Tensor& s) { return gradient * s * (1.0 - s); }
Tensor of_tanh(const Tensor& gradient, const Tensor& t) { return gradient * (1.0 - t * t); }

StepGradient lstm_step_gradient(const StepValues& s, const Tensor& dh, const Tensor& dc_after,
                                const Tensor& weight) {
  const auto more = [&](size_t i) { return s.more.empty() ? Tensor() : s.more[i]; };
  const Tensor &in = s.gates[0], &forget = s.gates[1], &cell = s.gates[2], &out = s.gates[3];
  const Tensor squashed = tanh(s.parts);
  const Tensor dc = plus(dc_after + of_tanh(dh * out, squashed), s.more_parts);
  StepGradient r;
  r.gates = concat(std::vector<Tensor>{of_sigmoid(plus(dc * cell, more(0)), in),
                                       of_sigmoid(plus(dc * s.previous, more(1)), forget),
                                       of_tanh(plus(dc * in, more(2)), cell),
                                       of_sigmoid(plus(dh * squashed, more(3)), out)},
                   -1);
  r.before = {matmul(r.gates, weight), dc * forget};
  return r;
}

StepGradient gru_step_gradient(const StepValues& s, const Tensor& dh, const Tensor& weight) {
  const auto more = [&](size_t i) { return s.more.empty() ? Tensor() : s.more[i]; };
  const Tensor &reset = s.gates[0], &update = s.gates[1], &fresh = s.gates[2];
  const Tensor of_fresh = of_tanh(plus(dh * (1.0 - update), more(2)), fresh);
  const Tensor of_update = of_sigmoid(plus(dh * (s.previous - fresh), more(1)), update);
  const Tensor of_reset = of_sigmoid(plus(of_fresh * s.parts, more(0)), reset);
  StepGradient r;
  r.gates = concat(std::vector<Tensor>{of_reset, of_update, of_fresh}, -1);
  r.hidden = plus(of_fresh * reset, s.more_parts);
  const Tensor sums = concat(std::vector<Tensor>{of_reset, of_update, r.hidden}, -1);
  r.before.h = dh * update + matmul(sums, weight);
  return r;
}

StepGradient rnn_step_gradient(RecurrentKind kind, const StepValues& s, const Tensor& dh,
                               const Tensor& weight) {
  const Tensor total = plus(dh, s.more.empty() ? Tensor() : s.more[0]);
  const Tensor& out = s.gates[0];
  StepGradient r;
  r.gates = kind == RecurrentKind::kTanh
                ? of_tanh(total, out)
                : where(greater(out, scalar_beside(0, out.dtype())), total, scalar_beside(0, out.dtype()));
  r.before.h = matmul(r.gates, weight);
  return r;
}

Tensor operand(OperandSpan in, size_t i) {
  return i < in.size() && in[i] && in[i]->defined() ? *in[i] : Tensor();
}

TensorList along(const Tensor& x, int64_t axis) { return x.defined() ? unstack(x, axis) : TensorList(); }

TensorList backward_by_steps(OperandSpan in, AttrsRef attrs) {
  const auto& a = *static_cast<const RecurrentAttrs*>(attrs.data);
  const int64_t axis = time_axis(a);
  const Tensor weight = operand(in, kOfWeight), lengths = operand(in, kOfLengths);
  const TensorList gates = along(operand(in, kOfGates), axis), parts = along(operand(in, kOfParts), axis);
  const TensorList dy = along(operand(in, kGradY), axis), dgates = along(operand(in, kGradGates), axis),
                   dparts = along(operand(in, kGradParts), axis);
  TensorList previous;
  if (is_lstm(a) || is_gru(a)) {
    const Tensor states = operand(in, is_gru(a) ? kStates : kOfParts);
    previous = along(before_steps(states, operand(in, kInitial), lengths, a), axis);
  }
  const auto steps = static_cast<int64_t>(gates.size());
  const Tensor none =
      full({weight.dtype(), weight.type().device, {gates[0].shape()[0], weight.shape()[1]}}, 0);
  Flow flow{plus(operand(in, kGradH), none), plus(operand(in, kGradC), none)};
  std::vector<Tensor> of_gates(gates.size()), of_hidden(gates.size());
  const Tensor column = lengths.defined() ? expand_dims(lengths, 1) : Tensor();
  for (int64_t i = 0; i < steps; ++i) {
    const auto t = static_cast<size_t>(a.reverse ? i : steps - 1 - i);
    StepValues s{chunk(gates[t], a.gates(), -1), {}, {}, {}, {}};
    if (!parts.empty()) s.parts = parts[t], s.previous = previous[t];
    if (!dgates.empty()) s.more = chunk(dgates[t], a.gates(), -1);
    if (!dparts.empty()) s.more_parts = dparts[t];
    const Tensor dh = plus(flow.h, dy.empty() ? Tensor() : dy[t]);
    StepGradient g = is_lstm(a)  ? lstm_step_gradient(s, dh, flow.c, weight)
                     : is_gru(a) ? gru_step_gradient(s, dh, weight)
                                 : rnn_step_gradient(a.kind, s, dh, weight);
    if (column.defined()) {
      const Tensor runs = less(scalar_beside(static_cast<int64_t>(t), column.dtype()), column);
      const Tensor zero = scalar_beside(0, weight.dtype());
      g.gates = where(runs, g.gates, zero);
      if (g.hidden.defined()) g.hidden = where(runs, g.hidden, zero);
      g.before.h = where(runs, g.before.h, flow.h);
      if (g.before.c.defined()) g.before.c = where(runs, g.before.c, flow.c);
    }
    of_gates[t] = g.gates;
    of_hidden[t] = g.hidden;
    flow = g.before;
  }
  TensorList out{stack(of_gates, axis), flow.h};
  if (is_lstm(a)) out.push_back(flow.c);
  if (is_gru(a)) out.push_back(stack(of_hidden, axis));
  return out;
}

bool checks_nothing(AttrsRef /*attrs*/) { return false; }

// ------------------------------------------------------------------------------------------------- the ops

const OpDef backward_op{
    .name = "recurrent_backward",
    .doc =
        "Gradient of recurrent_train, swept back from the last step: from the gates, cells (LSTM) or hidden "
        "parts (GRU), states y (GRU), the initial c (LSTM) or h (GRU), the weight and the gradients of the "
        "results those of x, of h, then of c (LSTM) or of the hidden parts (GRU).",
    .inputs = {{"gates"},
               {"parts", InputKind::kOptional},
               {"states", InputKind::kOptional},
               {"initial", InputKind::kOptional},
               {"weight"},
               {"lengths", InputKind::kOptional},
               {"dy", InputKind::kOptional},
               {"dh", InputKind::kOptional},
               {"dc", InputKind::kOptional},
               {"dgates", InputKind::kOptional},
               {"dparts", InputKind::kOptional}},
    .attrs = attrs_def<RecurrentAttrs>(),
    .infer = infer_backward,
    .cost = backward_cost,
    .by_steps = backward_by_steps,
    .checks_inside = checks_nothing,
    .traits = {.differentiable = false, .backward = true}};
const OpRegistrar backward_registered{backward_op};

/// (T, B, n) or (B, T, n) as rows.
Tensor rows_of(const Tensor& x) { return reshape(x, {-1, x.size(-1)}); }

/// The gradient of the weight: one product for all steps.
Tensor weight_gradient(const Tensor& sums, const Tensor& hidden, const Tensor& previous, int64_t size) {
  const Tensor states = rows_of(previous);
  const auto product = [&](const Tensor& g) { return matmul(swap_last(rows_of(g)), states); };
  if (!hidden.defined()) return product(sums);
  return concat(std::vector<Tensor>{product(narrow(sums, -1, 0, 2 * size)), product(hidden)}, 0);
}

void train_vjp(VjpContext& c) {
  const auto& a = c.attrs<RecurrentAttrs>();
  const bool has_parts = is_lstm(a) || is_gru(a);
  const Tensor lengths = c.has(kLengths) ? c.in(kLengths) : Tensor();
  const auto given = [](const Tensor& t) { return t.defined() ? &t : nullptr; };
  const Tensor* in[kBackwardOperands] = {};
  in[kOfGates] = &c.out(kGates);
  if (has_parts) in[kOfParts] = &c.out(kParts), in[kInitial] = &c.in(is_lstm(a) ? kC : kH);
  if (is_gru(a)) in[kStates] = &c.out(kY);
  in[kOfWeight] = &c.in(kWeight);
  in[kOfLengths] = given(lengths);
  in[kGradY] = given(c.grad(kY));
  in[kGradH] = given(c.grad(kLastH));
  if (is_lstm(a)) in[kGradC] = given(c.grad(kLastC));
  in[kGradGates] = given(c.grad(kGates));
  if (has_parts) in[kGradParts] = given(c.grad(kParts));
  const TensorList out = apply_all(backward_op, in, a);
  if (c.needs(kX)) c.set(kX, c.has(kInput) ? matmul(out[0], c.in(kInput)) : out[0]);
  if (c.has(kInput) && c.needs(kInput)) c.set(kInput, matmul(swap_last(rows_of(out[0])), rows_of(c.in(kX))));
  if (c.needs(kH)) c.set(kH, out[1]);
  if (is_lstm(a) && c.needs(kC)) c.set(kC, out[2]);
  const Tensor hidden = is_gru(a) ? out[2] : Tensor();
  if (c.needs(kWeight)) {
    const Tensor previous = before_steps(c.out(kY), c.in(kH), lengths, a);
    c.set(kWeight, weight_gradient(out[0], hidden, previous, c.in_type(kWeight).shape.size(1)));
  }
  if (c.has(kBias) && c.needs(kBias)) c.set(kBias, sum(out[0], {0, 1}));
  if (c.has(kHiddenBias) && c.needs(kHiddenBias)) c.set(kHiddenBias, sum(hidden, {0, 1}));
}

constexpr std::string_view kDoc =
    "All steps of a recurrent layer in one direction. With input size I, hidden size H and G gates: x (T, B, "
    "I), or (B, T, I) with batch_first; h and, of LSTM, c (B, H) the state before the first step; input "
    "(G * H, I) the weight of x, without which x (T, B, G * H) is the product already; weight (G * H, H) "
    "that "
    "of h; bias (G * H,) is added to the gates' sums, hidden_bias (H,) of GRU to the new gate's sum over h; "
    "lengths (B,) are the steps of each sample, beyond which its state stops and y is 0. float32 and "
    "float64. "
    "Results y (T, B, H), h and, of LSTM, c (B, H). Source: Hochreiter and Schmidhuber, Long short-term "
    "memory, 1997; Cho et al., Learning phrase representations using RNN encoder-decoder, 2014.";
constexpr std::string_view kTrainDoc =
    "As recurrent, with what the gradient reads: results are the gates after their activations (T, B, G * "
    "H), "
    "y, h, then the cells (LSTM) or the new gate's sums over h (GRU) of each step (T, B, H), and c (LSTM). "
    "All of it is 0 at steps beyond a sample's length.";

std::vector<InputSpec> inputs() {
  constexpr InputKind kOptional = InputKind::kOptional;
  return {{"x"},
          {"h"},
          {"c", kOptional},
          {"input", kOptional},
          {"weight"},
          {"bias", kOptional},
          {"hidden_bias", kOptional},
          {"lengths", kOptional}};
}

const OpDef train_op{.name = "recurrent_train",
                     .doc = kTrainDoc,
                     .inputs = inputs(),
                     .attrs = attrs_def<RecurrentAttrs>(),
                     .infer = infer_train,
                     .vjp = train_vjp,
                     .saves_in = saves({kX, kH, kC, kInput, kWeight, kLengths}),
                     .saves_out = saves({kGates, kY, kParts}),
                     .cost = recurrent_cost};
const OpRegistrar train_registered{train_op};

TensorList recurrent_by_steps(OperandSpan in, AttrsRef attrs) {
  const TensorList out = apply_all(train_op, in, attrs);
  TensorList results{out[kY], out[kLastH]};
  if (out.size() > kLastC) results.push_back(out[kLastC]);
  return results;
}

const OpDef recurrent_op{.name = "recurrent",
                         .doc = kDoc,
                         .inputs = inputs(),
                         .attrs = attrs_def<RecurrentAttrs>(),
                         .infer = infer_recurrent,
                         .cost = recurrent_cost,
                         .by_steps = recurrent_by_steps,
                         .checks_inside = checks_nothing,
                         .traits = {.differentiable = false}};
const OpRegistrar recurrent_registered{recurrent_op};

}  // namespace

RecurrentOutput detail::run_recurrent(const RecurrentOperands& o, const RecurrentAttrs& attrs) {
  const auto given = [](const Tensor& t) { return t.defined() ? &t : nullptr; };
  const TensorList out = apply_all(recurrent_op,
                                   {&o.x, &o.h, given(o.c), given(o.input), &o.weight, given(o.bias),
                                    given(o.hidden_bias), given(o.lengths)},
                                   attrs);
  return {out[0], out[1], out.size() > 2 ? out[2] : Tensor()};
}

}  // namespace sorus
