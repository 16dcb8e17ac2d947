#pragma once

#include <algorithm>

#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/core/shape.h"

namespace sorus {

extern const Tunable norm_piece_elements;

/// A tensor as rows of n elements, cut into pieces of rows by the shape alone.
struct RowPieces {
  static constexpr int64_t kMaxPieces = 32;

  int64_t rows = 1, n = 1, piece_rows = 1, pieces = 1;

  RowPieces(const Shape& shape, int64_t begin_axis) {
    for (int i = 0; i < shape.rank(); ++i) (i < begin_axis ? rows : n) *= shape.size(i);
    cut();
  }
  RowPieces(int64_t row_count, int64_t row_elements) : rows(row_count), n(row_elements) { cut(); }

  /// n rounded up to whole blocks of 16.
  [[nodiscard]] int64_t padded() const { return (n + 15) / 16 * 16; }

  /// Calls f(first row, end row, piece) for every piece, in parallel.
  template <class F>
  void for_each(F&& f) const {
    parallel_for(pieces, [&](int64_t piece) {
      f(piece * piece_rows, std::min(rows, (piece + 1) * piece_rows), piece);
    });
  }

 private:
  void cut() {
    int64_t wanted = std::clamp<int64_t>(rows * n / norm_piece_elements.get(), 1, kMaxPieces);
    piece_rows = std::max<int64_t>(1, (rows + wanted - 1) / wanted);
    pieces = (rows + piece_rows - 1) / piece_rows;
  }
};

}  // namespace sorus
