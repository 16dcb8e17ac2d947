#include "sorus/nn/activation.h"

#include "sorus/nn/initializer.h"
#include "sorus/ops/elementwise/activation.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::nn {

Tensor ReLU::construct(const Tensor& x) { return relu(x); }
Tensor ReLU6::construct(const Tensor& x) { return relu6(x); }
Tensor Sigmoid::construct(const Tensor& x) { return sigmoid(x); }
Tensor Tanh::construct(const Tensor& x) { return tanh(x); }
Tensor SiLU::construct(const Tensor& x) { return silu(x); }
Tensor Mish::construct(const Tensor& x) { return mish(x); }
Tensor LogSigmoid::construct(const Tensor& x) { return log_sigmoid(x); }
Tensor Softsign::construct(const Tensor& x) { return softsign(x); }
Tensor SeLU::construct(const Tensor& x) { return selu(x); }
Tensor HSwish::construct(const Tensor& x) { return hardswish(x); }
Tensor HSigmoid::construct(const Tensor& x) { return hardsigmoid(x); }
Tensor GELU::construct(const Tensor& x) { return approximate_ ? gelu_tanh(x) : gelu(x); }
Tensor ELU::construct(const Tensor& x) { return elu(x, alpha_); }
Tensor LeakyReLU::construct(const Tensor& x) { return leaky_relu(x, alpha_); }
Tensor Softmax::construct(const Tensor& x) { return softmax(x, axis_); }
Tensor LogSoftmax::construct(const Tensor& x) { return log_softmax(x, axis_); }
Tensor Softplus::construct(const Tensor& x) { return softplus(x, beta_, threshold_); }

PReLU::PReLU(Place place, int64_t channel, double first) : Cell(place) {
  SORUS_CHECK(channel > 0, ValueError, "PReLU: channel is out of range: got {}, need more than 0", channel);
  w = add_parameter("w", initialize(constant(first), {channel}));
}

Tensor PReLU::construct(const Tensor& x) {
  int64_t channel = w.value().size(0);
  if (channel == 1) return prelu(x, w);
  SORUS_CHECK(x.rank() >= 2 && x.size(1) == channel, ShapeError,
              "PReLU: channels differ: got shape {}, need {} at axis 1", x.shape(), channel);
  Ints shape = Ints::filled(x.rank(), 1);
  shape[1] = channel;
  return prelu(x, reshape(w, shape));
}

}  // namespace sorus::nn
