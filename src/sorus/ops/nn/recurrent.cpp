#include "sorus/ops/nn/recurrent.h"

#include <vector>

#include "sorus/base/told_as.h"
#include "sorus/core/promotion.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/detail/recurrent_ops.h"
#include "sorus/ops/nn/linear.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

int64_t gates_of(RecurrentKind kind) { return RecurrentAttrs{.kind = kind}.gates(); }

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
  if (!w.input_bias.defined()) return;
  for (const Tensor* bias : {&w.input_bias, &w.hidden_bias})
    SORUS_CHECK(bias->shape() == Shape{gates * hidden}, ShapeError,
                "{}: bias does not fit: got shape {}, need ({},)", op, bias->shape(), gates * hidden);
}

/// The biases in one, but for the hidden one of GRU's new gate, which stays inside the reset.
void set_biases(detail::RecurrentOperands& o, RecurrentKind kind, const Tensor& input, const Tensor& hidden) {
  if (kind != RecurrentKind::kGru) {
    o.bias = input + hidden;
    return;
  }
  const int64_t size = o.weight.size(1);
  o.bias = input + pad(narrow(hidden, 0, 0, 2 * size), {0}, {size});
  o.hidden_bias = narrow(hidden, 0, 2 * size, size);
}

/// One layer in one direction over x (T, B, I), or (B, T, I), from states (B, H): the states of all steps and
/// the last ones. Computed in float32 at least; states are not rounded between steps. Of 16-bit floats only
/// the product with the input weight is rounded before the result.
RecurrentResult run_direction(const Tensor& x, const LstmState& state, const RecurrentWeights& w,
                              const RecurrentAttrs& attrs, const Tensor& lengths) {
  DType dtype = promote(promote(x.dtype(), w.input.dtype()), promote(state.h.dtype(), w.hidden.dtype()));
  const bool is_lstm = attrs.kind == RecurrentKind::kLstm;
  if (is_lstm) dtype = promote(dtype, state.c.dtype());
  if (!is_floating(dtype)) dtype = DType::kFloat32;
  const DType wide = is_half(dtype) ? DType::kFloat32 : dtype;
  detail::RecurrentOperands o;
  const bool is_step = x.size(attrs.batch_first ? 1 : 0) == 1;
  if (is_half(dtype) || is_step) {
    // Processors have instructions for products of 16-bit floats, and programs pack the weights of products
    // once.
    o.x = cast(linear(x, w.input), wide);
  } else {
    o.x = cast(x, wide);
    o.input = cast(w.input, wide);
  }
  o.h = cast(state.h, wide);
  o.weight = cast(w.hidden, wide);
  if (is_lstm) o.c = cast(state.c, wide);
  if (w.hidden_bias.defined()) set_biases(o, attrs.kind, cast(w.input_bias, wide), cast(w.hidden_bias, wide));
  if (lengths.defined()) o.lengths = cast(lengths, DType::kInt64);
  const detail::RecurrentOutput out = detail::run_recurrent(o, attrs);
  return {cast(out.y, dtype), cast(out.h, dtype), is_lstm ? cast(out.c, dtype) : Tensor()};
}

Shape without_last(const Tensor& x) {
  Shape shape;
  for (int i = 0; i + 1 < x.rank(); ++i) shape.push_back(x.shape()[i]);
  return shape;
}

