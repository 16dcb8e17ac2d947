#include "sorus/compiler/boundary.h"

#include <mutex>
#include <unordered_map>

#include "sorus/base/fork_mutex.h"
#include "sorus/compiler/frame.h"
#include "sorus/compiler/signatures.h"
#include "sorus/engine/choice.h"

namespace sorus {
namespace {

constexpr size_t kMaxSignatures = 1024;
/// Of all recordings that nobody is using; those that were used least recently go.
constexpr size_t kMostBytes = 128 << 20;

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
    bytes_ -= at->second.bytes;
    plans_.erase(at);
    return plan;
  }
  void give(uint64_t key, std::unique_ptr<Plan> plan) {
    std::vector<std::unique_ptr<Plan>> dropped;  // destroyed without the lock
    std::lock_guard lock(mutex_);
    if (plans_.contains(key)) {
      dropped.push_back(std::move(plan));
      return;
    }
    const size_t bytes = plan->measured_bytes;
    plans_.emplace(key, Entry{std::move(plan), ++clock_, bytes});
    bytes_ += bytes;
    while (plans_.size() > 1 && (plans_.size() > kMaxSignatures || bytes_ > kMostBytes))
      dropped.push_back(take_oldest());
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
    bytes_ = 0;
    return dropped.size();
  }

 private:
  struct Entry {
    std::unique_ptr<Plan> plan;
    uint64_t used;
    size_t bytes;
  };
  std::unique_ptr<Plan> take_oldest() {
    auto oldest = plans_.begin();
    for (auto at = plans_.begin(); at != plans_.end(); ++at)
      if (at->second.used < oldest->second.used) oldest = at;
    std::unique_ptr<Plan> plan = std::move(oldest->second.plan);
    bytes_ -= oldest->second.bytes;
    plans_.erase(oldest);
    return plan;
  }
  ForkMutex mutex_;
  std::unordered_map<uint64_t, Entry> plans_;
  uint64_t clock_ = 0;
  size_t bytes_ = 0;
};

/// The thread's recorder and handle log while a boundary is open.
class Open {
 public:
  explicit Open(Frame& frame) : recorder_(&ScopeState::recorder, &frame), saved_log_(handle_log()) {
    handle_log() = &frame;
  }
  ~Open() { handle_log() = saved_log_; }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

 private:
  ScopedState<Recorder*> recorder_;
  HandleLog* saved_log_;
};

/// A plan out of the store, which gets it back.
struct Borrowed {
  uint64_t key;
  std::unique_ptr<Plan> plan = PlanStore::instance().take(key);
  explicit Borrowed(uint64_t k) : key(k) {}
  ~Borrowed() { PlanStore::instance().give(key, std::move(plan)); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
};

/// What is known of functions beyond one set of extents.
class Families {
 public:
  static Families& instance() {
    static auto& families = *new Families;
    return families;
  }
  std::shared_ptr<GeneralPlan> general(uint64_t family) {
    std::lock_guard lock(mutex_);
    auto at = families_.find(family);
    return at == families_.end() ? nullptr : at->second.general;
  }
  /// A call was recorded. With another of its family it may give a general plan, or one more general than
  /// that which it did not fit.
  void learn(BoundaryKey key, Plan& plan) {
    Family known;
    std::unordered_map<uint64_t, Family> dropped;  // destroyed without the lock
    {
      std::lock_guard lock(mutex_);
      if (families_.size() >= kMostFamilies && !families_.contains(key.family)) dropped.swap(families_);
      known = families_.try_emplace(key.family, Family{key.exact, 0, nullptr}).first->second;
    }
    if (known.recorded == key.exact || known.failures >= kMostFailures || !plan.head) return;
    std::shared_ptr<GeneralPlan> general;
    if (known.general) {
      general = GeneralPlan::of(*known.general, plan);
    } else {
      std::unique_ptr<Plan> other = PlanStore::instance().take(known.recorded);
      if (other->head) {
        general = GeneralPlan::of(*other, plan);
        PlanStore::instance().give(known.recorded, std::move(other));
      }
    }
    std::lock_guard lock(mutex_);
    Family& family = families_[key.family];
    if (general)
      family.general.swap(general);  // known.general keeps the old one until the lock is gone
    else
      ++family.failures;
    family.recorded = key.exact;
  }
  void clear() {
    std::unordered_map<uint64_t, Family> dropped;
    std::lock_guard lock(mutex_);
    dropped.swap(families_);
  }

 private:
  static constexpr size_t kMostFamilies = 4096;
  static constexpr int kMostFailures = 8;
  struct Family {
    uint64_t recorded;  ///< key of its last recording
    int failures = 0;
    std::shared_ptr<GeneralPlan> general;
  };
  ForkMutex mutex_;
  std::unordered_map<uint64_t, Family> families_;
};

/// Changes when a recording of this thread has grown.
int64_t things_made() {
  const FollowStats& s = follow_stats();
  return s.recorded + s.specialized + s.programs + s.instances;
}

void run_in_frame(BoundaryKey key, BoundaryBody body, void* context) {
  if (!boundaries_enabled()) return body(context);
  if (const uint64_t engines = engines_key(); engines != 0) [[unlikely]]
    key.add(engines);
  Borrowed borrowed(key.exact);
  Plan& plan = *borrowed.plan;
  const bool is_new = plan.segments.empty();
  const int64_t made = things_made();
  std::shared_ptr<GeneralPlan> general = is_new ? Families::instance().general(key.family) : nullptr;
  if (is_new && !general) note_new_recording();
  Frame& frame = Frame::current();
  Open open(frame);
  frame.begin(plan, general);
  try {
    body(context);
  } catch (...) {
    frame.end(true);
    throw;
  }
  frame.end(false);
  if (things_made() != made) plan.measured_bytes = plan.bytes();
  if (!is_new) return;
  if (plan.general) {
    ++follow_stats().specialized;
    return;
  }
  if (general) note_new_recording();
  Families::instance().learn(key, plan);
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

TensorFunction jit(TensorFunction f) {
  return [f = std::move(f), id = new_boundary_id()](const TensorList& in) {
    TensorList out;
    const std::span<const Tensor> operands(in);
    NamedCall named(id, operands);
    BoundaryKey key(id);
    key.add(operands);
    run_boundary(key, [&] { out = f(in); });
    return out;
  };
}

std::function<Tensor(const Tensor&)> jit(std::function<Tensor(const Tensor&)> f) {
  return [f = std::move(f), id = new_boundary_id()](const Tensor& x) {
    Tensor out;
    const std::span<const Tensor> in(&x, 1);
    NamedCall named(id, in);
    BoundaryKey key(id);
    key.add(in);
    run_boundary(key, [&] { out = f(x); });
    return out;
  };
}

bool& boundaries_enabled() {
  static thread_local bool enabled = true;
  return enabled;
}

std::vector<Graph> recorded_graphs(uint64_t key) {
  key = hash_combine(key, scope_state().hash());
  const uint64_t engines = engines_key();
  return PlanStore::instance().graphs(engines == 0 ? key : hash_combine(key, engines));
}

size_t clear_recordings() {
  Families::instance().clear();
  return PlanStore::instance().clear();
}

}  // namespace sorus
