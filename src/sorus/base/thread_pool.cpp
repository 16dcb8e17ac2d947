#include "sorus/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sorus/base/cpu_features.h"
#include "sorus/base/error.h"
#include "sorus/base/flags.h"

namespace sorus {
namespace {

thread_local bool inside = false;

/// Loops of one caller go through their pieces from the first to the last and from the last to the first by
/// turns: each begins with what the one before it touched last, which is what the caches still hold.
bool next_is_backward() {
  thread_local bool backward = true;
  backward = !backward;
  return backward;
}

/// Looks for `ready` for a while before its caller goes to sleep: a sleeping thread takes 50 to 100
/// microseconds to wake where the processor is a virtual one, which is as long as many loops last. After the
/// first moments the core is offered to whoever else wants it; where threads have to share processors it ends
/// there (not `alone`). True when ready was seen.
template <class Ready>
bool look_for(bool alone, const Ready& ready) {
  constexpr auto kAlone = std::chrono::microseconds(20);
  const auto in_all = alone ? std::chrono::microseconds(300) : kAlone;
  constexpr int kLooks = 16;  // between two of the clock, which costs more than a look
  auto start = std::chrono::steady_clock::now();
  for (auto passed = std::chrono::nanoseconds(0); passed < in_all;
       passed = std::chrono::steady_clock::now() - start) {
    if (passed > kAlone) {
      if (ready()) return true;
      sched_yield();
      continue;
    }
    for (int i = 0; i < kLooks; ++i) {
      if (ready()) return true;
      __builtin_ia32_pause();
    }
  }
  return false;
}

/// Rounds as another thread does while it lives: how a thread rounds and whether it flushes denormal numbers
/// is a setting of its own, which foreign code may have changed.
class RoundsAs {
 public:
  explicit RoundsAs(unsigned control)
      : own_(__builtin_ia32_stmxcsr()), changes_(control != (own_ & kControl)) {
    if (changes_) __builtin_ia32_ldmxcsr(control);
  }
  ~RoundsAs() {
    if (changes_) __builtin_ia32_ldmxcsr(own_);
  }
  RoundsAs(const RoundsAs&) = delete;
  RoundsAs& operator=(const RoundsAs&) = delete;
  static unsigned of_this_thread() { return __builtin_ia32_stmxcsr() & kControl; }

 private:
  static constexpr unsigned kControl = ~0x3fU;  // all but the sticky flags
  unsigned own_;
  bool changes_;
};

/// One parallel loop. Each thread begins with a range of pieces of its own, the same one for every loop of as
/// many pieces, so that it meets again in its cache what it wrote there; then it helps with the ranges of the
/// others. The caller takes part and waits for the rest.
struct Loop {
  static constexpr int64_t kMaxRanges = 16;
  struct alignas(64) Range {
    std::atomic<int64_t> taken{0};
    int64_t begin = 0, count = 0;
  };
  detail::LoopBody body;
  void* context;
  int64_t range_count;
  bool backward = next_is_backward();
  unsigned rounding = RoundsAs::of_this_thread();
  Range ranges[kMaxRanges];
  std::atomic<int64_t> left;
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex mutex;
  std::condition_variable done;

  Loop(int64_t pieces, int64_t threads, detail::LoopBody b, void* c)
      : body(b), context(c), range_count(std::min({pieces, threads, kMaxRanges})), left(pieces) {
    for (int64_t r = 0; r < range_count; ++r) {
      ranges[r].begin = pieces * r / range_count;
      ranges[r].count = pieces * (r + 1) / range_count - ranges[r].begin;
    }
  }

