#include "sorus/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
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
#include "sorus/base/tunable.h"

namespace sorus {
namespace {

class Tasks;

thread_local bool inside = false;
thread_local int64_t own_number = 0;      // of a thread of the pool; 0 for any other
thread_local Tasks* own_tasks = nullptr;  // those of which this thread runs one

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

/// What is offered to the threads of the pool. They may look at it after its end, so it lives until all that
/// hold it have let go; a caller uses the same one again as soon as that is so.
class Work {
 public:
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  /// Takes part; `thread`: 0 for a caller, else the number of the pool's thread.
  virtual void work(int64_t thread) = 0;
  void hold() { users_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] bool is_shared() const { return users_.load(std::memory_order_acquire) != 1; }
  [[nodiscard]] unsigned rounding() const { return rounding_; }

 protected:
  Work() = default;
  virtual ~Work() = default;
  unsigned rounding_ = 0;

 private:
  alignas(64) std::atomic<int64_t> users_{1};
};

/// What a thread keeps for its next piece of work of one kind.
template <class W>
class Spare {
 public:
  /// One that only the calling thread holds.
  W& take() {
    W* kept = std::exchange(kept_, nullptr);
    if (kept && kept->is_shared()) {
      kept->let_go();
      kept = nullptr;
    }
    return kept ? *kept : *new W;
  }
  void keep(W& work) {
    if (kept_) kept_->let_go();
    kept_ = &work;
  }
  Spare() = default;
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;
  ~Spare() {
    if (kept_) kept_->let_go();
  }

 private:
  W* kept_ = nullptr;
};

/// One parallel loop. Each thread begins with a range of pieces of its own, the same one for every loop of as
/// many pieces, so that it meets again in its cache what it wrote there; then it helps with the ranges of the
/// others. The caller takes part and waits for the rest.
class Loop final : public Work {
 public:
  Loop() = default;
  /// A loop that only the calling thread holds.
  static Loop& begin(int64_t pieces, int64_t threads, detail::LoopBody body, void* context) {
    Loop& loop = spare().take();
    loop.set(pieces, threads, body, context);
    return loop;
  }
  /// Keeps the loop, which has ended, for the calling thread's next one; returns what a piece threw.
  std::exception_ptr end() {
    auto thrown = std::exchange(error_, nullptr);
    spare().keep(*this);
    return thrown;
  }

  void work(int64_t thread) override {
    if (!tuning_) return work_on(thread);
    const TuningScope* own = TuningScope::exchange(tuning_);
    work_on(thread);
    static_cast<void>(TuningScope::exchange(own));
  }
  void wait(bool alone) {
    if (look_for(alone, [&] { return left_.load(std::memory_order_acquire) == 0; })) return;
    std::unique_lock lock(mutex_);
    sleeps_.store(true);
    done_.wait(lock, [&] { return left_.load() == 0; });
  }

