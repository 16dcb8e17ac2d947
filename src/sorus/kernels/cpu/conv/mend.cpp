#include "sorus/kernels/cpu/conv/mend.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/core/dtype.h"
#include "sorus/kernels/cpu/conv/finite.h"

namespace sorus::kernels::conv {
namespace {

using onednn::ConvPass;
using onednn::ConvProblem;
using onednn::ElementType;

template <class T>
double wide(T v) {
  return static_cast<double>(static_cast<float>(v));
}
template <class T>
T narrow(double v) {
  return T(static_cast<float>(v));
}
template <class T>
bool is_finite(T v) {
  return std::isfinite(static_cast<float>(v));
}

/// A spatial axis; those that a problem lacks come first and have one position and one tap.
struct Axis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;

  Axis(const ConvProblem& p, int i) {
    const int at = i - (onednn::kMaxSpatialRank - p.rank);
    if (at < 0) return;
    in = p.in[at], out = p.out(at), kernel = p.kernel[at];
    stride = p.stride[at], dilation = p.dilation[at], pad = p.pad_low[at];
  }
  /// The position of the input that tap k of window `at` reads; -1 in the padding.
  [[nodiscard]] int64_t read_by(int64_t at, int64_t k) const {
    const int64_t place = at * stride - pad + k * dilation;
    return place < in ? std::max<int64_t>(place, -1) : -1;
  }
  /// The window whose tap k reads position `at` of the input; -1 where there is none.
  [[nodiscard]] int64_t reader_of(int64_t at, int64_t k) const {
    const int64_t place = at + pad - k * dilation;
    return place >= 0 && place % stride == 0 && place / stride < out ? place / stride : -1;
  }
};

struct Axes {
  Axis z, y, x;
  explicit Axes(const ConvProblem& p) : z(p, 0), y(p, 1), x(p, 2) {}
};

}  // namespace

ResultMender::ResultMender(const ConvProblem& problem, ConvPass pass, const void* source, const void* weights,
                           const float* bias, const PieceTaker* next)
    : problem_(problem),
      source_(source),
      weights_(weights),
      bias_(bias),
      next_(next),
      forward_(pass == ConvPass::kForward),
      result_channels_(problem.out_channels),
      source_channels_(problem.in_channels),
      result_positions_(problem.out_positions()),
      source_positions_(problem.in_positions()),
      result_step_(problem.in_channels / problem.groups * problem.taps()),
      source_step_(problem.taps()) {
  if (!forward_) {
    std::swap(result_channels_, source_channels_);
    std::swap(result_positions_, source_positions_);
    std::swap(result_step_, source_step_);
  }
  group_results_ = result_channels_ / problem.groups;
  group_sources_ = source_channels_ / problem.groups;
}

void ResultMender::take(const ResultPiece& piece) const {
  mend(piece);
  if (next_) next_->take(piece);
}

void ResultMender::mend_all(void* result) const {
  constexpr int64_t kGrain = 16384;  // elements
  const auto size = static_cast<int64_t>(onednn::element_size(problem_.type));
  parallel_ranges(problem_.n * result_positions_,
                  std::max<int64_t>(1, kGrain / std::max<int64_t>(1, result_channels_)),
                  [&](int64_t begin, int64_t end) {
                    mend({static_cast<char*>(result) + begin * result_channels_ * size, result_channels_,
                          begin, end - begin, 0, result_channels_});
                  });
}

void ResultMender::mend(const ResultPiece& piece) const {
  const ElementType type = problem_.type;
  if (piece.pitch == piece.columns && all_finite(type, piece.data, piece.rows * piece.columns)) return;
  for (int64_t i = 0; i < piece.rows; ++i) {
    const auto bytes = static_cast<int64_t>(onednn::element_size(type)) * i * piece.pitch;
    void* row = static_cast<char*>(const_cast<void*>(piece.data)) + bytes;
    if (all_finite(type, row, piece.columns)) continue;
    if (type == ElementType::kFloat32)
      mend_row(static_cast<float*>(row), piece.row + i, piece.column, piece.columns);
    else
      mend_row(static_cast<BFloat16*>(row), piece.row + i, piece.column, piece.columns);
  }
}

