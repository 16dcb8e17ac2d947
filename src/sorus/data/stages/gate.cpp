#include "sorus/data/gate.h"

#include <thread>

#include "sorus/data/config.h"
#include "sorus/data/detail/derived.h"

namespace sorus::data {

Gate::Gate(std::string condition, int64_t num_batch, GateCallback callback)
    : condition_(std::move(condition)), num_batch_(num_batch), callback_(std::move(callback)) {
  SORUS_CHECK(num_batch > 0, ValueError, "sync_wait: num_batch is out of range: got {}, need 1 or more",
              num_batch);
}

std::shared_ptr<Gate::Passage> Gate::begin(std::shared_ptr<Flow> flow) {
  for (auto& pass : running())
    if (pass->flow == flow) return std::move(pass);
  auto pass = std::make_shared<Passage>();
  pass->flow = std::move(flow);
  pass->left = num_batch_;
  std::lock_guard lock(mutex_);
  pass->open = disabled_;
  std::erase_if(passes_, [](const auto& p) { return p.expired(); });
  passes_.push_back(pass);
  return pass;
}

std::vector<std::shared_ptr<Gate::Passage>> Gate::running() {
  std::vector<std::shared_ptr<Passage>> all;
  std::lock_guard lock(mutex_);
  for (const auto& pass : passes_)
    if (auto alive = pass.lock()) all.push_back(std::move(alive));
  return all;
}

bool Gate::settle(std::chrono::milliseconds patience) {
  const auto end = Flow::Clock::now() + patience;
  for (const auto& pass : running()) {
    Flow& flow = *pass->flow;
    std::unique_lock lock(flow.mutex);
    // A full queue must not keep back rows that this gate has let pass.
    flow.beyond = pass->left;
    if (flow.beyond > 0) flow.resting = flow.ended;  // until its thread has looked
    flow.changed.notify_all();
    const bool called_inside = flow.driver == std::this_thread::get_id();
    const bool rests = called_inside || flow.changed.wait_until(lock, end, [&] { return flow.resting; });
    flow.beyond = 0;
    if (!rests) return false;
  }
  return true;
}

void Gate::open(std::optional<int64_t> num_batch, const std::any& data) {
  const int64_t more = num_batch.value_or(num_batch_);
  SORUS_CHECK(more > 0, RuntimeError, "sync_update: num_batch is out of range: got {}, need 1 or more", more);
  if (callback_) callback_(data);
  for (const auto& pass : running()) {
    std::lock_guard lock(pass->flow->mutex);
    pass->left = pass->left > INT64_MAX - more ? INT64_MAX : pass->left + more;
    pass->flow->resting = pass->flow->ended;
    pass->flow->changed.notify_all();
  }
}

void Gate::disable() {
  {
    std::lock_guard lock(mutex_);
    disabled_ = true;
  }
  for (const auto& pass : running()) {
    std::lock_guard lock(pass->flow->mutex);
    pass->open = true;
    pass->flow->changed.notify_all();
  }
}

std::vector<std::shared_ptr<Gate>> gates_of(const NodePtr& node) {
  std::vector<std::shared_ptr<Gate>> gates;
  for (const NodePtr& input : node->inputs())
    for (auto& gate : gates_of(input)) gates.push_back(std::move(gate));
  if (auto gate = node->gate()) gates.push_back(std::move(gate));
  return gates;
}

namespace {

/// Lets rows pass for one row of the reader after the other. The pipeline makes these one by one, so rows of
/// a batch pass together, and nothing passes for a batch that may not be made.
class GateStage final : public Stage {
 public:
  GateStage(std::unique_ptr<Stage> input, Gate& gate, const Run& run)
      : input_(std::move(input)), gate_(gate), run_(run), flow_(*run.flow), pass_(gate.begin(run.flow)) {
    flow_.gated = true;
  }
  Chunk next(int64_t wanted) override {
    const int64_t count = input_.available(wanted);
    if (count == 0) return {};  // the end of an epoch passes
    if (!flow_.gates_open) wait();
    return input_.take(std::min(count, wanted));
  }
  void rewind() override { input_.rewind(); }
  int64_t skip(int64_t count) override { return input_.skip(count); }
  void save(StageState& state) override { input_.save(state); }
  void load(StageState& state) override { input_.load(state); }

