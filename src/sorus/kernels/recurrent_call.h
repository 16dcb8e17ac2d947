#pragma once

#include <algorithm>

#include "sorus/dispatch/kernel.h"
#include "sorus/ops/nn/attributes.h"

/// A call of recurrent, recurrent_train or recurrent_backward taken apart: what all kernels share.
namespace sorus {

/// Sequences of rows (T, B, n) or (B, T, n), row-major; null where the operand is absent.
template <class S>
struct Sequence {
  S* data = nullptr;
  int64_t step = 0, row = 0;  ///< elements from one step, and from one sample, to the next
  [[nodiscard]] S* at(int64_t t, int64_t b) const { return data ? data + t * step + b * row : nullptr; }
};

/// Sizes and order of the steps. S is float or double.
struct RecurrentSizes {
  RecurrentKind kind;
  bool reverse, batch_first;
  int64_t steps, batch, hidden, gates;  ///< extents; how many gates
  const int64_t* lengths;

  RecurrentSizes(const KernelCall& call, const Array& weight, const Array& length_of)
      : kind(call.attrs<RecurrentAttrs>().kind),
        reverse(call.attrs<RecurrentAttrs>().reverse),
        batch_first(call.attrs<RecurrentAttrs>().batch_first),
        steps(call.in[0].size(batch_first ? 1 : 0)),
        batch(call.in[0].size(batch_first ? 0 : 1)),
        hidden(weight.size(1)),
        gates(call.attrs<RecurrentAttrs>().gates()),
        lengths(length_of.present() ? length_of.as<int64_t>() : nullptr) {}

  [[nodiscard]] int64_t length(int64_t b) const {
    return lengths ? std::clamp<int64_t>(lengths[b], 0, steps) : steps;
  }
  /// The step that runs as number `i`.
  [[nodiscard]] int64_t step_at(int64_t i) const { return reverse ? steps - 1 - i : i; }
  [[nodiscard]] bool is_first(int64_t t, int64_t b) const { return t == (reverse ? length(b) - 1 : 0); }
  /// The step that runs before step t.
  [[nodiscard]] int64_t before(int64_t t) const { return reverse ? t + 1 : t - 1; }

  template <class S>
  [[nodiscard]] Sequence<S> sequence(const Array& a, int64_t n) const {
    if (!a.present()) return {};
    return {a.as<S>(), batch_first ? n : batch * n, batch_first ? steps * n : n};
  }
};

/// A call of recurrent or recurrent_train.
template <class S>
struct RecurrentForward : RecurrentSizes {
  Sequence<const S> x;
  const S *h, *c, *input, *weight, *bias, *hidden_bias;
  int64_t inputs;  ///< of x, whose numbers are the gates' sums where there is no input weight
  Sequence<S> y, kept_gates, parts;
  S *last_h, *last_c = nullptr;

  explicit RecurrentForward(const KernelCall& call)
      : RecurrentSizes(call, call.in[4], call.in[7]),
        x(sequence<const S>(call.in[0], call.in[0].size(2))),
        h(call.in[1].as<const S>()),
        c(call.in[2].as<const S>()),
        input(call.in[3].as<const S>()),
        weight(call.in[4].as<const S>()),
        bias(call.in[5].as<const S>()),
        hidden_bias(call.in[6].as<const S>()),
        inputs(call.in[0].size(2)) {
    const bool keeps = call.out[1].rank() == 3;
    const size_t first = keeps ? 1 : 0;
    if (keeps) kept_gates = sequence<S>(call.out[0], gates * hidden);
    y = sequence<S>(call.out[first], hidden);
    last_h = call.out[first + 1].as<S>();
    if (keeps && call.out.size() > 3) parts = sequence<S>(call.out[3], hidden);
    if (kind == RecurrentKind::kLstm) last_c = call.out[call.out.size() - 1].as<S>();
  }
};

/// A call of recurrent_backward.
template <class S>
struct RecurrentBackward : RecurrentSizes {
  Sequence<const S> kept_gates, parts, states, dy, dgates, dparts;
  const S *initial, *weight, *dh, *dc;
  Sequence<S> dx, dhidden;
  S *first_dh, *first_dc = nullptr;

  explicit RecurrentBackward(const KernelCall& call)
      : RecurrentSizes(call, call.in[4], call.in[5]),
        kept_gates(sequence<const S>(call.in[0], gates * hidden)),
        parts(sequence<const S>(call.in[1], hidden)),
        states(sequence<const S>(call.in[2], hidden)),
        dy(sequence<const S>(call.in[6], hidden)),
        dgates(sequence<const S>(call.in[9], gates * hidden)),
        dparts(sequence<const S>(call.in[10], hidden)),
        initial(call.in[3].as<const S>()),
        weight(call.in[4].as<const S>()),
        dh(call.in[7].as<const S>()),
        dc(call.in[8].as<const S>()),
        dx(sequence<S>(call.out[0], gates * hidden)),
        first_dh(call.out[1].as<S>()) {
    if (kind == RecurrentKind::kLstm) first_dc = call.out[2].as<S>();
    if (kind == RecurrentKind::kGru) dhidden = sequence<S>(call.out[2], hidden);
  }
  /// The state before step t of sample b: cells of LSTM, states of GRU.
  [[nodiscard]] const S* previous(int64_t t, int64_t b) const {
    if (is_first(t, b)) return initial + b * hidden;
    return (kind == RecurrentKind::kLstm ? parts : states).at(before(t), b);
  }
};

}  // namespace sorus
