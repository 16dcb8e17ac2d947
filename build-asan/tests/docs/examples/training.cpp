#line 125 "/work/h/lead/sorus/docs/quick_start.md"
// example: training
#include <fmt/core.h>
#include <sorus/sorus.h>

using namespace sorus;

struct Net : nn::Cell {
  nn::Dense hidden{{this, "hidden"}, 2, 16};
  nn::Dense out{{this, "out"}, 16, 1};
  using nn::Cell::construct;
  Tensor construct(const Tensor& x) override { return out(tanh(hidden(x))); }
};

int main() {
  set_mode(Mode::kGraph);
  set_seed(1);
  Net net;
  optim::Adam optimizer(net.trainable_params(), optim::constant_rate(0.05));
  train::Model model(net, [](const Tensor& y, const Tensor& t) { return mse_loss(y, t); }, &optimizer);

  Tensor x({0.F, 0.F, 0.F, 1.F, 1.F, 0.F, 1.F, 1.F}, {4, 2}), exclusive_or({0.F, 1.F, 1.F, 0.F}, {4, 1});
  auto data = train::tensor_batches({x, exclusive_or}, {.batch = 4});
  train::ProgressBar bar;
  model.train(300, *data, {&bar});
  for (float v : model.predict(x).to_vector<float>()) fmt::print("{:.2f} ", v);
}
