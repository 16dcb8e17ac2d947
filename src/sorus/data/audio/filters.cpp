#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sorus/data/audio/detail/signal.h"

/// Recursive filters.
namespace sorus::data::audio {
namespace {

struct Coefficients {
  std::vector<double> a;
  std::vector<double> b;
};

void check_coefficients(const std::string& name, const Coefficients& c) {
  SORUS_CHECK(c.a.size() == c.b.size() && !c.a.empty(), ValueError,
              "{}: coefficients do not fit: got {} a and {} b, need as many of both, 1 or more", name,
              c.a.size(), c.b.size());
  SORUS_CHECK(c.a[0] != 0, ValueError, "{}: the first of a is out of range: got 0, need another number",
              name);
}

/// Transposed direct form: what later samples get of earlier ones is kept in `later`.
void run_filter(const Coefficients& c, Numbers x, Result y) {
  size_t order = c.a.size();
  Samples later(order, 0.0);
  for (size_t n = 0; n < x.size(); ++n) {
    double in = x[n];
    double out = (c.b[0] * in) / c.a[0] + later[0];
    for (size_t k = 1; k < order; ++k)
      later[k - 1] = (k + 1 < order ? later[k] : 0.0) + (c.b[k] * in - c.a[k] * out) / c.a[0];
    y[n] = out;
  }
}

void clamp_samples(Result y) {
  for (double& v : y) v = std::clamp(v, -1.0, 1.0);
}

TransformPtr filter(std::string name, Coefficients c, bool clamp = true) {
  check_coefficients(name, c);
  auto shape = same_shape(name);
  return signal(std::move(name), shape,
                [c = std::move(c), clamp](const Shape& in, Numbers x, Result y, Draws&) {
                  each_line(in, x, y, in.size(in.rank() - 1),
                            [&](Numbers from, Result to) { run_filter(c, from, to); });
                  if (clamp) clamp_samples(y);
                },
                {Integers::kRefused});
}
TransformPtr two_poles(std::string name, double b0, double b1, double b2, double a0, double a1, double a2) {
  return filter(std::move(name), {{a0, a1, a2}, {b0, b1, b2}});
}

/// What the formulas of two-pole filters share.
struct Pole {
  double cosine;
  double sine;
  double alpha;
  Pole(const char* name, int64_t sample_rate, double frequency, double q) {
    SORUS_CHECK(sample_rate != 0, ValueError, "{}: sample_rate is out of range: got 0, need another number",
                name);
    SORUS_CHECK(q > 0 && q <= 1, ValueError, "{}: Q is out of range: got {}, need (0, 1]", name, q);
    double w = 2 * std::numbers::pi * frequency / static_cast<double>(sample_rate);
    cosine = std::cos(w);
    sine = std::sin(w);
    alpha = sine / 2 / q;
  }
};
double amplitude_of(double gain) { return std::exp(gain / 40 * std::numbers::ln10); }

/// A shelf above a frequency (`sign` 1) or below it (-1).
TransformPtr shelf(std::string name, double amplitude, double cosine, double alpha, double sign) {
  double root = 2 * std::sqrt(amplitude) * alpha;
  double less = sign * (amplitude - 1) * cosine;
  double more = sign * (amplitude + 1) * cosine;
  double up = amplitude + 1;
  double down = amplitude - 1;
  return two_poles(std::move(name), amplitude * (up + less + root), -2 * sign * amplitude * (down + more),
                   amplitude * (up + less - root), up - less + root, 2 * sign * (down - more),
                   up - less - root);
}

}  // namespace

TransformPtr lfilter(std::vector<double> a, std::vector<double> b, bool clamp) {
  return filter("LFilter", {std::move(a), std::move(b)}, clamp);
}

TransformPtr filtfilt(std::vector<double> a, std::vector<double> b, bool clamp) {
  Coefficients c{std::move(a), std::move(b)};
  check_coefficients("Filtfilt", c);
  return signal("Filtfilt", same_shape("Filtfilt"),
                [c, clamp](const Shape& in, Numbers x, Result y, Draws&) {
                  each_line(in, x, y, in.size(in.rank() - 1), [&](Numbers from, Result to) {
                    Samples forward(from.size());
                    run_filter(c, from, forward);
                    std::reverse(forward.begin(), forward.end());
                    run_filter(c, forward, to);
                    std::reverse(to.begin(), to.end());
                  });
                  if (clamp) clamp_samples(y);
                },
                {Integers::kRefused});
}

TransformPtr biquad(double b0, double b1, double b2, double a0, double a1, double a2) {
  return two_poles("Biquad", b0, b1, b2, a0, a1, a2);
}

TransformPtr allpass_biquad(int64_t sample_rate, double frequency, double q) {
  Pole p("AllpassBiquad", sample_rate, frequency, q);
  return two_poles("AllpassBiquad", 1 - p.alpha, -2 * p.cosine, 1 + p.alpha, 1 + p.alpha, -2 * p.cosine,
                   1 - p.alpha);
}

TransformPtr band_biquad(int64_t sample_rate, double frequency, double q, bool noise) {
  Pole p("BandBiquad", sample_rate, frequency, q);
  double a2 = std::exp(-2 * std::numbers::pi * (frequency / q) / static_cast<double>(sample_rate));
  double a1 = -4 * a2 / (1 + a2) * p.cosine;
  double b0 = std::sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2);
  if (noise) b0 *= std::sqrt(((1 + a2) * (1 + a2) - a1 * a1) * (1 - a2) / (1 + a2)) / b0;
  return two_poles("BandBiquad", b0, 0, 0, 1, a1, a2);
}

