#include "sorus/core/parameter.h"

namespace sorus {

HandleLog*& handle_log() {
  static thread_local HandleLog* log = nullptr;
  return log;
}

std::shared_ptr<HandleToken> TensorHandle::token() const {
  if (!token_) token_ = std::make_shared<HandleToken>(HandleToken{const_cast<TensorHandle*>(this)});
  return token_;
}

void TensorHandle::tell_gone() noexcept {
  if (HandleLog* log = handle_log()) log->gone(*this);
}

void Parameter::set_value(Tensor value) {
  const TensorType& mine = state_->get().type();
  SORUS_CHECK(value.shape() == mine.shape, ShapeError, "{}: new value has another shape: got {}, need {}",
              name(), value.shape(), mine.shape);
  SORUS_CHECK(value.dtype() == mine.dtype, DTypeError, "{}: new value has another dtype: got {}, need {}",
              name(), value.dtype(), mine.dtype);
  state_->set(std::move(value));
}

}  // namespace sorus
