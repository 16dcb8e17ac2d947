#pragma once

#include "sorus/dispatch/body.h"

/// Control flow that is part of the program: each function given is called once, with values that have types
/// and no bytes, and what it computes becomes the body of one op, which is compiled once, runs without the
/// host and can be exported. So a function given here
///
/// * must not read values (ValueError), nor update tensors or parameters in place that it did not make
///   (NotSupportedError); side effects of the host happen once a call, not once a step;
/// * may use tensors and parameters from outside, and draw random numbers, except in while_loop.
///
/// Inside a gradient scope that wants a gradient through it, the steps run one by one as ordinary op calls,
/// with the same bits, so that gradients of any order exist. Errors name the function that was called.
namespace sorus {

/// `if_true(operands)` where `predicate`, which has one element, is not zero, else `if_false(operands)`; only
/// that one runs. Both are recorded, and what either draws from a generator is drawn. Throws TypeError when
/// they do not give results of the same number and types.
[[nodiscard]] SORUS_API TensorList cond(const Tensor& predicate, const TensorFunction& if_true,
                                        const TensorFunction& if_false, const TensorList& operands = {});

/// `body` applied to `init`, and to its own results, as long as `condition`, which gives one tensor of one
/// element, is not zero for them. Throws TypeError when the body changes the number or types of what it is
/// given, or draws random numbers.
[[nodiscard]] SORUS_API TensorList while_loop(const TensorFunction& condition, const TensorFunction& body,
                                              const TensorList& init);

struct ScanOptions {
  int64_t length = -1;   ///< of steps; needed when there are no `xs`
  bool reverse = false;  ///< from the last row to the first; results keep the places of their rows
};
struct ScanResult {
  TensorList carry;  ///< after the last step
  TensorList ys;     ///< per step results, stacked along a new first axis
};
/// For each row of `xs` along the first axis: body(carry..., rows...) gives (carry..., ys...). Each step that
/// draws random numbers draws its own. Throws ShapeError when the lengths of `xs` differ, TypeError when the
/// body changes the types of the carry, ValueError for a length that is missing or negative.
[[nodiscard]] SORUS_API ScanResult scan(const TensorFunction& body, const TensorList& init,
                                        const TensorList& xs, const ScanOptions& options = {});

/// For each of the integers lower, lower + 1, ..., upper - 1 (int64 scalars): body(i, carry...) gives carry.
/// As scan where it draws numbers. Throws ValueError for bounds beyond 2^62, TypeError as scan does.
[[nodiscard]] SORUS_API TensorList fori_loop(int64_t lower, int64_t upper, const TensorFunction& body,
                                             const TensorList& init);

// The same over bodies that were traced before, and have drawn nothing. A body may be used again with other
// values in place of what it captured.

/// As cond above: the operands are handed to both bodies, before what each captured.
[[nodiscard]] SORUS_API TensorList cond(const Tensor& predicate, const Traced& if_true,
                                        const Traced& if_false, const TensorList& operands);
/// As while_loop above.
[[nodiscard]] SORUS_API TensorList while_loop(const Traced& condition, const Traced& body,
                                              const TensorList& init);
/// As scan above; the body takes what is carried, the rows, and what it captured.
[[nodiscard]] SORUS_API ScanResult scan(const Traced& body, const TensorList& init, const TensorList& xs,
                                        const ScanOptions& options = {});

}  // namespace sorus