  /// `thread`: 0 for the caller, else the number of the pool's thread.
  void work(int64_t thread) {
    for (int64_t k = 0; k < range_count; ++k) {
      Range& range = ranges[(thread + k) % range_count];
      for (int64_t i; (i = range.taken.fetch_add(1, std::memory_order_relaxed)) < range.count;) {
        if (!failed.load(std::memory_order_relaxed))
          run_one(range.begin + (backward ? range.count - 1 - i : i));
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
          std::lock_guard lock(mutex);
          done.notify_all();
        }
      }
    }
  }
  void run_one(int64_t i) {
    try {
      body(context, i);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      failed = true;
    }
  }
  void wait(bool alone) {
    auto all_done = [&] { return left.load(std::memory_order_acquire) == 0; };
    if (look_for(alone, all_done)) return;
    std::unique_lock lock(mutex);
    done.wait(lock, all_done);
  }
};

class Pool {
 public:
  static Pool& instance() {
    static Pool* pool = [] {
      pthread_atfork([] { instance().before_fork(); }, [] { instance().after_fork(); },
                     [] { instance().restart_in_child(); });
      return new Pool;  // never destroyed: threads may outlive static objects
    }();
    return *pool;
  }

  int size() const { return size_.load(std::memory_order_relaxed); }
  void resize(int n) { size_ = n; }

  void run(int64_t pieces, detail::LoopBody body, void* context) {
    auto loop = std::make_shared<Loop>(pieces, size(), body, context);
    int helpers = static_cast<int>(std::min<int64_t>(size() - 1, pieces - 1));
    submit(loop, helpers);
    inside = true;
    loop->work(0);
    inside = false;
    loop->wait(one_each());
    if (loop->error) std::rethrow_exception(loop->error);
  }

 private:
  Pool() : size_(initial_size()) {}

  /// Every thread has a processor of its own.
  bool one_each() const { return size() <= cores_; }

  static int initial_size() {
    int64_t n = env_int("SORUS_NUM_THREADS", available_cores());
    SORUS_CHECK(n >= 1 && n <= 1024, ValueError,
                "environment: SORUS_NUM_THREADS is out of range: got {}, need 1 to 1024", n);
    return static_cast<int>(n);
  }

  void submit(const std::shared_ptr<Loop>& loop, int helpers) {
    {
      std::lock_guard lock(mutex_);
      while (static_cast<int>(threads_) < helpers) {
        ++threads_;
        std::thread([this, life = life_, number = static_cast<int64_t>(threads_)] {
          serve(life, number);
        }).detach();
      }
      for (int i = 0; i < helpers; ++i) queue_.push_back(loop);
    }
    // After the lock is free: who looks at `pending_` takes it at once.
    pending_.fetch_add(helpers, std::memory_order_release);
    for (int i = 0; i < helpers; ++i) wake_.notify_one();
  }

  void serve(uint64_t life, int64_t number) {
    inside = true;
    while (true) {
      // The loops of one network follow each other within microseconds.
      (void)look_for(one_each(), [&] { return pending_.load(std::memory_order_acquire) > 0; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return !queue_.empty() || life != life_; });
      if (life != life_) return;
      auto loop = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      pending_.fetch_sub(1, std::memory_order_relaxed);
      const RoundsAs caller(loop->rounding);
      loop->work(number);
    }
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void restart_in_child() {
    // The threads are gone in the child; forget them and the half-done loops of other callers.
    new (&wake_) std::condition_variable;
    threads_ = 0;
    queue_.clear();
    pending_ = 0;
    ++life_;
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Loop>> queue_;
  std::atomic<int> pending_{0};  ///< loops in the queue; for a moment it may lag behind
  std::atomic<int> size_;
  const int cores_ = available_cores();
  size_t threads_ = 0;
  uint64_t life_ = 0;
};

}  // namespace

int num_threads() { return Pool::instance().size(); }

void set_num_threads(int n) {
  SORUS_CHECK(n >= 1 && n <= 1024, ValueError,
              "set_num_threads: number is out of range: got {}, need 1 to 1024", n);
  Pool::instance().resize(n);
}

bool in_parallel_region() { return inside; }

namespace detail {

void run_pieces(int64_t pieces, LoopBody body, void* context) {
  if (pieces <= 0) return;
  if (pieces == 1 || inside || Pool::instance().size() == 1) {
    const bool backward = pieces > 1 && !inside && next_is_backward();
    for (int64_t i = 0; i < pieces; ++i) body(context, backward ? pieces - 1 - i : i);
    return;
  }
  Pool::instance().run(pieces, body, context);
}

}  // namespace detail
}  // namespace sorus
