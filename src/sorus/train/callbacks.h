#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "sorus/core/tensor.h"

/// What is told of training's progress and may stop it.
namespace sorus::train {

class Model;
class Batches;

/// Where training stands; counts begin with 1.
struct TrainState {
  Model& model;
  int64_t epochs = 0;
  int64_t batches = 0;  ///< in an epoch, 0 while not known
  int64_t epoch = 0;
  int64_t step = 0;  ///< since training began
  int64_t step_in_epoch = 0;
  double seconds = 0;  ///< since the epoch began
  Tensor loss = {};    ///< of the last step; may be pending no more
  bool stop = false;   ///< set it to end training after this step
};

/// Called at the events of training; does nothing unless overridden.
class SORUS_API Callback {
 public:
  virtual ~Callback() = default;
  virtual void train_begin(TrainState&) {}
  virtual void epoch_begin(TrainState&) {}
  virtual void step_begin(TrainState&) {}
  virtual void step_end(TrainState&) {}
  virtual void epoch_end(TrainState&) {}
  virtual void train_end(TrainState&) {}
};

/// Prints "epoch: 1 step: 1, loss is 0.149" after every so many steps. Throws ValueError when the loss is not
/// finite.
class SORUS_API LossMonitor : public Callback {
 public:
  explicit LossMonitor(int64_t every = 1);
  void step_end(TrainState& state) override;

 private:
  int64_t every_, last_ = 0;
};

/// Prints "Train epoch time: 12.345 ms, per step time: 4.115 ms" after each epoch.
class SORUS_API TimeMonitor : public Callback {
 public:
  void epoch_end(TrainState& state) override;
};

struct ModelCheckpointOptions {
  int64_t every_steps = 1;
  int64_t keep = 5;  ///< newest files to keep, 0 for all
};
/// Saves network and optimizer as "<prefix>-<epoch>_<step>.ckpt" after every so many steps and at the end.
class SORUS_API ModelCheckpoint : public Callback {
 public:
  using Options = ModelCheckpointOptions;
  explicit ModelCheckpoint(std::string prefix = "CKP", std::string folder = ".", Options options = {});
  void step_end(TrainState& state) override;
  void train_end(TrainState& state) override;

 private:
  void save(const TrainState& state);
  std::string prefix_, folder_;
  Options options_;
  int64_t saved_at_ = 0;
  std::deque<std::string> files_;
};

struct EarlyStoppingOptions {
  std::string monitor = "loss";  ///< a metric's name, or the mean training loss of the epoch
  double min_delta = 0;          ///< what counts as better
  int64_t patience = 0;          ///< ends after so many epochs without improvement, at least one
  bool larger_is_better = false;
};
/// Stops training when a measure no longer improves; looks after each epoch.
class SORUS_API EarlyStopping : public Callback {
 public:
  using Options = EarlyStoppingOptions;
  /// `validation` is evaluated after each epoch unless it is null: then the training loss is watched.
  explicit EarlyStopping(Options options = {}, Batches* validation = nullptr);
  void train_begin(TrainState& state) override;
  void step_end(TrainState& state) override;
  void epoch_end(TrainState& state) override;

 private:
  Options options_;
  Batches* validation_;
  double best_ = 0, sum_ = 0;
  int64_t waited_ = 0;
  bool first_ = true;
};

/// Ends training when the loss is not finite.
class SORUS_API TerminateOnNan : public Callback {
 public:
  void step_end(TrainState& state) override;
};

/// A bar with the mean loss of the epoch, the time and, when `validation` gives them, metrics after each
/// epoch. Where the output is no terminal, one line an epoch. Writes to `out`, standard output at first.
class SORUS_API ProgressBar : public Callback {
 public:
  explicit ProgressBar(Batches* validation = nullptr);
  void epoch_begin(TrainState& state) override;
  void step_end(TrainState& state) override;
  void epoch_end(TrainState& state) override;

 private:
  void draw(const TrainState& state) const;
  Batches* validation_;
  bool terminal_;
  double sum_ = 0, drawn_at_ = 0;
};

/// The line of a progress bar, without an end of line: "epoch 1/3 [=====>    ] 120/1875  loss 0.1234  12.3
/// s".
[[nodiscard]] SORUS_API std::string progress_line(int64_t epoch, int64_t epochs, int64_t step, int64_t steps,
                                                  double loss, double seconds);
/// Whether a person waits: standard output is a terminal.
[[nodiscard]] SORUS_API bool output_is_terminal();

}  // namespace sorus::train
