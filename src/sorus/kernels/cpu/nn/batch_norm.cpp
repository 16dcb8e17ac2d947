#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/batch_norm.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <cmath>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/cpu/nn/block.h"
#include "sorus/kernels/cpu/nn/elements.h"
#include "sorus/kernels/cpu/nn/row_pieces.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/ops/nn/attributes.h"

/// Batch norm of channels-last tensors, taken as rows of channels. Sums over rows run in float32 (of float64
/// in float64) inside pieces of rows cut by the shape alone, and in double over the pieces in order.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// Blocks of channels that are summed side by side.
constexpr int kSideBySide = 4;

RowPieces rows_of(const Array& x) {
  int64_t channels = x.size(1);
  return {channels == 0 ? 0 : x.numel() / channels, channels};
}

/// sums[c] = sum over rows of term(row, first channel, count), for the channels of one piece.
template <class S, class Term>
SORUS_FLATTEN void sum_rows(int64_t begin, int64_t end, int64_t channels, S* sums, Term term) {
  int64_t c = 0;
  for (; c + kSideBySide * kBlock <= channels; c += kSideBySide * kBlock) {
    Lanes<BlockOf<S>, kSideBySide> acc;
    for_each_lane([](BlockOf<S>& sum) { sum = BlockOf<S>::of(0); }, acc);
    for (int64_t row = begin; row < end; ++row) {
      int64_t at = c;
      for_each_lane(
          [&](BlockOf<S>& sum) {
            sum = sum + term(row, at, kBlock);
            at += kBlock;
          },
          acc);
    }
    S* to = sums + c;
    for_each_lane(
        [&](BlockOf<S>& sum) {
          store_full(sum, to);
          to += kBlock;
        },
        acc);
  }
  for (; c < channels; c += kBlock) {
    int64_t count = std::min(kBlock, channels - c);
    auto acc = BlockOf<S>::of(0);
    for (int64_t row = begin; row < end; ++row) acc = acc + term(row, c, count);
    store_full(acc, sums + c);
  }
}

/// total(c, sum over all pieces) for every channel.
template <class S, class Total>
void join_pieces(const RowPieces& p, const S* sums, Total total) {
  for (int64_t c = 0; c < p.n; ++c) {
    double sum = 0;
    for (int64_t piece = 0; piece < p.pieces; ++piece)
      sum += static_cast<double>(sums[piece * p.padded() + c]);
    total(c, sum);
  }
}

template <class T>
void forward(const KernelCall& call) {
  RowPieces p = rows_of(call.in[0]);
  const T* x = call.in[0].as<T>();
  using S = ComputeType<T>;
  auto* mean = static_cast<S*>(call.workspace);
  S* scale = mean + p.padded();
  S* shift = scale + p.padded();
  S* sums = shift + p.padded();
  auto count_rows = static_cast<double>(p.rows);
  p.for_each([&](int64_t begin, int64_t end, int64_t piece) {
    sum_rows(begin, end, p.n, sums + piece * p.padded(),
             [&](int64_t row, int64_t c, int64_t count) { return load_block(x + row * p.n + c, count, 0); });
  });
  join_pieces(p, sums, [&](int64_t c, double sum) { mean[c] = static_cast<S>(sum / count_rows); });
  p.for_each([&](int64_t begin, int64_t end, int64_t piece) {
    sum_rows(begin, end, p.n, sums + piece * p.padded(), [&](int64_t row, int64_t c, int64_t count) {
      const BlockOf<S> d = load_block(x + row * p.n + c, count, 0) - load_full(mean + c);
      return d * d;
    });
  });
  double epsilon = call.attrs<NormAttrs>().epsilon;
  join_pieces(p, sums, [&](int64_t c, double sum) {
    double variance = sum / count_rows;
    call.out[1].as<S>()[c] = mean[c];
    call.out[2].as<S>()[c] = static_cast<S>(variance);
    double r = 1 / std::sqrt(static_cast<double>(static_cast<S>(variance)) + epsilon);
    scale[c] = static_cast<S>(r * cpu::element<double>(call.in[1], c, 1));
    shift[c] = cpu::element<S>(call.in[2], c, 0);
  });
  T* y = call.out[0].as<T>();
  p.for_each([&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row)
      for_each_block(p.n, [&](int64_t c, int64_t count) {
        const BlockOf<S> d = load_block(x + row * p.n + c, count, 0) - load_full(mean + c);
        store_block<T>(fma(d, load_full(scale + c), load_full(shift + c)), y + row * p.n + c, count);
      });
  });
}

