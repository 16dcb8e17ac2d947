#include "sorus/compiler/boundary.h"

#include <mutex>
#include <unordered_map>

#include "sorus/base/fork_mutex.h"
#include "sorus/compiler/frame.h"
#include "sorus/compiler/signatures.h"

namespace sorus {
namespace {

constexpr size_t kMaxSignatures = 1024;

/// Recordings by key. One that a thread uses is out of the store, so that another thread makes one of its
/// own.
class PlanStore {
 public:
  static PlanStore& instance() {
    static auto& store = *new PlanStore;
    return store;
  }
  std::unique_ptr<Plan> take(uint64_t key) {
    std::lock_guard lock(mutex_);
    auto at = plans_.find(key);
    if (at == plans_.end()) return std::make_unique<Plan>();
    std::unique_ptr<Plan> plan = std::move(at->second.plan);
    plans_.erase(at);
    return plan;
  }
  void give(uint64_t key, std::unique_ptr<Plan> plan) {
    std::unique_ptr<Plan> dropped;  // destroyed without the lock
    std::lock_guard lock(mutex_);
    if (plans_.contains(key)) {
      dropped = std::move(plan);
      return;
    }
    plans_.emplace(key, Entry{std::move(plan), ++clock_});
    if (plans_.size() > kMaxSignatures) dropped = take_oldest();
  }
  std::vector<Graph> graphs(uint64_t key) {
    std::lock_guard lock(mutex_);
    std::vector<Graph> found;
    auto at = plans_.find(key);
    if (at == plans_.end()) return found;
    for (const auto& segment : at->second.plan->segments) {
      std::vector<char> all(static_cast<size_t>(segment->result_count), 1);
      std::vector<int32_t> slots;
      found.push_back(segment_graph(*segment, segment->calls.size(), all, &slots));
    }
    return found;
  }
  size_t clear() {
    std::unordered_map<uint64_t, Entry> dropped;
    std::lock_guard lock(mutex_);
    dropped.swap(plans_);
    return dropped.size();
  }

 private:
  struct Entry {
    std::unique_ptr<Plan> plan;
    uint64_t used;
  };
  std::unique_ptr<Plan> take_oldest() {
    auto oldest = plans_.begin();
    for (auto at = plans_.begin(); at != plans_.end(); ++at)
      if (at->second.used < oldest->second.used) oldest = at;
    std::unique_ptr<Plan> plan = std::move(oldest->second.plan);
    plans_.erase(oldest);
    return plan;
  }
  ForkMutex mutex_;
  std::unordered_map<uint64_t, Entry> plans_;
  uint64_t clock_ = 0;
};

/// The thread's recorder and handle log while a boundary is open.
class Open {
 public:
  Open(Frame& frame, Plan& plan) : recorder_(&ScopeState::recorder, &frame), saved_log_(handle_log()) {
    handle_log() = &frame;
    frame.begin(plan);
  }
  ~Open() { handle_log() = saved_log_; }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

 private:
  ScopedState<Recorder*> recorder_;
  HandleLog* saved_log_;
};

void run_in_frame(uint64_t key, BoundaryBody body, void* context) {
  if (!boundaries_enabled()) return body(context);
  struct Borrowed {
    uint64_t key;
    std::unique_ptr<Plan> plan;
    ~Borrowed() { PlanStore::instance().give(key, std::move(plan)); }
  } borrowed{key, PlanStore::instance().take(key)};
  if (borrowed.plan->segments.empty()) note_new_recording();
  Frame& frame = Frame::current();
  Open open(frame, *borrowed.plan);
  try {
    body(context);
  } catch (...) {
    frame.end(true);
    throw;
  }
  frame.end(false);
}

void observe_read(Value& v) {
  if (Recorder* recorder = scope_state().recorder) recorder->observe(v);
}

const bool installed = [] {
  set_boundary_hook(run_in_frame);
  Value::set_read_hook(observe_read);
  return true;
}();

}  // namespace

uint64_t signature_of(std::span<const Tensor> operands) {
  uint64_t h = operands.size();
  for (const Tensor& t : operands) h = hash_combine(h, t.defined() ? t.type().hash() : 0);
  return h;
}

TensorFunction jit(TensorFunction f) {
  return [f = std::move(f), id = new_boundary_id()](const TensorList& in) {
    TensorList out;
    const std::span<const Tensor> operands(in);
    NamedCall named(id, operands);
    run_boundary(hash_combine(id, signature_of(in)), [&] { out = f(in); });
    return out;
  };
}

std::function<Tensor(const Tensor&)> jit(std::function<Tensor(const Tensor&)> f) {
  return [f = std::move(f), id = new_boundary_id()](const Tensor& x) {
    Tensor out;
    const std::span<const Tensor> in(&x, 1);
    NamedCall named(id, in);
    run_boundary(hash_combine(id, signature_of(in)), [&] { out = f(x); });
    return out;
  };
}

bool& boundaries_enabled() {
  static thread_local bool enabled = true;
  return enabled;
}

std::vector<Graph> recorded_graphs(uint64_t key) {
  return PlanStore::instance().graphs(hash_combine(key, scope_state().hash()));
}

size_t clear_recordings() { return PlanStore::instance().clear(); }

}  // namespace sorus
