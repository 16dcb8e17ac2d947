#include "sorus/train/callbacks.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "sorus/base/error.h"
#include "sorus/base/log.h"
#include "sorus/train/checkpoint.h"
#include "sorus/train/model.h"

namespace sorus::train {
namespace {

double number_of(const Tensor& loss) {
  if (loss.numel() == 1) return loss.item<double>();
  std::unique_ptr<Metric> mean = train::loss();
  mean->update(std::span<const Tensor>(&loss, 1));
  return mean->eval().item<double>();
}

void print_line(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

LossMonitor::LossMonitor(int64_t every) : every_(every) {
  SORUS_CHECK(every >= 0, ValueError, "LossMonitor: every is negative: got {}, need 0 or more", every);
}

void LossMonitor::step_end(TrainState& state) {
  double loss = number_of(state.loss);
  SORUS_CHECK(std::isfinite(loss), ValueError,
              "LossMonitor: loss is not finite in epoch {} step {}: got {}, need a finite loss to go on",
              state.epoch, state.step_in_epoch, loss);
  if (state.step < last_) last_ = 0;
  if (every_ == 0 || state.step - last_ < every_) return;
  last_ = state.step;
  print_line(fmt::format("epoch: {} step: {}, loss is {}", state.epoch, state.step_in_epoch, loss));
}

void TimeMonitor::epoch_end(TrainState& state) {
  double ms = state.seconds * 1000;
  print_line(fmt::format("Train epoch time: {:5.3f} ms, per step time: {:5.3f} ms", ms,
                         ms / static_cast<double>(state.step_in_epoch)));
}

ModelCheckpoint::ModelCheckpoint(std::string prefix, std::string folder, Options options)
    : prefix_(std::move(prefix)), folder_(std::move(folder)), options_(options) {
  SORUS_CHECK(!prefix_.empty() && prefix_.find('/') == std::string::npos, ValueError,
              "ModelCheckpoint: prefix is not usable: got '{}', need a name without '/'", prefix_);
  SORUS_CHECK(options.every_steps > 0 && options.keep >= 0, ValueError,
              "ModelCheckpoint: options are out of range: got every_steps {} and keep {}",
              options.every_steps, options.keep);
}

void ModelCheckpoint::step_end(TrainState& state) {
  if (state.step < saved_at_) saved_at_ = 0;
  if (state.step - saved_at_ >= options_.every_steps) save(state);
}

void ModelCheckpoint::train_end(TrainState& state) {
  if (state.step > saved_at_) save(state);
}

void ModelCheckpoint::save(const TrainState& state) {
  std::filesystem::create_directories(folder_);
  auto file = std::filesystem::path(folder_) /
              fmt::format("{}-{}_{}.ckpt", prefix_, state.epoch, state.step_in_epoch);
  saved_at_ = state.step;
  save_checkpoint(file.string(), state.model.network(), state.model.optimizer());
  files_.push_back(file.string());
  while (options_.keep > 0 && static_cast<int64_t>(files_.size()) > options_.keep) {
    std::error_code ignored;  // somebody else may have taken the file away
    std::filesystem::remove(files_.front(), ignored);
    files_.pop_front();
  }
}

EarlyStopping::EarlyStopping(Options options, Batches* validation)
    : options_(std::move(options)), validation_(validation) {}

void EarlyStopping::train_begin(TrainState&) {
  waited_ = 0;
  sum_ = 0;
  first_ = true;
}

void EarlyStopping::step_end(TrainState& state) {
  if (!validation_) sum_ += number_of(state.loss);
}

void EarlyStopping::epoch_end(TrainState& state) {
  double now = sum_ / static_cast<double>(state.step_in_epoch);
  sum_ = 0;
  if (validation_) {
    std::map<std::string, double> values = state.model.eval(*validation_);
    auto at = values.find(options_.monitor);
    SORUS_CHECK(at != values.end(), KeyError, "EarlyStopping: no metric of that name: got '{}'",
                options_.monitor);
    now = at->second;
  }
  double gain = options_.larger_is_better ? now - best_ : best_ - now;
  if (first_ || gain > options_.min_delta) {
    best_ = now;
    waited_ = 0;
    first_ = false;
  } else if (++waited_ >= std::max<int64_t>(options_.patience, 1)) {
    state.stop = true;
  }
}

void TerminateOnNan::step_end(TrainState& state) {
  double loss = number_of(state.loss);
  if (std::isfinite(loss)) return;
  log_warning("training ends in epoch {} step {}: loss is {}", state.epoch, state.step_in_epoch, loss);
  state.stop = true;
}

bool output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

std::string progress_line(int64_t epoch, int64_t epochs, int64_t step, int64_t steps, double loss,
                          double seconds) {
  constexpr int64_t kWidth = 24;
  int64_t filled = steps > 0 ? kWidth * step / steps : 0;
  std::string bar(static_cast<size_t>(filled), '=');
  if (filled < kWidth) bar += '>';
  bar.resize(kWidth, ' ');
  return fmt::format("epoch {}/{} [{}] {}/{}  loss {:.4f}  {:.1f} s", epoch, epochs, bar, step, steps, loss,
                     seconds);
}

ProgressBar::ProgressBar(Batches* validation) : validation_(validation), terminal_(output_is_terminal()) {}

void ProgressBar::epoch_begin(TrainState&) {
  sum_ = 0;
  drawn_at_ = 0;
}

void ProgressBar::step_end(TrainState& state) {
  sum_ += number_of(state.loss);
  constexpr double kPause = 0.1;  // as often as eyes can follow
  if (!terminal_ || state.seconds - drawn_at_ < kPause) return;
  drawn_at_ = state.seconds;
  draw(state);
}

void ProgressBar::draw(const TrainState& state) const {
  double loss = sum_ / static_cast<double>(state.step_in_epoch);
  std::string line =
      progress_line(state.epoch, state.epochs, state.step_in_epoch, state.batches, loss, state.seconds);
  std::fputs(("\r" + line + "\033[K").c_str(), stdout);
  std::fflush(stdout);
}

void ProgressBar::epoch_end(TrainState& state) {
  double loss = sum_ / static_cast<double>(state.step_in_epoch);
  std::string line = terminal_ ? "\r" + progress_line(state.epoch, state.epochs, state.step_in_epoch,
                                                      state.step_in_epoch, loss, state.seconds)
                               : fmt::format("epoch {}/{}: loss {:.4f}, {:.1f} s", state.epoch, state.epochs,
                                             loss, state.seconds);
  if (validation_) {
    for (const auto& [name, value] : state.model.eval(*validation_))
      line += fmt::format(", {} {:.4f}", name, value);
  }
  print_line(line + (terminal_ ? "\033[K" : ""));
}

}  // namespace sorus::train
