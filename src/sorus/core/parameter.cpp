#include "sorus/core/parameter.h"

namespace sorus {

HandleLog*& handle_log() {
  static thread_local HandleLog* log = nullptr;
  return log;
}

std::shared_ptr<HandleToken> TensorHandle::token() const {
  std::lock_guard lock(lock_);
  if (!token_) token_ = std::make_shared<HandleToken>(const_cast<TensorHandle*>(this));
  return token_;
}

void Parameter::set_value(Tensor value) {
  Tensor old = state_->load();
  const TensorType& mine = old.type();
  SORUS_CHECK(value.shape() == mine.shape, ShapeError, "{}: new value has another shape: got {}, need {}",
              name(), value.shape(), mine.shape);
  SORUS_CHECK(value.dtype() == mine.dtype, DTypeError, "{}: new value has another dtype: got {}, need {}",
              name(), value.dtype(), mine.dtype);
  state_->set(std::move(value));
}

}  // namespace sorus
