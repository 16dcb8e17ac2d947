#include "sorus/dispatch/builtin.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

[[maybe_unused]] const bool filled = [] {
  builtin_ops() = {.add = add,
                   .zeros = [](const TensorType& type) { return full(type, 0); },
                   .ones = [](const TensorType& type) { return full(type, 1); },
                   .stop_gradient = stop_gradient};
  return true;
}();

}  // namespace
}  // namespace sorus
