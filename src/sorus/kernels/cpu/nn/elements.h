#pragma once

#include <algorithm>

#include "sorus/dispatch/kernel.h"

/// Elements of small floating arrays (scales and shifts of norms), in another floating type.
namespace sorus::cpu {

/// Element i as S, or `missing` where the operand is absent.
template <class S>
S element(const Array& a, int64_t i, S missing) {
  if (!a.present()) return missing;
  return visit_floating(a.dtype, [&]<class T>(std::type_identity<T>) {
    return static_cast<S>(static_cast<ComputeType<T>>(a.as<T>()[i]));
  });
}
inline void set_element(const Array& a, int64_t i, double v) {
  visit_floating(a.dtype, [&]<class T>(std::type_identity<T>) {
    a.as<T>()[i] = static_cast<T>(static_cast<ComputeType<T>>(v));
  });
}

/// All n elements as S: the array itself where it holds S, else in `room`, `missing` where it is absent.
template <class S>
const S* elements(const Array& a, S missing, int64_t n, S* room) {
  if (!a.present()) {
    std::fill(room, room + n, missing);
  } else if (a.dtype == dtype_of<S>) {
    return a.as<S>();
  } else {
    visit_floating(a.dtype, [&]<class T>(std::type_identity<T>) {
      for (int64_t i = 0; i < n; ++i) room[i] = static_cast<S>(static_cast<ComputeType<T>>(a.as<T>()[i]));
    });
  }
  return room;
}
template <class S>
void set_elements(const S* from, const Array& a) {
  visit_floating(a.dtype, [&]<class T>(std::type_identity<T>) {
    for (int64_t i = 0; i < a.numel(); ++i)
      a.as<T>()[i] = static_cast<T>(static_cast<ComputeType<T>>(from[i]));
  });
}

}  // namespace sorus::cpu
