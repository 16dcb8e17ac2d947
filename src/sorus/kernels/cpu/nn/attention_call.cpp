#include "sorus/kernels/cpu/nn/attention_call.h"

#include <cstring>

#include "sorus/base/tunable.h"
#include "sorus/kernels/cpu/copy/strided_copy.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"
#include "sorus/kernels/cpu/linalg/matmul_call.h"
#include "sorus/kernels/cpu/matmul/matmul.h"
#include "sorus/ops/nn/attributes.h"

namespace sorus {
namespace {

// With weights and their gradient they fit a second-level cache. Gradients are added block by block.
const Tunable block_scores({.name = "attention.block_scores",
                            .initial = 64 << 10,
                            .least = 8 << 10,
                            .most = 512 << 10,
                            .effect = BitEffect::kMovesBits,
                            .doc = "scores that are computed at once, for whole rows of queries"});
/// Below so many heads, blocks are smaller, so that there is work for several threads.
constexpr int64_t kManyHeads = 8;

int64_t rows_of_block(int64_t heads, int64_t rows, int64_t columns) {
  int64_t block = std::max<int64_t>(16, block_scores.get() / std::max<int64_t>(1, columns) / 16 * 16);
  if (heads < kManyHeads) block = std::min(block, std::max<int64_t>(16, rows * heads / kManyHeads / 16 * 16));
  return std::clamp<int64_t>(block, 1, std::max<int64_t>(1, rows));
}

template <class S>
void widen_row(const std::byte* from, DType dtype, S* to, int64_t n) {
  if (dtype == dtype_of<S>) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(S));
  } else if constexpr (std::is_same_v<S, float>) {
    if (dtype == DType::kBFloat16)
      cpu::widen(reinterpret_cast<const BFloat16*>(from), to, n);
    else
      cpu::widen(reinterpret_cast<const Float16*>(from), to, n);
  }
}

}  // namespace

void multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<float>& a, const MatrixOf<float>& b, float* out,
              int64_t step) {
  kernels::MatmulProblem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a.row_stride = a.row;
  problem.a.col_stride = a.column;
  problem.b.row_stride = b.row;
  problem.b.col_stride = b.column;
  problem.out.row_stride = step;
  Ref<Storage> workspace;
  if (size_t bytes = kernels::matmul::workspace(problem)) workspace = Storage::allocate(bytes);
  kernels::matmul::multiply(problem, a.data, b.data, nullptr, out, workspace ? workspace->data() : nullptr);
}

void multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<double>& a, const MatrixOf<double>& b,
              double* out, int64_t step) {
  MatmulCall call;
  call.m = m;
  call.n = n;
  call.k = k;
  call.a.row = a.row;
  call.a.column = a.column;
  call.b.row = b.row;
  call.b.column = b.column;
  call.out.row = step;
  call.out.column = 1;
  multiply_blocked(call, a.data, b.data, out);
}

int64_t HeadArray::offset(int64_t head) const {
  int64_t at = 0;
  for (int axis = array_.rank() - 3; axis >= 0; --axis) {
    at += head % array_.size(axis) * array_.strides[axis];
    head /= array_.size(axis);
  }
  return at;
}

template <class S>
void HeadArray::read(int64_t head, int64_t begin, int64_t end, S* to) const {
  const int rank = array_.rank();
  const int64_t row = array_.strides[rank - 2], column = array_.strides[rank - 1],
                width = array_.size(rank - 1);
  const auto size = static_cast<int64_t>(dtype_size(array_.dtype));
  const std::byte* from = array_.data + (offset(head) + begin * row) * size;
  if (column == 1 || width == 1) {
    for (int64_t i = 0; i < end - begin; ++i)
      widen_row(from + i * row * size, array_.dtype, to + i * width, width);
    return;
  }
  const Shape shape{end - begin, width};
  Strides strides = Strides::contiguous(shape);
  strides[0] = row;
  strides[1] = column;
  Ref<Storage> packed = Storage::allocate(static_cast<size_t>(shape.numel() * size));
  copy_array({const_cast<std::byte*>(from), array_.dtype, &shape, strides},
             {packed->data(), array_.dtype, &shape, Strides::contiguous(shape)});
  widen_row(packed->data(), array_.dtype, to, shape.numel());
}

template <class S>
MatrixOf<S> HeadArray::matrix(int64_t head, int64_t rows, AttentionScratch& scratch) const {
  const int rank = array_.rank();
  const int64_t width = array_.size(rank - 1);
  if (array_.dtype == dtype_of<S>)
    return {array_.as<S>() + offset(head), array_.strides[rank - 2], array_.strides[rank - 1]};
  S* wide = scratch.take<S>(rows * width);
  read(head, 0, rows, wide);
  return {wide, width, 1};
}

template <class S>
AttentionCall<S>::AttentionCall(const KernelCall& call)
    : causal(call.attrs<AttentionAttrs>().causal),
      scale(static_cast<S>(call.attrs<AttentionAttrs>().scale)),
      dropout(call.attrs<AttentionAttrs>().dropout),
      query(call.in[0]),
      key(call.in[1]),
      value(call.in[2]),
      mask(call.in[3]),
      out_(call.out) {
  const Shape &q = *call.in[0].shape, &v = *call.in[2].shape;
  const int rank = q.rank();
  for (int i = 0; i + 2 < rank; ++i) heads *= q.size(i);
  rows = q.size(rank - 2);
  depth = q.size(rank - 1);
  columns = v.size(rank - 2);
  width = v.size(rank - 1);
  block_rows = rows_of_block(heads, rows, columns);
  for (int64_t i = 0; dropout > 0 && i < 2; ++i)
    random[i] = call.in[4].as<uint64_t>()[i * call.in[4].strides[0]];
  const bool is_gradient = call.in.size() > 5;
  if (is_gradient) gradient = HeadArray(call.in[6]);
  statistics = is_gradient ? call.in[5].as<S>() : call.out[1].as<S>();
}

template <class S>
void AttentionCall<S>::store(size_t result, int64_t begin, const S* from, int64_t count) const {
  const Array& out = out_[result];
  if (out.dtype == dtype_of<S>) {
    std::memcpy(out.as<S>() + begin, from, static_cast<size_t>(count) * sizeof(S));
  } else if constexpr (std::is_same_v<S, float>) {
    if (out.dtype == DType::kBFloat16)
      cpu::narrow(from, out.as<BFloat16>() + begin, count);
    else
      cpu::narrow(from, out.as<Float16>() + begin, count);
  }
}

template void HeadArray::read(int64_t head, int64_t begin, int64_t end, float* to) const;
template void HeadArray::read(int64_t head, int64_t begin, int64_t end, double* to) const;
template MatrixOf<float> HeadArray::matrix(int64_t head, int64_t rows, AttentionScratch& scratch) const;
template MatrixOf<double> HeadArray::matrix(int64_t head, int64_t rows, AttentionScratch& scratch) const;
template struct AttentionCall<float>;
template struct AttentionCall<double>;

}  // namespace sorus
