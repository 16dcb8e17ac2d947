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
