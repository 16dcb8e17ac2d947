#include <algorithm>
#include <cmath>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/labels.h"
#include "sorus/kernels/reference/wide.h"
#include "sorus/ops/nn/attributes.h"

/// Softmax cross-entropy and its gradient as they are defined, row by row in double.
namespace sorus {
namespace {

struct Row {
  double max = 0;
  double log_sum = 0;  ///< of exp(x - max)
};
template <class T>
Row measure(const T* x, int64_t n) {
  Row row{wide(x[0]), 0};
  for (int64_t i = 1; i < n; ++i) row.max = std::max(row.max, wide(x[i]));
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(wide(x[i]) - row.max);
  row.log_sum = std::log(sum);
  return row;
}

template <class T>
void loss(const KernelCall& call) {
  const auto& a = call.attrs<CrossEntropyAttrs>();
  int64_t n = call.in[0].size(call.in[0].rank() - 1);
  int64_t rows = call.out[0].numel();
  Labels labels(call.in[1]);
  parallel_for(rows, [&](int64_t r) {
    T* y = call.out[0].as<T>() + r;
    int64_t label = labels[r];
    if (label == a.ignore_index) {
      *y = T(0.0F);
      return;
    }
    const T* x = call.in[0].as<T>() + r * n;
    Row row = measure(x, n);
    double at_label = row.log_sum - (wide(x[label]) - row.max);
    double total = 0;  // of the uniform part of the target
    if (a.label_smoothing > 0)
      for (int64_t i = 0; i < n; ++i) total += row.log_sum - (wide(x[i]) - row.max);
    double smooth = a.label_smoothing;
    *y = narrow<T>((1 - smooth) * at_label + smooth / static_cast<double>(n) * total);
  });
}

template <class T>
void backward(const KernelCall& call) {
  const auto& a = call.attrs<CrossEntropyAttrs>();
  int64_t n = call.in[0].size(call.in[0].rank() - 1);
  int64_t rows = call.in[2].numel();
  Labels labels(call.in[1]);
  parallel_for(rows, [&](int64_t r) {
    const T* x = call.in[0].as<T>() + r * n;
    T* dx = call.out[0].as<T>() + r * n;
    int64_t label = labels[r];
    if (label == a.ignore_index) {
      std::fill(dx, dx + n, T(0.0F));
      return;
    }
    Row row = measure(x, n);
    double g = wide(call.in[2].as<T>()[r]);
    double uniform = a.label_smoothing / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) {
      double target = uniform + (i == label ? 1 - a.label_smoothing : 0);
      dx[i] = narrow<T>((std::exp(wide(x[i]) - row.max - row.log_sum) - target) * g);
    }
  });
}

const KernelRegistrar loss_registered{
    "softmax_cross_entropy",
    {.name = "softmax_cross_entropy_reference",
     .run = by_floating<loss<Float16>, loss<BFloat16>, loss<float>, loss<double>>},
    kReferenceRank};
const KernelRegistrar backward_registered{
    "softmax_cross_entropy_backward",
    {.name = "softmax_cross_entropy_backward_reference",
     .run = by_floating<backward<Float16>, backward<BFloat16>, backward<float>, backward<double>>},
    kReferenceRank};

}  // namespace
}  // namespace sorus
