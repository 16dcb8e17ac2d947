#include "binding/functions.h"
#include "sorus/ops/nn/attention.h"
#include "sorus/ops/nn/interpolate.h"
#include "sorus/ops/nn/recurrent.h"

namespace sorus::python {

template <>
struct EnumWords<RecurrentKind> {
  static constexpr const char* words[] = {"tanh", "relu", "lstm", "gru"};
};

namespace {

/// Weights of one layer and direction after the other: input, hidden and, with biases, the two biases.
std::vector<RecurrentWeights> weights_of(std::span<const Tensor> flat, bool biases) {
  size_t each = biases ? 4 : 2;
  SORUS_CHECK(flat.size() % each == 0, ValueError,
              "recurrent: number of weights does not fit: got {}, need a multiple of {}", flat.size(), each);
  std::vector<RecurrentWeights> weights;
  for (size_t i = 0; i < flat.size(); i += each) {
    RecurrentWeights w{flat[i], flat[i + 1], {}, {}};
    if (biases) {
      w.input_bias = flat[i + 2];
      w.hidden_bias = flat[i + 3];
    }
    weights.push_back(std::move(w));
  }
  return weights;
}

std::tuple<Tensor, Tensor, Tensor> bound_recurrent(const Tensor& x, const Tensor& h,
                                                   std::span<const Tensor> weights, const Tensor& c,
                                                   bool biases, RecurrentKind kind, bool bidirectional,
                                                   bool batch_first, const Tensor& lengths) {
  RecurrentOptions options{
      .kind = kind, .bidirectional = bidirectional, .batch_first = batch_first, .lengths = lengths};
  RecurrentResult r = recurrent(x, {h, c}, weights_of(weights, biases), options);
  return {std::move(r.y), std::move(r.h), std::move(r.c)};
}
Tensor bound_rnn_cell(const Tensor& x, const Tensor& h, const Tensor& wi, const Tensor& wh, const Tensor& bi,
                      const Tensor& bh, bool relu_activation) {
  return rnn_cell(x, h, {wi, wh, bi, bh}, relu_activation);
}
std::pair<Tensor, Tensor> bound_lstm_cell(const Tensor& x, const Tensor& h, const Tensor& c, const Tensor& wi,
                                          const Tensor& wh, const Tensor& bi, const Tensor& bh) {
  LstmState s = lstm_cell(x, {h, c}, {wi, wh, bi, bh});
  return {std::move(s.h), std::move(s.c)};
}
Tensor bound_gru_cell(const Tensor& x, const Tensor& h, const Tensor& wi, const Tensor& wh, const Tensor& bi,
                      const Tensor& bh) {
  return gru_cell(x, h, {wi, wh, bi, bh});
}
Tensor bound_interpolate(const Tensor& x, const std::string& mode, const Ints& size,
                         std::span<const double> factors, bool align_corners, bool recompute_scale) {
  return interpolate(
      x, interpolation_from_name(mode, x.rank() - 2),
      {.size = size, .factors = factors, .align_corners = align_corners, .recompute_scale = recompute_scale});
}
Tensor bound_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                       bool causal, double scale, double dropout, const Tensor& random) {
  return scaled_dot_product_attention(
      query, key, value,
      {.mask = mask, .causal = causal, .scale = scale, .dropout = dropout, .dropout_key = random});
}

}  // namespace

std::vector<Function> recurrent_functions() {
  return {
      function("recurrent", &bound_recurrent,
               "x, h, weights, c=None, biases=True, kind='tanh', bidirectional=False, batch_first=False, "
               "lengths=None"),
      function("rnn_cell", &bound_rnn_cell, "x, h, wi, wh, bi=None, bh=None, relu_activation=False"),
      function("lstm_cell", &bound_lstm_cell, "x, h, c, wi, wh, bi=None, bh=None"),
      function("gru_cell", &bound_gru_cell, "x, h, wi, wh, bi=None, bh=None"),
      function("interpolate", &bound_interpolate,
               "x, mode, size=(), factors=(), align_corners=False, recompute_scale=False"),
      function("attention", &bound_attention,
               "query, key, value, mask=None, causal=False, scale=0, dropout=0, random=None"),
  };
}

}  // namespace sorus::python
