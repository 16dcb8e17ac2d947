#pragma once

#include <span>

#include "sorus/core/tensor.h"
#include "sorus/ops/nn/attributes.h"

/// Recurrent cells and layers. States are not rounded between steps. With hidden size H and input size I,
/// gates are stacked in the weights: input weight (G * H, I), hidden weight (G * H, H), biases (G * H,), both
/// or none defined; G is 1 for plain cells, 4 for LSTM (input, forget, cell, output), 3 for GRU (reset,
/// update, new). Throws ShapeError naming what does not fit.
namespace sorus {

struct RecurrentWeights {
  Tensor input, hidden;
  Tensor input_bias = {}, hidden_bias = {};
};

/// act(x * input^T + b + h * hidden^T + b), act tanh or relu: x (B, I), h (B, H), result (B, H).
[[nodiscard]] SORUS_API Tensor rnn_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& w,
                                        bool relu_activation = false);

struct LstmState {
  Tensor h, c;
};
/// c' = sigmoid(f) * c + sigmoid(i) * tanh(g), h' = sigmoid(o) * tanh(c').
[[nodiscard]] SORUS_API LstmState lstm_cell(const Tensor& x, const LstmState& state,
                                            const RecurrentWeights& w);

/// n = tanh(x_n + sigmoid(r) * h_n), h' = n + sigmoid(z) * (h - n).
[[nodiscard]] SORUS_API Tensor gru_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& w);

struct RecurrentOptions {
  RecurrentKind kind = RecurrentKind::kTanh;  ///< the cell: kTanh, kRelu, kLstm or kGru
  bool bidirectional = false;
  bool batch_first = false;  ///< x and y are (B, T, ...) rather than (T, B, ...)
  Tensor lengths = {};       ///< (B,) integers: steps of each sample; states stop and y is 0 beyond them
};
struct RecurrentResult {
  Tensor y;  ///< (T, B, D * H), D directions
  Tensor h;  ///< (layers * D, B, H)
  Tensor c;  ///< as h, of LSTM alone
};
/// A stack of layers over x (T, B, I) from the states h and, for LSTM, c (layers * D, B, H). `weights` has
/// one entry for each layer and direction, layer by layer, forward before backward. Layers above the first
/// take the D * H results of the one below.
[[nodiscard]] SORUS_API RecurrentResult recurrent(const Tensor& x, const LstmState& state,
                                                  std::span<const RecurrentWeights> weights,
                                                  const RecurrentOptions& options = {});

}  // namespace sorus
