#pragma once

#include "sorus/core/tensor.h"

/// Reductions. No axes given means all. Sums and products run as a tree over logical indices that depends on
/// the shape alone (kernels/reduce_tree.h), so their bits depend neither on strides nor on threads; 16-bit
/// floats accumulate in float32. Bools count as int64. An axis outside [-rank, rank) or given twice throws
/// ValueError.
namespace sorus {
/// Of nothing 0.
[[nodiscard]] SORUS_API Tensor sum(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
/// The mean, integers and bools as float32, of nothing NaN; and the product, of nothing 1.
[[nodiscard]] SORUS_API Tensor mean(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
[[nodiscard]] SORUS_API Tensor prod(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
/// Sums `x` over the axes along which `shape` was broadcast to x.shape: the gradient of broadcasting. Returns
/// `x` itself when the shapes are equal.
[[nodiscard]] SORUS_API Tensor sum_to(const Tensor& x, const Shape& shape);

/// The greatest and the least element; NaN if there is one. Equal extremes share the gradient equally. Throws
/// ValueError for a reduction of nothing.
[[nodiscard]] SORUS_API Tensor amax(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
[[nodiscard]] SORUS_API Tensor amin(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
/// Whether any, or all, elements differ from 0: bool. Of nothing false, or true.
[[nodiscard]] SORUS_API Tensor any(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
[[nodiscard]] SORUS_API Tensor all(const Tensor& x, const Ints& axes = {}, bool keepdims = false);

/// Index (int64) of the first of the greatest or least elements along an axis; of the first NaN if there is
/// one. Throws ValueError for an axis of extent 0.
[[nodiscard]] SORUS_API Tensor argmax(const Tensor& x, int64_t axis, bool keepdims = false);
[[nodiscard]] SORUS_API Tensor argmin(const Tensor& x, int64_t axis, bool keepdims = false);

/// Elements and where they were found (int64).
struct ValuesAndIndices {
  Tensor values;
  Tensor indices;
};
/// The first of the greatest or least elements along an axis, which gets the whole gradient.
[[nodiscard]] SORUS_API ValuesAndIndices max_with_index(const Tensor& x, int64_t axis, bool keepdims = false);
[[nodiscard]] SORUS_API ValuesAndIndices min_with_index(const Tensor& x, int64_t axis, bool keepdims = false);

/// Mean squared distance from the mean, with n - correction for n. Two passes; integers become float32.
[[nodiscard]] SORUS_API Tensor var(const Tensor& x, const Ints& axes = {}, double correction = 1,
                                   bool keepdims = false);
/// Square root of var.
[[nodiscard]] SORUS_API Tensor std(const Tensor& x, const Ints& axes = {}, double correction = 1,
                                   bool keepdims = false);
/// log(sum(exp(x))) without overflow.
[[nodiscard]] SORUS_API Tensor logsumexp(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
/// (sum |x|^order)^(1/order); the greatest or least |x| for an infinite order, the count of elements that
/// differ from 0 for order 0.
[[nodiscard]] SORUS_API Tensor norm(const Tensor& x, double order = 2, const Ints& axes = {},
                                    bool keepdims = false);

/// Running sum and product along an axis, in order; 16-bit floats accumulate in float32. The gradient of
/// cumprod divides by x: it is not defined where x is 0.
[[nodiscard]] SORUS_API Tensor cumsum(const Tensor& x, int64_t axis, bool exclusive = false,
                                      bool reverse = false);
[[nodiscard]] SORUS_API Tensor cumprod(const Tensor& x, int64_t axis, bool exclusive = false,
                                       bool reverse = false);
/// Greatest and least element so far and the index of its last occurrence; from a NaN on, NaN.
[[nodiscard]] SORUS_API ValuesAndIndices cummax(const Tensor& x, int64_t axis);
[[nodiscard]] SORUS_API ValuesAndIndices cummin(const Tensor& x, int64_t axis);

/// Elements in order along an axis and where they were. Equal elements keep their order; NaN counts as the
/// greatest.
[[nodiscard]] SORUS_API ValuesAndIndices sort(const Tensor& x, int64_t axis = -1, bool descending = false);
[[nodiscard]] SORUS_API Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false);
/// The k greatest (or least) elements along an axis, in order. Throws ValueError unless 0 <= k <= extent.
[[nodiscard]] SORUS_API ValuesAndIndices topk(const Tensor& x, int64_t k, int64_t axis = -1,
                                              bool largest = true);
/// The middle element in order, of two the lower one, and its index; where there is a NaN, that.
[[nodiscard]] SORUS_API ValuesAndIndices median(const Tensor& x, int64_t axis, bool keepdims = false);

}  // namespace sorus
