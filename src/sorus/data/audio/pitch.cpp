#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "sorus/data/audio/detail/stft.h"

/// Faster, higher, and other sampling rates.
namespace sorus::data::audio {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

int64_t stretched(int64_t frames, double rate) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(frames) / rate));
}

/// One frequency over time, faster.
void stretch_line(std::span<const std::complex<double>> x, double rate, double advance,
                  std::span<std::complex<double>> y) {
  auto at = [&](size_t i) { return i < x.size() ? x[i] : 0; };
  double phase = std::arg(x[0]);
  for (size_t k = 0; k < y.size(); ++k) {
    double step = static_cast<double>(k) * rate;
    auto whole = static_cast<size_t>(step);
    double part = step - static_cast<double>(whole);
    auto first = at(whole);
    auto second = at(whole + 1);
    y[k] = std::polar(part * std::abs(second) + (1 - part) * std::abs(first), phase);
    double turned = std::arg(second) - std::arg(first) - advance;
    phase += turned - kTurn * std::nearbyint(turned / kTurn) + advance;
  }
}

Spectrum stretch(const Spectrum& x, int64_t frequencies, double rate, const Samples& advance) {
  int64_t frames = std::ssize(x) / frequencies;
  int64_t out = stretched(frames, rate);
  Spectrum y(static_cast<size_t>(frequencies * out));
  for (int64_t f = 0; f < frequencies; ++f)
    stretch_line(std::span(x).subspan(static_cast<size_t>(f * frames), static_cast<size_t>(frames)), rate,
                 advance[static_cast<size_t>(f)],
                 std::span(y).subspan(static_cast<size_t>(f * out), static_cast<size_t>(out)));
  return y;
}

/// How far phases go on from frame to frame.
Samples advances(int64_t hop, int64_t frequencies) {
  Samples out(static_cast<size_t>(frequencies));
  for (int64_t f = 0; f < frequencies; ++f)
    out[static_cast<size_t>(f)] = std::numbers::pi * static_cast<double>(hop) * static_cast<double>(f) /
                                  static_cast<double>(std::max<int64_t>(frequencies - 1, 1));
  return out;
}

/// Complex spectrograms (..., frequency, time, 2) at another rate. `advance`: of so many frequencies.
TransformPtr vocoder(const std::string& name, double rate,
                     std::function<Samples(int64_t frequencies)> advance_of) {
  SORUS_CHECK(rate > 0, ValueError, "{}: rate is out of range: got {}, need more than 0", name, rate);
  auto shape_of = [=](const Shape& s) {
    check_rank(name, s, 3, "(..., frequency, time, 2)");
    SORUS_CHECK(s.size(s.rank() - 1) == 2, ShapeError,
                "{}: rows have the wrong shape: got {}, need (..., frequency, time, 2)", name, s);
    int64_t frequencies = s.size(s.rank() - 3);
    auto given = std::ssize(advance_of(frequencies));
    SORUS_CHECK(given == frequencies, ShapeError,
                "{}: phase_advance does not fit: got {} for {}, need one for each frequency", name, given, s);
    return replaced(s, 3, {frequencies, stretched(s.size(s.rank() - 2), rate), 2});
  };
  return signal(name, shape_of, [=](const Shape& s, Numbers x, Result y, Draws&) {
    if (rate == 1) {
      std::copy(x.begin(), x.end(), y.begin());
      return;
    }
    int64_t frequencies = s.size(s.rank() - 3);
    Samples advance = advance_of(frequencies);
    auto in = static_cast<size_t>(frequencies * s.size(s.rank() - 2));
    double* to = y.data();
    Spectrum part(in);
    for (size_t b = 0; b * in * 2 < x.size(); ++b) {
      for (size_t i = 0; i < in; ++i) part[i] = {x[2 * (b * in + i)], x[2 * (b * in + i) + 1]};
      for (auto v : stretch(part, frequencies, rate, advance)) {
        *to++ = v.real();
        *to++ = v.imag();
      }
    }
  });
}

