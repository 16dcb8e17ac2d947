#include "sorus/dispatch/in_place.h"

#include "sorus/dispatch/apply.h"

namespace sorus {
namespace {

const Value*& held_value() {
  static thread_local const Value* value = nullptr;
  return value;
}

}  // namespace

InPlaceUpdate::InPlaceUpdate(const Tensor& held) : outer_(held_value()) {
  const ScopeState& scope = scope_state();
  held_value() = scope.recorder || scope.gradients ? nullptr : held.value().get();
}
InPlaceUpdate::~InPlaceUpdate() { held_value() = outer_; }
const Value* InPlaceUpdate::current() { return held_value(); }

}  // namespace sorus
