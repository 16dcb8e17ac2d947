#pragma once

#include <cstddef>
#include <cstdint>

#include "sorus/core/storage.h"

namespace sorus {

/// The product of each step of a recurrent layer with the same matrix: out = a times b, b (k, n) with element
/// (p, j) at p * b_row + j * b_column. Where there are steps enough, b is packed once, or it comes packed;
/// the bits are the same. S is float or double. Any thread may run it, several at once.
template <class S>
class StepProduct {
 public:
  static constexpr int64_t kManySteps = 4;  ///< that pay for packing

  StepProduct(int64_t n, int64_t k, const S* b, int64_t b_row, int64_t b_column, int64_t steps,
              const void* packed = nullptr);
  /// Bytes that pack() writes; 0 where b is taken as it lies.
  [[nodiscard]] static size_t packed_bytes(int64_t n, int64_t k);
  static void pack(int64_t n, int64_t k, const S* b, int64_t b_row, int64_t b_column, void* to);

  /// Rows of a lie `a_row` apart, those of out n.
  void run(int64_t rows, const S* a, int64_t a_row, S* out) const;

 private:
  int64_t n_, k_;
  const S* b_;
  int64_t b_row_, b_column_;
  const void* packed_;
  Ref<Storage> own_packed_;
};

}  // namespace sorus
