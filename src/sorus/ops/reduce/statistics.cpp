#include <cmath>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/logic.h"
#include "sorus/ops/reduce/detail/rules.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

// Compositions: variance, logsumexp, norms, median. 16-bit floats go through float32 and are rounded once.
namespace sorus {
namespace {

using namespace reduce;

DType result_dtype(const Tensor& x) { return is_floating(x.dtype()) ? x.dtype() : DType::kFloat32; }
Tensor widened(const Tensor& x) { return x.dtype() == DType::kFloat64 ? x : cast(x, DType::kFloat32); }
Tensor wide_var(std::string_view op, const Tensor& x, const Ints& axes, double correction, bool keepdims) {
  const double freedom = std::fmax(0.0, static_cast<double>(reduced_count(op, x.shape(), axes)) - correction);
  Tensor wide = widened(x);
  return sum(square(wide - mean(wide, axes, true)), axes, keepdims) / freedom;
}

}  // namespace

Tensor var(const Tensor& x, const Ints& axes, double correction, bool keepdims) {
  return cast(wide_var("var", x, axes, correction, keepdims), result_dtype(x));
}
Tensor std(const Tensor& x, const Ints& axes, double correction, bool keepdims) {
  return cast(sqrt(wide_var("std", x, axes, correction, keepdims)), result_dtype(x));
}

Tensor logsumexp(const Tensor& x, const Ints& axes, bool keepdims) {
  Tensor wide = widened(x);
  if (reduced_count("logsumexp", x.shape(), axes) == 0)
    return cast(log(sum(wide, axes, keepdims)), result_dtype(x));  // of nothing -inf
  Tensor greatest = stop_gradient(amax(wide, axes, true));
  // An infinite maximum would be subtracted from itself.
  Tensor shift = where(isfinite(greatest), greatest, scalar_beside(0.0, greatest.dtype()));
  Tensor total = log(sum(exp(wide - shift), axes, keepdims));
  return cast(total + reshape(shift, total.shape().sizes()), result_dtype(x));
}

Tensor norm(const Tensor& x, double order, const Ints& axes, bool keepdims) {
  const ToldAs told("norm");
  const DType dtype = result_dtype(x);
  if (std::isinf(order)) {
    Tensor sizes = abs(cast(x, dtype));
    return order > 0 ? amax(sizes, axes, keepdims) : amin(sizes, axes, keepdims);
  }
  Tensor wide = widened(x);
  if (order == 2) return cast(sqrt(sum(square(wide), axes, keepdims)), dtype);
  if (order == 1) return cast(sum(abs(wide), axes, keepdims), dtype);
  if (order == 0) return cast(sum(cast(cast(wide, DType::kBool), wide.dtype()), axes, keepdims), dtype);
  Tensor powers = pow(abs(wide), scalar_beside(order, wide.dtype()));
  return cast(pow(sum(powers, axes, keepdims), scalar_beside(1 / order, wide.dtype())), dtype);
}

ValuesAndIndices median(const Tensor& x, int64_t axis, bool keepdims) {
  const int at = normalize_axis("median", axis, x.rank());
  SORUS_CHECK(x.shape().size(at) > 0, ValueError,
              "median: nothing to choose from: got extent 0 on axis {}, need at least 1", at);
  const int64_t middle = (x.shape().size(at) - 1) / 2;
  auto [sorted, places] = sort(x, at);
  Tensor values = narrow(sorted, at, middle, 1);
  Tensor indices = narrow(places, at, middle, 1);
  if (is_floating(x.dtype())) {  // NaN, which sorting puts last, propagates
    Tensor last = narrow(sorted, at, x.shape().size(at) - 1, 1);
    Tensor lost = isnan(last);
    values = where(lost, last, values);
    indices = where(lost, narrow(places, at, x.shape().size(at) - 1, 1), indices);
  }
  if (keepdims) return {values, indices};
  return {squeeze(values, {at}), squeeze(indices, {at})};
}

}  // namespace sorus
