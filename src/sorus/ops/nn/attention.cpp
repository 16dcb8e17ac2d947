#include "sorus/ops/nn/attention.h"

#include <cmath>
#include <limits>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/shape/shape_ops.h"

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

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
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
  double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  Tensor scores = matmul(query * scale, swap_last(key));
  if (options.causal) scores = masked(scores, causal_mask(query.size(-2), key.size(-2)));
  if (options.mask.defined()) scores = masked(scores, options.mask);
  Tensor weights = softmax(scores);
  if (options.dropout > 0) weights = dropout(weights, options.dropout, options.dropout_key);
  return matmul(weights, value);
}

}  // namespace sorus
