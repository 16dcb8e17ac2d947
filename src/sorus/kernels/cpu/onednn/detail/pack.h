#pragma once

#include <cstdint>

#include "sorus/kernels/cpu/onednn/types.h"

/// Copies between strided and dense memory: plain moves of bits, so that any way of making them gives the
/// same result.
namespace sorus::kernels::onednn::detail {

/// A matrix in memory: element (i, j) lies at data + i * row_stride + j * col_stride, strides in elements.
struct MatrixView {
  const void* data;
  int64_t row_stride;
  int64_t col_stride;
};

/// Copies rows x cols elements into dense row-major memory whose rows are `to_row_stride` elements apart.
/// Fast when either stride of the source is 1.
void copy_matrix(ElementType type, int64_t rows, int64_t cols, MatrixView from, void* to,
                 int64_t to_row_stride);

/// Packs the k x n matrix for a matmul: panels of `panel` columns one after the other, in each panel the rows
/// in order, and for bfloat16 two rows interleaved element by element. Rows are padded with zeros to a
/// multiple of 16 (32 for bfloat16), columns to a multiple of `panel`, which is a multiple of 16.
void pack_panels(ElementType type, int64_t k, int64_t n, MatrixView from, int64_t panel, void* to);

/// Elements that pack_panels writes.
[[nodiscard]] int64_t packed_elements(ElementType type, int64_t k, int64_t n, int64_t panel);

}  // namespace sorus::kernels::onednn::detail
