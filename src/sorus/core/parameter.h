#pragma once

#include <memory>
#include <string>

#include "sorus/core/tensor.h"

namespace sorus {

class TensorHandle;

/// Refers to a handle without keeping it alive: null once the handle is gone.
struct HandleToken {
  TensorHandle* handle = nullptr;
};

/// Hears of the state that a program touches while it is installed on this thread: handles read and written,
/// keys drawn from the default generator. A boundary needs it to undo the writes of a segment that fails;
/// replayed programs turn handles read into inputs and handles written into outputs, and draw keys again.
class SORUS_API HandleLog {
 public:
  virtual ~HandleLog() = default;
  virtual void read(const TensorHandle& handle) = 0;
  virtual void written(TensorHandle& handle, const Tensor& before) = 0;
  /// A handle whose `logged` flag is set is being destroyed.
  virtual void gone(const TensorHandle& handle) noexcept = 0;
  /// The default generator gave out `key` for `count` numbers.
  virtual void drawn(int64_t count, const Tensor& key) = 0;
};
/// The log of this thread, null when none is installed.
[[nodiscard]] SORUS_API HandleLog*& handle_log();

/// A place that holds a tensor and outlives its values: what `Parameter` and a Python Tensor object are.
/// Neither copied nor moved. Two threads may not write one handle at the same time without a lock of their
/// own.
class SORUS_API TensorHandle {
 public:
  TensorHandle() = default;
  explicit TensorHandle(Tensor tensor) : tensor_(std::move(tensor)) {}
  TensorHandle(const TensorHandle&) = delete;
  TensorHandle& operator=(const TensorHandle&) = delete;
  virtual ~TensorHandle() {
    if (logged) [[unlikely]]
      tell_gone();
    if (token_) [[unlikely]]
      token_->handle = nullptr;
  }

  [[nodiscard]] const Tensor& get() const {
    if (HandleLog* log = handle_log()) [[unlikely]]
      log->read(*this);
    return tensor_;
  }
  /// In-place update: the handle lets go of its value and holds `tensor` from now on.
  void set(Tensor tensor) {
    tensor_.swap(tensor);
    if (HandleLog* log = handle_log()) [[unlikely]]
      log->written(*this, tensor);
  }
  /// Gives the handle a value without telling the log: for the log itself.
  void restore(Tensor tensor) { tensor_ = std::move(tensor); }

  /// The same token at every call.
  [[nodiscard]] std::shared_ptr<HandleToken> token() const;

  bool logged = false;  ///< the log of a thread keeps the address of this handle

 private:
  void tell_gone() noexcept;
  Tensor tensor_;
  mutable std::shared_ptr<HandleToken> token_;
};

/// What a Parameter refers to: a handle with a name and what training needs to know of it.
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
  [[nodiscard]] const Tensor& value() const { return state_->get(); }
  operator const Tensor&() const { return value(); }  // NOLINT: a parameter is used as a tensor
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
