#pragma once

#include <memory>
#include <type_traits>

#include "sorus/kernels/cpu/elementwise/convert_tiles.h"

/// 16-bit floats as float32, for kernels over lines that compute in it. Widening is exact.
namespace sorus::cpu {

template <class T>
inline constexpr bool kHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
/// What kernels compute in.
template <class T>
using Wide = std::conditional_t<kHalf<T>, float, T>;

/// The n elements at x in what kernels compute in: in `buffer`, or where they are.
template <class T>
const Wide<T>* widened(const T* x, int64_t n, Wide<T>* buffer) {
  if constexpr (kHalf<T>) {
    widen(x, buffer, n);
    return buffer;
  } else {
    return x;
  }
}

/// Room for n numbers in what kernels compute in, where elements of T need it.
template <class T>
std::unique_ptr<Wide<T>[]> room_for(int64_t n) {
  return kHalf<T> ? std::make_unique_for_overwrite<Wide<T>[]>(static_cast<size_t>(n)) : nullptr;
}

}  // namespace sorus::cpu
