#include "sorus/ops/nn/recurrent.h"

#include <algorithm>
#include <vector>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/linear.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

int64_t gates_of(RecurrentKind kind) {
  return kind == RecurrentKind::kLstm ? 4 : kind == RecurrentKind::kGru ? 3 : 1;
}

void need_weights(std::string_view op, const RecurrentWeights& w, int64_t gates, int64_t input,
                  int64_t hidden) {
  SORUS_CHECK(w.input.defined() && w.input.shape() == Shape({gates * hidden, input}), ShapeError,
              "{}: the input weight does not fit: got shape {}, need ({}, {})", op,
              w.input.defined() ? w.input.shape() : Shape{}, gates * hidden, input);
  SORUS_CHECK(w.hidden.defined() && w.hidden.shape() == Shape({gates * hidden, hidden}), ShapeError,
              "{}: the hidden weight does not fit: got shape {}, need ({}, {})", op,
              w.hidden.defined() ? w.hidden.shape() : Shape{}, gates * hidden, hidden);
  SORUS_CHECK(w.input_bias.defined() == w.hidden_bias.defined(), ValueError,
              "{}: one bias is missing: got one, need both or none", op);
}

/// One step from x already multiplied by the input weight.
LstmState step(RecurrentKind kind, const Tensor& x, const LstmState& state, const RecurrentWeights& w) {
  Tensor h = linear(state.h, w.hidden, w.hidden_bias);
  switch (kind) {
    case RecurrentKind::kTanh:
      return {tanh(x + h), {}};
    case RecurrentKind::kRelu:
      return {relu(x + h), {}};
    case RecurrentKind::kLstm: {
      TensorList g = chunk(x + h, 4, -1);
      Tensor c = sigmoid(g[1]) * state.c + sigmoid(g[0]) * tanh(g[2]);
      return {sigmoid(g[3]) * tanh(c), c};
    }
    case RecurrentKind::kGru:
      break;
  }
  TensorList from_x = chunk(x, 3, -1), from_h = chunk(h, 3, -1);
  Tensor reset = sigmoid(from_x[0] + from_h[0]);
  Tensor update = sigmoid(from_x[1] + from_h[1]);
  Tensor fresh = tanh(from_x[2] + reset * from_h[2]);
  return {fresh + update * (state.h - fresh), {}};
}

/// One layer in one direction over x (T, B, I): results of the steps in order of time, and the last state.
struct Direction {
  std::vector<Tensor> y;
  LstmState last;
};
Direction run_direction(RecurrentKind kind, const Tensor& x, LstmState state, const RecurrentWeights& w,
                        bool backward, const Tensor& lengths) {
  int64_t steps = x.size(0);
  TensorList inputs = unstack(linear(x, w.input, w.input_bias), 0);  // one product for all steps
  Direction out;
  out.y.resize(static_cast<size_t>(steps));
  Tensor column = lengths.defined() ? expand_dims(lengths, 1) : Tensor();
  for (int64_t i = 0; i < steps; ++i) {
    int64_t t = backward ? steps - 1 - i : i;
    LstmState next = step(kind, inputs[static_cast<size_t>(t)], state, w);
    Tensor y = next.h;
    if (column.defined()) {
      Tensor runs = less(scalar_beside(t, column.dtype()), column);
      y = where(runs, y, scalar_beside(0, y.dtype()));
      next.h = where(runs, next.h, state.h);
      if (next.c.defined()) next.c = where(runs, next.c, state.c);
    }
    out.y[static_cast<size_t>(t)] = y;
    state = next;
  }
  out.last = state;
  return out;
}

}  // namespace

Tensor rnn_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& w, bool relu_activation) {
  const ToldAs told("rnn_cell");
  need_weights("rnn_cell", w, 1, x.size(-1), h.size(-1));
  RecurrentKind kind = relu_activation ? RecurrentKind::kRelu : RecurrentKind::kTanh;
  return step(kind, linear(x, w.input, w.input_bias), {h, {}}, w).h;
}

LstmState lstm_cell(const Tensor& x, const LstmState& state, const RecurrentWeights& w) {
  const ToldAs told("lstm_cell");
  need_weights("lstm_cell", w, 4, x.size(-1), state.h.size(-1));
  return step(RecurrentKind::kLstm, linear(x, w.input, w.input_bias), state, w);
}

Tensor gru_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& w) {
  const ToldAs told("gru_cell");
  need_weights("gru_cell", w, 3, x.size(-1), h.size(-1));
  return step(RecurrentKind::kGru, linear(x, w.input, w.input_bias), {h, {}}, w).h;
}

RecurrentResult recurrent(const Tensor& x, const LstmState& state, std::span<const RecurrentWeights> weights,
                          const RecurrentOptions& options) {
  constexpr std::string_view kName = "recurrent";
  SORUS_CHECK(x.rank() == 3, ShapeError, "{}: the rank does not fit: got x {}, need (T, B, I)", kName,
              x.shape());
  Tensor y = options.batch_first ? swapaxes(x, 0, 1) : x;
  SORUS_CHECK(y.size(0) >= 1, ShapeError, "{}: there is no step: got x {}, need at least 1", kName,
              x.shape());
  auto entries = static_cast<int64_t>(weights.size());
  int64_t directions = options.bidirectional ? 2 : 1;
  SORUS_CHECK(entries >= 1 && entries % directions == 0, ValueError,
              "{}: the number of weights does not fit: got {}, need a multiple of {}", kName, entries,
              directions);
  bool is_lstm = options.kind == RecurrentKind::kLstm;
  int64_t hidden = state.h.size(-1);
  Shape states{entries, y.size(1), hidden};
  SORUS_CHECK(state.h.shape() == states && (!is_lstm || state.c.shape() == states), ShapeError,
              "{}: a state does not fit: got h {}, need {}", kName, state.h.shape(), states);
  SORUS_CHECK(!options.lengths.defined() || options.lengths.shape() == Shape{y.shape()[1]}, ShapeError,
              "{}: lengths do not fit: got shape {}, need ({},)", kName, options.lengths.shape(), y.size(1));
  TensorList h0 = unstack(state.h, 0), c0 = is_lstm ? unstack(state.c, 0) : TensorList();
  std::vector<Tensor> h, c;
  for (int64_t layer = 0; layer < entries / directions; ++layer) {
    std::vector<Tensor> sides;
    for (int64_t d = 0; d < directions; ++d) {
      auto at = static_cast<size_t>(layer * directions + d);
      need_weights(kName, weights[at], gates_of(options.kind), y.size(2), hidden);
      Direction run = run_direction(options.kind, y, {h0[at], is_lstm ? c0[at] : Tensor()}, weights[at],
                                    d == 1, options.lengths);
      sides.push_back(stack(run.y, 0));
      h.push_back(run.last.h);
      if (is_lstm) c.push_back(run.last.c);
    }
    y = directions == 2 ? concat(sides, -1) : sides[0];
  }
  return {options.batch_first ? swapaxes(y, 0, 1) : y, stack(h, 0), is_lstm ? stack(c, 0) : Tensor()};
}

}  // namespace sorus
