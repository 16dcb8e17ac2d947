#include "binding/signals.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>

#include "binding/bridge.h"
#include "binding/release_gil.h"

namespace sorus::python {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGALRM, SIGHUP, SIGUSR1, SIGUSR2};
std::array<struct sigaction, NSIG> before;  // what was there when ours was set
std::atomic<bool> came{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// Notes the signal and does what was done before.
void note(int signal, siginfo_t* info, void* context) {
  came.store(true, std::memory_order_relaxed);
  const struct sigaction& old = before[static_cast<size_t>(signal)];
  if (old.sa_flags & SA_SIGINFO)
    old.sa_sigaction(signal, info, context);
  else
    old.sa_handler(signal);
}

bool handles_signals() { return gettid() == getpid(); }

}  // namespace

void listen_to_signals() {
  for (const int signal : kSignals) {
    struct sigaction now;
    if (sigaction(signal, nullptr, &now) != 0) continue;
    const bool ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == &note;
    const bool handled =
        (now.sa_flags & SA_SIGINFO) || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
    if (ours || !handled) continue;
    before[static_cast<size_t>(signal)] = now;
    struct sigaction mine = now;
    mine.sa_flags |= SA_SIGINFO;
    mine.sa_sigaction = &note;
    sigaction(signal, &mine, nullptr);
  }
}

void check_signals() {
  using Clock = std::chrono::steady_clock;
  thread_local Clock::time_point last;
  const Clock::time_point now = Clock::now();
  if (now - last < std::chrono::milliseconds(50)) return;
  last = now;
  if (!handles_signals()) return;
  listen_to_signals();
  if (!came.exchange(false, std::memory_order_relaxed)) return;
  GilAcquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace sorus::python
