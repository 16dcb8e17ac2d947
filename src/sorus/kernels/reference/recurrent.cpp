#include <cmath>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/recurrent_call.h"

/// Recurrent layers and their gradient as they are defined, sample by sample in double.
namespace sorus {
namespace {

using Row = std::vector<double>;

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

template <class S>
Row row_of(const S* from, int64_t n) {
  return from ? Row(from, from + n) : Row(static_cast<size_t>(n), 0.0);
}
template <class S>
void put(const Row& row, S* to) {
  if (to) std::transform(row.begin(), row.end(), to, [](double v) { return static_cast<S>(v); });
}
template <class S>
void put_zeros(S* to, int64_t n) {
  if (to) std::fill_n(to, n, S(0));
}

/// The gates' sums over the input, with their bias.
template <class S>
Row input_sums(const RecurrentForward<S>& r, int64_t t, int64_t b) {
  Row sums = row_of(r.bias, r.gates * r.hidden);
  const S* x = r.x.at(t, b);
  for (size_t g = 0; g < sums.size(); ++g) {
    if (!r.input) sums[g] += static_cast<double>(x[g]);
    const auto inputs = static_cast<size_t>(r.inputs);
    for (size_t k = 0; r.input && k < inputs; ++k)
      sums[g] += static_cast<double>(r.input[g * inputs + k]) * static_cast<double>(x[k]);
  }
  return sums;
}

/// The state of a sample and what a step computed from it.
struct Cell {
  Row h, c, gates, hidden;
};

/// One step from `sums`, the gates' sums over the input and their bias.
template <class S>
void step(const RecurrentForward<S>& r, const Row& sums, Cell& cell) {
  const auto n = static_cast<size_t>(r.hidden), count = static_cast<size_t>(r.gates);
  Row over_h(count * n);
  for (size_t g = 0; g < count * n; ++g)
    for (size_t k = 0; k < n; ++k) over_h[g] += static_cast<double>(r.weight[g * n + k]) * cell.h[k];
  cell.gates.resize(count * n);
  cell.hidden.resize(n);
  for (size_t j = 0; j < n; ++j) {
    const auto sum = [&](size_t g) { return sums[g * n + j] + over_h[g * n + j]; };
    const auto gate = [&](size_t g) -> double& { return cell.gates[g * n + j]; };
    switch (r.kind) {
      case RecurrentKind::kTanh:
        cell.h[j] = gate(0) = std::tanh(sum(0));
        break;
      case RecurrentKind::kRelu:
        cell.h[j] = gate(0) = sum(0) > 0 || std::isnan(sum(0)) ? sum(0) : 0;
        break;
      case RecurrentKind::kLstm:
        for (size_t g : {0, 1, 3}) gate(g) = sigma(sum(g));
        gate(2) = std::tanh(sum(2));
        cell.c[j] = gate(1) * cell.c[j] + gate(0) * gate(2);
        cell.h[j] = gate(3) * std::tanh(cell.c[j]);
        break;
      case RecurrentKind::kGru:
        gate(0) = sigma(sum(0));
        gate(1) = sigma(sum(1));
        cell.hidden[j] = over_h[2 * n + j] + (r.hidden_bias ? static_cast<double>(r.hidden_bias[j]) : 0);
        gate(2) = std::tanh(sums[2 * n + j] + gate(0) * cell.hidden[j]);
        cell.h[j] = gate(2) + gate(1) * (cell.h[j] - gate(2));
        break;
    }
  }
}

template <class S>
void forward(const KernelCall& call) {
  const RecurrentForward<S> r(call);
  const int64_t n = r.hidden, width = r.gates * n;
  parallel_for(r.batch, [&](int64_t b) {
    Cell cell{row_of(r.h + b * n, n), row_of(r.c ? r.c + b * n : nullptr, n), {}, {}};
    for (int64_t i = 0; i < r.steps; ++i) {
      const int64_t t = r.step_at(i);
      if (t >= r.length(b)) {
        put_zeros(r.y.at(t, b), n);
        put_zeros(r.kept_gates.at(t, b), width);
        put_zeros(r.parts.at(t, b), n);
        continue;
      }
      const Row sums = input_sums(r, t, b);
      step(r, sums, cell);
      put(cell.h, r.y.at(t, b));
      put(cell.gates, r.kept_gates.at(t, b));
      put(r.kind == RecurrentKind::kLstm ? cell.c : cell.hidden, r.parts.at(t, b));
    }
    put(cell.h, r.last_h + b * n);
    if (r.last_c) put(cell.c, r.last_c + b * n);
  });
}

/// What flows back through the steps of a sample.
struct Flow {
  Row h, c;
};

/// One step back. `dx` gets the gradients of the gates' sums, `dhidden` that of GRU's hidden part.
template <class S>
void step_back(const RecurrentBackward<S>& r, int64_t t, int64_t b, Flow& flow, Row& dx, Row& dhidden) {
  const auto n = static_cast<size_t>(r.hidden), width = static_cast<size_t>(r.gates) * n;
  const bool is_gru = r.kind == RecurrentKind::kGru, is_lstm = r.kind == RecurrentKind::kLstm;
  const Row gates = row_of(r.kept_gates.at(t, b), r.gates * r.hidden);
  const Row more = row_of(r.dgates.at(t, b), r.gates * r.hidden), dy = row_of(r.dy.at(t, b), r.hidden);
  const Row parts = row_of(r.parts.at(t, b), r.hidden), more_parts = row_of(r.dparts.at(t, b), r.hidden);
  const Row previous = is_gru || is_lstm ? row_of(r.previous(t, b), r.hidden) : Row(n);
  Row kept(n);  // what of the state's gradient does not go through the gates
  const auto of_sigmoid = [](double g, double s) { return g * s * (1 - s); };
  const auto of_tanh = [](double g, double v) { return g * (1 - v * v); };
  for (size_t j = 0; j < n; ++j) {
    const auto gate = [&](size_t g) { return gates[g * n + j]; };
    const double dh = flow.h[j] + dy[j];
    if (is_lstm) {
      const double squashed = std::tanh(parts[j]);
      const double dc = flow.c[j] + of_tanh(dh * gate(3), squashed) + more_parts[j];
      dx[j] = of_sigmoid(dc * gate(2) + more[j], gate(0));
      dx[n + j] = of_sigmoid(dc * previous[j] + more[n + j], gate(1));
      dx[2 * n + j] = of_tanh(dc * gate(0) + more[2 * n + j], gate(2));
      dx[3 * n + j] = of_sigmoid(dh * squashed + more[3 * n + j], gate(3));
      flow.c[j] = dc * gate(1);
    } else if (is_gru) {
      const double fresh = of_tanh(dh * (1 - gate(1)) + more[2 * n + j], gate(2));
      dx[j] = of_sigmoid(fresh * parts[j] + more[j], gate(0));
      dx[n + j] = of_sigmoid(dh * (previous[j] - gate(2)) + more[n + j], gate(1));
      dx[2 * n + j] = fresh;
      dhidden[j] = fresh * gate(0) + more_parts[j];
      kept[j] = dh * gate(1);
    } else {
      const double total = dh + more[j];
      dx[j] = r.kind == RecurrentKind::kTanh ? of_tanh(total, gate(0)) : gate(0) > 0 ? total : 0;
    }
  }
  flow.h = kept;
  for (size_t g = 0; g < width; ++g) {
    const double sum = is_gru && g >= 2 * n ? dhidden[g - 2 * n] : dx[g];
    for (size_t k = 0; k < n; ++k) flow.h[k] += sum * static_cast<double>(r.weight[g * n + k]);
  }
}

template <class S>
void backward(const KernelCall& call) {
  const RecurrentBackward<S> r(call);
  const int64_t n = r.hidden, width = r.gates * n;
  parallel_for(r.batch, [&](int64_t b) {
    Flow flow{row_of(r.dh ? r.dh + b * n : nullptr, n), row_of(r.dc ? r.dc + b * n : nullptr, n)};
    Row dx(static_cast<size_t>(width)), dhidden(static_cast<size_t>(n));
    for (int64_t i = r.steps - 1; i >= 0; --i) {
      const int64_t t = r.step_at(i);
      if (t >= r.length(b)) {
        put_zeros(r.dx.at(t, b), width);
        put_zeros(r.dhidden.at(t, b), n);
        continue;
      }
      step_back(r, t, b, flow, dx, dhidden);
      put(dx, r.dx.at(t, b));
      put(dhidden, r.dhidden.at(t, b));
    }
    put(flow.h, r.first_dh + b * n);
    if (r.first_dc) put(flow.c, r.first_dc + b * n);
  });
}

bool is_float(const KernelCall& call) { return call.out[0].dtype == DType::kFloat32; }
Refusal supports(const KernelCall& call) {
  return is_float(call) || call.out[0].dtype == DType::kFloat64 ? kAccepted
                                                                : "it computes float32 and float64";
}
void run(const KernelCall& call) { is_float(call) ? forward<float>(call) : forward<double>(call); }
void run_backward(const KernelCall& call) { is_float(call) ? backward<float>(call) : backward<double>(call); }

const KernelRegistrar registered{
    "recurrent", {.name = "recurrent_reference", .supports = supports, .run = run}, kReferenceRank};
const KernelRegistrar train_registered{
    "recurrent_train",
    {.name = "recurrent_train_reference", .supports = supports, .run = run},
    kReferenceRank};
const KernelRegistrar backward_registered{
    "recurrent_backward",
    {.name = "recurrent_backward_reference", .supports = supports, .run = run_backward, .in_place = 1},
    kReferenceRank};

}  // namespace
}  // namespace sorus
