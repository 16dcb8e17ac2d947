#include "sorus/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

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
/// others. The caller takes part and waits for the rest. Threads may look at a loop after its end, so it
/// lives until all that hold it have let go; a caller uses the same one again as soon as that is so.
class Loop {
 public:
  /// A loop that only the calling thread holds.
  static Loop& begin(int64_t pieces, int64_t threads, detail::LoopBody body, void* context) {
    Loop* loop = std::exchange(spare().loop, nullptr);
    if (loop && loop->users_.load(std::memory_order_acquire) != 1) {
      loop->let_go();
      loop = nullptr;
    }
    if (!loop) loop = new Loop;
    loop->set(pieces, threads, body, context);
    return *loop;
  }
  /// Keeps the loop, which has ended, for the calling thread's next one; returns what a piece threw.
  std::exception_ptr end() {
    auto thrown = std::exchange(error_, nullptr);
    Spare& kept = spare();
    if (kept.loop) kept.loop->let_go();
    kept.loop = this;
    return thrown;
  }
  void hold() { users_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] bool is_shared() const { return users_.load(std::memory_order_acquire) != 1; }
  [[nodiscard]] unsigned rounding() const { return rounding_; }

  /// `thread`: 0 for the caller, else the number of the pool's thread.
  void work(int64_t thread) {
    for (int64_t k = 0; k < range_count_; ++k) {
      Range& range = ranges_[(thread + k) % range_count_];
      for (int64_t i; (i = range.taken.fetch_add(1, std::memory_order_relaxed)) < range.count;) {
        if (!failed_.load(std::memory_order_relaxed))
          run_one(range.begin + (backward_ ? range.count - 1 - i : i));
        if (left_.fetch_sub(1) == 1 && sleeps_.load()) {
          std::lock_guard lock(mutex_);
          done_.notify_all();
        }
      }
    }
  }
  void wait(bool alone) {
    if (look_for(alone, [&] { return left_.load(std::memory_order_acquire) == 0; })) return;
    std::unique_lock lock(mutex_);
    sleeps_.store(true);
    done_.wait(lock, [&] { return left_.load() == 0; });
  }

 private:
  static constexpr int64_t kMaxRanges = 16;
  struct alignas(64) Range {
    std::atomic<int64_t> taken{0};
    int64_t begin = 0, count = 0;
  };
  struct Spare {
    Loop* loop = nullptr;
    ~Spare() {
      if (loop) std::exchange(loop, nullptr)->let_go();
    }
  };
  static Spare& spare() {
    thread_local Spare of_this_thread;
    return of_this_thread;
  }

  Loop() = default;

