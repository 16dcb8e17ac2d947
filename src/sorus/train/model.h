#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sorus/nn/cell.h"
#include "sorus/optim/optimizer.h"
#include "sorus/train/batches.h"
#include "sorus/train/callbacks.h"
#include "sorus/train/metrics.h"
#include "sorus/train/mode.h"

/// Training, evaluation and prediction.
namespace sorus::train {

/// Loss of a batch: (the network's result, what it should have been) -> rank 0.
using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& target)>;
using Metrics = std::vector<std::pair<std::string, std::shared_ptr<Metric>>>;

/// A network with its loss, its optimizer and measures of its quality. Network and optimizer are borrowed and
/// must outlive the model. Not for several threads at once.
class SORUS_API Model {
 public:
  Model(nn::Cell& network, LossFunction loss, optim::Optimizer* optimizer = nullptr, Metrics metrics = {});
  /// The loss as a cell of two operands.
  Model(nn::Cell& network, nn::Cell& loss, optim::Optimizer* optimizer = nullptr, Metrics metrics = {});

  /// Trains on batches (data, target) for so many epochs, or until a callback stops it. The network is in
  /// training mode meanwhile and in inference mode afterwards. Throws ValueError without an optimizer.
  void train(int64_t epochs, Batches& data, const std::vector<Callback*>& callbacks = {});
  /// Values of all metrics, each a number or the mean of its numbers by class, over one epoch of the data, in
  /// inference mode.
  [[nodiscard]] std::map<std::string, double> eval(Batches& data);
  /// The network's result in inference mode.
  [[nodiscard]] Tensor predict(const Tensor& x);
  /// One training step: forward, backward, update. Gives the loss. In graph mode it is one boundary.
  Tensor step(const Tensor& x, const Tensor& target);

  [[nodiscard]] nn::Cell& network() { return network_; }
  [[nodiscard]] optim::Optimizer* optimizer() { return optimizer_; }

 private:
  nn::Cell& network_;
  LossFunction loss_;
  optim::Optimizer* optimizer_;
  Metrics metrics_;
  uint64_t id_;
};

}  // namespace sorus::train