 private:
  void wait() {
    constexpr std::chrono::milliseconds kLook{50};
    std::unique_lock lock(flow_.mutex);
    if (pass_->granted == flow_.rows_made) return;
    const auto since = Flow::Clock::now();
    while (pass_->left == 0 && !pass_->open) {
      rest(lock, kLook);
      run_.check();
      if (is_late(since)) give_up();
    }
    pass_->granted = flow_.rows_made;
    if (!pass_->open) --pass_->left;
  }
  void rest(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds patience) {
    flow_.resting = true;
    flow_.changed.notify_all();
    flow_.changed.wait_for(lock, patience);
    flow_.resting = false;
  }
  /// The time counts while the reader waits too: one that is at work will call in due course.
  bool is_late(Flow::Clock::time_point since) const {
    if (!flow_.reader_waits_since) return false;
    const auto limit = std::chrono::seconds(config().callback_timeout);
    return Flow::Clock::now() - std::max(since, *flow_.reader_waits_since) > limit;
  }
  void give_up() {
    const Config settings = config();
    if (settings.opens_late_gates) {
      pass_->open = true;
      return;
    }
    raise<RuntimeError>(
        "sync_wait: condition '{}' did not open: got no sync_update('{}') in the {} s that the reader waited "
        "for a row, need one after each {} row(s) or batch(es), or disable_sync()",
        gate_.condition(), gate_.condition(), settings.callback_timeout, gate_.num_batch());
  }

  Feed input_;
  Gate& gate_;
  const Run& run_;
  Flow& flow_;
  std::shared_ptr<Gate::Passage> pass_;
};

class GateNode final : public Derived {
 public:
  GateNode(NodePtr input, std::shared_ptr<Gate> gate) : Derived(std::move(input)), gate_(std::move(gate)) {}
  std::unique_ptr<Stage> make(Run& run) const override {
    return std::make_unique<GateStage>(input_->start(run), *gate_, run);
  }
  std::string text() const override { return "sync_wait(" + gate_->condition() + ")"; }
  std::shared_ptr<Gate> gate() const override { return gate_; }

 private:
  std::shared_ptr<Gate> gate_;
};

}  // namespace

Dataset Dataset::sync_wait(const std::string& condition, int64_t num_batch, GateCallback callback) const {
  for (const auto& gate : gates_of(node_))
    SORUS_CHECK(gate->condition() != condition, RuntimeError,
                "sync_wait: condition is in use already: got '{}', need another name", condition);
  auto gate = std::make_shared<Gate>(condition, num_batch, std::move(callback));
  return Dataset(std::make_shared<GateNode>(node_, std::move(gate)));
}

std::shared_ptr<Gate> Dataset::gate(const std::string& condition) const {
  std::vector<std::string> known;
  for (auto& gate : gates_of(node_)) {
    if (gate->condition() == condition) return std::move(gate);
    known.push_back(gate->condition());
  }
  raise<RuntimeError>("sync_update: condition is not there: got '{}', need one of: {}", condition,
                      known.empty() ? "none, without sync_wait" : joined(known));
}

void Dataset::sync_update(const std::string& condition, std::optional<int64_t> num_batch,
                          const std::any& data) const {
  const std::shared_ptr<Gate> found = gate(condition);
  while (!found->settle(std::chrono::seconds(1))) {
  }
  found->open(num_batch, data);
}

void Dataset::disable_sync() const {
  for (const auto& gate : gates_of(node_)) gate->disable();
}

}  // namespace sorus::data
