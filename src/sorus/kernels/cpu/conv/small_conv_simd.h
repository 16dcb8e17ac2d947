// The kernels of small_conv.cpp for one image or a few, compiled once per target. Included by it alone.

#if defined(SORUS_KERNELS_CPU_CONV_SMALL_CONV_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_CONV_SMALL_CONV_SIMD_H_
#undef SORUS_KERNELS_CPU_CONV_SMALL_CONV_SIMD_H_
#else
#define SORUS_KERNELS_CPU_CONV_SMALL_CONV_SIMD_H_
#endif

#include <immintrin.h>

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using small_conv::Geometry;
using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;

constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag()));
constexpr bool kManyRegisters = kLanes >= 16;  // 32 vector registers rather than 16

/// to[j][i] = from[i][j] for 4 x 4 floats.
HWY_INLINE void transpose_4x4(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_stride);
  __m128 c = _mm_loadu_ps(from + 2 * from_stride), e = _mm_loadu_ps(from + 3 * from_stride);
  _MM_TRANSPOSE4_PS(a, b, c, e);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + to_stride, b);
  _mm_storeu_ps(to + 2 * to_stride, c);
  _mm_storeu_ps(to + 3 * to_stride, e);
}

#if HWY_TARGET != HWY_SCALAR
/// to[j][i] = from[i][j] for 4 rows and 8 columns: two 4 x 4 blocks at once.
HWY_INLINE void transpose_4x8(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  __m256 a = _mm256_loadu_ps(from), b = _mm256_loadu_ps(from + from_stride);
  __m256 c = _mm256_loadu_ps(from + 2 * from_stride), e = _mm256_loadu_ps(from + 3 * from_stride);
  __m256d ab_low = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)),
          ab_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
  __m256d ce_low = _mm256_castps_pd(_mm256_unpacklo_ps(c, e)),
          ce_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, e));
  __m256 columns[4] = {_mm256_castpd_ps(_mm256_unpacklo_pd(ab_low, ce_low)),
                       _mm256_castpd_ps(_mm256_unpackhi_pd(ab_low, ce_low)),
                       _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, ce_high)),
                       _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, ce_high))};
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    _mm_storeu_ps(to + k * to_stride, _mm256_castps256_ps128(columns[k]));
    _mm_storeu_ps(to + (k + 4) * to_stride, _mm256_extractf128_ps(columns[k], 1));
  }
}

/// to[j][i] = from[i][j] for 8 rows and 4 columns.
HWY_INLINE void transpose_8x4(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  auto load = [&](int64_t i) HWY_ATTR {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * from_stride)),
                                _mm_loadu_ps(from + (i + 4) * from_stride), 1);
  };
  __m256 a = load(0), b = load(1), c = load(2), e = load(3);
  __m256d ab_low = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)),
          ab_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
  __m256d ce_low = _mm256_castps_pd(_mm256_unpacklo_ps(c, e)),
          ce_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, e));
  _mm256_storeu_ps(to, _mm256_castpd_ps(_mm256_unpacklo_pd(ab_low, ce_low)));
  _mm256_storeu_ps(to + to_stride, _mm256_castpd_ps(_mm256_unpackhi_pd(ab_low, ce_low)));
  _mm256_storeu_ps(to + 2 * to_stride, _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, ce_high)));
  _mm256_storeu_ps(to + 3 * to_stride, _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, ce_high)));
}
#endif

/// to[j][i] = from[i][j]. The last blocks overlap the ones before, which saves the odd rows and columns a
/// loop.
inline void transpose(int64_t rows, int64_t cols, const float* from, int64_t from_stride, float* to,
                      int64_t to_stride) {
  if (rows < 4 || cols < 4) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) to[j * to_stride + i] = from[i * from_stride + j];
    }
    return;
  }
  // The long side is positions, the short one channels.
  bool many_rows = rows >= cols;
  int64_t shorter = std::min(rows, cols), longer = std::max(rows, cols);
  int64_t short_from = many_rows ? 1 : from_stride, long_from = many_rows ? from_stride : 1;
  int64_t short_to = many_rows ? to_stride : 1, long_to = many_rows ? 1 : to_stride;
  for (int64_t s0 = 0; s0 < shorter; s0 += 4) {
    int64_t s = std::min(s0, shorter - 4);
    const float* source = from + s * short_from;
    float* target = to + s * short_to;
    int64_t l = 0;
#if HWY_TARGET != HWY_SCALAR
    for (; l + 8 <= longer; l += 8) {
      many_rows ? transpose_8x4(source + l * long_from, from_stride, target + l * long_to, to_stride)
                : transpose_4x8(source + l * long_from, from_stride, target + l * long_to, to_stride);
    }
#endif
    for (; l < longer; l += 4) {
      int64_t at = std::min(l, longer - 4);
      transpose_4x4(source + at * long_from, from_stride, target + at * long_to, to_stride);
    }
  }
}

