#include <algorithm>
#include <cmath>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/reference/wide.h"
#include "sorus/ops/nn/attributes.h"

/// Softmax, its logarithm and their gradients as they are defined, line by line in double.
namespace sorus {
namespace {

/// Calls f(offset of the first element) for every line along `axis` of row-major tensors of that shape.
template <class F>
void for_each_line(const Shape& shape, int axis, F&& f) {
  int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape.size(i);
  int64_t n = shape.size(axis);
  if (shape.numel() == 0) return;
  parallel_for(shape.numel() / n,
               [&](int64_t line) { f(line / inner * inner * n + line % inner, inner, n); });
}

int axis_of(const KernelCall& call) { return static_cast<int>(call.attrs<SoftmaxAttrs>().axis); }

template <class T>
double largest(const T* x, int64_t step, int64_t n) {
  double m = wide(x[0]);
  for (int64_t i = 1; i < n; ++i) m = std::max(m, wide(x[i * step]));
  return m;
}

template <class T>
double sum_of_exp(const T* x, int64_t step, int64_t n, double max) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(wide(x[i * step]) - max);
  return sum;
}

template <class T>
void softmax(const KernelCall& call) {
  for_each_line(*call.in[0].shape, axis_of(call), [&](int64_t at, int64_t step, int64_t n) {
    const T* x = call.in[0].as<T>() + at;
    T* y = call.out[0].as<T>() + at;
    double max = largest(x, step, n);
    double sum = sum_of_exp(x, step, n, max);
    for (int64_t i = 0; i < n; ++i) y[i * step] = narrow<T>(std::exp(wide(x[i * step]) - max) / sum);
  });
}

template <class T>
void log_softmax(const KernelCall& call) {
  for_each_line(*call.in[0].shape, axis_of(call), [&](int64_t at, int64_t step, int64_t n) {
    const T* x = call.in[0].as<T>() + at;
    T* y = call.out[0].as<T>() + at;
    double max = largest(x, step, n);
    double log_sum = std::log(sum_of_exp(x, step, n, max));
    for (int64_t i = 0; i < n; ++i) y[i * step] = narrow<T>(wide(x[i * step]) - max - log_sum);
  });
}

template <class T>
void softmax_backward(const KernelCall& call) {
  for_each_line(*call.in[0].shape, axis_of(call), [&](int64_t at, int64_t step, int64_t n) {
    const T* y = call.in[0].as<T>() + at;
    const T* g = call.in[1].as<T>() + at;
    T* dx = call.out[0].as<T>() + at;
    double dot = 0;
    for (int64_t i = 0; i < n; ++i) dot += wide(y[i * step]) * wide(g[i * step]);
    for (int64_t i = 0; i < n; ++i) dx[i * step] = narrow<T>(wide(y[i * step]) * (wide(g[i * step]) - dot));
  });
}

template <class T>
void log_softmax_backward(const KernelCall& call) {
  for_each_line(*call.in[0].shape, axis_of(call), [&](int64_t at, int64_t step, int64_t n) {
    const T* y = call.in[0].as<T>() + at;
    const T* g = call.in[1].as<T>() + at;
    T* dx = call.out[0].as<T>() + at;
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += wide(g[i * step]);
    for (int64_t i = 0; i < n; ++i)
      dx[i * step] = narrow<T>(wide(g[i * step]) - std::exp(wide(y[i * step])) * sum);
  });
}

const KernelRegistrar softmax_registered{
    "softmax",
    {.name = "softmax_reference",
     .run = by_floating<softmax<Float16>, softmax<BFloat16>, softmax<float>, softmax<double>>},
    kReferenceRank};
const KernelRegistrar log_softmax_registered{
    "log_softmax",
    {.name = "log_softmax_reference",
     .run =
         by_floating<log_softmax<Float16>, log_softmax<BFloat16>, log_softmax<float>, log_softmax<double>>},
    kReferenceRank};
const KernelRegistrar softmax_backward_registered{
    "softmax_backward",
    {.name = "softmax_backward_reference",
     .run = by_floating<softmax_backward<Float16>, softmax_backward<BFloat16>, softmax_backward<float>,
                        softmax_backward<double>>},
    kReferenceRank};
const KernelRegistrar log_softmax_backward_registered{
    "log_softmax_backward",
    {.name = "log_softmax_backward_reference",
     .run = by_floating<log_softmax_backward<Float16>, log_softmax_backward<BFloat16>,
                        log_softmax_backward<float>, log_softmax_backward<double>>},
    kReferenceRank};

}  // namespace
}  // namespace sorus
