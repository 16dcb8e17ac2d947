#include "sorus/base/error.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/nn/attention.h"
#include "sorus/ops/nn/recurrent.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::check_two_gradients;
using testing::doubles;
using testing::expect_error;
using testing::expect_near;
using testing::random_tensor;

/// Attention of one head with plain loops; allowed(i, j) says whether row i attends to j.
template <class Allowed>
std::vector<double> naive_attention(const Tensor& q, const Tensor& k, const Tensor& v, Allowed allowed) {
  size_t rows = static_cast<size_t>(q.size(0)), keys = static_cast<size_t>(k.size(0));
  size_t e = static_cast<size_t>(q.size(1)), width = static_cast<size_t>(v.size(1));
  std::vector<double> qs = doubles(q), ks = doubles(k), vs = doubles(v), out(rows * width);
  for (size_t i = 0; i < rows; ++i) {
    double total = 0;
    std::vector<double> weight(keys);
    for (size_t j = 0; j < keys; ++j) {
      double score = 0;
      for (size_t d = 0; d < e; ++d) score += qs[i * e + d] * ks[j * e + d];
      weight[j] = allowed(i, j) ? std::exp(score / std::sqrt(static_cast<double>(e))) : 0;
      total += weight[j];
    }
    for (size_t j = 0; j < keys; ++j)
      for (size_t d = 0; d < width; ++d) out[i * width + d] += weight[j] / total * vs[j * width + d];
  }
  return out;
}

TEST(Attention, EqualsItsDefinition) {
  Tensor q = random_tensor({4, 3}, 1), k = random_tensor({5, 3}, 2), v = random_tensor({5, 2}, 3);
  expect_near(scaled_dot_product_attention(q, k, v),
              naive_attention(q, k, v, [](size_t, size_t) { return true; }));
  expect_near(scaled_dot_product_attention(q, k, v, {.causal = true}),
              naive_attention(q, k, v, [](size_t i, size_t j) { return j <= i; }));
  Tensor mask({true, false, true, true, false}, {1, 5});
  expect_near(scaled_dot_product_attention(q, k, v, {.mask = mask}),
              naive_attention(q, k, v, [](size_t, size_t j) { return j != 1 && j != 4; }));
  Tensor added({0., -1e30, 0., 0., -1e30}, {1, 5});
  expect_near(scaled_dot_product_attention(q, k, v, {.mask = added}),
              naive_attention(q, k, v, [](size_t, size_t j) { return j != 1 && j != 4; }));
}

TEST(Attention, HasGradientsOfBothOrders) {
  check_two_gradients(
      [](const TensorList& t) { return scaled_dot_product_attention(t[0], t[1], t[2], {.causal = true}); },
      {random_tensor({2, 2, 4, 3}, 1), random_tensor({2, 2, 4, 3}, 2), random_tensor({2, 2, 4, 2}, 3)});
}

/// Which weights are dropped is what dropout() decides for them: as written out, value, gradient and both of
/// the gradient's.
TEST(Attention, DropsWhatDropoutDrops) {
  const Tensor key = Generator(7).key(1 << 20);
  for (bool causal : {false, true}) {
    const auto fused = [&](const TensorList& t) {
      return scaled_dot_product_attention(
          t[0], t[1], t[2], {.causal = causal, .scale = 0.7, .dropout = 0.4, .dropout_key = key});
    };
    const auto written = [&](const TensorList& t) {
      Tensor scores = matmul(t[0] * 0.7, transpose(t[1], {0, 2, 1}));
      const Tensor later = triu(full({DType::kFloat64, {}, scores.shape()}, -1e30), 1);
      return matmul(dropout(softmax(causal ? scores + later : scores), 0.4, key), t[2]);
    };
    const TensorList in{random_tensor({3, 30, 4}, 1), random_tensor({3, 30, 4}, 2),
                        random_tensor({3, 30, 5}, 3)};
    expect_near(fused(in), doubles(written(in)));
    const auto gradients = [&](const auto& f) {
      const Pullback p = vjp([&](const TensorList& t) { return TensorList{f(t)}; }, in);
      return p.pull({random_tensor({3, 30, 5}, 4)});
    };
    const TensorList found = gradients(fused), wanted = gradients(written);
    for (size_t i = 0; i < 3; ++i) expect_near(found[i], doubles(wanted[i]));
    const TensorList few{random_tensor({2, 4, 3}, 1), random_tensor({2, 4, 3}, 2),
                         random_tensor({2, 4, 2}, 3)};
    check_two_gradients(fused, few);
  }
}