/// Copies an image (y, x, channel) into its planes; what the image does not cover is zeroed when `first` is
/// true, and is left as it is otherwise, since the same planes serve image after image.
inline void fill_planes(const Geometry& g, const float* image, float* planes, bool first) {
  if (first) std::memset(planes, 0, static_cast<size_t>(g.planes() * g.plane_size) * sizeof(float));
  int64_t rows = std::min(g.in_y, g.plane_rows * g.stride_y - g.pad_y);
  int64_t columns = std::min(g.in_x, g.pitch * g.stride_x - g.pad_x);
  for (int64_t y = 0; y < rows; ++y) {
    const float* from = image + y * g.in_x * g.in_channels;
    int64_t padded_y = y + g.pad_y;
    float* to = planes + padded_y % g.stride_y * g.stride_x * g.plane_size + padded_y / g.stride_y * g.pitch;
    int64_t channel_size = g.stride_y * g.stride_x * g.plane_size;
    if (g.stride_x == 1 && g.in_channels == 1) {
      std::memcpy(to + g.pad_x, from, static_cast<size_t>(columns) * sizeof(float));
    } else if (g.stride_x == 1) {
      transpose(columns, g.in_channels, from, g.in_channels, to + g.pad_x, channel_size);
    } else {
      for (int64_t c = 0; c < g.in_channels; ++c) {
        for (int64_t x = 0; x < columns; ++x) {
          int64_t padded_x = x + g.pad_x;
          to[c * channel_size + padded_x % g.stride_x * g.plane_size + padded_x / g.stride_x] =
              from[x * g.in_channels + c];
        }
      }
    }
  }
}

