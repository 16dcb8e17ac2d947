#include "sorus/ops/nn/detail/binary_cross_entropy_check.h"

#include <optional>
#include <type_traits>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/detail/index_range.h"
#include "sorus/ops/nn/detail/window.h"

namespace sorus {
namespace {

template <class T>
using Plain = std::conditional_t<(sizeof(T) < sizeof(float)), float, T>;

/// NaN is let through: it has come from elsewhere, and shows in the loss.
template <class T>
bool is_outside(T x) {
  const auto number = static_cast<Plain<T>>(x);
  return (number < 0) | (number > 1);
}

/// The row-major place of the first number that is no probability.
template <class T>
std::optional<int64_t> find(const Array& x) {
  const T* p = x.as<T>();
  const int64_t n = x.numel();
  const bool dense = is_contiguous(*x.shape, x.strides);
  if (dense) {
    int any = 0;  // all are looked at, which vectorizes
    for (int64_t i = 0; i < n; ++i) any |= is_outside(p[i]) ? 1 : 0;
    if (any == 0) return std::nullopt;
  }
  for (int64_t i = 0; i < n; ++i)
    if (is_outside(p[dense ? i : detail::offset_of(x, i)])) return i;
  return std::nullopt;
}

template <class T>
void check(const KernelCall& c) {
  const Array& x = c.in[0];
  if (auto place = find<T>(x))
    raise<ValueError>("binary_cross_entropy: inputs must lie in [0, 1]: got {} at position {}, need 0 to 1",
                      static_cast<Plain<T>>(x.as<T>()[detail::offset_of(x, *place)]), *place);
}

void check_inputs(const KernelCall& c) {
  switch (c.in[0].dtype) {
    case DType::kFloat16:
      return check<Float16>(c);
    case DType::kBFloat16:
      return check<BFloat16>(c);
    case DType::kFloat32:
      return check<float>(c);
    default:
      return check<double>(c);
  }
}

TypeList infer_check(const InferContext& c) {
  detail::need_floating("binary_cross_entropy", "probabilities", c.dtype(0));
  return {{DType::kBool, c.in(0).device, {}}};
}

const OpDef check_op{.name = "binary_cross_entropy_check",
                     .doc =
                         "Nothing but a check: true, and ValueError unless each number of x lies in "
                         "[0, 1] or is NaN. binary_cross_entropy is defined there alone.",
                     .inputs = {{"x"}},
                     .infer = infer_check,
                     .check_values = check_inputs,
                     .check_reads = saves({0}),
                     .traits = {.differentiable = false}};
const OpRegistrar registered{check_op};

}  // namespace

Tensor detail::binary_cross_entropy_check(const Tensor& x) { return apply(check_op, {&x}); }

}  // namespace sorus
