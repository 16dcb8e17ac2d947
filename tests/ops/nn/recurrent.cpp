#include "sorus/ops/nn/recurrent.h"

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/nn/reference.h"

namespace sorus::samples {
namespace {

int64_t gates_of(RecurrentKind kind) { return RecurrentAttrs{.kind = kind}.gates(); }

/// Sizes of a layer, and how it runs.
struct Layer {
  RecurrentKind kind;
  int64_t steps = 3, batch = 2, input = 3, hidden = 2;
  int64_t layers = 1;
  bool bidirectional = false, batch_first = false, biases = true;
  std::vector<Real> lengths = {};
};

HostArray scaled(const Shape& shape, uint64_t seed) {
  HostArray a = randn(shape, seed);
  for (Real& v : a.values) v *= 0.5L;
  return a;
}

/// x, h, c of LSTM, the weights one after the other, lengths.
std::vector<Input> operands(const Layer& l) {
  const int64_t directions = l.bidirectional ? 2 : 1, rows = gates_of(l.kind) * l.hidden;
  const Shape states{l.layers * directions, l.batch, l.hidden};
  std::vector<Input> in{
      {randn(l.batch_first ? Shape{l.batch, l.steps, l.input} : Shape{l.steps, l.batch, l.input}, 1)},
      {randn(states, 2)}};
  if (l.kind == RecurrentKind::kLstm) in.emplace_back(randn(states, 3));
  uint64_t seed = 4;
  for (int64_t layer = 0; layer < l.layers; ++layer)
    for (int64_t d = 0; d < directions; ++d) {
      in.emplace_back(scaled({rows, layer == 0 ? l.input : directions * l.hidden}, seed++));
      in.emplace_back(scaled({rows, l.hidden}, seed++));
      for (int k = 0; k < 2 && l.biases; ++k) in.emplace_back(scaled({rows}, seed++));
    }
  if (!l.lengths.empty()) in.emplace_back(items(l.lengths), DType::kInt32);
  return in;
}

Call call_of_layer(const Layer& l) {
  return [l](const TensorList& in) {
    size_t next = 0;
    const Tensor x = in[next++], h = in[next++], c = l.kind == RecurrentKind::kLstm ? in[next++] : Tensor();
    std::vector<RecurrentWeights> weights;
    for (int64_t i = 0; i < l.layers * (l.bidirectional ? 2 : 1); ++i) {
      RecurrentWeights w{in[next], in[next + 1]};
      next += 2;
      if (l.biases) w.input_bias = in[next++], w.hidden_bias = in[next++];
      weights.push_back(w);
    }
    RecurrentOptions options{.kind = l.kind, .bidirectional = l.bidirectional, .batch_first = l.batch_first};
    if (!l.lengths.empty()) options.lengths = in[next];
    const RecurrentResult r = recurrent(x, {h, c}, weights, options);
    TensorList out{r.y, r.h};
    if (r.c.defined()) out.push_back(r.c);
    return out;
  };
}

/// Where the lengths are, which stay integers.
std::vector<size_t> integral(const Layer& l) {
  return l.lengths.empty() ? std::vector<size_t>{} : std::vector<size_t>{operands(l).size() - 1};
}

Sample sample_of_layer(const std::string& name, const Layer& l) {
  Sample s = sample_of(name, operands(l), call_of_layer(l), 100, integral(l));
  s.dtypes = wide_floats();
  return s;
}

constexpr RecurrentKind kKinds[] = {RecurrentKind::kTanh, RecurrentKind::kRelu, RecurrentKind::kLstm,
                                    RecurrentKind::kGru};
std::string name_of(RecurrentKind kind) {
  return std::vector<std::string>{"tanh", "relu", "LSTM", "GRU"}[static_cast<size_t>(kind)];
}

OP_SAMPLES(recurrent) {
  SampleList list;
  for (RecurrentKind kind : kKinds) {
    const auto add = [&](const std::string& what, const Layer& l) {
      list.push_back(sample_of_layer(name_of(kind) + ", " + what, l));
    };
    add("plain", {.kind = kind});
    add("both directions, lengths", {.kind = kind, .bidirectional = true, .lengths = {2, 9}});
    add("without biases, one step", {.kind = kind, .steps = 1, .biases = false});
    add("two layers, batch first, a sample without steps",
        {.kind = kind, .layers = 2, .bidirectional = true, .batch_first = true, .lengths = {3, 0}});
    add("no samples", {.kind = kind, .batch = 0});
    // Sums of 16 bits are rounded to them before the gates.
    Sample half = sample_of("16 bits", operands({.kind = kind}), call_of_layer({.kind = kind}), 4e5);
    half.name = name_of(kind) + ", 16 bits";
    half.dtypes = {DType::kFloat16, DType::kBFloat16};
    half.gradient = false;
    list.push_back(half);
  }
  return list;
}

/// The op itself, with its hidden results and gradients of all of them; x is there with its weight, or is
/// the product.
OP_SAMPLES(recurrent_train) {
  SampleList list;
  for (RecurrentKind kind : kKinds)
    for (bool reverse : {false, true}) {
      const int64_t rows = gates_of(kind) * 2;
      const bool has_c = kind == RecurrentKind::kLstm, has_input = reverse,
                 has_hidden_bias = kind == RecurrentKind::kGru;
      std::vector<Input> in{{randn({3, 2, has_input ? 5 : rows}, 1)},
                            {randn({2, 2}, 2)},
                            {randn({2, 2}, 3)},
                            {scaled({rows, 5}, 4)},
                            {scaled({rows, 2}, 5)},
                            {randn({rows}, 6)},
                            {randn({2}, 7)},
                            {items({2, 3}), DType::kInt64}};
      if (!has_c) in[2] = in[2].constant();
      if (!has_input) in[3] = in[3].constant();
      if (!has_hidden_bias) in[6] = in[6].constant();
      const Call call = [=](const TensorList& t) {
        const OpDef& op = *find_op("recurrent_train");
        const RecurrentAttrs attrs{.kind = kind, .reverse = reverse};
        return apply_all(op,
                         {&t[0], &t[1], has_c ? &t[2] : nullptr, has_input ? &t[3] : nullptr, &t[4], &t[5],
                          has_hidden_bias ? &t[6] : nullptr, &t[7]},
                         AttrsRef(op.attrs, &attrs));
      };
      Sample s = sample_of(name_of(kind) + (reverse ? ", reverse" : ""), in, call, 100);
      s.reference = nullptr;
      s.dtypes = wide_floats();
      list.push_back(s);
    }
  return list;
}

/// Samples in pieces, with a piece of another size; numbers that fill no whole block; weights packed.
OP_SAMPLES(recurrent_backward) {
  SampleList list;
  for (RecurrentKind kind : kKinds)
    for (bool batch_first : {false, true}) {
      Layer l{.kind = kind, .steps = 5, .batch = 37, .input = 30, .hidden = 21, .batch_first = batch_first};
      if (batch_first)
        for (int64_t b = 0; b < l.batch; ++b) l.lengths.push_back(static_cast<Real>(b % 6));
      for (bool backward : {false, true}) {
        Sample s = sample_of_layer(name_of(kind) + (batch_first ? ", batch first, lengths" : ""), l);
        if (backward) {
          s.name += ", gradients";
          s.call = gradients_of(s.call);
          s.reference = in_double(s.call, integral(l));
        }
        s.absolute = 10000;  // states of ReLU grow
        s.gradient = s.second_gradient = false;
        list.push_back(s);
      }
    }
  return list;
}

OP_ERRORS(recurrent) {
  const auto run = [](DType dtype, const Shape& x, const Shape& h, const Shape& c, const Shape& weight) {
    return [=] {
      const auto zeros = [&](const Shape& shape) { return sorus::full({dtype, {}, shape}, 0); };
      const Tensor xs = zeros(x), hs = zeros(h), cs = zeros(c), w = zeros(weight);
      const OpDef& op = *find_op("recurrent");
      const RecurrentAttrs attrs{.kind = RecurrentKind::kLstm};
      (void)apply_all(op, {&xs, &hs, c.rank() > 0 ? &cs : nullptr, nullptr, &w, nullptr, nullptr, nullptr},
                      AttrsRef(op.attrs, &attrs));
    };
  };
  return {{"dtype", run(DType::kFloat16, {3, 2, 8}, {2, 2}, {2, 2}, {8, 2}), ErrorKind::kDType,
           "recurrent: 'x' has the wrong dtype: got float16, need float32 or float64"},
          {"weight", run(DType::kFloat32, {3, 2, 8}, {2, 2}, {2, 2}, {8, 3}), ErrorKind::kShape,
           "recurrent: shapes do not fit"},
          {"state", run(DType::kFloat32, {3, 2, 8}, {3, 2}, {2, 2}, {8, 2}), ErrorKind::kShape,
           "recurrent: 'h' does not fit: got shape (3, 2), need (2, 2)"},
          {"cells", run(DType::kFloat32, {3, 2, 8}, {2, 2}, {}, {8, 2}), ErrorKind::kValue,
           "recurrent: 'c' does not fit the kind: got none, need one"}};
}

}  // namespace
}  // namespace sorus::samples
