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
#include "sorus/kernels/cpu/nn/row_pieces.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/ops/nn/attributes.h"

/// Batch norm of channels-last tensors, taken as rows of channels. Sums over rows run in float32 inside
/// pieces of rows cut by the shape alone, and in double over the pieces in order.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// Blocks of channels that are summed side by side.
constexpr int kSideBySide = 4;

float element(const Array& a, int64_t i) {
  switch (a.dtype) {
    case DType::kFloat32:
      return a.as<float>()[i];
    case DType::kBFloat16:
      return static_cast<float>(a.as<BFloat16>()[i]);
    default:
      return static_cast<float>(a.as<Float16>()[i]);
  }
}
void set_element(const Array& a, int64_t i, double v) {
  switch (a.dtype) {
    case DType::kFloat32:
      a.as<float>()[i] = static_cast<float>(v);
      return;
    case DType::kBFloat16:
      a.as<BFloat16>()[i] = BFloat16(static_cast<float>(v));
      return;
    default:
      a.as<Float16>()[i] = Float16(static_cast<float>(v));
  }
}

RowPieces rows_of(const Array& x) {
  int64_t channels = x.size(1);
  return {channels == 0 ? 0 : x.numel() / channels, channels};
}

/// sums[c] = sum over rows of term(row, first channel, count), for the channels of one piece.
template <class Term>
void sum_rows(int64_t begin, int64_t end, int64_t channels, float* sums, Term term) {
  int64_t c = 0;
  for (; c + kSideBySide * kBlock <= channels; c += kSideBySide * kBlock) {
    Block acc[kSideBySide];
    for (Block& b : acc) b = Block::of(0);
    for (int64_t row = begin; row < end; ++row)
      for (int i = 0; i < kSideBySide; ++i) acc[i] = acc[i] + term(row, c + i * kBlock, kBlock);
    for (int i = 0; i < kSideBySide; ++i) store_floats(acc[i], sums + c + i * kBlock);
  }
  for (; c < channels; c += kBlock) {
    int64_t count = std::min(kBlock, channels - c);
    Block acc = Block::of(0);
    for (int64_t row = begin; row < end; ++row) acc = acc + term(row, c, count);
    store_floats(acc, sums + c);
  }
}

/// total(c, sum over all pieces) for every channel.
template <class Total>
void join_pieces(const RowPieces& p, const float* sums, Total total) {
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
  auto* mean = static_cast<float*>(call.workspace);
  float* scale = mean + p.padded();
  float* shift = scale + p.padded();
  float* sums = shift + p.padded();
  auto count_rows = static_cast<double>(p.rows);
  p.for_each([&](int64_t begin, int64_t end, int64_t piece) {
    sum_rows(begin, end, p.n, sums + piece * p.padded(),
             [&](int64_t row, int64_t c, int64_t count) { return load_block(x + row * p.n + c, count, 0); });
  });
  join_pieces(p, sums, [&](int64_t c, double sum) { mean[c] = static_cast<float>(sum / count_rows); });
  p.for_each([&](int64_t begin, int64_t end, int64_t piece) {
    sum_rows(begin, end, p.n, sums + piece * p.padded(), [&](int64_t row, int64_t c, int64_t count) {
      Block d = load_block(x + row * p.n + c, count, 0) - load_floats(mean + c);
      return d * d;
    });
  });
  double epsilon = call.attrs<NormAttrs>().epsilon;
  join_pieces(p, sums, [&](int64_t c, double sum) {
    double variance = sum / count_rows;
    call.out[1].as<float>()[c] = mean[c];
    call.out[2].as<float>()[c] = static_cast<float>(variance);
    double r = 1 / std::sqrt(static_cast<double>(static_cast<float>(variance)) + epsilon);
    double gamma = call.in[1].present() ? static_cast<double>(element(call.in[1], c)) : 1;
    scale[c] = static_cast<float>(r * gamma);
    shift[c] = call.in[2].present() ? element(call.in[2], c) : 0;
  });
  T* y = call.out[0].as<T>();
  p.for_each([&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row)
      for_each_block(p.n, [&](int64_t c, int64_t count) {
        Block d = load_block(x + row * p.n + c, count, 0) - load_floats(mean + c);
        store_block(fma(d, load_floats(scale + c), load_floats(shift + c)), y + row * p.n + c, count);
      });
  });
}

