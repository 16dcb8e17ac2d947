#include "sorus/ops/nn/embedding.h"

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {

Tensor embedding(const Tensor& ids, const Tensor& table, std::optional<int64_t> padding_index) {
  const ToldAs told("embedding");
  SORUS_CHECK(table.rank() >= 1, ShapeError, "embedding: the table has no rows: got shape (), need (V, ...)");
  Tensor rows = gather(table, ids, 0);
  if (!padding_index) return rows;
  int64_t v = table.size(0);
  SORUS_CHECK(*padding_index >= -v && *padding_index < v, ValueError,
              "embedding: 'padding_index' is out of range: got {}, need -{} to {}", *padding_index, v, v - 1);
  int64_t pad = *padding_index < 0 ? *padding_index + v : *padding_index;
  Ints column = ids.shape().sizes();
  for (int i = 1; i < table.rank(); ++i) column.push_back(1);
  Tensor is_pad = reshape(equal(ids, scalar_beside(pad, ids.dtype())), column);
  return where(is_pad, stop_gradient(rows), rows);
}

}  // namespace sorus
