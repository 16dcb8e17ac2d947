#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/core/philox.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/reference/wide.h"
#include "sorus/ops/nn/attributes.h"

/// Attention and its gradient as they are defined, row by row in double.
namespace sorus {
namespace {

/// The operands of one call, row-major.
template <class T>
struct Heads {
  int64_t heads, rows, columns, depth, width;
  const T *q, *k, *v;
  const Array& mask;
  const Array& random;
  bool causal;
  double scale, dropout;

  explicit Heads(const KernelCall& call)
      : q(call.in[0].as<T>()),
        k(call.in[1].as<T>()),
        v(call.in[2].as<T>()),
        mask(call.in[3]),
        random(call.in[4]) {
    const Shape &query = *call.in[0].shape, &value = *call.in[2].shape;
    const int rank = query.rank();
    rows = query.size(rank - 2);
    columns = value.size(rank - 2);
    depth = query.size(rank - 1);
    width = value.size(rank - 1);
    heads = 1;
    for (int i = 0; i + 2 < query.rank(); ++i) heads *= query.size(i);
    causal = call.attrs<AttentionAttrs>().causal;
    scale = call.attrs<AttentionAttrs>().scale;
    dropout = call.attrs<AttentionAttrs>().dropout;
  }

  /// What dropout multiplies weight `j` of row `r` with, and its gradient.
  [[nodiscard]] double kept(int64_t r, int64_t j) const {
    if (dropout == 0) return 1;
    const auto i = static_cast<uint64_t>(r * columns + j);
    const uint64_t* key = random.as<uint64_t>();
    const uint32_t word = philox(key[0], key[1] + i / 4)[i % 4];
    return word >= static_cast<uint64_t>(dropout * 0x1p32) ? 1.0 / (1.0 - dropout) : 0.0;
  }

  /// The scores of row `r` (counted over all heads), with its mask.
  void scores(int64_t r, std::vector<double>& s) const {
    const int64_t head = r / rows;
    s.resize(static_cast<size_t>(columns));
    for (int64_t j = 0; j < columns; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < depth; ++d)
        dot += wide(q[r * depth + d]) * wide(k[(head * columns + j) * depth + d]);
      double& score = s[static_cast<size_t>(j)];
      score = dot * scale;
      if (causal && j > r % rows) score = -std::numeric_limits<double>::infinity();
      if (!mask.present()) continue;
      if (mask.dtype != DType::kBool)
        score += wide(mask.as<T>()[r * columns + j]);
      else if (!mask.as<bool>()[r * columns + j])
        score = -std::numeric_limits<double>::infinity();
    }
  }
};

template <class T>
using Statistic = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Scores to weights; returns the largest score and the sum of the exponentials.
std::pair<double, double> to_weights(std::vector<double>& s) {
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (double x : s) top = x > top || std::isnan(x) ? x : top;
  for (double& x : s) total += x = std::exp(x - top);
  for (double& x : s) x /= total;
  return {top, total};
}

template <class T>
void attention(const KernelCall& call) {
  const Heads<T> h(call);
  parallel_ranges(h.heads * h.rows, 16, [&](int64_t begin, int64_t end) {
    std::vector<double> p;
    for (int64_t r = begin; r < end; ++r) {
      h.scores(r, p);
      const auto [top, total] = to_weights(p);
      auto* statistics = call.out[1].as<Statistic<T>>() + 2 * r;
      statistics[0] = static_cast<Statistic<T>>(top);
      statistics[1] = static_cast<Statistic<T>>(total);
      for (int64_t d = 0; d < h.width; ++d) {
        double sum = 0;
        for (int64_t j = 0; j < h.columns; ++j)
          sum += p[static_cast<size_t>(j)] * h.kept(r, j) *
                 wide(h.v[(r / h.rows * h.columns + j) * h.width + d]);
        call.out[0].as<T>()[r * h.width + d] = narrow<T>(sum);
      }
    }
  });
}

/// Sums of one head in double, rounded once.
template <class T>
void head_backward(const KernelCall& call, const Heads<T>& h, int64_t head) {
  const T* g = call.in[6].as<T>();
  std::vector<double> p, dp(static_cast<size_t>(h.columns));
  std::vector<double> dk(static_cast<size_t>(h.columns * h.depth)),
      dv(static_cast<size_t>(h.columns * h.width));
  for (int64_t r = head * h.rows; r < (head + 1) * h.rows; ++r) {
    h.scores(r, p);
    (void)to_weights(p);
    double dot = 0;
    for (int64_t j = 0; j < h.columns; ++j) {
      double& x = dp[static_cast<size_t>(j)] = 0;
      const double kept = h.kept(r, j);
      for (int64_t d = 0; d < h.width; ++d) {
        const double gradient = wide(g[r * h.width + d]);
        x += gradient * wide(h.v[(head * h.columns + j) * h.width + d]);
        dv[static_cast<size_t>(j * h.width + d)] += p[static_cast<size_t>(j)] * kept * gradient;
      }
      x *= kept;
      dot += p[static_cast<size_t>(j)] * x;
    }
    std::vector<double> dq(static_cast<size_t>(h.depth));
    for (int64_t j = 0; j < h.columns; ++j) {
      const double ds = p[static_cast<size_t>(j)] * (dp[static_cast<size_t>(j)] - dot) * h.scale;
      for (int64_t d = 0; d < h.depth; ++d) {
        dq[static_cast<size_t>(d)] += ds * wide(h.k[(head * h.columns + j) * h.depth + d]);
        dk[static_cast<size_t>(j * h.depth + d)] += ds * wide(h.q[r * h.depth + d]);
      }
    }
    for (int64_t d = 0; d < h.depth; ++d)
      call.out[0].as<T>()[r * h.depth + d] = narrow<T>(dq[static_cast<size_t>(d)]);
  }
  for (size_t i = 0; i < dk.size(); ++i)
    call.out[1].as<T>()[static_cast<size_t>(head * h.columns * h.depth) + i] = narrow<T>(dk[i]);
  for (size_t i = 0; i < dv.size(); ++i)
    call.out[2].as<T>()[static_cast<size_t>(head * h.columns * h.width) + i] = narrow<T>(dv[i]);
}

template <class T>
void attention_backward(const KernelCall& call) {
  const Heads<T> h(call);
  parallel_for(h.heads, [&](int64_t head) { head_backward(call, h, head); });
}

const KernelRegistrar registered{
    "attention",
    {.name = "attention_reference",
     .run = by_floating<attention<Float16>, attention<BFloat16>, attention<float>, attention<double>>},
    kReferenceRank};
const KernelRegistrar backward_registered{
    "attention_backward",
    {.name = "attention_backward_reference",
     .run = by_floating<attention_backward<Float16>, attention_backward<BFloat16>, attention_backward<float>,
                        attention_backward<double>>},
    kReferenceRank};

}  // namespace
}  // namespace sorus
