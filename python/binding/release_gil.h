#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include "binding/drop.h"
#include "sorus/core/tensor.h"

namespace sorus::python {

/// Calls on tensors of at least this many elements let other Python threads run; below, giving up the lock
/// and taking it again costs more than the work.
inline constexpr int64_t kLargeElements = 32768;

[[nodiscard]] inline bool is_large(const Tensor& t) {
  return t.defined() && t.shape().rank() > 0 && t.numel() >= kLargeElements;
}

/// `body()`, which waits for the interpreter's lock or runs Python code. While the interpreter ends, CPython
/// before 3.14 answers a daemon thread that waits by ending it there and then, which unwinds through C++
/// frames that cannot be unwound and so ends the process. Such a thread sleeps instead, as from 3.14 on,
/// until the process is gone.
template <class F>
auto until_the_end(F&& body) {
  try {
    return body();
  } catch (abi::__forced_unwind&) {
    while (true) pause();
  }
}

/// Gives up the interpreter's lock while it lives.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    until_the_end([this] { PyEval_RestoreThread(state_); });
    drop_what_waits();
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the interpreter's lock while it lives; any thread may, also one that Python does not know.
class GilAcquire {
 public:
  GilAcquire() : state_(until_the_end([] { return PyGILState_Ensure(); })) {}
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Runs `body` without the interpreter's lock. It must hold its own references to tensors, since another
/// thread may give the handles other values meanwhile.
template <class F>
auto without_gil(F&& body) {
  GilRelease release;
  return body();
}

}  // namespace sorus::python
