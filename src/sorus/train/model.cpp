#include "sorus/train/model.h"

#include <chrono>

#include "sorus/autograd/grad.h"
#include "sorus/compiler/boundary.h"

namespace sorus::train {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void check_batch(const TensorList& batch) {
  SORUS_CHECK(batch.size() == 2, ValueError,
              "model: number of columns differs: got {}, need 2, data and target", batch.size());
}

/// Training mode, and inference mode again at the end.
class Training {
 public:
  Training(nn::Cell& cell, bool on) : cell_(cell), before_(cell.training()) { cell_.set_train(on); }
  ~Training() { cell_.set_train(before_); }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

 private:
  nn::Cell& cell_;
  bool before_;
};

double mean_of(const Tensor& values) {
  double sum = 0;
  for (double v : values.to_vector<double>()) sum += v;
  return sum / static_cast<double>(values.numel());
}

}  // namespace

Model::Model(nn::Cell& network, LossFunction loss, optim::Optimizer* optimizer, Metrics metrics)
    : network_(network),
      loss_(std::move(loss)),
      optimizer_(optimizer),
      metrics_(std::move(metrics)),
      id_(new_boundary_id()) {}

Model::Model(nn::Cell& network, nn::Cell& loss, optim::Optimizer* optimizer, Metrics metrics)
    : Model(
          network,
          [&loss](const Tensor& output, const Tensor& target) {
            return loss(TensorList{output, target})[0];
          },
          optimizer, std::move(metrics)) {}

Tensor Model::step(const Tensor& x, const Tensor& target) {
  SORUS_CHECK(optimizer_ != nullptr, ValueError, "model: no optimizer: got none, need one to train");
  Tensor out;
  auto body = [&] {
    auto [value, gradients] =
        value_and_grad([&] { return loss_(network_(x), target); }, optimizer_->parameters());
    (*optimizer_)(gradients);
    out = value;
  };
  const ScopeState& scope = scope_state();
  if (scope.graph_mode && !scope.recorder) {
    BoundaryKey key(hash_combine(id_, network_.training() ? 1 : 0));
    key.add(x.type());
    key.add(target.type());
    run_boundary(key, body);
  } else {
    body();
  }
  return out;
}

void Model::train(int64_t epochs, Batches& data, const std::vector<Callback*>& callbacks) {
  SORUS_CHECK(epochs > 0, ValueError, "model: epochs are not positive: got {}, need 1 or more", epochs);
  TrainState state{.model = *this, .epochs = epochs, .batches = data.size()};
  auto tell = [&](void (Callback::*event)(TrainState&)) {
    for (Callback* c : callbacks) (c->*event)(state);
  };
  Training training(network_, true);
  data.rewind();
  tell(&Callback::train_begin);
  for (state.epoch = 1; state.epoch <= epochs && !state.stop; ++state.epoch) {
    state.step_in_epoch = 0;
    auto begin = Clock::now();
    tell(&Callback::epoch_begin);
    bool finished = false;
    while (!state.stop) {
      TensorList batch = data.next();
      finished = batch.empty();
      if (finished) break;
      check_batch(batch);
      ++state.step, ++state.step_in_epoch;
      tell(&Callback::step_begin);
      state.loss = step(batch[0], batch[1]);
      state.seconds = seconds_since(begin);
      tell(&Callback::step_end);
    }
    if (!finished) data.rewind();
    SORUS_CHECK(state.step_in_epoch > 0, ValueError, "model: data is empty: got no batch, need at least one");
    state.batches = state.step_in_epoch;
    state.seconds = seconds_since(begin);
    tell(&Callback::epoch_end);
  }
  state.epoch = std::min(state.epoch, epochs);
  tell(&Callback::train_end);
}

std::map<std::string, double> Model::eval(Batches& data) {
  SORUS_CHECK(!metrics_.empty(), ValueError, "model: no metrics: got none, need one to evaluate");
  Training inference(network_, false);
  for (auto& [name, metric] : metrics_) metric->clear();
  data.rewind();
  for (TensorList batch = data.next(); !batch.empty(); batch = data.next()) {
    check_batch(batch);
    Tensor output = network_(batch[0]);
    Tensor loss = loss_ ? loss_(output, batch[1]) : Tensor();
    for (auto& [name, metric] : metrics_) {
      if (name == "loss")
        metric->update(std::span<const Tensor>(&loss, 1));
      else
        metric->update(std::vector<Tensor>{output, batch[1]});
    }
  }
  std::map<std::string, double> values;
  for (auto& [name, metric] : metrics_) values[name] = mean_of(metric->eval());
  return values;
}

Tensor Model::predict(const Tensor& x) {
  Training inference(network_, false);
  return network_(x);
}

}  // namespace sorus::train
