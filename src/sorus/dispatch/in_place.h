#pragma once

#include "sorus/core/tensor.h"

namespace sorus {

/// While it lives, a call on this thread that reads `held` may write its result over it, if the kernel can
/// and nothing else refers to the value or its memory: for updates of the handle that holds it. `held` is
/// read by no later call then, so the scope covers the one call that makes the new value (and views before
/// it). The caller sees to it that no other thread takes the value from the handle meanwhile. Has no effect
/// where calls are recorded or differentiated.
class SORUS_API InPlaceUpdate {
 public:
  explicit InPlaceUpdate(const Tensor& held);
  ~InPlaceUpdate();
  InPlaceUpdate(const InPlaceUpdate&) = delete;
  InPlaceUpdate& operator=(const InPlaceUpdate&) = delete;
  /// The value that may be written over, null for none.
  [[nodiscard]] static const Value* current();

 private:
  const Value* outer_;
};

}  // namespace sorus