TransformPtr bandpass_biquad(int64_t sample_rate, double frequency, double q, bool constant_skirt) {
  Pole p("BandpassBiquad", sample_rate, frequency, q);
  double peak = constant_skirt ? p.sine / 2 : p.alpha;
  return two_poles("BandpassBiquad", peak, 0, -peak, 1 + p.alpha, -2 * p.cosine, 1 - p.alpha);
}

TransformPtr bandreject_biquad(int64_t sample_rate, double frequency, double q) {
  Pole p("BandrejectBiquad", sample_rate, frequency, q);
  return two_poles("BandrejectBiquad", 1, -2 * p.cosine, 1, 1 + p.alpha, -2 * p.cosine, 1 - p.alpha);
}

TransformPtr bass_biquad(int64_t sample_rate, double gain, double frequency, double q) {
  Pole p("BassBiquad", sample_rate, frequency, q);
  return shelf("BassBiquad", amplitude_of(gain), p.cosine, p.alpha, -1);
}

TransformPtr treble_biquad(int64_t sample_rate, double gain, double frequency, double q) {
  Pole p("TrebleBiquad", sample_rate, frequency, q);
  return shelf("TrebleBiquad", amplitude_of(gain), p.cosine, p.alpha, 1);
}

TransformPtr equalizer_biquad(int64_t sample_rate, double frequency, double gain, double q) {
  Pole p("EqualizerBiquad", sample_rate, frequency, q);
  double a = amplitude_of(gain);
  return two_poles("EqualizerBiquad", 1 + p.alpha * a, -2 * p.cosine, 1 - p.alpha * a, 1 + p.alpha / a,
                   -2 * p.cosine, 1 - p.alpha / a);
}

TransformPtr highpass_biquad(int64_t sample_rate, double frequency, double q) {
  Pole p("HighpassBiquad", sample_rate, frequency, q);
  double b = (1 + p.cosine) / 2;
  return two_poles("HighpassBiquad", b, -2 * b, b, 1 + p.alpha, -2 * p.cosine, 1 - p.alpha);
}

TransformPtr lowpass_biquad(int64_t sample_rate, double frequency, double q) {
  Pole p("LowpassBiquad", sample_rate, frequency, q);
  double b = (1 - p.cosine) / 2;
  return two_poles("LowpassBiquad", b, 2 * b, b, 1 + p.alpha, -2 * p.cosine, 1 - p.alpha);
}

TransformPtr deemph_biquad(int64_t sample_rate) {
  SORUS_CHECK(sample_rate == 44100 || sample_rate == 48000, ValueError,
              "DeemphBiquad: sample_rate is out of range: got {}, need 44100 or 48000", sample_rate);
  bool disc = sample_rate == 44100;
  double slope = disc ? 0.4845 : 0.479;
  double a = amplitude_of(disc ? -9.477 : -9.62);
  Pole p("DeemphBiquad", sample_rate, disc ? 5283 : 5356, 1);
  double alpha = p.sine / 2 * std::sqrt((a + 1 / a) * (1 / slope - 1) + 2);
  return shelf("DeemphBiquad", a, p.cosine, alpha, 1);
}

TransformPtr riaa_biquad(int64_t sample_rate) {
  struct Roots {
    int64_t rate;
    std::array<double, 2> zeros;
    std::array<double, 2> poles;
  };
  static constexpr std::array<Roots, 4> kRoots{{{44100, {-0.2014898, 0.9233820}, {0.7083149, 0.9924091}},
                                                {48000, {-0.1766069, 0.9321590}, {0.7396325, 0.9931330}},
                                                {88200, {-0.1168735, 0.9648312}, {0.8590646, 0.9964002}},
                                                {96000, {-0.1141486, 0.9676817}, {0.8699137, 0.9966946}}}};
  const auto* at = std::find_if(kRoots.begin(), kRoots.end(), [&](auto& r) { return r.rate == sample_rate; });
  SORUS_CHECK(at != kRoots.end(), ValueError,
              "RiaaBiquad: sample_rate is out of range: got {}, need 44100, 48000, 88200 or 96000",
              sample_rate);
  using Quadratic = std::array<double, 3>;
  auto of = [](const std::array<double, 2>& r) { return Quadratic{1, -(r[0] + r[1]), r[0] * r[1]}; };
  Quadratic b = of(at->zeros);
  Quadratic a = of(at->poles);
  // The gain at 1 kHz is to be 1.
  double y = 2 * std::numbers::pi * 1000 / static_cast<double>(sample_rate);
  auto size = [y](const Quadratic& c) {
    return std::hypot(c[0] + c[1] * std::cos(y) + c[2] * std::cos(2 * y),
                      c[1] * std::sin(y) + c[2] * std::sin(2 * y));
  };
  double g = size(a) / size(b);
  return two_poles("RiaaBiquad", b[0] * g, b[1] * g, b[2] * g, a[0], a[1], a[2]);
}

}  // namespace sorus::data::audio
