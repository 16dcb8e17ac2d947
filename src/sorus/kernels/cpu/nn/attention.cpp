#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/attention.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/cpu/nn/attention_call.h"
#include "sorus/kernels/cpu/nn/softmax_rows.h"
#include "sorus/kernels/cpu/random/philox_words.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/ops/nn/attributes.h"

/// Attention and its gradient: a block of rows of one head at a time, whose scores stay in a cache; products
/// as matmul has them, what lies between them here. 16-bit operands are widened to float first and results
/// rounded once.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// Scores of a row to those that count: columns that the mask leaves out are -infinity, from `end` on all.
template <class S>
void mask_row(const AttentionCall<S>& c, int64_t head, int64_t row, S* s) {
  if (c.causal) std::fill(s + c.columns_of(row), s + c.columns, kLowest<S>);
  if (!c.mask.present()) return;
  c.mask.visit_row(head, row, [&](const auto* mask, int64_t step) {
    using M = std::remove_cvref_t<decltype(*mask)>;
    if constexpr (std::is_same_v<M, bool>) {
      for (int64_t j = 0; j < c.columns; ++j) s[j] = mask[j * step] ? s[j] : kLowest<S>;
    } else {
      for (int64_t j = 0; j < c.columns; ++j)
        s[j] += static_cast<S>(static_cast<ComputeType<M>>(mask[j * step]));
    }
  });
}

/// Masked scores to weights in place; notes the largest score and the sum of the exponentials.
template <class S>
SORUS_FLATTEN void to_weights(S* s, int64_t n, S* statistics) {
  statistics[0] = largest(s, n);
  statistics[1] = exponentials(s, s, n, statistics[0], [](int64_t) {});
  scale_row(s, n, S(1) / statistics[1]);
}

/// The same weights again from the statistics.
template <class S>
SORUS_FLATTEN void weights_again(S* s, int64_t n, const S* statistics) {
  const auto shift = BlockOf<S>::of(statistics[0]), scale = BlockOf<S>::of(S(1) / statistics[1]);
  for_each_block(n, [&](int64_t i, int64_t count) {
    store_block(exp(load_block(s + i, count, kLowest<S>) - shift) * scale, s + i, count);
  });
}

/// Drops numbers of a row in place, those that dropout() drops of all weights: weights, or the gradient of
/// what is left of them.
template <class S>
void drop_row(const AttentionCall<S>& c, int64_t head, int64_t row, S* s, int64_t n) {
  const int64_t first = (head * c.rows + row) * c.columns;
  philox_loops::drop_part(s, n, c.random[0], c.random[1], first, c.dropout);
}

/// dp becomes scale * p * (dp - sum(p * dp)).
template <class S>
SORUS_FLATTEN void score_gradient(const S* p, S* dp, int64_t n, S scale) {
  const auto dot = BlockOf<S>::of(dot_of_rows(p, dp, n, [](int64_t) {}));
  const auto factor = BlockOf<S>::of(scale);
  for_each_block(n, [&](int64_t i, int64_t count) {
    store_block(load_block(p + i, count, S(0)) * (load_block(dp + i, count, S(0)) - dot) * factor, dp + i,
                count);
  });
}

template <class S>
SORUS_FLATTEN void add_rows(const S* x, S* sum, int64_t n) {
  for_each_block(n, [&](int64_t i, int64_t count) {
    store_block(load_block(sum + i, count, S(0)) + load_block(x + i, count, S(0)), sum + i, count);
  });
}

/// One block of rows: weights times value, and the statistics.
template <class S>
void forward_block(const AttentionCall<S>& c, int64_t head, int64_t begin, int64_t end) {
  const int64_t rows = end - begin, columns = c.columns_of(end - 1);
  AttentionScratch scratch;
  S* q = scratch.take<S>(rows * c.depth);
  c.query.read(head, begin, end, q);
  scale_row(q, rows * c.depth, c.scale);
  S* s = scratch.take<S>(rows * c.columns);
  const MatrixOf<S> key = c.key.template matrix<S>(head, columns, scratch);
  multiply(rows, columns, c.depth, MatrixOf<S>{q, c.depth, 1}, key.transposed(), s, c.columns);
  for (int64_t i = 0; i < rows; ++i) {
    mask_row(c, head, begin + i, s + i * c.columns);
    to_weights(s + i * c.columns, columns, c.statistics + 2 * (head * c.rows + begin + i));
    if (c.dropout > 0) drop_row(c, head, begin + i, s + i * c.columns, columns);
  }
  const MatrixOf<S> value = c.value.template matrix<S>(head, columns, scratch);
  c.write(0, head * c.rows + begin, rows, c.width, scratch.take<S>(rows * c.width), [&](S* out) {
    multiply(rows, c.width, columns, MatrixOf<S>{s, c.columns, 1}, value, out, c.width);
  });
}

