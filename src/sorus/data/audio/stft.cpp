#include "sorus/data/audio/detail/stft.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace sorus::data::audio {

int64_t bordered(int64_t i, int64_t n, Border border) {
  if (i >= 0 && i < n) return i;
  if (border == Border::kConstant) return -1;
  if (border == Border::kEdge || n == 1) return i < 0 ? 0 : n - 1;
  bool twice = border == Border::kSymmetric;  // the last sample comes twice
  int64_t period = twice ? 2 * n : 2 * n - 2;
  int64_t at = (i % period + period) % period;
  return at < n ? at : period - at - (twice ? 1 : 0);
}

Samples window_of(Window window, int64_t n) {
  Samples w(static_cast<size_t>(n));
  auto size = static_cast<double>(n);
  double pi = std::numbers::pi;
  for (int64_t i = 0; i < n; ++i) {
    double at = static_cast<double>(i) / size;
    double v = 1;
    if (window == Window::kBartlett) v = 1 - std::abs(2 * at - 1);
    if (window == Window::kHann) v = 0.5 - 0.5 * std::cos(2 * pi * at);
    if (window == Window::kHamming) v = 0.54 - 0.46 * std::cos(2 * pi * at);
    if (window == Window::kBlackman) v = 0.42 - 0.5 * std::cos(2 * pi * at) + 0.08 * std::cos(4 * pi * at);
    if (window == Window::kKaiser)
      v = std::cyl_bessel_i(0.0, 12 * std::sqrt(std::max(0.0, 1 - (2 * at - 1) * (2 * at - 1)))) /
          std::cyl_bessel_i(0.0, 12.0);
    w[static_cast<size_t>(i)] = n == 1 ? 1 : v;
  }
  return w;
}

Stft::Stft(std::string op, const Frames& f)
    : op_(std::move(op)),
      n_(f.n_fft),
      hop_(0),
      pad_(f.pad),
      center_(f.center),
      border_(f.border),
      onesided_(f.onesided),
      fft_(std::max<int64_t>(f.n_fft, 1)) {
  int64_t width = f.win_length.value_or(n_);
  SORUS_CHECK(n_ >= 1 && width >= 1 && width <= n_, ValueError,
              "{}: n_fft or win_length is out of range: got {} and {}, need 1 or more, and n_fft at most",
              op_, n_, width);
  hop_ = f.hop_length.value_or(width / 2);
  SORUS_CHECK(hop_ >= 1 && pad_ >= 0, ValueError,
              "{}: hop_length or pad is out of range: got {} and {}, need 1 or more and 0 or more", op_, hop_,
              pad_);
  Samples inner = window_of(f.window, width);
  window_.assign(static_cast<size_t>(n_), 0.0);
  std::copy(inner.begin(), inner.end(), window_.begin() + (n_ - width) / 2);
  if (f.normalized) scale_ = std::sqrt(std::inner_product(inner.begin(), inner.end(), inner.begin(), 0.0));
}

int64_t Stft::frames(int64_t length) const {
  int64_t whole = length + 2 * pad_ + (center_ ? n_ / 2 * 2 : 0);
  SORUS_CHECK(whole >= n_, ShapeError, "{}: waveform is too short: got {} samples, need {} for one frame",
              op_, length, n_);
  return (whole - n_) / hop_ + 1;
}

int64_t Stft::length(int64_t frames) const {
  int64_t whole = hop_ * (frames - 1) + (center_ ? n_ % 2 : 0) - 2 * pad_;
  SORUS_CHECK(whole >= 1, ShapeError, "{}: spectrogram is too short: got {} frames, need more", op_, frames);
  return whole;
}

Spectrum Stft::forward(Numbers x) const {
  auto length = std::ssize(x);
  int64_t count = frames(length);
  int64_t height = frequencies();
  Spectrum out(static_cast<size_t>(height * count));
  Samples frame(static_cast<size_t>(n_));
  Spectrum bins(static_cast<size_t>(n_));
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t k = 0; k < n_; ++k) {
      // First the zeros of `pad`, then what the border gives of that.
      int64_t at = t * hop_ + k - (center_ ? n_ / 2 : 0);
      at = bordered(at, length + 2 * pad_, border_) - pad_;
      bool inside = at >= 0 && at < length;
      frame[static_cast<size_t>(k)] =
          inside ? x[static_cast<size_t>(at)] * window_[static_cast<size_t>(k)] : 0;
    }
    fft_.forward_real(frame.data(), bins.data());
    for (int64_t k = n_ / 2 + 1; k < n_; ++k)
      bins[static_cast<size_t>(k)] = std::conj(bins[static_cast<size_t>(n_ - k)]);
    for (int64_t k = 0; k < height; ++k)
      out[static_cast<size_t>(k * count + t)] = bins[static_cast<size_t>(k)] / scale_;
  }
  return out;
}

void Stft::backward(const Spectrum& spectrum, Result y) const {
  int64_t count = std::ssize(spectrum) / frequencies();
  auto whole = static_cast<size_t>(n_ + hop_ * (count - 1));
  Samples sum(whole, 0.0);
  Samples weight(whole, 0.0);
  Spectrum bins(static_cast<size_t>(n_));
  Samples frame(static_cast<size_t>(n_));
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t k = 0; k < frequencies(); ++k)
      bins[static_cast<size_t>(k)] = spectrum[static_cast<size_t>(k * count + t)] * scale_;
    fft_.backward_real(bins.data(), frame.data());
    for (size_t k = 0; k < frame.size(); ++k) {
      size_t at = static_cast<size_t>(t * hop_) + k;
      sum[at] += frame[k] / static_cast<double>(n_) * window_[k];
      weight[at] += window_[k] * window_[k];
    }
  }
  auto first = static_cast<size_t>(pad_ + (center_ ? n_ / 2 : 0));
  for (size_t i = 0; i < y.size(); ++i) {
    size_t at = first + i;
    y[i] = at < whole && weight[at] > 1e-11 ? sum[at] / weight[at] : 0;
  }
}

}  // namespace sorus::data::audio
