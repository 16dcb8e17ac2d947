#pragma once

#include <algorithm>
#include <cstring>

#include "sorus/dispatch/kernel.h"
#include "sorus/ops/shape/attributes.h"

/// Kernels that only move elements, written once over the way in which a strided block is copied: plainly for
/// the reference, in tiles and threads for the CPU. Operands may have any strides.
namespace sorus::moves {

/// Copies all elements of the first array to the second, which has the same shape.
using Copy = void (*)(const Array& from, const Array& to);

/// The part of `x` that starts at begins, with steps and the extents of `shape`.
inline Array part(const Array& x, const Ints& begins, const Ints& steps, const Shape& shape) {
  Array r{x.data, x.dtype, &shape, {}};
  auto size = static_cast<int64_t>(dtype_size(x.dtype));
  for (int i = 0; i < shape.rank(); ++i) {
    r.strides[i] = x.strides[i] * steps[i];
    r.data += begins[i] * x.strides[i] * size;
  }
  return r;
}

/// The same bytes seen with other extents and strides.
inline Array seen_as(const Array& x, const Shape& shape, const Strides& strides) {
  return {x.data, x.dtype, &shape, strides};
}

inline void fill_zero(const Array& out) {
  if (int64_t n = out.numel()) std::memset(out.data, 0, static_cast<size_t>(n) * dtype_size(out.dtype));
}

/// reshape and contiguous that cannot be views.
template <Copy kCopy>
void run_copy(const KernelCall& call) {
  const Array& x = call.in[0];
  kCopy(x, seen_as(call.out[0], *x.shape, Strides::contiguous(*x.shape)));
}

template <Copy kCopy>
void run_concat(const KernelCall& call) {
  const Array& out = call.out[0];
  auto axis = static_cast<int>(call.attrs<AxisAttrs>().axis);
  Ints begins = Ints::filled(out.rank(), 0);
  Ints steps = Ints::filled(out.rank(), 1);
  for (const Array& x : call.in) {
    if (x.numel() > 0) kCopy(x, part(out, begins, steps, *x.shape));
    begins[axis] += x.size(axis);
  }
}

template <Copy kCopy>
void run_slice_backward(const KernelCall& call) {
  const auto& a = call.attrs<SliceBackwardAttrs>();
  fill_zero(call.out[0]);
  if (call.in[0].numel() > 0) kCopy(call.in[0], part(call.out[0], a.begins, a.steps, *call.in[0].shape));
}

template <Copy kCopy>
void run_slice_update(const KernelCall& call) {
  const auto& a = call.attrs<SliceUpdateAttrs>();
  if (call.in[0].data != call.out[0].data) kCopy(call.in[0], call.out[0]);
  if (call.in[1].numel() > 0) kCopy(call.in[1], part(call.out[0], a.begins, a.steps, *call.in[1].shape));
}

template <Copy kCopy>
void run_diagonal_backward(const KernelCall& call) {
  const auto& a = call.attrs<DiagonalBackwardAttrs>();
  const Array& g = call.in[0];
  const Array& out = call.out[0];
  fill_zero(out);
  if (g.numel() == 0) return;
  View view = diagonal_view(out.strides, out.rank(), {a.offset, a.axis1, a.axis2});
  Array diagonal = seen_as(out, *g.shape, view.strides);
  diagonal.data += view.offset * static_cast<int64_t>(dtype_size(out.dtype));
  kCopy(g, diagonal);
}

/// Constant padding: every row of the result is filled where no operand row lies, and copied in between.
template <Copy kCopy>
void run_pad(const KernelCall& call) {
  const auto& a = call.attrs<PadAttrs>();
  const Array& x = call.in[0];
  const Array& out = call.out[0];
  int64_t n = out.numel();
  visit_dtype(out.dtype,
              [&]<class T>(std::type_identity<T>) { std::fill_n(out.as<T>(), n, number_as<T>(a.value)); });
  // A negative width crops the operand instead of moving it into the result.
  Shape inner;
  Ints from;
  Ints to;
  for (int i = 0; i < x.rank(); ++i) {
    from.push_back(std::max<int64_t>(-a.before[i], 0));
    to.push_back(std::max<int64_t>(a.before[i], 0));
    int64_t end = x.size(i) - std::max<int64_t>(-a.after[i], 0);
    inner.push_back(std::max<int64_t>(end - from[i], 0));
  }
  if (n == 0 || inner.numel() == 0) return;
  Ints steps = Ints::filled(x.rank(), 1);
  kCopy(part(x, from, steps, inner), part(out, to, steps, inner));
}

/// Registers every kernel of this header under one name and rank.
template <Copy kCopy>
struct Registration {
  Registration(std::string_view name, int rank) {
    auto add = [&](std::string_view op, void (*run)(const KernelCall&), uint32_t in_place = 0) {
      KernelRegistrar(op, Kernel{.name = name, .in_layout = Layout::kAny, .run = run, .in_place = in_place},
                      rank);
    };
    add("reshape", run_copy<kCopy>);
    add("contiguous", run_copy<kCopy>);
    add("concat", run_concat<kCopy>);
    add("slice_backward", run_slice_backward<kCopy>);
    add("slice_update", run_slice_update<kCopy>, 1);
    add("diagonal_backward", run_diagonal_backward<kCopy>);
    add("pad", run_pad<kCopy>);
  }
};

}  // namespace sorus::moves
