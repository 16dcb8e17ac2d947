#include "sorus/data/statistics.h"

#include <fmt/format.h>

#include <algorithm>

#include "sorus/data/stage.h"

namespace sorus::data {

StepMeters::Meter& StepMeters::add(std::string step) {
  std::lock_guard lock(mutex_);
  Meter& meter = meters_.emplace_back();
  meter.step = std::move(step);
  return meter;
}

std::vector<StepStatistics> StepMeters::read() const {
  std::vector<StepStatistics> all;
  std::lock_guard lock(mutex_);
  for (const Meter& meter : meters_)
    all.push_back({meter.step, meter.rows.load(std::memory_order_relaxed),
                   static_cast<double>(meter.nanoseconds.load(std::memory_order_relaxed)) * 1e-9});
  return all;
}

std::string PipelineStatistics::verdict() const {
  constexpr double kLittle = 0.05;  // of the time: not worth a search
  const double all = std::max(seconds, 1e-9);
  const std::string waited =
      fmt::format("the reader waited for rows in {:.0f} % of {:.2f} s", 100 * reader_waited / all, seconds);
  if (reader_waited < kLittle * all) return "The pipeline keeps up: " + waited + ".";
  std::vector<StepStatistics> slowest = steps;
  std::stable_sort(slowest.begin(), slowest.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  double worked = 0;
  for (const StepStatistics& step : steps) worked += step.seconds;
  auto share = [&](const StepStatistics& s) { return worked > 0 ? s.seconds / worked : 0; };
  std::string text = "The pipeline is too slow: " + waited + ".";
  for (size_t i = 0; i < slowest.size() && i < 3 && share(slowest[i]) >= kLittle; ++i)
    text += fmt::format("{} {} with {:.0f} % of the pipeline's time",
                        i == 0 ? " Its slowest step is" : ", then", slowest[i].step, 100 * share(slowest[i]));
  return text.back() == '.' ? text : text + ".";
}

namespace {

/// Takes the time of another stage.
class MeteredStage final : public Stage {
 public:
  MeteredStage(std::unique_ptr<Stage> stage, StepMeters& meters, std::string step)
      : stage_(std::move(stage)), meters_(meters), meter_(meters.add(std::move(step))) {}

  Chunk next(int64_t wanted) override {
    const Timer timer(*this);
    Chunk chunk = stage_->next(wanted);
    meter_.rows.fetch_add(chunk.rows, std::memory_order_relaxed);
    return chunk;
  }
  void rewind() override {
    const Timer timer(*this);
    stage_->rewind();
  }
  int64_t skip(int64_t count) override {
    const Timer timer(*this);
    return stage_->skip(count);
  }
  void save(StageState& state) override { stage_->save(state); }
  void load(StageState& state) override { stage_->load(state); }

 private:
  using Clock = std::chrono::steady_clock;
  /// Adds what passes until its end, but for the time of stages inside, also when an exception ends it.
  class Timer {
   public:
    explicit Timer(MeteredStage& stage) : stage_(stage), before_(std::exchange(stage.meters_.inside, 0)) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
      const int64_t passed = std::chrono::nanoseconds(Clock::now() - start_).count();
      StepMeters& meters = stage_.meters_;
      stage_.meter_.nanoseconds.fetch_add(passed - meters.inside, std::memory_order_relaxed);
      meters.inside = before_ + passed;
    }

   private:
    MeteredStage& stage_;
    int64_t before_;
    Clock::time_point start_ = Clock::now();
  };

  std::unique_ptr<Stage> stage_;
  StepMeters& meters_;
  StepMeters::Meter& meter_;
};

}  // namespace

std::unique_ptr<Stage> Node::start(Run& run) const {
  std::unique_ptr<Stage> stage = make(run);
  return std::make_unique<MeteredStage>(std::move(stage), *run.meters, text());
}

}  // namespace sorus::data