TEST(Attention, NamesWhatDoesNotFit) {
  Tensor q = random_tensor({4, 3}, 1);
  expect_error<ShapeError>(
      [&] {
        (void)scaled_dot_product_attention(q, random_tensor({4, 2}, 1), q);
      },
      "scaled_dot_product_attention: shapes do not fit");
  expect_error<ValueError>([&] { (void)scaled_dot_product_attention(q, q, q, {.dropout = 0.5}); },
                           "dropout needs a key");
  for (double p : {-0.1, 1.0, std::nan("")})
    expect_error<ValueError>(
        [&] {
          (void)scaled_dot_product_attention(q, q, q,
                                             {.dropout = p, .dropout_key = default_generator().key(16)});
        },
        "need 0 <= dropout < 1");
  expect_error<TypeError>(
      [&] { (void)scaled_dot_product_attention(q, q, q, {.dropout = 0.5, .dropout_key = q}); },
      "key is not one of a generator");
}

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

/// row r of the gates: w_x[r] . x + b_x[r] and w_h[r] . h + b_h[r], for one sample.
struct Parts {
  std::vector<double> x, h;
};
Parts parts(const Tensor& x, const Tensor& h, const RecurrentWeights& w) {
  std::vector<double> xs = doubles(x), hs = doubles(h), wx = doubles(w.input), wh = doubles(w.hidden);
  Parts p{doubles(w.input_bias), doubles(w.hidden_bias)};
  for (size_t r = 0; r < p.x.size(); ++r) {
    for (size_t i = 0; i < xs.size(); ++i) p.x[r] += wx[r * xs.size() + i] * xs[i];
    for (size_t i = 0; i < hs.size(); ++i) p.h[r] += wh[r * hs.size() + i] * hs[i];
  }
  return p;
}
RecurrentWeights weights_of(int64_t gates, int64_t input, int64_t hidden, uint64_t seed) {
  return {random_tensor({gates * hidden, input}, seed), random_tensor({gates * hidden, hidden}, seed + 1),
          random_tensor({gates * hidden}, seed + 2), random_tensor({gates * hidden}, seed + 3)};
}

TEST(Recurrent, CellsEqualTheirDefinitions) {
  Tensor x = random_tensor({1, 3}, 1), h = random_tensor({1, 2}, 2), c = random_tensor({1, 2}, 3);
  RecurrentWeights w1 = weights_of(1, 3, 2, 10), w4 = weights_of(4, 3, 2, 20), w3 = weights_of(3, 3, 2, 30);
  Parts p = parts(x, h, w1);
  expect_near(rnn_cell(x, h, w1), {std::tanh(p.x[0] + p.h[0]), std::tanh(p.x[1] + p.h[1])});
  expect_near(rnn_cell(x, h, w1, true), {std::max(0., p.x[0] + p.h[0]), std::max(0., p.x[1] + p.h[1])});
  p = parts(x, h, w4);
  std::vector<double> cs = doubles(c), hs = doubles(h), h_need, c_need;
  for (size_t i = 0; i < 2; ++i) {
    auto gate = [&](size_t k) { return p.x[k * 2 + i] + p.h[k * 2 + i]; };
    c_need.push_back(sigma(gate(1)) * cs[i] + sigma(gate(0)) * std::tanh(gate(2)));
    h_need.push_back(sigma(gate(3)) * std::tanh(c_need[i]));
  }
  LstmState s = lstm_cell(x, {h, c}, w4);
  expect_near(s.h, h_need);
  expect_near(s.c, c_need);
  p = parts(x, h, w3);
  std::vector<double> need;
  for (size_t i = 0; i < 2; ++i) {
    double r = sigma(p.x[i] + p.h[i]), z = sigma(p.x[2 + i] + p.h[2 + i]);
    double n = std::tanh(p.x[4 + i] + r * p.h[4 + i]);
    need.push_back(n + z * (hs[i] - n));
  }
  expect_near(gru_cell(x, h, w3), need);
}

