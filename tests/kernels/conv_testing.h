#pragma once

#include <cstring>
#include <mutex>

#include "tests/kernels/onednn_testing.h"

/// What the tests of our own convolutions share.
namespace sorus::kernels::onednn::testing {

/// A convolution of one or two spatial axes, with its name as a test.
struct ConvShape {
  const char* name;
  int rank;
  int64_t n, ic, oc;
  int64_t in[2], kernel[2], stride[2], dilation[2], low[2], high[2];
};

inline ConvProblem problem_of(const ConvShape& s) {
  ConvProblem p;
  p.rank = s.rank, p.n = s.n, p.in_channels = s.ic, p.out_channels = s.oc;
  for (int i = 0; i < s.rank; ++i) {
    p.in[i] = s.in[i], p.kernel[i] = s.kernel[i], p.stride[i] = s.stride[i], p.dilation[i] = s.dilation[i];
    p.pad_low[i] = s.low[i], p.pad_high[i] = s.high[i];
  }
  return p;
}

/// What a convolution reads: filled with numbers, the same in each run.
struct ConvTensors {
  Buffer input, weights, out, bias;  ///< `out` as the gradient of the result
  explicit ConvTensors(const ConvProblem& p)
      : input(p.type, p.n * p.in_positions() * p.in_channels),
        weights(p.type, p.weights()),
        out(p.type, p.n * p.out_positions() * p.out_channels),
        bias(p.type, p.out_channels) {
    input.fill(1), weights.fill(2), out.fill(3), bias.fill(4);
  }
};

/// Calls body(input index, weight index, output index) for every product of the convolution.
template <class Body>
void for_products(const ConvProblem& p, Body&& body) {
  int64_t group_in = p.in_channels / p.groups, group_out = p.out_channels / p.groups;
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t out = 0; out < p.out_positions(); ++out) {
      for (int64_t tap = 0; tap < p.taps(); ++tap) {
        int64_t rest_out = out, rest_tap = tap, in = 0, scale = 1;
        bool inside = true;
        for (int i = p.rank - 1; i >= 0; --i) {
          int64_t at =
              rest_out % p.out(i) * p.stride[i] - p.pad_low[i] + rest_tap % p.kernel[i] * p.dilation[i];
          inside = inside && at >= 0 && at < p.in[i];
          in += at * scale;
          scale *= p.in[i], rest_out /= p.out(i), rest_tap /= p.kernel[i];
        }
        if (!inside) continue;
        for (int64_t o = 0; o < p.out_channels; ++o) {
          for (int64_t c = 0; c < group_in; ++c) {
            body((n * p.in_positions() + in) * p.in_channels + o / group_out * group_in + c,
                 (o * group_in + c) * p.taps() + tap, (n * p.out_positions() + out) * p.out_channels + o);
          }
        }
      }
    }
  }
}

inline const float* floats(const Buffer& b) { return static_cast<const float*>(b.data()); }

/// Puts pieces together, in whole rows of a result.
class Collector final : public PieceTaker {
 public:
  explicit Collector(float* to) : to_(to) {}
  void take(const ResultPiece& piece) const override {
    std::lock_guard lock(mutex_);
    taken_ += piece.rows;
    for (int64_t i = 0; i < piece.rows; ++i) {
      std::memcpy(to_ + (piece.row + i) * piece.columns,
                  static_cast<const float*>(piece.data) + i * piece.pitch,
                  static_cast<size_t>(piece.columns) * sizeof(float));
    }
  }
  [[nodiscard]] int64_t taken() const { return taken_; }

 private:
  float* to_;
  mutable std::mutex mutex_;
  mutable int64_t taken_ = 0;
};

}  // namespace sorus::kernels::onednn::testing