/// `row` begins with channel `column` of a position, which is counted through all images.
template <class T>
void ResultMender::mend_row(T* row, int64_t position, int64_t column, int64_t columns) const {
  thread_local std::vector<Meeting> meetings;
  const Axes axes(problem_);
  const auto size = [&](const Axis& a) { return forward_ ? a.out : a.in; };
  const auto source_size = [&](const Axis& a) { return forward_ ? a.in : a.out; };
  const auto place = [&](const Axis& a, int64_t at, int64_t k) {
    return forward_ ? a.read_by(at, k) : a.reader_of(at, k);
  };
  const int64_t at = position % result_positions_, x = at % size(axes.x);
  const int64_t y = at / size(axes.x) % size(axes.y), z = at / size(axes.x) / size(axes.y);
  meetings.clear();
  for (int64_t tap = 0; tap < problem_.taps(); ++tap) {
    const int64_t kx = tap % axes.x.kernel, ky = tap / axes.x.kernel % axes.y.kernel;
    const int64_t pz = place(axes.z, z, tap / axes.x.kernel / axes.y.kernel);
    const int64_t py = place(axes.y, y, ky), px = place(axes.x, x, kx);
    if (pz < 0 || py < 0 || px < 0) continue;
    meetings.push_back({tap, (pz * source_size(axes.y) + py) * source_size(axes.x) + px});
  }
  const T* image =
      static_cast<const T*>(source_) + position / result_positions_ * source_positions_ * source_channels_;
  for (int64_t j = 0; j < columns; ++j) {
    if (is_finite(row[j])) continue;
    const int64_t channel = column + j, group = channel / group_results_;
    // Of the weights for this channel and the first of its group's sources.
    const int64_t first =
        forward_ ? channel * result_step_
                 : group * group_sources_ * source_step_ + channel % group_results_ * result_step_;
    const double bias = bias_ ? static_cast<double>(bias_[channel]) : 0;
    double value = bias;  // NaN whatever the sum is
    if (!std::isnan(bias))
      value += sum(image + group * group_sources_, static_cast<const T*>(weights_) + first, meetings.data(),
                   meetings.data() + meetings.size());
    const bool is_cut = problem_.activation == onednn::Activation::kRelu && value < 0;
    row[j] = is_cut ? T(0.0F) : narrow<T>(value);
  }
}

template <class T>
double ResultMender::sum(const T* image, const T* weights, const Meeting* begin, const Meeting* end) const {
  double total = 0;
  for (const Meeting* m = begin; m != end && !std::isnan(total); ++m) {
    const T* source = image + m->place * source_channels_;
    const T* weight = weights + m->tap;
    for (int64_t c = 0; c < group_sources_; ++c) total += wide(source[c]) * wide(weight[c * source_step_]);
  }
  return total;
}

namespace {

/// The gradients of one tap for a few output channels.
template <class T, class Result>
class TapMender {
 public:
  TapMender(const ConvProblem& p, const T* input, const T* out_grad, Result* weights_grad, int64_t tap)
      : p_(p),
        axes_(p),
        input_(input),
        out_grad_(out_grad),
        weights_grad_(weights_grad),
        tap_(tap),
        group_in_(p.in_channels / p.groups),
        group_out_(p.out_channels / p.groups) {}

  /// Computes what is not finite for output channels [first, end) again.
  void mend(int64_t first, int64_t end) {
    find(first, end);
    if (outputs_.empty()) return;
    sums_.assign(outputs_.size() * inputs_.size(), 0);
    add_images();
    const double* sum = sums_.data();
    for (const int64_t o : outputs_) {
      for (const int64_t c : inputs_) {
        if (!is_finite(at(o, c))) at(o, c) = narrow<Result>(*sum);
        ++sum;
      }
    }
  }

 private:
  Result& at(int64_t o, int64_t c) { return weights_grad_[(o * group_in_ + c) * p_.taps() + tap_]; }

  /// The channels on both sides that have something not finite.
  void find(int64_t first, int64_t end) {
    std::vector<bool> found(static_cast<size_t>(group_in_));
    for (int64_t o = first; o < end; ++o) {
      bool any = false;
      for (int64_t c = 0; c < group_in_; ++c) {
        if (is_finite(at(o, c))) continue;
        found[static_cast<size_t>(c)] = any = true;
      }
      if (any) outputs_.push_back(o);
    }
    for (int64_t c = 0; c < group_in_; ++c)
      if (found[static_cast<size_t>(c)]) inputs_.push_back(c);
  }

