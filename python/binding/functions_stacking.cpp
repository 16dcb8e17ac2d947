#include "binding/functions.h"
#include "sorus/ops/index/placing.h"
#include "sorus/ops/nn/pool.h"
#include "sorus/ops/shape/stacking.h"

namespace sorus::python {
namespace {

Tensor rot90_plane(const Tensor& x, int64_t times, const Ints& plane) {
  SORUS_CHECK(plane.size() == 2, ValueError, "rot90: number of axes is wrong: got {}, need 2", plane.size());
  return rot90(x, times, plane[0], plane[1]);
}
Tensor lp_pool_by(const Tensor& x, double p, const Ints& kernel, const Ints& stride, bool ceil_mode) {
  return lp_pool(x, p, kernel, {.stride = stride, .ceil_mode = ceil_mode});
}

}  // namespace

std::vector<Function> stacking_functions() {
  return {
      function("atleast_1d", &atleast_1d, "x"),
      function("atleast_2d", &atleast_2d, "x"),
      function("atleast_3d", &atleast_3d, "x"),
      function("hstack", &hstack, "tensors"),
      function("vstack", &vstack, "tensors"),
      function("dstack", &dstack, "tensors"),
      function("column_stack", &column_stack, "tensors"),
      function("tensor_split", &tensor_split, "x, sections, axis=0"),
      function("tensor_split_at", &tensor_split_at, "x, positions, axis=0"),
      function("rot90", &rot90_plane, "x, times=1, plane=(0, 1)"),
      function("tril_indices", &tril_indices, "rows, columns, diagonal=0, dtype=int64"),
      function("triu_indices", &triu_indices, "rows, columns, diagonal=0, dtype=int64"),
      function("index_fill", &index_fill, "x, axis, indices, value", 9),
      function("masked_scatter", &masked_scatter, "x, mask, source"),
      function("select_scatter", &select_scatter, "x, source, axis, index"),
      function("lp_pool", &lp_pool_by, "x, p, kernel, stride=(), ceil_mode=False"),
  };
}

}  // namespace sorus::python
