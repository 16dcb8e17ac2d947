#include "sorus/nn/basic.h"

#include <algorithm>
#include <cmath>

#include "sorus/ops/nn/linear.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::nn {

Tensor first_weight(const Initializer& given, const Shape& shape, DType dtype) {
  return initialize(given ? given : he_uniform(std::sqrt(5.0)), shape, dtype);
}

Tensor first_bias(const Initializer& given, const Shape& weight, int64_t extent, DType dtype) {
  double fan_in = static_cast<double>(std::max<int64_t>(fans_of(weight).in, 1));
  return initialize(given ? given : uniform(1 / std::sqrt(fan_in)), {extent}, dtype);
}

Dense::Dense(Place place, int64_t in, int64_t out, const DenseOptions& options) : Cell(place) {
  SORUS_CHECK(in > 0 && out > 0, ValueError,
              "Dense: channels are not positive: got {} and {}, need 1 or more", in, out);
  Shape shape{out, in};
  weight = add_parameter("weight", first_weight(options.weight_init, shape, options.dtype));
  if (options.has_bias)
    bias = add_parameter("bias", first_bias(options.bias_init, shape, out, options.dtype));
}

Tensor Dense::construct(const Tensor& x) {
  return linear(x, weight, bias.defined() ? bias.value() : Tensor());
}

Tensor Flatten::construct(const Tensor& x) {
  SORUS_CHECK(x.rank() >= 1, ShapeError, "Flatten: input is a scalar: got {}, need at least one dimension",
              x.shape());
  int64_t rest = 1;
  for (int i = 1; i < x.rank(); ++i) rest *= x.size(i);
  return reshape(x, {x.size(0), rest});
}

Dropout::Dropout(Place place, double p) : Cell(place), p_(p) {
  SORUS_CHECK(p >= 0 && p < 1, ValueError, "Dropout: probability is out of range: got {}, need 0 <= p < 1",
              p);
}

Tensor Dropout::construct(const Tensor& x) { return training() && p_ > 0 ? dropout(x, p_) : x; }

}  // namespace sorus::nn