  /// All images in order, until every sum is NaN.
  void add_images() {
    const auto& [z, y, x] = axes_;
    const int64_t kx = tap_ % x.kernel, ky = tap_ / x.kernel % y.kernel, kz = tap_ / x.kernel / y.kernel;
    for (int64_t row = 0; row < p_.n * z.out * y.out; ++row) {
      const int64_t n = row / y.out / z.out;
      const int64_t pz = z.read_by(row / y.out % z.out, kz), py = y.read_by(row % y.out, ky);
      if (pz < 0 || py < 0) continue;
      for (int64_t at = 0; at < x.out; ++at) {
        const int64_t px = x.read_by(at, kx);
        if (px < 0) continue;
        add_products(input_ + (((n * z.in + pz) * y.in + py) * x.in + px) * p_.in_channels,
                     out_grad_ + (row * x.out + at) * p_.out_channels);
      }
      if (std::all_of(sums_.begin(), sums_.end(), [](double sum) { return std::isnan(sum); })) return;
    }
  }

  /// Of the channels at one position of the input and one of the output.
  void add_products(const T* input, const T* out_grad) {
    double* sum = sums_.data();
    for (const int64_t o : outputs_) {
      const double grad = wide(out_grad[o]);
      const T* group = input + o / group_out_ * group_in_;
      for (const int64_t c : inputs_) *sum++ += wide(group[c]) * grad;
    }
  }

  const ConvProblem& p_;
  const Axes axes_;
  const T* input_;
  const T* out_grad_;
  Result* weights_grad_;
  int64_t tap_, group_in_, group_out_;
  std::vector<int64_t> outputs_, inputs_;
  std::vector<double> sums_;  // by output, then input channel
};

template <class T, class Result>
void mend_taps(const ConvProblem& p, const void* input, const void* out_grad, void* weights_grad) {
  constexpr int64_t kBlock = 16;  // output channels
  const int64_t blocks = (p.out_channels + kBlock - 1) / kBlock;
  parallel_for(p.taps() * blocks, [&](int64_t piece) {
    const int64_t first = piece % blocks * kBlock;
    TapMender<T, Result> tap(p, static_cast<const T*>(input), static_cast<const T*>(out_grad),
                             static_cast<Result*>(weights_grad), piece / blocks);
    tap.mend(first, std::min(p.out_channels, first + kBlock));
  });
}

/// all_below() on several threads.
bool all_below_at_once(int exponent, ElementType type, const void* data, int64_t count) {
  constexpr int64_t kGrain = 65536;
  std::atomic<bool> below = true;
  parallel_ranges(count, kGrain, [&](int64_t begin, int64_t end) {
    const auto* from = static_cast<const char*>(data) + begin * static_cast<int64_t>(element_size(type));
    if (!all_below(exponent, type, from, end - begin)) below = false;
  });
  return below;
}

}  // namespace

bool is_known_finite(const ConvProblem& p, ConvPass pass, const void* first, const void* second) {
  const int64_t inputs = p.n * p.in_positions() * p.in_channels;
  const int64_t outputs = p.n * p.out_positions() * p.out_channels;
  int64_t firsts = inputs, seconds = p.weights(), results = outputs;
  int64_t terms = p.in_channels / p.groups * p.taps();  // of a sum, at most
  if (pass == ConvPass::kBackwardData) {
    firsts = outputs, results = inputs;
    terms = p.out_channels / p.groups * p.taps();
  } else if (pass == ConvPass::kBackwardWeights) {
    seconds = outputs, results = p.weights();
    terms = p.n * p.out_positions();
  }
  constexpr int64_t kFewer = 2;
  if (kFewer * (firsts + seconds) >= results) return false;
  const int exponent = (126 - std::bit_width(static_cast<uint64_t>(terms))) / 2;
  return all_below_at_once(exponent, p.type, first, firsts) &&
         all_below_at_once(exponent, p.type, second, seconds);
}

void mend_weights(const ConvProblem& p, const void* input, const void* out_grad, void* weights_grad) {
  if (all_below_at_once(128, p.weights_grad_type, weights_grad, p.weights())) return;
  if (p.type == ElementType::kFloat32) return mend_taps<float, float>(p, input, out_grad, weights_grad);
  p.weights_grad_type == ElementType::kFloat32
      ? mend_taps<BFloat16, float>(p, input, out_grad, weights_grad)
      : mend_taps<BFloat16, BFloat16>(p, input, out_grad, weights_grad);
}

}  // namespace sorus::kernels::conv