TEST(Recurrent, LayersRunTheirCellsOverTime) {
  Tensor x = random_tensor({3, 1, 2}, 1), h0 = random_tensor({2, 1, 2}, 2), c0 = random_tensor({2, 1, 2}, 3);
  std::vector<RecurrentWeights> w{weights_of(4, 2, 2, 10), weights_of(4, 2, 2, 20)};
  RecurrentOptions options{.kind = RecurrentKind::kLstm, .bidirectional = true};
  RecurrentResult r = recurrent(x, {h0, c0}, w, options);
  EXPECT_EQ(r.y.shape(), Shape({3, 1, 4}));
  EXPECT_EQ(r.c.shape(), Shape({2, 1, 2}));
  std::vector<double> xs = doubles(x), hs = doubles(h0), cs = doubles(c0), y(12);
  for (size_t d = 0; d < 2; ++d) {
    LstmState s{Tensor({hs[2 * d], hs[2 * d + 1]}, {1, 2}), Tensor({cs[2 * d], cs[2 * d + 1]}, {1, 2})};
    for (size_t i = 0; i < 3; ++i) {
      size_t t = d == 0 ? i : 2 - i;
      s = lstm_cell(Tensor({xs[2 * t], xs[2 * t + 1]}, {1, 2}), s, w[d]);
      for (size_t k = 0; k < 2; ++k) y[t * 4 + d * 2 + k] = doubles(s.h)[k];
    }
  }
  expect_near(r.y, y);
}

TEST(Recurrent, LengthsStopTheStates) {
  Tensor x = random_tensor({4, 2, 3}, 1), h0 = random_tensor({1, 2, 2}, 2);
  std::vector<RecurrentWeights> w{weights_of(3, 3, 2, 10)};
  RecurrentResult cut = recurrent(x, {h0, {}}, w, {.kind = RecurrentKind::kGru, .lengths = Tensor({4, 2})});
  RecurrentResult whole = recurrent(x, {h0, {}}, w, {.kind = RecurrentKind::kGru});
  std::vector<double> a = doubles(cut.y), b = doubles(whole.y), last = doubles(cut.h);
  for (size_t t = 0; t < 4; ++t)
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(a[t * 4 + k], t >= 2 && k >= 2 ? 0 : b[t * 4 + k]);
  EXPECT_EQ(last[2], b[1 * 4 + 2]);
}

TEST(Recurrent, HasGradientsOfBothOrders) {
  for (RecurrentKind kind : {RecurrentKind::kTanh, RecurrentKind::kLstm, RecurrentKind::kGru}) {
    int64_t gates = kind == RecurrentKind::kLstm ? 4 : kind == RecurrentKind::kGru ? 3 : 1;
    RecurrentWeights w = weights_of(gates, 3, 2, 10);
    check_two_gradients(
        [&](const TensorList& t) {
          std::vector<RecurrentWeights> list{{t[2], t[3], t[4], w.hidden_bias}};
          return recurrent(t[0], {t[1], t[1]}, list, {.kind = kind}).y;
        },
        {random_tensor({3, 2, 3}, 1), random_tensor({1, 2, 2}, 2), w.input, w.hidden, w.input_bias});
  }
}

TEST(Recurrent, NamesWhatDoesNotFit) {
  RecurrentWeights w = weights_of(1, 3, 2, 10);
  expect_error<ShapeError>(
      [&] {
        (void)rnn_cell(random_tensor({1, 4}, 1), random_tensor({1, 2}, 1), w);
      },
      "rnn_cell: the input weight does not fit: got shape (2, 3), need (2, 4)");
  std::vector<RecurrentWeights> list{w};
  expect_error<ShapeError>(
      [&] {
        (void)recurrent(random_tensor({1, 4}, 1), {}, list);
      },
      "recurrent: the rank does not fit");
}

}  // namespace
}  // namespace sorus