/// Sums of kOut output channels at kVecs vectors of flat positions.
template <int kOut, int kVecs>
HWY_INLINE void forward_block(const Geometry& g, const float* planes, const float* weights, int64_t flat,
                              int64_t o, float* sums, int64_t sums_stride) {
  Tag d;
  Vec acc[kOut][kVecs];
#pragma GCC unroll 16
  for (auto& row : acc) {
#pragma GCC unroll 16
    for (auto& v : row) v = hn::Zero(d);
  }
  for (int64_t c = 0; c < g.in_channels; ++c) {
    for (int64_t ky = 0; ky < g.kernel_y; ++ky) {
      for (int64_t kx = 0; kx < g.kernel_x; ++kx) {
        const float* from = planes + g.tap_offset(c, ky, kx) + flat;
        Vec x[kVecs];
#pragma GCC unroll 16
        for (int v = 0; v < kVecs; ++v) x[v] = hn::LoadU(d, from + v * kLanes);
#pragma GCC unroll 16
        for (int i = 0; i < kOut; ++i) {
          Vec w = hn::Set(d, weights[i]);
#pragma GCC unroll 16
          for (int v = 0; v < kVecs; ++v) acc[i][v] = hn::MulAdd(x[v], w, acc[i][v]);
        }
        weights += g.out_channels;
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kOut; ++i) {
#pragma GCC unroll 16
    for (int v = 0; v < kVecs; ++v)
      hn::StoreU(acc[i][v], d, sums + (o + i) * sums_stride + flat + v * kLanes);
  }
}

template <int kOut>
void forward_channels(const Geometry& g, const float* planes, const float* weights, int64_t o, float* sums,
                      int64_t sums_stride) {
  constexpr int kVecs = kManyRegisters ? 4 : 2;
  int64_t flat = 0, end = g.flat_positions();
  for (; flat + kVecs * kLanes <= end; flat += kVecs * kLanes) {
    forward_block<kOut, kVecs>(g, planes, weights + o, flat, o, sums, sums_stride);
  }
  for (; flat < end; flat += kLanes)
    forward_block<kOut, 1>(g, planes, weights + o, flat, o, sums, sums_stride);
}

/// Planes of sums into (y, x, channel), with bias and activation.
inline void interleave(const Geometry& g, float* sums, int64_t sums_stride, const float* bias, bool relu,
                       float* out) {
  Tag d;
  for (int64_t o = 0; o < g.out_channels && (bias || relu); ++o) {
    Vec b = hn::Set(d, bias ? bias[o] : 0.0F);
    float* plane = sums + o * sums_stride;
    for (int64_t i = 0; i < g.flat_positions(); i += kLanes) {
      Vec v = hn::LoadU(d, plane + i);
      if (bias) v = hn::Add(v, b);
      if (relu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);
      hn::StoreU(v, d, plane + i);
    }
  }
  for (int64_t y = 0; y < g.out_y; ++y) {
    transpose(g.out_channels, g.out_x, sums + y * g.pitch, sums_stride, out + y * g.out_x * g.out_channels,
              g.out_channels);
  }
}

void forward_image(const Geometry& g, const float* image, const float* weights, const float* bias, bool relu,
                   float* out, float* space, bool first) {
  float* planes = space;
  float* sums = space + (g.planes() * g.plane_size + 15) / 16 * 16;
  int64_t stride = (g.flat_positions() + Geometry::kSlack + 15) / 16 * 16;
  fill_planes(g, image, planes, first);
  int64_t o = 0;
  for (; o + 6 <= g.out_channels; o += 6) forward_channels<6>(g, planes, weights, o, sums, stride);
  for (; o + 3 <= g.out_channels; o += 3) forward_channels<3>(g, planes, weights, o, sums, stride);
  for (; o < g.out_channels; ++o) forward_channels<1>(g, planes, weights, o, sums, stride);
  interleave(g, sums, stride, bias, relu, out);
}

/// The rows of the output's gradient that meet one row of the input, with the weights' rows for them.
struct MeetingRows {
  int64_t count = 0;
  const float* const* grads = nullptr;
  const float* const* weights = nullptr;
};

/// columns[x, j ...] = sum over meeting rows and output channels of grad[x, o] * weights[o, j ...], for kRows
/// positions x and kVecs vectors of columns.
template <int kRows, int kVecs>
HWY_INLINE void product_block(const Geometry& g, const MeetingRows& meeting, int64_t x, int64_t j,
                              int64_t row, float* columns) {
  Tag d;
  Vec acc[kRows][kVecs];
#pragma GCC unroll 16
  for (auto& r : acc) {
#pragma GCC unroll 16
    for (auto& v : r) v = hn::Zero(d);
  }
  for (int64_t m = 0; m < meeting.count; ++m) {
    const float* grad = meeting.grads[m] + x * g.out_channels;
    const float* weights = meeting.weights[m] + j;
    for (int64_t o = 0; o < g.out_channels; ++o) {
      Vec w[kVecs];
#pragma GCC unroll 16
      for (int v = 0; v < kVecs; ++v) w[v] = hn::Load(d, weights + o * row + v * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        Vec value = hn::Set(d, grad[r * g.out_channels + o]);
#pragma GCC unroll 16
        for (int v = 0; v < kVecs; ++v) acc[r][v] = hn::MulAdd(value, w[v], acc[r][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVecs; ++v) hn::Store(acc[r][v], d, columns + (x + r) * row + j + v * kLanes);
  }
}

template <int kVecs>
void product_columns(const Geometry& g, const MeetingRows& meeting, int64_t j, int64_t row, float* columns) {
  constexpr int kRows = kManyRegisters ? 10 : 5;
  int64_t x = 0;
  for (; x + kRows <= g.out_x; x += kRows) product_block<kRows, kVecs>(g, meeting, x, j, row, columns);
  for (; x + 4 <= g.out_x; x += 4) product_block<4, kVecs>(g, meeting, x, j, row, columns);
  for (; x < g.out_x; ++x) product_block<1, kVecs>(g, meeting, x, j, row, columns);
}

HWY_INLINE void add_span(float* to, const float* from, int64_t count) {
  Tag d;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
  }
  if (i == count) return;
  auto mask = hn::FirstN(d, static_cast<size_t>(count - i));
  hn::BlendedStore(hn::Add(hn::MaskedLoad(mask, d, to + i), hn::MaskedLoad(mask, d, from + i)), mask, d,
                   to + i);
}

/// Adds the columns of output position x to the places of the input row that its taps meet.
HWY_INLINE void add_columns(const Geometry& g, const float* columns, int64_t x, float* row) {
  int64_t in_x = x * g.stride_x - g.pad_x, c = g.in_channels;
  if (g.dilation_x == 1) {
    int64_t begin = std::max<int64_t>(0, -in_x), end = std::min(g.kernel_x, g.in_x - in_x);
    if (begin < end) add_span(row + (in_x + begin) * c, columns + begin * c, (end - begin) * c);
    return;
  }
  for (int64_t kx = 0; kx < g.kernel_x; ++kx) {
    int64_t at = in_x + kx * g.dilation_x;
    if (at >= 0 && at < g.in_x) add_span(row + at * c, columns + kx * c, c);
  }
}

/// `pointers` holds 2 * kernel_y pointers.
void backward_data_image(const Geometry& g, const float* grad, const float* weights, float* image,
                         float* columns, const float** pointers) {
  int64_t row = (g.kernel_x * g.in_channels + 15) / 16 * 16;
  const float** grads = pointers;
  const float** weight_rows = pointers + g.kernel_y;
  for (int64_t in_y = 0; in_y < g.in_y; ++in_y) {
    float* to = image + in_y * g.in_x * g.in_channels;
    std::memset(to, 0, static_cast<size_t>(g.in_x * g.in_channels) * sizeof(float));
    MeetingRows meeting{0, grads, weight_rows};
    for (int64_t ky = 0; ky < g.kernel_y; ++ky) {
      int64_t y = in_y + g.pad_y - ky * g.dilation_y;
      if (y < 0 || y % g.stride_y != 0 || y / g.stride_y >= g.out_y) continue;
      grads[meeting.count] = grad + y / g.stride_y * g.out_x * g.out_channels;
      weight_rows[meeting.count++] = weights + ky * g.out_channels * row;
    }
    if (meeting.count == 0) continue;
    int64_t j = 0;
    for (; j + 2 * kLanes <= row; j += 2 * kLanes) product_columns<2>(g, meeting, j, row, columns);
    for (; j < row; j += kLanes) product_columns<1>(g, meeting, j, row, columns);
    // Neighbouring positions add to the same places; taking them a kernel's width apart keeps a load from
    // waiting for the store before it.
    for (int64_t first = 0; first < g.kernel_x; ++first) {
      for (int64_t x = first; x < g.out_x; x += g.kernel_x) add_columns(g, columns + x * row, x, to);
    }
  }
}

/// acc[o, t] += sum over positions of grad[o] * planes[tap t], lanes apart, for kOut channels and kTaps taps.
template <int kOut, int kTaps>
HWY_INLINE void weights_block(const Geometry& g, const float* grads, int64_t grad_size,
                              const float* const* taps, float* const* sums, int64_t o_stride) {
  Tag d;
  Vec acc[kOut][kTaps];
#pragma GCC unroll 16
  for (int i = 0; i < kOut; ++i) {
#pragma GCC unroll 16
    for (int t = 0; t < kTaps; ++t) acc[i][t] = hn::Load(d, sums[t] + i * o_stride);
  }
  int64_t whole = g.out_x / kLanes * kLanes;
  auto mask = hn::FirstN(d, static_cast<size_t>(g.out_x - whole));
  for (int64_t y = 0; y < g.out_y; ++y) {
    int64_t at = y * g.pitch;
    for (int64_t x = 0; x < whole; x += kLanes) {
      Vec in[kTaps];
#pragma GCC unroll 16
      for (int t = 0; t < kTaps; ++t) in[t] = hn::LoadU(d, taps[t] + at + x);
#pragma GCC unroll 16
      for (int i = 0; i < kOut; ++i) {
        Vec grad = hn::LoadU(d, grads + i * grad_size + at + x);
#pragma GCC unroll 16
        for (int t = 0; t < kTaps; ++t) acc[i][t] = hn::MulAdd(grad, in[t], acc[i][t]);
      }
    }
    if (whole == g.out_x) continue;
    // Masked on both sides: what lies between rows may be infinite and must not meet a zero.
    Vec in[kTaps];
#pragma GCC unroll 16
    for (int t = 0; t < kTaps; ++t) in[t] = hn::MaskedLoad(mask, d, taps[t] + at + whole);
#pragma GCC unroll 16
    for (int i = 0; i < kOut; ++i) {
      Vec grad = hn::MaskedLoad(mask, d, grads + i * grad_size + at + whole);
#pragma GCC unroll 16
      for (int t = 0; t < kTaps; ++t) acc[i][t] = hn::MulAdd(grad, in[t], acc[i][t]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kOut; ++i) {
#pragma GCC unroll 16
    for (int t = 0; t < kTaps; ++t) hn::Store(acc[i][t], d, sums[t] + i * o_stride);
  }
}

/// Runs weights_block for `count` taps, at most kTaps.
template <int kOut, int kTaps>
void weights_taps(const Geometry& g, int count, const float* grads, int64_t grad_size,
                  const float* const* taps, float* const* sums, int64_t o_stride) {
  if constexpr (kTaps > 1) {
    if (count < kTaps) return weights_taps<kOut, kTaps - 1>(g, count, grads, grad_size, taps, sums, o_stride);
  }
  weights_block<kOut, kTaps>(g, grads, grad_size, taps, sums, o_stride);
}

template <int kOut>
void weights_channels(const Geometry& g, const float* planes, const float* grads, int64_t grad_size,
                      float* sums) {
  constexpr int kTaps = kManyRegisters ? 4 : 2;
  int64_t count = g.in_channels * g.taps();
  const float* taps[kTaps];
  float* targets[kTaps];
  // Groups of nearly equal size: a group of one tap would wait for its own sums.
  int64_t groups = (count + kTaps - 1) / kTaps;
  for (int64_t index = 0, i = 0; index < groups; ++index) {
    int group = static_cast<int>((count - i) / (groups - index));
    for (int t = 0; t < group; ++t) {
      int64_t c = (i + t) / g.taps(), tap = (i + t) % g.taps();
      taps[t] = planes + g.tap_offset(c, tap / g.kernel_x, tap % g.kernel_x);
      targets[t] = sums + (i + t) * kLanes;
    }
    weights_taps<kOut, kTaps>(g, group, grads, grad_size, taps, targets, count * kLanes);
    i += group;
  }
}

/// The gradient of the weights from `images` images into `result`; `space` holds planes, planes of the
/// output's gradient and a vector per weight.
void backward_weights_images(const Geometry& g, int64_t images, const float* input, const float* out_grad,
                             float* result, float* space) {
  Tag d;
  int64_t weights = g.out_channels * g.in_channels * g.taps();
  int64_t grad_size = (g.out_y * g.pitch + Geometry::kSlack + 15) / 16 * 16;
  float* planes = space;
  float* grads = planes + (g.planes() * g.plane_size + 15) / 16 * 16;
  float* sums = grads + g.out_channels * grad_size;
  std::memset(sums, 0, static_cast<size_t>(weights * kLanes) * sizeof(float));
  for (int64_t n = 0; n < images; ++n) {
    fill_planes(g, input + n * g.in_y * g.in_x * g.in_channels, planes, n == 0);
    const float* from = out_grad + n * g.out_y * g.out_x * g.out_channels;
    for (int64_t y = 0; y < g.out_y; ++y) {
      transpose(g.out_x, g.out_channels, from + y * g.out_x * g.out_channels, g.out_channels,
                grads + y * g.pitch, grad_size);
    }
    int64_t o = 0, o_stride = g.in_channels * g.taps() * kLanes;
    for (; o + 6 <= g.out_channels; o += 6) {
      weights_channels<6>(g, planes, grads + o * grad_size, grad_size, sums + o * o_stride);
    }
    for (; o + 3 <= g.out_channels; o += 3)
      weights_channels<3>(g, planes, grads + o * grad_size, grad_size, sums + o * o_stride);
    for (; o < g.out_channels; ++o)
      weights_channels<1>(g, planes, grads + o * grad_size, grad_size, sums + o * o_stride);
  }
  for (int64_t i = 0; i < weights; ++i) {
    result[i] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sums + i * kLanes)));
  }
}

}  // namespace sorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