/// One step. Batch axes broadcast, and there may be none.
LstmState run_cell(std::string_view op, RecurrentKind kind, const Tensor& x, const LstmState& state,
                   const RecurrentWeights& w) {
  const int64_t hidden = state.h.size(-1);
  need_weights(op, w, gates_of(kind), x.size(-1), hidden);
  Shape batch = broadcast_shapes(op, without_last(x), without_last(state.h));
  if (state.c.defined()) batch = broadcast_shapes(op, batch, without_last(state.c));
  const auto rows = [&](const Tensor& t) {
    if (!t.defined()) return t;
    Shape whole = batch;
    whole.push_back(t.shape()[t.rank() - 1]);
    return reshape(t.shape() == whole ? t : broadcast_to(t, whole), {batch.numel(), t.size(-1)});
  };
  const RecurrentResult r =
      run_direction(expand_dims(rows(x), 0), {rows(state.h), rows(state.c)}, w, {.kind = kind}, {});
  Ints shape;
  for (int i = 0; i < batch.rank(); ++i) shape.push_back(batch.size(i));
  shape.push_back(hidden);
  return {reshape(r.h, shape), r.c.defined() ? reshape(r.c, shape) : Tensor()};
}

}  // namespace

Tensor rnn_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& w, bool relu_activation) {
  const ToldAs told("rnn_cell");
  return run_cell("rnn_cell", relu_activation ? RecurrentKind::kRelu : RecurrentKind::kTanh, x, {h, {}}, w).h;
}

LstmState lstm_cell(const Tensor& x, const LstmState& state, const RecurrentWeights& w) {
  const ToldAs told("lstm_cell");
  return run_cell("lstm_cell", RecurrentKind::kLstm, x, state, w);
}

Tensor gru_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& w) {
  const ToldAs told("gru_cell");
  return run_cell("gru_cell", RecurrentKind::kGru, x, {h, {}}, w).h;
}

RecurrentResult recurrent(const Tensor& x, const LstmState& state, std::span<const RecurrentWeights> weights,
                          const RecurrentOptions& options) {
  constexpr std::string_view kName = "recurrent";
  SORUS_CHECK(x.rank() == 3, ShapeError, "{}: the rank does not fit: got x {}, need (T, B, I)", kName,
              x.shape());
  const int64_t steps = x.size(options.batch_first ? 1 : 0), batch = x.size(options.batch_first ? 0 : 1);
  SORUS_CHECK(steps >= 1, ShapeError, "{}: there is no step: got x {}, need at least 1", kName, x.shape());
  auto entries = static_cast<int64_t>(weights.size());
  int64_t directions = options.bidirectional ? 2 : 1;
  SORUS_CHECK(entries >= 1 && entries % directions == 0, ValueError,
              "{}: the number of weights does not fit: got {}, need a multiple of {}", kName, entries,
              directions);
  bool is_lstm = options.kind == RecurrentKind::kLstm;
  int64_t hidden = state.h.size(-1);
  Shape states{entries, batch, hidden};
  SORUS_CHECK(state.h.shape() == states && (!is_lstm || state.c.shape() == states), ShapeError,
              "{}: a state does not fit: got h {}, need {}", kName, state.h.shape(), states);
  SORUS_CHECK(!options.lengths.defined() || options.lengths.shape() == Shape{batch}, ShapeError,
              "{}: lengths do not fit: got shape {}, need ({},)", kName, options.lengths.shape(), batch);
  TensorList h0 = unstack(state.h, 0), c0 = is_lstm ? unstack(state.c, 0) : TensorList();
  std::vector<Tensor> h, c;
  Tensor y = x;
  for (int64_t layer = 0; layer < entries / directions; ++layer) {
    std::vector<Tensor> sides;
    for (int64_t d = 0; d < directions; ++d) {
      auto at = static_cast<size_t>(layer * directions + d);
      need_weights(kName, weights[at], gates_of(options.kind), y.size(2), hidden);
      const RecurrentAttrs attrs{options.kind, d == 1, options.batch_first};
      RecurrentResult run =
          run_direction(y, {h0[at], is_lstm ? c0[at] : Tensor()}, weights[at], attrs, options.lengths);
      sides.push_back(run.y);
      h.push_back(run.h);
      if (is_lstm) c.push_back(run.c);
    }
    y = directions == 2 ? concat(sides, -1) : sides[0];
  }
  return {y, stack(h, 0), is_lstm ? stack(c, 0) : Tensor()};
}

}  // namespace sorus