  void set(int64_t pieces, int64_t threads, detail::LoopBody body, void* context) {
    body_ = body, context_ = context;
    backward_ = next_is_backward();
    rounding_ = RoundsAs::of_this_thread();
    range_count_ = std::min({pieces, threads, kMaxRanges});
    for (int64_t r = 0; r < range_count_; ++r) {
      ranges_[r].taken.store(0, std::memory_order_relaxed);
      ranges_[r].begin = pieces * r / range_count_;
      ranges_[r].count = pieces * (r + 1) / range_count_ - ranges_[r].begin;
    }
    left_.store(pieces, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    sleeps_.store(false, std::memory_order_relaxed);
  }
  void run_one(int64_t i) {
    try {
      body_(context_, i);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }

  // What all threads read, what each writes, what all write, and the rest, on cache lines of their own.
  alignas(64) detail::LoopBody body_ = nullptr;
  void* context_ = nullptr;
  int64_t range_count_ = 0;
  bool backward_ = false;
  unsigned rounding_ = 0;
  Range ranges_[kMaxRanges];
  alignas(64) std::atomic<int64_t> left_{0};
  std::atomic<int64_t> users_{1};
  std::atomic<bool> failed_{false};
  std::atomic<bool> sleeps_{false};  ///< the caller, until it is notified
  alignas(64) std::mutex mutex_;
  std::condition_variable done_;
  std::exception_ptr error_;
};

/// Where a thread of the pool finds its next loop: one cache line that it looks at, so that a loop changes
/// hands without a lock.
struct alignas(64) Seat {
  std::atomic<Loop*> offer{nullptr};  ///< held for the thread
  std::atomic<bool> works{false};     ///< a hint: it would come to an offer late
  std::atomic<bool> sleeps{false};    ///< written under the pool's lock
  alignas(64) std::condition_variable wake;
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
    const int threads = size();
    Loop& loop = Loop::begin(pieces, threads, body, context);
    offer(loop, static_cast<int>(std::min<int64_t>(threads - 1, pieces - 1)));
    inside = true;
    loop.work(0);
    inside = false;
    loop.wait(one_each());
    if (loop.is_shared()) withdraw(loop);
    if (auto thrown = loop.end()) std::rethrow_exception(thrown);
  }

 private:
  static constexpr int kMaxThreads = 1024;

  Pool() : size_(initial_size()) {}

  /// Every thread has a processor of its own.
  bool one_each() const { return size() <= cores_; }

  static int initial_size() {
    int64_t n = env_int("SORUS_NUM_THREADS", available_cores());
    SORUS_CHECK(n >= 1 && n <= kMaxThreads, ValueError,
                "environment: SORUS_NUM_THREADS is out of range: got {}, need 1 to 1024", n);
    return static_cast<int>(n);
  }

  /// Offers the loop to `helpers` threads: to idle ones first, what remains to whoever comes.
  void offer(Loop& loop, int helpers) {
    int threads = threads_.load(std::memory_order_acquire);
    if (threads < helpers) threads = start_threads(helpers);
    for (int i = 0; i < threads && helpers > 0; ++i) {
      Seat& seat = *seats_[i];
      if (seat.works.load(std::memory_order_relaxed)) continue;
      loop.hold();
      Loop* none = nullptr;
      // The offer, then the look at `sleeps`; a thread does it the other way round, so one sees the other.
      if (!seat.offer.compare_exchange_strong(none, &loop)) {
        loop.let_go();
        continue;
      }
      --helpers;
      if (seat.sleeps.load()) {
        std::lock_guard lock(mutex_);
        seat.wake.notify_one();
      }
    }
    if (helpers == 0) return;
    std::lock_guard lock(mutex_);
    for (; helpers > 0; --helpers) {
      loop.hold();
      queue_.push_back(&loop);
      waiting_.fetch_add(1, std::memory_order_release);
    }
    for (int i = 0; i < threads; ++i) {
      if (seats_[i]->sleeps.load()) seats_[i]->wake.notify_one();
    }
  }

  /// Takes back what no thread has taken yet.
  void withdraw(Loop& loop) {
    for (int i = 0, threads = threads_.load(std::memory_order_acquire); i < threads; ++i) {
      Loop* offered = &loop;
      if (seats_[i]->offer.load(std::memory_order_relaxed) == offered &&
          seats_[i]->offer.compare_exchange_strong(offered, nullptr)) {
        loop.let_go();
      }
    }
  }

  int start_threads(int wanted) {
    std::lock_guard lock(mutex_);
    int threads = threads_.load(std::memory_order_relaxed);
    for (; threads < wanted; ++threads) {
      if (!seats_[threads]) seats_[threads] = std::make_unique<Seat>();
      std::thread([this, life = life_, threads] { serve(life, *seats_[threads], threads + 1); }).detach();
      threads_.store(threads + 1, std::memory_order_release);
    }
    return threads;
  }

  void serve(uint64_t life, Seat& seat, int64_t number) {
    inside = true;
    while (true) {
      // The loops of one network follow each other within microseconds.
      (void)look_for(one_each(), [&] {
        return seat.offer.load(std::memory_order_acquire) || waiting_.load(std::memory_order_acquire) > 0;
      });
      Loop* loop = nullptr;
      if (seat.offer.load(std::memory_order_relaxed)) loop = seat.offer.exchange(nullptr);
      if (!loop) loop = wait_for_loop(life, seat);
      if (!loop) return;
      seat.works.store(true, std::memory_order_relaxed);
      {
        const RoundsAs caller(loop->rounding());
        loop->work(number);
      }
      seat.works.store(false, std::memory_order_relaxed);
      loop->let_go();
    }
  }

  /// Sleeps until there is a loop; null when the process was forked meanwhile.
  Loop* wait_for_loop(uint64_t life, Seat& seat) {
    Loop* loop = nullptr;
    std::unique_lock lock(mutex_);
    seat.sleeps.store(true);
    seat.wake.wait(lock, [&] {
      if (life == life_ && queue_.empty()) loop = seat.offer.exchange(nullptr);
      return loop || !queue_.empty() || life != life_;
    });
    seat.sleeps.store(false);
    if (life != life_ || loop) return loop;
    loop = queue_.front();
    queue_.pop_front();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return loop;
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void restart_in_child() {
    // The threads are gone in the child; forget them and the half-done loops of other callers.
    for (int i = 0; i < threads_; ++i) new (seats_[i].get()) Seat;
    threads_ = 0;
    queue_.clear();
    waiting_ = 0;
    ++life_;
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::deque<Loop*> queue_;      ///< held for whoever takes them
  std::atomic<int> waiting_{0};  ///< loops in the queue
  std::atomic<int> size_;
  const int cores_ = available_cores();
  std::atomic<int> threads_{0};  ///< that were started; their seats stay where they are
  std::array<std::unique_ptr<Seat>, kMaxThreads> seats_;
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