/// dx = r * gamma * (g - mean(g) - n * mean(g * n)), n = (x - mean) * r.
template <class T>
void backward(const KernelCall& call) {
  RowPieces p = rows_of(call.in[0]);
  const T* x = call.in[0].as<T>();
  const T* g = call.in[1].as<T>();
  using S = ComputeType<T>;
  auto* mean = static_cast<S*>(call.workspace);
  S* inverse = mean + p.padded();
  S* average = inverse + p.padded();
  S* slope = average + p.padded();
  S* scale = slope + p.padded();
  S* sums = scale + p.padded();
  S* dots = sums + p.pieces * p.padded();
  double epsilon = call.attrs<NormAttrs>().epsilon;
  for (int64_t c = 0; c < p.n; ++c) {
    mean[c] = call.in[2].as<S>()[c];
    double r = 1 / std::sqrt(static_cast<double>(call.in[3].as<S>()[c]) + epsilon);
    inverse[c] = static_cast<S>(r);
    scale[c] = static_cast<S>(r * cpu::element<double>(call.in[4], c, 1));
  }
  auto normalized = [&](int64_t row, int64_t c, int64_t count) {
    return (load_block(x + row * p.n + c, count, 0) - load_full(mean + c)) * load_full(inverse + c);
  };
  p.for_each([&](int64_t begin, int64_t end, int64_t piece) {
    sum_rows(begin, end, p.n, sums + piece * p.padded(),
             [&](int64_t row, int64_t c, int64_t count) { return load_block(g + row * p.n + c, count, 0); });
    sum_rows(begin, end, p.n, dots + piece * p.padded(), [&](int64_t row, int64_t c, int64_t count) {
      return load_block(g + row * p.n + c, count, 0) * normalized(row, c, count);
    });
  });
  bool parameters = call.in[4].present();
  auto count_rows = static_cast<double>(p.rows);
  join_pieces(p, sums, [&](int64_t c, double sum) {
    average[c] = static_cast<S>(sum / count_rows);
    if (parameters) cpu::set_element(call.out[2], c, sum);
  });
  join_pieces(p, dots, [&](int64_t c, double sum) {
    slope[c] = static_cast<S>(-sum / count_rows);
    if (parameters) cpu::set_element(call.out[1], c, sum);
  });
  T* dx = call.out[0].as<T>();
  p.for_each([&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row)
      for_each_block(p.n, [&](int64_t c, int64_t count) {
        const BlockOf<S> d = load_block(g + row * p.n + c, count, 0) - load_full(average + c);
        const BlockOf<S> v = fma(normalized(row, c, count), load_full(slope + c), d) * load_full(scale + c);
        store_block<T>(v, dx + row * p.n + c, count);
      });
  });
}

void batch_norm(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { forward<T>(c); });
}
void batch_norm_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { backward<T>(c); });
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(batch_norm);
HWY_EXPORT(batch_norm_backward);

RowPieces pieces_of(const KernelCall& c) {
  int64_t channels = c.in[0].size(1);
  return {c.in[0].numel() / channels, channels};
}
/// For `fixed` rows of channels, and `per_piece` more in each piece.
template <int64_t fixed, int64_t per_piece>
size_t workspace(const KernelCall& c) {
  const RowPieces p = pieces_of(c);
  return compute_size(c) * static_cast<size_t>((fixed + per_piece * p.pieces) * p.padded());
}
Kernel norm_kernel(std::string_view name, size_t (*workspace)(const KernelCall&),
                   void (*run)(const KernelCall&)) {
  return {.name = name,
          .in_layout = Layout::kChannelsLast,
          .out_layout = Layout::kChannelsLast,
          .supports = refuse_empty,
          .workspace = workspace,
          .run = run};
}

const SimdRegistrar registered[] = {
    {"batch_norm", norm_kernel("batch_norm_simd", workspace<3, 1>, run_best<HWY_DISPATCH_TABLE(batch_norm)>)},
    {"batch_norm_backward", norm_kernel("batch_norm_backward_simd", workspace<5, 2>,
                                        run_best<HWY_DISPATCH_TABLE(batch_norm_backward)>)}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