/// dx = r * gamma * (g - mean(g) - n * mean(g * n)), n = (x - mean) * r.
template <class T>
void backward(const KernelCall& call) {
  RowPieces p = rows_of(call.in[0]);
  const T* x = call.in[0].as<T>();
  const T* g = call.in[1].as<T>();
  auto* mean = static_cast<float*>(call.workspace);
  float* inverse = mean + p.padded();
  float* average = inverse + p.padded();
  float* slope = average + p.padded();
  float* scale = slope + p.padded();
  float* sums = scale + p.padded();
  float* dots = sums + p.pieces * p.padded();
  double epsilon = call.attrs<NormAttrs>().epsilon;
  for (int64_t c = 0; c < p.n; ++c) {
    mean[c] = call.in[2].as<float>()[c];
    double r = 1 / std::sqrt(static_cast<double>(call.in[3].as<float>()[c]) + epsilon);
    inverse[c] = static_cast<float>(r);
    scale[c] =
        static_cast<float>(r * (call.in[4].present() ? static_cast<double>(element(call.in[4], c)) : 1));
  }
  auto normalized = [&](int64_t row, int64_t c, int64_t count) {
    return (load_block(x + row * p.n + c, count, 0) - load_floats(mean + c)) * load_floats(inverse + c);
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
    average[c] = static_cast<float>(sum / count_rows);
    if (parameters) set_element(call.out[2], c, sum);
  });
  join_pieces(p, dots, [&](int64_t c, double sum) {
    slope[c] = static_cast<float>(-sum / count_rows);
    if (parameters) set_element(call.out[1], c, sum);
  });
  T* dx = call.out[0].as<T>();
  p.for_each([&](int64_t begin, int64_t end, int64_t) {
    for (int64_t row = begin; row < end; ++row)
      for_each_block(p.n, [&](int64_t c, int64_t count) {
        Block d = load_block(g + row * p.n + c, count, 0) - load_floats(average + c);
        Block v = fma(normalized(row, c, count), load_floats(slope + c), d) * load_floats(scale + c);
        store_block(v, dx + row * p.n + c, count);
      });
  });
}

void batch_norm(const KernelCall& c) {
  by_type(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { forward<T>(c); });
}
void batch_norm_backward(const KernelCall& c) {
  by_type(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { backward<T>(c); });
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
size_t floats(int64_t n) { return sizeof(float) * static_cast<size_t>(n); }

const SimdRegistrar forward_registered{"batch_norm",
                                       {.name = "batch_norm_simd",
                                        .in_layout = Layout::kChannelsLast,
                                        .out_layout = Layout::kChannelsLast,
                                        .supports = refuse_float64_and_empty,
                                        .workspace =
                                            [](const KernelCall& c) {
                                              RowPieces p = pieces_of(c);
                                              return floats((3 + p.pieces) * p.padded());
                                            },
                                        .run = run_best<HWY_DISPATCH_TABLE(batch_norm)>}};
const SimdRegistrar backward_registered{"batch_norm_backward",
                                        {.name = "batch_norm_backward_simd",
                                         .in_layout = Layout::kChannelsLast,
                                         .out_layout = Layout::kChannelsLast,
                                         .supports = refuse_float64_and_empty,
                                         .workspace =
                                             [](const KernelCall& c) {
                                               RowPieces p = pieces_of(c);
                                               return floats((5 + 2 * p.pieces) * p.padded());
                                             },
                                         .run = run_best<HWY_DISPATCH_TABLE(batch_norm_backward)>}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
