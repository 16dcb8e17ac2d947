#include <algorithm>
#include <cmath>
#include <numbers>

#include "sorus/data/audio/detail/stft.h"

/// Spectrograms and back.
namespace sorus::data::audio {
namespace {

using StftPtr = std::shared_ptr<const Stft>;

StftPtr stft_of(const char* op, const Frames& frames) { return std::make_shared<Stft>(op, frames); }

/// Checks (..., frequency, time) or (..., frequency, time, 2).
void check_frequencies(const char* op, const Shape& shape, int64_t frequencies, bool complex) {
  int rank = complex ? 3 : 2;
  const char* form = complex ? "(..., frequency, time, 2)" : "(..., frequency, time)";
  check_rank(op, shape, rank, form);
  bool fits =
      shape.size(shape.rank() - rank) == frequencies && (!complex || shape.size(shape.rank() - 1) == 2);
  SORUS_CHECK(fits, ShapeError, "{}: rows have the wrong shape: got {}, need {} with {} frequencies", op,
              shape, form, frequencies);
}

Spectrum complex_of(Numbers x) {
  Spectrum out(x.size() / 2);
  for (size_t i = 0; i < out.size(); ++i) out[i] = {x[2 * i], x[2 * i + 1]};
  return out;
}

/// One spectrogram of (frequency, time) magnitudes to a waveform.
void griffin_lim_one(const Stft& stft, const GriffinLimOptions& o, Numbers x, Result y, int64_t length,
                     Draws& draws) {
  Spectrum angles(x.size(), 1);
  if (o.random_start)
    for (auto& a : angles) a = {draws.next(), draws.next()};
  double momentum = o.momentum / (1 + 2 * o.momentum);  // as MindSpore has it, instead of m / (1 + m)
  Samples size(x.size());
  for (size_t i = 0; i < x.size(); ++i) size[i] = std::pow(x[i], 1 / o.power);
  Spectrum last(x.size());
  Samples wave(static_cast<size_t>(length));
  auto spectrum = [&] {
    Spectrum out(x.size());
    for (size_t i = 0; i < x.size(); ++i) out[i] = angles[i] * size[i];
    return out;
  };
  for (int64_t k = 0; k < o.iterations; ++k) {
    stft.backward(spectrum(), wave);
    Spectrum rebuilt = stft.forward(wave);
    rebuilt.resize(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      angles[i] = rebuilt[i] - last[i] * momentum;
      angles[i] /= std::abs(angles[i]) + 1e-16;
    }
    last = std::move(rebuilt);
  }
  stft.backward(spectrum(), y);
}

}  // namespace

TransformPtr spectrogram(const Frames& frames, double power) {
  constexpr const char* kName = "Spectrogram";
  SORUS_CHECK(power >= 0, ValueError, "{}: power is out of range: got {}, need 0 or more", kName, power);
  StftPtr stft = stft_of(kName, frames);
  auto shape_of = [=](const Shape& s) {
    check_rank(kName, s, 1, "(..., time)");
    int64_t count = stft->frames(s.size(s.rank() - 1));
    return power > 0 ? replaced(s, 1, {stft->frequencies(), count})
                     : replaced(s, 1, {stft->frequencies(), count, 2});
  };
  return signal(kName, shape_of, [=](const Shape& s, Numbers x, Result y, Draws&) {
    int64_t items = stft->frequencies() * stft->frames(s.size(s.rank() - 1)) * (power > 0 ? 1 : 2);
    each_line(s, x, y, items, [&](Numbers from, Result to) {
      Spectrum spectrum = stft->forward(from);
      for (size_t i = 0; i < spectrum.size(); ++i) {
        if (power == 0) {
          to[2 * i] = spectrum[i].real();
          to[2 * i + 1] = spectrum[i].imag();
        } else {
          to[i] = power == 2 ? std::norm(spectrum[i]) : std::pow(std::abs(spectrum[i]), power);
        }
      }
    });
  });
}

TransformPtr inverse_spectrogram(const Frames& frames, std::optional<int64_t> length) {
  constexpr const char* kName = "InverseSpectrogram";
  SORUS_CHECK(length.value_or(0) >= 0, ValueError, "{}: length is out of range: got {}, need 0 or more",
              kName, length.value_or(0));
  StftPtr stft = stft_of(kName, frames);
  auto shape_of = [=](const Shape& s) {
    check_frequencies(kName, s, stft->frequencies(), true);
    return replaced(s, 3, {length ? *length : stft->length(s.size(s.rank() - 2))});
  };
  return signal(kName, shape_of, [=](const Shape& s, Numbers x, Result y, Draws&) {
    auto in = static_cast<size_t>(s.size(s.rank() - 3) * s.size(s.rank() - 2) * 2);
    size_t out = y.size() / (x.size() / in);
    for (size_t i = 0; i * in < x.size(); ++i)
      stft->backward(complex_of(x.subspan(i * in, in)), y.subspan(i * out, out));
  });
}

TransformPtr spectral_centroid(int64_t sample_rate, const Frames& frames) {
  constexpr const char* kName = "SpectralCentroid";
  SORUS_CHECK(sample_rate >= 0, ValueError, "{}: sample_rate is out of range: got {}, need 0 or more", kName,
              sample_rate);
  StftPtr stft = stft_of(kName, frames);
  auto shape_of = [=](const Shape& s) {
    check_rank(kName, s, 1, "(..., time)");
    return replaced(s, 1, {1, stft->frames(s.size(s.rank() - 1))});
  };
  return signal(kName, shape_of, [=](const Shape& s, Numbers x, Result y, Draws&) {
    int64_t count = stft->frames(s.size(s.rank() - 1));
    double step = static_cast<double>(sample_rate / 2) / static_cast<double>(stft->frequencies() - 1);
    each_line(s, x, y, count, [&](Numbers from, Result to) {
      Spectrum spectrum = stft->forward(from);
      Samples total(to.size(), 0.0);
      for (size_t i = 0; i < spectrum.size(); ++i) {
        double size = std::abs(spectrum[i]);
        to[i % to.size()] += size * step * static_cast<double>(i / to.size());
        total[i % to.size()] += size;
      }
      for (size_t t = 0; t < to.size(); ++t) to[t] /= total[t];
    });
  });
}

TransformPtr griffin_lim(const Frames& frames, const GriffinLimOptions& o) {
  constexpr const char* kName = "GriffinLim";
  SORUS_CHECK(o.iterations >= 1 && o.power > 0 && o.momentum >= 0 && o.length.value_or(0) >= 0, ValueError,
              "{}: n_iter, power, momentum or length is out of range: got {}, {}, {} and {}, need 1 or more, "
              "more than 0, and 0 or more",
              kName, o.iterations, o.power, o.momentum, o.length.value_or(0));
  StftPtr stft = stft_of(kName, frames);
  auto length_of = [=](const Shape& s) { return o.length.value_or(stft->length(s.size(s.rank() - 1))); };
  auto shape_of = [=](const Shape& s) {
    check_frequencies(kName, s, stft->frequencies(), false);
    return replaced(s, 2, {length_of(s)});
  };
  return signal(kName, shape_of, [=](const Shape& s, Numbers x, Result y, Draws& draws) {
    auto in = static_cast<size_t>(s.size(s.rank() - 2) * s.size(s.rank() - 1));
    auto out = static_cast<size_t>(length_of(s));
    for (size_t i = 0; i * in < x.size(); ++i)
      griffin_lim_one(*stft, o, x.subspan(i * in, in), y.subspan(i * out, out), length_of(s), draws);
  });
}

}  // namespace sorus::data::audio
