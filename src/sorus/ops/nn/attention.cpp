#include "sorus/ops/nn/attention.h"

#include <cmath>
#include <limits>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/detail/random_key.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

/// Attention is an op with a gradient op, neither of which stores scores; where something else is wanted
/// (the gradient of a mask, gradients of the gradient) it is written out with public functions.
namespace sorus {
namespace {

constexpr std::string_view kName = "scaled_dot_product_attention";

/// True where column <= row.
Tensor causal_mask(int64_t rows, int64_t columns) {
  Tensor row = expand_dims(arange(0, static_cast<double>(rows), 1), 1);
  Tensor column = expand_dims(arange(0, static_cast<double>(columns), 1), 0);
  return less_equal(column, row);
}

Tensor masked(const Tensor& scores, const Tensor& mask) {
  if (mask.dtype() != DType::kBool) return add(scores, cast(mask, scores.dtype()));
  return where(mask, scores, scalar_beside(-std::numeric_limits<double>::infinity(), scores.dtype()));
}

/// The weights, written out.
Tensor weights_of(const Tensor& query, const Tensor& key, const Tensor& mask, const AttentionAttrs& a) {
  Tensor scores = matmul(query * a.scale, swap_last(key));
  if (a.causal) scores = masked(scores, causal_mask(query.size(-2), key.size(-2)));
  if (mask.defined()) scores = masked(scores, mask);
  return softmax(scores);
}

DType statistics_dtype(DType x) { return is_half(x) ? DType::kFloat32 : x; }

Shape with_last(Shape shape, Dim extent) {
  shape[shape.rank() - 1] = extent;
  return shape;
}

/// Batch axes, rows, columns: the shape of the scores.
Shape scores_shape(const InferContext& c) { return with_last(c.shape(0), c.shape(1)[c.shape(1).rank() - 2]); }
TensorType result_type(const InferContext& c) {
  return {c.dtype(0), c.in(0).device, with_last(c.shape(0), c.shape(2)[c.shape(2).rank() - 1])};
}

void check_operands(const InferContext& c) {
  detail::need_floating(c.name(), "query", c.dtype(0));
  detail::need_same_dtype(c.name(), "key", c.dtype(1), c.dtype(0));
  detail::need_same_dtype(c.name(), "value", c.dtype(2), c.dtype(0));
  const Shape &q = c.shape(0), &k = c.shape(1), &v = c.shape(2);
  const int rank = q.rank();
  bool fits = rank >= 2 && k.rank() == rank && v.rank() == rank && q[rank - 1] == k[rank - 1] &&
              k[rank - 2] == v[rank - 2];
  for (int i = 0; fits && i + 2 < rank; ++i) fits = q[i] == k[i] && k[i] == v[i];
  SORUS_CHECK(fits, ShapeError,
              "{}: shapes do not fit: got query {}, key {} and value {}, need (..., L, E), (..., S, E) and "
              "(..., S, V)",
              c.name(), q, k, v);
  const double dropout = c.attrs<AttentionAttrs>().dropout;
  SORUS_CHECK(dropout >= 0 && dropout < 1, ValueError,
              "{}: dropout is out of range: got {}, need 0 <= dropout < 1", c.name(), dropout);
  SORUS_CHECK(c.has(4) == (dropout > 0), ValueError,
              "{}: a key and dropout belong together: got dropout {} {} key, need both or none", c.name(),
              dropout, c.has(4) ? "beside a" : "without a");
  if (c.has(4)) detail::check_random_key(c.name(), c.in(4));
  if (!c.has(3)) return;
  SORUS_CHECK(c.dtype(3) == DType::kBool || c.dtype(3) == c.dtype(0), DTypeError,
              "{}: dtype of 'mask' does not fit: got {}, need bool or {}", c.name(), c.dtype(3), c.dtype(0));
  SORUS_CHECK(c.shape(3) == scores_shape(c), ShapeError, "{}: shape of 'mask' does not fit: got {}, need {}",
              c.name(), c.shape(3), scores_shape(c));
}

/// Of each row the largest score and the sum of e^(score - largest).
TensorType statistics_type(const InferContext& c) {
  return {statistics_dtype(c.dtype(0)), c.in(0).device, with_last(c.shape(0), 2)};
}

TypeList infer_attention(const InferContext& c) {
  check_operands(c);
  return {result_type(c), statistics_type(c)};
}

TypeList infer_backward(const InferContext& c) {
  check_operands(c);
  SORUS_CHECK(c.in(5) == statistics_type(c), ShapeError, "{}: 'statistics' does not fit: got {}, need {}",
              c.name(), c.in(5), statistics_type(c));
  SORUS_CHECK(c.in(6) == result_type(c), ShapeError, "{}: 'gradient' does not fit: got {}, need {}", c.name(),
              c.in(6), result_type(c));
  return {c.in(0), c.in(1), c.in(2)};
}

Cost attention_cost(const InferContext& c) {
  const double scores = static_cast<double>(scores_shape(c).numel());
  const int last = c.shape(0).rank() - 1;
  const double depth = static_cast<double>(c.shape(0).size(last) + c.shape(2).size(last));
  const double elements =
      static_cast<double>(c.shape(0).numel() + c.shape(1).numel() + 2 * c.shape(2).numel());
  return {2 * scores * depth, elements * static_cast<double>(dtype_size(c.dtype(0)))};
}
Cost backward_cost(const InferContext& c) {
  Cost forward = attention_cost(c);
  return {2.5 * forward.flops, 2 * forward.bytes};
}

Tensor add_to(const Tensor& sum, const Tensor& more) { return sum.defined() ? sum + more : more; }

/// Weights, or the gradient of what dropout leaves of them, after dropout.
Tensor dropped(const Tensor& weights, const Tensor& key, const AttentionAttrs& a) {
  return a.dropout > 0 ? dropout(weights, a.dropout, key) : weights;
}

/// The operands of attention and the gradient of its result, for what is written out: computed in float32
/// where operands have 16 bits, as the kernels do, and rounded once.
struct Operands {
  Tensor query, key, value, mask, random, gradient;
  Operands(const VjpContext& c, const Tensor& g);
};

/// What both gradients are made of: weights P, the gradient dP of the weights, their dot product D along
/// rows, and dS = P (dP - D), the gradient of the scores.
struct Terms {
  Tensor p, dp, d, ds;
  Terms(const Operands& o, const AttentionAttrs& a)
      : p(weights_of(o.query, o.key, o.mask, a)),
        dp(dropped(matmul(o.gradient, swap_last(o.value)), o.random, a)) {
    d = sum(p * dp, {-1}, true);
    ds = p * (dp - d);
  }
};

Tensor optional_in(const VjpContext& c, size_t i) { return c.has(i) ? c.in(i) : Tensor(); }

Tensor widened(const Tensor& x) { return x.defined() && is_half(x.dtype()) ? cast(x, DType::kFloat32) : x; }
void set_rounded(VjpContext& c, size_t i, const Tensor& gradient) {
  c.set(i, cast(gradient, c.in_type(i).dtype));
}

Operands::Operands(const VjpContext& c, const Tensor& g)
    : query(widened(c.in(0))),
      key(widened(c.in(1))),
      value(widened(c.in(2))),
      mask(widened(optional_in(c, 3))),
      random(optional_in(c, 4)),
      gradient(widened(g)) {}

/// The gradient of the gradient, with respect to query, key, value, a floating mask and the gradient. The
/// statistics follow from query and key and are no variables of their own.
void backward_vjp(VjpContext& c) {
  const auto& a = c.attrs<AttentionAttrs>();
  const Operands o(c, c.in(6));
  const Tensor gq = widened(c.grad(0)), gk = widened(c.grad(1)), gv = widened(c.grad(2));
  const Terms t(o, a);
  Tensor u;   // gradient of dS
  Tensor gp;  // gradient of P
  Tensor to_query, to_key, to_value, to_g;
  if (gq.defined()) {
    u = matmul(gq, swap_last(o.key)) * a.scale;
    to_key = matmul(swap_last(t.ds), gq) * a.scale;
  }
  if (gk.defined()) {
    u = add_to(u, matmul(o.query, swap_last(gk)) * a.scale);
    to_query = matmul(t.ds, gk) * a.scale;
  }
  if (gv.defined()) {
    gp = dropped(matmul(o.gradient, swap_last(gv)), o.random, a);
    to_g = matmul(dropped(t.p, o.random, a), gv);
  }
  if (u.defined()) {
    const Tensor pu = t.p * u;
    const Tensor row = sum(pu, {-1}, true);
    const Tensor gdp = dropped(pu - t.p * row, o.random, a);
    gp = add_to(gp, u * (t.dp - t.d) - t.dp * row);
    to_g = add_to(to_g, matmul(gdp, o.value));
    to_value = matmul(swap_last(gdp), o.gradient);
  }
  if (!gp.defined()) return;
  const Tensor gs = t.p * (gp - sum(t.p * gp, {-1}, true));
  if (c.needs(0)) set_rounded(c, 0, add_to(to_query, matmul(gs, o.key) * a.scale));
  if (c.needs(1)) set_rounded(c, 1, add_to(to_key, matmul(swap_last(gs), o.query) * a.scale));
  if (c.needs(2) && to_value.defined()) set_rounded(c, 2, to_value);
  if (o.mask.defined() && c.needs(3)) set_rounded(c, 3, gs);
  if (c.needs(6)) set_rounded(c, 6, to_g);
}

const OpDef backward_op{
    .name = "attention_backward",
    .doc =
        "Gradient of attention for query, key and value, from its hidden statistics: the scores are "
        "computed again, block by block.",
    .inputs = {{"query"},
               {"key"},
               {"value"},
               {"mask", InputKind::kOptional},
               {"random", InputKind::kOptional},
               {"statistics"},
               {"gradient"}},
    .attrs = attrs_def<AttentionAttrs>(),
    .infer = infer_backward,
    .vjp = backward_vjp,
    .saves_in = saves({0, 1, 2, 3, 4, 6}),
    .cost = backward_cost,
    .traits = {.backward = true}};
const OpRegistrar backward_registered{backward_op};

void attention_vjp(VjpContext& c) {
  if (!c.grad(0).defined()) return;
  const auto& a = c.attrs<AttentionAttrs>();
  const Tensor mask = optional_in(c, 3), random = optional_in(c, 4);
  if (mask.defined() && c.needs(3)) set_rounded(c, 3, Terms(Operands(c, c.grad(0)), a).ds);
  if (!c.needs(0) && !c.needs(1) && !c.needs(2)) return;
  auto given = [](const Tensor& t) { return t.defined() ? &t : nullptr; };
  const TensorList out = apply_all(
      backward_op, {&c.in(0), &c.in(1), &c.in(2), given(mask), given(random), &c.out(1), &c.grad(0)}, a);
  for (size_t i = 0; i < 3; ++i)
    if (c.needs(i)) c.set(i, out[i]);
}

const OpDef attention_op{
    .name = "attention",
    .doc =
        "softmax(query * key^T * scale + mask) * value: query (..., L, E), key (..., S, E), value "
        "(..., S, V) with equal batch axes, mask (..., L, S) bool (false: does not attend) or "
        "floating. Beside a random key, weights go through dropout. Results (..., L, V) and hidden "
        "statistics (..., L, 2). Memory beside the results does not grow with L times S. Source: Vaswani et "
        "al., Attention Is All You "
        "Need, 2017; Rabe and Staats, Self-attention Does Not Need O(n^2) Memory, 2021.",
    .inputs =
        {{"query"}, {"key"}, {"value"}, {"mask", InputKind::kOptional}, {"random", InputKind::kOptional}},
    .attrs = attrs_def<AttentionAttrs>(),
    .infer = infer_attention,
    .vjp = attention_vjp,
    .saves_in = saves({0, 1, 2, 3, 4}),
    .saves_out = saves({1}),
    .cost = attention_cost};
const OpRegistrar attention_registered{attention_op};

Shape batch_of(const Tensor& x) {
  Shape batch;
  for (int i = 0; i + 2 < x.rank(); ++i) batch.push_back(x.shape()[i]);
  return batch;
}

Tensor with_batch(const Tensor& x, Shape batch) {
  batch.push_back(x.size(-2));
  batch.push_back(x.size(-1));
  return x.shape() == batch ? x : broadcast_to(x, batch);
}

void check_options(const Tensor& query, const Tensor& key, const Tensor& value,
                   const AttentionOptions& options) {
  detail::need_floating(kName, "query", query.dtype());
  SORUS_CHECK(query.rank() >= 2 && key.rank() >= 2 && value.rank() >= 2 && query.size(-1) == key.size(-1) &&
                  key.size(-2) == value.size(-2),
              ShapeError,
              "{}: shapes do not fit: got query {}, key {} and value {}, need (..., L, E), (..., S, E) and "
              "(..., S, V)",
              kName, query.shape(), key.shape(), value.shape());
  SORUS_CHECK(!(options.causal && options.mask.defined()), ValueError,
              "{}: a causal call has no mask: got both, need one", kName);
  SORUS_CHECK(options.dropout == 0 || options.dropout_key.defined(), ValueError,
              "{}: dropout needs a key: got probability {} and none, need a key", kName, options.dropout);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  check_options(query, key, value, options);
  const double scale =
      options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  const AttentionAttrs attrs{options.causal, scale, options.dropout};
  Shape batch = broadcast_shapes(kName, batch_of(query), batch_of(key));
  batch = broadcast_shapes(kName, batch, batch_of(value));
  Tensor mask = options.mask;
  if (mask.defined()) {
    // A mask may have batch axes that the others lack.
    while (mask.rank() < 2) mask = expand_dims(mask, 0);
    batch = broadcast_shapes(kName, batch, batch_of(mask));
    Shape scores = batch;
    scores.push_back(query.size(-2));
    scores.push_back(key.size(-2));
    if (mask.dtype() != DType::kBool) mask = cast(mask, query.dtype());
    if (!(mask.shape() == scores)) mask = broadcast_to(mask, scores);
  }
  const Tensor q = with_batch(query, batch), k = with_batch(key, batch), v = with_batch(value, batch);
  const Tensor* random = options.dropout > 0 ? &options.dropout_key : nullptr;
  return apply_all(attention_op, {&q, &k, &v, mask.defined() ? &mask : nullptr, random}, attrs)[0];
}

}  // namespace sorus
