#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "sorus/base/spin_lock.h"
#include "sorus/core/tensor.h"

namespace sorus {

class Generator;
class TensorHandle;

/// Internal: refers to a handle without keeping it alive. Thread-safe.
class SORUS_API HandleToken {
 public:
  explicit HandleToken(TensorHandle* handle) : handle_(handle) {}
  /// Calls f(handle) unless the handle is gone, which cannot go meanwhile. `f` drops no tensor.
  template <class F>
  bool with(F&& f) {
    std::lock_guard lock(lock_);
    if (handle_) f(*handle_);
    return handle_ != nullptr;
  }
  /// The handle is being destroyed.
  void forget() noexcept {
    std::lock_guard lock(lock_);
    handle_ = nullptr;
  }
  /// The last segment that logged a write of the handle, by its number.
  std::atomic<uint64_t> logged_in{0};

 private:
  SpinLock lock_;
  TensorHandle* handle_;
};

/// Internal: hears of the state that a program touches while it is installed on this thread: handles read
/// and written, keys drawn. A boundary needs it to undo the writes of a segment that fails; replayed programs
/// turn handles read into inputs and handles written into outputs, and draw keys again.
class SORUS_API HandleLog {
 public:
  virtual ~HandleLog() = default;
  virtual void read(const TensorHandle& handle) = 0;
  virtual void written(TensorHandle& handle, const Tensor& before) = 0;
  /// The generator gave out `key` for `count` numbers.
  virtual void drawn(Generator& from, int64_t count, const Tensor& key) = 0;
};
/// Internal: the log of this thread, null when none is installed.
[[nodiscard]] SORUS_API HandleLog*& handle_log();

/// Internal: a place that holds a tensor and outlives its values: a `Parameter`, a Python Tensor object.
/// Neither copied nor moved. Threads may read it by load() and write it by set() at the same time: each gets
/// one whole value or another. get() needs that nobody writes while its result is used, which the lock of
/// Python's interpreter grants the binding.
class SORUS_API TensorHandle {
 public:
  TensorHandle() = default;
  explicit TensorHandle(Tensor tensor) : tensor_(std::move(tensor)) {}
  TensorHandle(const TensorHandle&) = delete;
  TensorHandle& operator=(const TensorHandle&) = delete;
  virtual ~TensorHandle() {
    if (token_) [[unlikely]]
      token_->forget();
  }

  [[nodiscard]] const Tensor& get() const {
    if (HandleLog* log = handle_log()) [[unlikely]]
      log->read(*this);
    return tensor_;
  }
  /// As get(), a copy that stays what it is.
  [[nodiscard]] Tensor load() const {
    if (HandleLog* log = handle_log()) [[unlikely]]
      log->read(*this);
    return peek();
  }
  /// As load(), without telling the log.
  [[nodiscard]] Tensor peek() const {
    std::lock_guard lock(lock_);
    return tensor_;
  }
  /// In-place update: the handle lets go of its value and holds `tensor` from now on.
  void set(Tensor tensor) {
    exchange(tensor);
    if (HandleLog* log = handle_log()) [[unlikely]]
      log->written(*this, tensor);
  }
  /// Swaps values without telling the log: for the log itself.
  void exchange(Tensor& tensor) {
    std::lock_guard lock(lock_);
    tensor_.swap(tensor);
  }
  /// The same while expected(value held) is true.
  template <class P>
  void exchange_if(P&& expected, Tensor& tensor) {
    std::lock_guard lock(lock_);
    if (expected(tensor_)) tensor_.swap(tensor);
  }

  /// The same token at every call.
  [[nodiscard]] std::shared_ptr<HandleToken> token() const;

 private:
  Tensor tensor_;
  mutable SpinLock lock_;
  mutable std::shared_ptr<HandleToken> token_;
};

/// Internal: what a Parameter refers to: a handle with a name and what training needs to know of it.
struct SORUS_API ParameterState : TensorHandle {
  using TensorHandle::TensorHandle;
  std::string name;
  bool requires_grad = true;
};

/// A named tensor that a network owns and an optimizer updates. Copies refer to the same parameter.
class SORUS_API Parameter {
 public:
  Parameter() = default;
  explicit Parameter(Tensor value, std::string name = "", bool requires_grad = true)
      : state_(std::make_shared<ParameterState>(std::move(value))) {
    state_->name = std::move(name);
    state_->requires_grad = requires_grad;
  }
  explicit Parameter(std::shared_ptr<ParameterState> state) : state_(std::move(state)) {}

  [[nodiscard]] bool defined() const { return state_ != nullptr; }
  [[nodiscard]] Tensor value() const { return state_->load(); }
  operator Tensor() const { return value(); }  // NOLINT: a parameter is used as a tensor
  /// Gives the parameter another value. Throws ShapeError or DTypeError unless the type stays the same.
  void set_value(Tensor value);
  [[nodiscard]] const std::string& name() const { return state_->name; }
  void set_name(std::string name) { state_->name = std::move(name); }
  [[nodiscard]] bool requires_grad() const { return state_->requires_grad; }
  void set_requires_grad(bool on) { state_->requires_grad = on; }
  [[nodiscard]] const std::shared_ptr<ParameterState>& state() const { return state_; }
  friend bool operator==(const Parameter& a, const Parameter& b) { return a.state_ == b.state_; }

 private:
  std::shared_ptr<ParameterState> state_;
};

}  // namespace sorus