 private:
  void work_on(int64_t thread) {
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

  static constexpr int64_t kMaxRanges = 16;
  struct alignas(64) Range {
    std::atomic<int64_t> taken{0};
    int64_t begin = 0, count = 0;
  };
  static Spare<Loop>& spare() {
    thread_local Spare<Loop> of_this_thread;
    return of_this_thread;
  }

  void set(int64_t pieces, int64_t threads, detail::LoopBody body, void* context) {
    body_ = body, context_ = context;
    backward_ = next_is_backward();
    rounding_ = RoundsAs::of_this_thread();
    tuning_ = tuning_in_use() ? TuningScope::current() : nullptr;
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
  const TuningScope* tuning_ = nullptr;  ///< of the caller, whose pieces these are
  int64_t range_count_ = 0;
  bool backward_ = false;
  Range ranges_[kMaxRanges];
  alignas(64) std::atomic<int64_t> left_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> sleeps_{false};  ///< the caller, until it is notified
  alignas(64) std::mutex mutex_;
  std::condition_variable done_;
  std::exception_ptr error_;
};

/// Tasks, some of which wait for others. Each thread takes a task that waits for nothing any more, the first
/// in order, or else helps with a loop inside one that runs. When there is neither, a thread of the pool goes
/// back to its seat, where it is offered more of both; the caller looks for more until all have ended.
class Tasks final : public Work {
 public:
  Tasks() = default;
  /// Tasks that only the calling thread holds.
  static Tasks& begin(std::span<const uint64_t> before, int threads, detail::LoopBody body, void* context) {
    Tasks& tasks = spare().take();
    tasks.set(before, body, context);
    tasks.offer_count_ = std::min(threads, kMostOffers);
    return tasks;
  }
  /// Keeps the object, whose tasks have ended, for the calling thread's next ones; returns what one threw.
  std::exception_ptr end() {
    auto thrown = std::exchange(error_, nullptr);
    spare().keep(*this);
    return thrown;
  }

  void work(int64_t thread) override {
    while (true) {
      for (int i; (i = take()) >= 0;) run_one(i);
      Work* loop = take_loop();
      if (!loop) return;
      const bool was_inside = std::exchange(inside, true);
      loop->work(thread);
      inside = was_inside;
      loop->let_go();
    }
  }
  /// The caller's part: returns when all have ended.
  void finish(bool alone) {
    while (true) {
      work(0);
      if (have_ended()) return;
      const auto news = [&] { return have_ended() || find_ready(nullptr) >= 0 || has_loop(); };
      if (look_for(alone, news)) continue;
      std::unique_lock lock(mutex_);
      sleeps_.store(true);
      wake_.wait(lock, news);
      sleeps_.store(false);
    }
  }
  /// Offers a loop inside a task to so many of the threads that look for a task and find none.
  void offer(Work& loop, int helpers) {
    for (int i = 0; i < offer_count_ && helpers > 0; ++i) {
      Work* none = nullptr;
      loop.hold();
      if (offers_[i].compare_exchange_strong(none, &loop))
        --helpers;
      else
        loop.let_go();
    }
    wake();
  }
  void withdraw(Work& loop) {
    for (int i = 0; i < offer_count_; ++i) {
      Work* offered = &loop;
      if (offers_[i].load(std::memory_order_relaxed) == offered &&
          offers_[i].compare_exchange_strong(offered, nullptr))
        loop.let_go();
    }
  }

 private:
  static Spare<Tasks>& spare() {
    thread_local Spare<Tasks> of_this_thread;
    return of_this_thread;
  }
  void set(std::span<const uint64_t> before, detail::LoopBody body, void* context) {
    std::copy(before.begin(), before.end(), before_.begin());
    all_ = before.size() == kMostTasks ? ~uint64_t{0} : (uint64_t{1} << before.size()) - 1;
    body_ = body, context_ = context;
    rounding_ = RoundsAs::of_this_thread();
    failed_ = kMostTasks;
    taken_.store(0, std::memory_order_relaxed);
    ended_.store(0, std::memory_order_relaxed);
    sleeps_.store(false, std::memory_order_relaxed);
  }
  [[nodiscard]] bool have_ended() const { return ended_.load() == all_; }
  [[nodiscard]] bool has_loop() const {
    for (int i = 0; i < offer_count_; ++i)
      if (offers_[i].load()) return true;
    return false;
  }
  Work* take_loop() {
    for (int i = 0; i < offer_count_; ++i)
      if (offers_[i].load())
        if (Work* loop = offers_[i].exchange(nullptr)) return loop;
    return nullptr;
  }
  /// The first task that waits for nothing and that nobody has taken, -1 when there is none; `more` says
  /// whether there is another.
  int find_ready(bool* more) const {
    const uint64_t ended = ended_.load();
    int found = -1;
    for (uint64_t left = all_ & ~taken_.load(std::memory_order_relaxed); left; left &= left - 1) {
      const int i = std::countr_zero(left);
      if (before_[static_cast<size_t>(i)] & ~ended) continue;
      if (more) *more = found >= 0;
      if (found >= 0) break;
      found = i;
      if (!more) break;
    }
    return found;
  }
  int take();
  void run_one(int i) {
    Tasks* const outer = std::exchange(own_tasks, this);
    const bool was_inside = std::exchange(inside, false);
    try {
      body_(context_, i);
    } catch (...) {
      fail(i);
    }
    inside = was_inside;
    own_tasks = outer;
    ended_.fetch_or(uint64_t{1} << i);
    wake();
  }
  /// Those that come later in order and have not begun do not run: nobody can take them any more. Those
  /// before do, so that what is thrown in the end is what would have been thrown by one thread.
  void fail(int i) {
    {
      std::lock_guard lock(mutex_);
      if (i < failed_) {
        failed_ = i;
        error_ = std::current_exception();
      }
    }
    const uint64_t later = all_ & ~uint64_t{0} << i;
    ended_.fetch_or(later & ~taken_.fetch_or(later));
  }
  void wake() {
    if (!sleeps_.load()) return;
    std::lock_guard lock(mutex_);
    wake_.notify_all();
  }

  static constexpr int kMostTasks = 64;
  static constexpr int kMostOffers = 16;
  std::array<uint64_t, kMostTasks> before_{};
  uint64_t all_ = 0;
  detail::LoopBody body_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<uint64_t> taken_{0};
  std::atomic<uint64_t> ended_{0};
  int offer_count_ = 0;
  alignas(64) std::array<std::atomic<Work*>, kMostOffers> offers_{};  ///< loops, each held for a thread
  std::atomic<bool> sleeps_{false};                                   ///< the caller; written under the lock
  alignas(64) std::mutex mutex_;
  std::condition_variable wake_;
  int failed_ = 0;
  std::exception_ptr error_;
};

/// Where a thread of the pool finds its next work: one cache line that it looks at, so that it changes hands
/// without a lock.
struct alignas(64) Seat {
  std::atomic<Work*> offer{nullptr};  ///< held for the thread
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
    const auto helpers = static_cast<int>(std::min<int64_t>(threads - 1, pieces - 1));
    own_tasks ? offer_inside(loop, helpers) : offer(loop, helpers);
    inside = true;
    loop.work(own_number);
    inside = false;
    loop.wait(one_each());
    if (loop.is_shared()) withdraw(loop);
    if (auto thrown = loop.end()) std::rethrow_exception(thrown);
  }

  void run_tasks(std::span<const uint64_t> before, detail::LoopBody body, void* context) {
    Tasks& tasks = Tasks::begin(before, size(), body, context);
    if (threads_.load(std::memory_order_acquire) < size() - 1) start_threads(size() - 1);
    tasks.finish(one_each());
    if (tasks.is_shared()) withdraw(tasks);
    if (auto thrown = tasks.end()) std::rethrow_exception(thrown);
  }

  /// Offers tasks that wait for nothing to one idle thread.
  void offer_one(Tasks& tasks) {
    for (int i = 0; i < helping_threads(); ++i)
      if (!seats_[i]->works.load(std::memory_order_relaxed) && offer_to(*seats_[i], tasks)) return;
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
      if (offer_to(seat, loop)) --helpers;
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

  /// Offers a loop that starts inside a task: to threads that look for one, and to idle ones at their seats.
  void offer_inside(Loop& loop, int helpers) {
    own_tasks->offer(loop, helpers);
    for (int i = 0; i < helping_threads() && helpers > 0; ++i)
      if (!seats_[i]->works.load(std::memory_order_relaxed) && offer_to(*seats_[i], loop)) --helpers;
  }

  bool offer_to(Seat& seat, Work& work) {
    work.hold();
    Work* none = nullptr;
    // The offer, then the look at `sleeps`; a thread does it the other way round, so one sees the other.
    if (!seat.offer.compare_exchange_strong(none, &work)) {
      work.let_go();
      return false;
    }
    if (seat.sleeps.load()) {
      std::lock_guard lock(mutex_);
      seat.wake.notify_one();
    }
    return true;
  }

  /// Takes back what no thread has taken yet.
  void withdraw(Work& work) {
    if (own_tasks) own_tasks->withdraw(work);
    for (int i = 0, threads = threads_.load(std::memory_order_acquire); i < threads; ++i) {
      Work* offered = &work;
      if (seats_[i]->offer.load(std::memory_order_relaxed) == offered &&
          seats_[i]->offer.compare_exchange_strong(offered, nullptr)) {
        work.let_go();
      }
    }
  }

  /// Threads of the pool that may take part now.
  int helping_threads() const { return std::min(threads_.load(std::memory_order_acquire), size() - 1); }

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
    own_number = number;
    while (true) {
      // The loops of one network follow each other within microseconds.
      (void)look_for(one_each(), [&] {
        return seat.offer.load(std::memory_order_acquire) || waiting_.load(std::memory_order_acquire) > 0;
      });
      Work* next = nullptr;
      if (seat.offer.load(std::memory_order_relaxed)) next = seat.offer.exchange(nullptr);
      if (!next) next = wait_for_work(life, seat);
      if (!next) return;
      seat.works.store(true, std::memory_order_relaxed);
      {
        const RoundsAs caller(next->rounding());
        next->work(number);
      }
      seat.works.store(false, std::memory_order_relaxed);
      next->let_go();
    }
  }

  /// Sleeps until there is some; null when the process was forked meanwhile.
  Work* wait_for_work(uint64_t life, Seat& seat) {
    Work* next = nullptr;
    std::unique_lock lock(mutex_);
    seat.sleeps.store(true);
    seat.wake.wait(lock, [&] {
      if (life == life_ && queue_.empty()) next = seat.offer.exchange(nullptr);
      return next || !queue_.empty() || life != life_;
    });
    seat.sleeps.store(false);
    if (life != life_ || next) return next;
    next = queue_.front();
    queue_.pop_front();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return next;
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

int Tasks::take() {
  while (true) {
    bool more = false;
    const int i = find_ready(&more);
    if (i < 0) return i;
    const uint64_t bit = uint64_t{1} << i;
    if (taken_.fetch_or(bit) & bit) continue;
    if (more) Pool::instance().offer_one(*this);
    return i;
  }
}

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

void run_tasks(std::span<const uint64_t> before, LoopBody body, void* context) {
  SORUS_INTERNAL(before.size() <= 64, "parallel_tasks: {} tasks at once", before.size());
  if (before.size() <= 1 || inside || own_tasks || Pool::instance().size() == 1) {
    for (size_t i = 0; i < before.size(); ++i) body(context, static_cast<int64_t>(i));
    return;
  }
  Pool::instance().run_tasks(before, body, context);
}

}  // namespace detail
}  // namespace sorus