/// Gradients of one head, its blocks of rows one after the other.
template <class S>
void backward_head(const AttentionCall<S>& c, int64_t head) {
  AttentionScratch scratch;
  const int64_t block = std::min(c.block_rows, c.rows);
  S* q = scratch.take<S>(block * c.depth);
  S* g = scratch.take<S>(block * c.width);
  S* p = scratch.take<S>(block * c.columns);
  S* dp = scratch.take<S>(block * c.columns);
  const MatrixOf<S> key = c.key.template matrix<S>(head, c.columns, scratch);
  const MatrixOf<S> value = c.value.template matrix<S>(head, c.columns, scratch);
  S* dk = scratch.take<S>(c.columns * c.depth);
  S* dv = scratch.take<S>(c.columns * c.width);
  S* part = scratch.take<S>(c.columns * std::max(c.depth, c.width));
  S* dq = scratch.take<S>(block * c.depth);
  std::fill_n(dk, c.columns * c.depth, S(0));
  std::fill_n(dv, c.columns * c.width, S(0));
  for (int64_t begin = 0; begin < c.rows; begin += block) {
    const int64_t rows = std::min(block, c.rows - begin), columns = c.columns_of(begin + rows - 1);
    c.query.read(head, begin, begin + rows, q);
    c.gradient.read(head, begin, begin + rows, g);
    scale_row(q, rows * c.depth, c.scale);
    multiply(rows, columns, c.depth, MatrixOf<S>{q, c.depth, 1}, key.transposed(), p, c.columns);
    multiply(rows, columns, c.width, MatrixOf<S>{g, c.width, 1}, value.transposed(), dp, c.columns);
    for (int64_t i = 0; i < rows; ++i) {
      S* weights = p + i * c.columns;
      mask_row(c, head, begin + i, weights);
      weights_again(weights, columns, c.statistics + 2 * (head * c.rows + begin + i));
      if (c.dropout > 0) drop_row(c, head, begin + i, dp + i * c.columns, columns);
      score_gradient(weights, dp + i * c.columns, columns, c.scale);
      if (c.dropout > 0) drop_row(c, head, begin + i, weights, columns);
    }
    const auto add = [&](const S* a, const S* b, int64_t width, S* sum) {
      // The first block's product is the sum so far where it has all columns.
      const bool first = begin == 0 && columns == c.columns;
      multiply(columns, width, rows, MatrixOf<S>{a, 1, c.columns}, MatrixOf<S>{b, width, 1},
               first ? sum : part, width);
      if (!first) add_rows(part, sum, columns * width);
    };
    add(p, g, c.width, dv);
    c.query.read(head, begin, begin + rows, q);
    add(dp, q, c.depth, dk);
    c.write(0, head * c.rows + begin, rows, c.depth, dq, [&](S* out) {
      multiply(rows, c.depth, columns, MatrixOf<S>{dp, c.columns, 1}, key, out, c.depth);
    });
  }
  c.store(1, head * c.columns * c.depth, dk, c.columns * c.depth);
  c.store(2, head * c.columns * c.width, dv, c.columns * c.width);
}

template <class S>
void attention_in(const KernelCall& call) {
  const AttentionCall<S> c(call);
  if (c.rows == 0 || c.heads == 0) return;
  const int64_t blocks = (c.rows + c.block_rows - 1) / c.block_rows;
  parallel_for(c.heads * blocks, [&](int64_t piece) {
    const int64_t begin = piece % blocks * c.block_rows;
    forward_block(c, piece / blocks, begin, std::min(c.rows, begin + c.block_rows));
  });
}

template <class S>
void attention_backward_in(const KernelCall& call) {
  const AttentionCall<S> c(call);
  parallel_for(c.heads, [&](int64_t head) { backward_head(c, head); });
}

bool is_double(const KernelCall& call) { return call.out[0].dtype == DType::kFloat64; }
void attention(const KernelCall& call) {
  is_double(call) ? attention_in<double>(call) : attention_in<float>(call);
}
void attention_backward(const KernelCall& call) {
  is_double(call) ? attention_backward_in<double>(call) : attention_backward_in<float>(call);
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(attention);
HWY_EXPORT(attention_backward);

Refusal supports(const KernelCall& call) {
  return call.in[2].numel() == 0 ? "there are no values" : kAccepted;
}

const SimdRegistrar registered{"attention",
                               {.name = "attention_blocks",
                                .in_layout = Layout::kAny,
                                .out_layout = Layout::kContiguous,
                                .supports = supports,
                                .run = run_best<HWY_DISPATCH_TABLE(attention)>}};
const SimdRegistrar backward_registered{"attention_backward",
                                        {.name = "attention_backward_blocks",
                                         .in_layout = Layout::kAny,
                                         .out_layout = Layout::kContiguous,
                                         .supports = supports,
                                         .run = run_best<HWY_DISPATCH_TABLE(attention_backward)>}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
