#pragma once

#include <cmath>
#include <cstring>
#include <functional>

#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/integer_lane.h"
#include "sorus/math/functions.h"
#include "sorus/math/scalar_lane.h"

/// Reference kernels of elementwise ops: one plain loop over logical indices, one small function per dtype.
namespace sorus::reference {

/// Computes one element: `in` holds the address of the element of each operand.
using ElementFunction = void (*)(std::byte* out, const std::byte* const* in, const double* parameters);

/// Calls `f` for each element of the result, in row-major order; operands broadcast. Parameters are the
/// attributes of the call.
void for_each_element(const KernelCall& call, ElementFunction f);

/// The number in which elements of T are computed.
template <class T>
auto load_element(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  if constexpr (std::is_same_v<T, bool>)
    return IntegerLane<uint8_t>{static_cast<uint8_t>(v)};
  else if constexpr (std::is_integral_v<T>)
    return IntegerLane<T>{v};
  else
    return math::ScalarLane<ComputeType<T>>{static_cast<ComputeType<T>>(v)};
}

template <class T, class V>
void store_element(std::byte* p, V v) {
  T result;
  if constexpr (std::is_same_v<T, bool>)
    result = v.v != 0;
  else
    result = T(v.v);
  std::memcpy(p, &result, sizeof(T));
}

/// F applied to operands of In, giving an element of Out.
template <class F, class In, class Out, int kParameters, size_t... kI>
void element(std::byte* out, const std::byte* const* in, const double* parameters,
             std::index_sequence<kI...>) {
  if constexpr (kParameters > 0) {
    using V = decltype(load_element<In>(in[0]));
    V p[kParameters];
    for (int k = 0; k < kParameters; ++k)
      p[k] = V::of(F::template parameter<typename V::Scalar>(parameters, k));
    store_element<Out>(out, F{}(load_element<In>(in[kI])..., p));
  } else {
    store_element<Out>(out, F{}(load_element<In>(in[kI])...));
  }
}
template <class F, size_t kOperands, class In, class Out = In, int kParameters = 0>
void element_function(std::byte* out, const std::byte* const* in, const double* parameters) {
  element<F, In, Out, kParameters>(out, in, parameters, std::make_index_sequence<kOperands>{});
}

}  // namespace sorus::reference
