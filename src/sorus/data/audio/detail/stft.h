#pragma once

#include <complex>
#include <string>

#include "sorus/data/audio/detail/signal.h"
#include "sorus/math/fft.h"

/// Spectra of short stretches of a signal, and back.
namespace sorus::data::audio {

using Spectrum = std::vector<std::complex<double>>;

/// Index into a signal of n samples for place i, which may be outside; -1: a zero.
[[nodiscard]] int64_t bordered(int64_t i, int64_t n, Border border);
/// A window of `n` samples, one period of it.
[[nodiscard]] Samples window_of(Window window, int64_t n);

/// Prepared for one set of frames. Spectra are (frequency, frame).
class Stft {
 public:
  /// Throws ValueError naming `op` for what is out of range.
  Stft(std::string op, const Frames& frames);
  [[nodiscard]] int64_t frequencies() const { return onesided_ ? n_ / 2 + 1 : n_; }
  [[nodiscard]] int64_t hop() const { return hop_; }
  /// Frames of a waveform. Throws ShapeError when it is too short for one.
  [[nodiscard]] int64_t frames(int64_t length) const;
  /// The length of the waveform of so many frames.
  [[nodiscard]] int64_t length(int64_t frames) const;
  [[nodiscard]] Spectrum forward(Numbers x) const;
  /// The nearest waveform, cut or filled with zeros to y.size().
  void backward(const Spectrum& spectrum, Result y) const;

 private:
  std::string op_;
  int64_t n_;
  int64_t hop_;
  int64_t pad_;
  bool center_;
  Border border_;
  bool onesided_;
  Samples window_;
  double scale_ = 1;
  math::Fft<double> fft_;
};

}  // namespace sorus::data::audio
