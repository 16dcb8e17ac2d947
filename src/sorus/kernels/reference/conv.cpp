#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/reference/wide.h"
#include "sorus/ops/nn/attributes.h"

/// Convolution as it is defined: one sum in double for every result element, over strided operands.
namespace sorus {
namespace {

constexpr int kSpatial = 3;

/// A tensor (outer, inner, z, y, x): fewer spatial axes are taken as leading ones of extent 1.
struct Volume {
  int64_t size[kSpatial];
  int64_t stride[kSpatial];
  int64_t outer, inner;  ///< strides of axes 0 and 1

  explicit Volume(const Array& a) : outer(a.strides[0]), inner(a.strides[1]) {
    int skip = kSpatial - (a.rank() - 2);
    for (int i = 0; i < kSpatial; ++i) {
      size[i] = i < skip ? 1 : a.size(2 + i - skip);
      stride[i] = i < skip ? 0 : a.strides[2 + i - skip];
    }
  }
};

/// Everything about one convolution: x (n, c), weight (o, c / groups), y (n, o).
struct Geometry {
  Volume x, w, y;
  int64_t n, o, group_in, group_out;
  int64_t step[kSpatial], low[kSpatial], spread[kSpatial];

  Geometry(const Array& xa, const Array& wa, const Array& ya, const ConvAttrs& a)
      : x(xa),
        w(wa),
        y(ya),
        n(xa.size(0)),
        o(wa.size(0)),
        group_in(wa.size(1)),
        group_out(wa.size(0) / a.groups) {
    int skip = kSpatial - a.stride.size();
    for (int i = 0; i < kSpatial; ++i) {
      step[i] = i < skip ? 1 : a.stride[i - skip];
      low[i] = i < skip ? 0 : a.padding[2 * (i - skip)];
      spread[i] = i < skip ? 1 : a.dilation[i - skip];
    }
  }
  /// Place along axis i of x that tap k of window p reads; outside [0, size) it is padding.
  [[nodiscard]] int64_t place(int i, int64_t p, int64_t k) const {
    return p * step[i] - low[i] + k * spread[i];
  }
  /// The window along axis i whose tap k reads place p; -1 when there is none.
  [[nodiscard]] int64_t window(int i, int64_t p, int64_t k) const {
    int64_t q = p + low[i] - k * spread[i];
    return q >= 0 && q % step[i] == 0 && q / step[i] < y.size[i] ? q / step[i] : -1;
  }
};

struct Index {
  int64_t at[kSpatial];
};
template <class F>
void for_each_index(const int64_t* size, F&& f) {
  Index i{};
  for (i.at[0] = 0; i.at[0] < size[0]; ++i.at[0])
    for (i.at[1] = 0; i.at[1] < size[1]; ++i.at[1])
      for (i.at[2] = 0; i.at[2] < size[2]; ++i.at[2]) f(i);
}
int64_t offset_of(const Volume& v, const Index& i) {
  return i.at[0] * v.stride[0] + i.at[1] * v.stride[1] + i.at[2] * v.stride[2];
}

template <class T>
double window_sum(const Geometry& g, const T* x, const T* w, const Index& p) {
  double sum = 0;
  for_each_index(g.w.size, [&](const Index& k) {
    Index place{};
    for (int i = 0; i < kSpatial; ++i) {
      place.at[i] = g.place(i, p.at[i], k.at[i]);
      if (place.at[i] < 0 || place.at[i] >= g.x.size[i]) return;
    }
    const T* xs = x + offset_of(g.x, place);
    const T* ws = w + offset_of(g.w, k);
    for (int64_t c = 0; c < g.group_in; ++c) sum += wide(xs[c * g.x.inner]) * wide(ws[c * g.w.inner]);
  });
  return sum;
}

template <class T>
void forward(const KernelCall& call) {
  Geometry g(call.in[0], call.in[1], call.out[0], call.attrs<ConvAttrs>());
  const T* x = call.in[0].as<T>();
  const T* w = call.in[1].as<T>();
  T* y = call.out[0].as<T>();
  bool has_bias = call.in.size() > 2 && call.in[2].present();
  parallel_for(g.n * g.o, [&](int64_t piece) {
    int64_t n = piece / g.o;
    int64_t o = piece % g.o;
    double bias = has_bias ? wide(call.in[2].as<T>()[o * call.in[2].strides[0]]) : 0;
    const T* xs = x + n * g.x.outer + o / g.group_out * g.group_in * g.x.inner;
    for_each_index(g.y.size, [&](const Index& p) {
      y[n * g.y.outer + o * g.y.inner + offset_of(g.y, p)] =
          narrow<T>(window_sum(g, xs, w + o * g.w.outer, p) + bias);
    });
  });
}

template <class T>
void backward_input(const KernelCall& call) {
  Geometry g(call.out[0], call.in[1], call.in[0], call.attrs<ConvAttrs>());
  const T* dy = call.in[0].as<T>();
  const T* w = call.in[1].as<T>();
  T* dx = call.out[0].as<T>();
  int64_t channels = call.out[0].size(1);
  parallel_for(g.n * channels, [&](int64_t piece) {
    int64_t n = piece / channels;
    int64_t c = piece % channels;
    int64_t first = c / g.group_in * g.group_out;  // of the outputs in the channel's group
    const T* dys = dy + n * g.y.outer + first * g.y.inner;
    const T* ws = w + first * g.w.outer + c % g.group_in * g.w.inner;
    for_each_index(g.x.size, [&](const Index& p) {
      double sum = 0;
      for_each_index(g.w.size, [&](const Index& k) {
        Index q{};
        for (int i = 0; i < kSpatial; ++i) {
          q.at[i] = g.window(i, p.at[i], k.at[i]);
          if (q.at[i] < 0) return;
        }
        for (int64_t o = 0; o < g.group_out; ++o)
          sum += wide(dys[o * g.y.inner + offset_of(g.y, q)]) * wide(ws[o * g.w.outer + offset_of(g.w, k)]);
      });
      dx[n * g.x.outer + c * g.x.inner + offset_of(g.x, p)] = narrow<T>(sum);
    });
  });
}

template <class T>
void backward_weight(const KernelCall& call) {
  Geometry g(call.in[0], call.out[0], call.in[1], call.attrs<ConvAttrs>());
  const T* x = call.in[0].as<T>();
  const T* dy = call.in[1].as<T>();
  T* dw = call.out[0].as<T>();
  parallel_for(g.o * g.group_in, [&](int64_t piece) {
    int64_t o = piece / g.group_in;
    int64_t c = piece % g.group_in;
    const T* xs = x + (o / g.group_out * g.group_in + c) * g.x.inner;
    const T* dys = dy + o * g.y.inner;
    for_each_index(g.w.size, [&](const Index& k) {
      double sum = 0;
      for (int64_t n = 0; n < g.n; ++n)
        for_each_index(g.y.size, [&](const Index& p) {
          Index place{};
          for (int i = 0; i < kSpatial; ++i) {
            place.at[i] = g.place(i, p.at[i], k.at[i]);
            if (place.at[i] < 0 || place.at[i] >= g.x.size[i]) return;
          }
          sum +=
              wide(xs[n * g.x.outer + offset_of(g.x, place)]) * wide(dys[n * g.y.outer + offset_of(g.y, p)]);
        });
      dw[o * g.w.outer + c * g.w.inner + offset_of(g.w, k)] = narrow<T>(sum);
    });
  });
}

const KernelRegistrar forward_registered{
    "conv",
    {.name = "conv_reference",
     .in_layout = Layout::kAny,
     .out_layout = Layout::kChannelsLast,
     .run = by_floating<forward<Float16>, forward<BFloat16>, forward<float>, forward<double>>},
    kReferenceRank};
const KernelRegistrar backward_input_registered{
    "conv_backward_input",
    {.name = "conv_backward_input_reference",
     .in_layout = Layout::kAny,
     .out_layout = Layout::kChannelsLast,
     .run = by_floating<backward_input<Float16>, backward_input<BFloat16>, backward_input<float>,
                        backward_input<double>>},
    kReferenceRank};
const KernelRegistrar backward_weight_registered{
    "conv_backward_weight",
    {.name = "conv_backward_weight_reference",
     .in_layout = Layout::kAny,
     .run = by_floating<backward_weight<Float16>, backward_weight<BFloat16>, backward_weight<float>,
                        backward_weight<double>>},
    kReferenceRank};

}  // namespace
}  // namespace sorus
