#pragma once

#include <algorithm>
#include <array>

#include "sorus/core/storage.h"
#include "sorus/dispatch/kernel.h"

/// A call of attention or of its gradient taken apart into heads: what the kernels of all targets share.
namespace sorus {

/// A matrix in memory; element (i, j) is at i * row + j * column. S is float or double.
template <class S>
struct MatrixOf {
  const S* data;
  int64_t row, column;
  [[nodiscard]] MatrixOf transposed() const { return {data, column, row}; }
};

/// out[i, j] = sum over p of a[i, p] * b[p, j], with rows of `out` `step` apart.
void multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<float>& a, const MatrixOf<float>& b, float* out,
              int64_t step);
void multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<double>& a, const MatrixOf<double>& b,
              double* out, int64_t step);

/// Memory of one piece of work.
class AttentionScratch {
 public:
  template <class S>
  [[nodiscard]] S* take(int64_t numbers) {
    taken_.push_back(Storage::allocate(static_cast<size_t>(numbers) * sizeof(S)));
    return reinterpret_cast<S*>(taken_.back()->data());
  }

 private:
  SmallVector<Ref<Storage>, 12> taken_;
};

/// One operand: a matrix for each head, of any strides.
class HeadArray {
 public:
  HeadArray() = default;
  explicit HeadArray(const Array& array) : array_(array) {}
  [[nodiscard]] bool present() const { return array_.present(); }
  /// Rows [begin, end) of a head, widened, one after the other.
  template <class S>
  void read(int64_t head, int64_t begin, int64_t end, S* to) const;
  /// The first `rows` rows of a head: as they lie where their elements are of S, else a widened copy.
  template <class S>
  [[nodiscard]] MatrixOf<S> matrix(int64_t head, int64_t rows, AttentionScratch& scratch) const;
  /// f(pointer to the first element of the row, step between neighbours) for bool and floats.
  template <class F>
  void visit_row(int64_t head, int64_t row, F f) const {
    const int64_t at = offset(head) + row * array_.strides[array_.rank() - 2];
    const int64_t step = array_.strides[array_.rank() - 1];
    if (array_.dtype == DType::kBool)
      f(array_.as<bool>() + at, step);
    else if (array_.dtype == DType::kFloat32)
      f(array_.as<float>() + at, step);
    else if (array_.dtype == DType::kFloat64)
      f(array_.as<double>() + at, step);
    else if (array_.dtype == DType::kBFloat16)
      f(array_.as<BFloat16>() + at, step);
    else
      f(array_.as<Float16>() + at, step);
  }

 private:
  /// Of a head's first element, in elements.
  [[nodiscard]] int64_t offset(int64_t head) const;
  Array array_;
};

/// Computed in S: float64 in double, all else in float.
template <class S>
struct AttentionCall {
  int64_t heads = 1;
  int64_t rows, columns;  ///< of the scores of a head
  int64_t depth, width;   ///< of query and key, of value
  int64_t block_rows;     ///< rows whose scores are in work at once; depends on the shapes alone
  bool causal;
  S scale;
  double dropout;           ///< probability with which a weight becomes 0
  uint64_t random[2] = {};  ///< key and first block of the generator's words, one for each weight
  HeadArray query, key, value, mask;
  HeadArray gradient;  ///< of the result, for the gradient
  S* statistics;       ///< written by attention, read by its gradient

  explicit AttentionCall(const KernelCall& call);

  /// How many columns a row can attend to.
  [[nodiscard]] int64_t columns_of(int64_t row) const {
    return causal ? std::min(columns, row + 1) : columns;
  }

  /// compute(to) writes `rows` rows of `width` numbers, which become rows of a result from row `begin` on.
  template <class F>
  void write(size_t result, int64_t begin, int64_t rows_written, int64_t row_width, S* spare,
             F compute) const {
    const Array& out = out_[result];
    if (out.dtype == dtype_of<S>) return compute(out.as<S>() + begin * row_width);
    compute(spare);
    store(result, begin * row_width, spare, rows_written * row_width);
  }
  /// Rounds `count` numbers to elements of a result, from element `begin` on.
  void store(size_t result, int64_t begin, const S* from, int64_t count) const;

 private:
  std::span<const Array> out_;
};

}  // namespace sorus