/// A polyphase filter from `from` to `to` samples, both without common factors.
class Resampler {
 public:
  Resampler(int64_t from, int64_t to, const ResampleOptions& o)
      : from_(from / std::gcd(from, to)), to_(to / std::gcd(from, to)) {
    if (from_ == to_) return;
    double base = static_cast<double>(std::min(from_, to_)) * o.rolloff;
    auto zeros = static_cast<double>(o.zeros);
    width_ = static_cast<int64_t>(std::ceil(zeros * static_cast<double>(from_) / base));
    double beta = o.beta.value_or(14.769656459379492);
    for (int64_t phase = 0; phase < to_; ++phase)
      for (int64_t i = -width_; i < width_ + from_; ++i) {
        double at = static_cast<double>(i) / static_cast<double>(from_) -
                    static_cast<double>(phase) / static_cast<double>(to_);
        double t = std::clamp(at * base, -zeros, zeros);
        double part = t / zeros;
        double cosine = std::cos(part * std::numbers::pi / 2);
        double window = o.kaiser ? std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 1 - part * part))) /
                                       std::cyl_bessel_i(0.0, beta)
                                 : cosine * cosine;
        double angle = t * std::numbers::pi;
        double sinc = angle == 0 ? 1 : std::sin(angle) / angle;
        kernel_.push_back(sinc * window * base / static_cast<double>(from_));
      }
  }
  [[nodiscard]] int64_t length(int64_t samples) const { return (to_ * samples + from_ - 1) / from_; }
  void run(Numbers x, Result y) const {
    if (from_ == to_) {
      std::copy(x.begin(), x.end(), y.begin());
      return;
    }
    int64_t taps = 2 * width_ + from_;
    for (int64_t i = 0; i < std::ssize(y); ++i) {
      const double* kernel = kernel_.data() + i % to_ * taps;
      int64_t first = i / to_ * from_ - width_;
      double sum = 0;
      for (int64_t k = std::max<int64_t>(0, -first); k < taps && first + k < std::ssize(x); ++k)
        sum += kernel[k] * x[static_cast<size_t>(first + k)];
      y[static_cast<size_t>(i)] = sum;
    }
  }

 private:
  int64_t from_;
  int64_t to_;
  int64_t width_ = 0;
  Samples kernel_;
};

}  // namespace

TransformPtr phase_vocoder(double rate, std::vector<double> advance) {
  return vocoder("PhaseVocoder", rate, [advance = std::move(advance)](int64_t) { return advance; });
}

TransformPtr time_stretch(int64_t hop_length, double rate) {
  SORUS_CHECK(hop_length >= 1, ValueError, "TimeStretch: hop_length is out of range: got {}, need 1 or more",
              hop_length);
  return vocoder("TimeStretch", rate, [=](int64_t frequencies) { return advances(hop_length, frequencies); });
}

TransformPtr pitch_shift(int64_t sample_rate, int64_t steps, int64_t per_octave, const Frames& frames) {
  constexpr const char* kName = "PitchShift";
  SORUS_CHECK(sample_rate >= 1 && per_octave != 0, ValueError,
              "{}: sample_rate or bins_per_octave is out of range: got {} and {}, need 1 or more, and not 0",
              kName, sample_rate, per_octave);
  double rate = std::exp2(-static_cast<double>(steps) / static_cast<double>(per_octave));
  auto stft = std::make_shared<Stft>(kName, frames);
  auto shape_of = [=](const Shape& s) {
    check_rank(kName, s, 1, "(..., time)");
    static_cast<void>(stft->frames(s.size(s.rank() - 1)));
    return s;
  };
  auto stretched_rate = static_cast<int64_t>(static_cast<double>(sample_rate) / rate);
  SORUS_CHECK(stretched_rate >= 1, ValueError, "{}: n_steps is out of range: got {}, need less", kName,
              steps);
  auto resampler = std::make_shared<Resampler>(stretched_rate, sample_rate, ResampleOptions{});
  return signal(kName, shape_of, [=](const Shape& s, Numbers x, Result y, Draws&) {
    int64_t n = s.size(s.rank() - 1);
    Samples advance = advances(stft->hop(), stft->frequencies());
    each_line(s, x, y, n, [&](Numbers from, Result to) {
      Spectrum slow = stretch(stft->forward(from), stft->frequencies(), rate, advance);
      Samples wave(static_cast<size_t>(std::llround(static_cast<double>(n) / rate)));
      stft->backward(slow, wave);
      Samples shifted(static_cast<size_t>(resampler->length(std::ssize(wave))));
      resampler->run(wave, shifted);
      std::copy_n(shifted.begin(), std::min(shifted.size(), to.size()), to.begin());
    });
  });
}

TransformPtr resample(double from, double to, const ResampleOptions& o) {
  constexpr const char* kName = "Resample";
  SORUS_CHECK(
      from >= 1 && to >= 1 && o.zeros >= 1 && o.rolloff > 0 && o.rolloff <= 1, ValueError,
      "{}: orig_freq, new_freq, lowpass_filter_width or rolloff is out of range: got {}, {}, {} and {}, "
      "need 1 or more, and (0, 1]",
      kName, from, to, o.zeros, o.rolloff);
  auto filter = std::make_shared<Resampler>(static_cast<int64_t>(from), static_cast<int64_t>(to), o);
  auto shape_of = [=](const Shape& s) {
    check_rank(kName, s, 1, "(..., time)");
    return replaced(s, 1, {filter->length(s.size(s.rank() - 1))});
  };
  return signal(kName, shape_of, [=](const Shape& s, Numbers x, Result y, Draws&) {
    each_line(s, x, y, filter->length(s.size(s.rank() - 1)),
              [&](Numbers in, Result out) { filter->run(in, out); });
  });
}

}  // namespace sorus::data::audio
