#include <algorithm>
#include <cmath>
#include <numbers>

#include "sorus/data/audio/detail/signal.h"

/// What acts on samples one by one, or nearly so.
namespace sorus::data::audio {
namespace {

/// Each number by itself.
TransformPtr each(const std::string& name, std::function<double(double)> f, SignalTraits traits = {}) {
  return signal(
      name, same_shape(name),
      [f = std::move(f)](const Shape&, Numbers x, Result y, Draws&) {
        std::transform(x.begin(), x.end(), y.begin(), f);
      },
      traits);
}
double cut_off(double v) { return std::clamp(v, -1.0, 1.0); }

double decibels(double v) { return std::pow(10.0, v / 20); }

/// Of (real, imaginary) pairs one number each.
TransformPtr of_pairs(const std::string& name, std::function<double(double, double)> f) {
  return signal(name, without_parts(name), [f = std::move(f)](const Shape&, Numbers x, Result y, Draws&) {
    for (size_t i = 0; i < y.size(); ++i) y[i] = f(x[2 * i], x[2 * i + 1]);
  });
}
TransformPtr norm_of(const std::string& name, double power) {
  SORUS_CHECK(power >= 0, ValueError, "{}: power is out of range: got {}, need 0 or more", name, power);
  return of_pairs(name, [power](double re, double im) { return std::pow(re * re + im * im, power / 2); });
}

/// Two transforms of one column.
class Both final : public Operation {
 public:
  Both(std::string name, TransformPtr first, TransformPtr second)
      : name_(std::move(name)), first_(std::move(first)), second_(std::move(second)) {}
  std::string name() const override { return name_; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                            std::exception_ptr& error) const override {
    SORUS_CHECK(columns.size() == 1, ValueError, "{}: columns do not fit: got {}, need 1", name_,
                columns.size());
    std::vector<Column> first = first_->apply(columns, context, error);
    std::vector<Column> second = second_->apply(std::move(columns), context, error);
    return {std::move(first[0]), std::move(second[0])};
  }

 private:
  std::string name_;
  TransformPtr first_;
  TransformPtr second_;
};

double fade_in(FadeShape shape, double f) {
  switch (shape) {
    case FadeShape::kLinear:
      return f;
    case FadeShape::kExponential:
      return std::exp2(f - 1) * f;
    case FadeShape::kLogarithmic:
      return std::log10(0.1 + f) + 1;
    case FadeShape::kQuarterSine:
      return std::sin(f * std::numbers::pi / 2);
    case FadeShape::kHalfSine:
      break;
  }
  return std::sin(f * std::numbers::pi - std::numbers::pi / 2) / 2 + 0.5;
}

/// What a sample of a fade is multiplied with: sample i of `n`.
double fade_factor(FadeShape shape, int64_t i, int64_t n, bool in) {
  double f = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
  return fade_in(shape, in ? f : 1 - f);
}

/// As dc_shift(): `sign` tells the side of the peaks.
double shifted(double v, double shift, double limiter) {
  double sign = shift > 0 ? 1 : -1;
  double threshold = 1 - (std::abs(shift) - limiter);
  if (sign * v <= threshold) return cut_off(v + shift);
  double pressed = (sign * v - threshold) * limiter / (1 - threshold);
  return sign * std::min(pressed + threshold + std::abs(shift), threshold);
}

void add_noise(Density density, const Shape& shape, Numbers x, Samples& y, Draws& draws) {
  auto length = static_cast<size_t>(shape.size(shape.rank() - 1));
  auto pick = [&] { return x[static_cast<size_t>(draws.below(std::ssize(x)))]; };
  double noise = 0;
  if (density == Density::kRectangular) noise = draws.next() - 0.5;
  if (density == Density::kGaussian)
    for (int i = 0; i < 7; ++i) noise += pick();
  for (size_t i = 0; i < y.size(); ++i) {
    // One period of a triangle over the whole length.
    double at = static_cast<double>(i % length) / static_cast<double>(length);
    y[i] += density == Density::kTriangular ? 1 - std::abs(2 * at - 1) : noise;
  }
}

}  // namespace

TransformPtr amplitude_to_db(bool power, double reference, double least, double top_db) {
  SORUS_CHECK(reference > 0 && least > 0 && top_db > 0, ValueError,
              "AmplitudeToDB: ref_value, amin or top_db is out of range: got {}, {} and {}, need more than 0",
              reference, least, top_db);
  double factor = power ? 10 : 20;
  return signal("AmplitudeToDB", same_shape("AmplitudeToDB", 2, "(..., frequency, time)"),
                [=](const Shape& in, Numbers x, Result y, Draws&) {
                  size_t block = 1;
                  for (int d = std::max(0, in.rank() - 3); d < in.rank(); ++d)
                    block *= static_cast<size_t>(in.size(d));
                  double zero = std::log10(std::max(reference, least));
                  for (size_t i = 0; i < x.size(); i += block) {
                    Result part = y.subspan(i, block);
                    for (size_t k = 0; k < block; ++k)
                      part[k] = factor * (std::log10(std::max(x[i + k], least)) - zero);
                    double floor = *std::max_element(part.begin(), part.end()) - top_db;
                    for (double& v : part) v = std::max(v, floor);
                  }
                });
}

TransformPtr db_to_amplitude(double reference, double power) {
  return each("DBToAmplitude",
              [=](double v) { return reference * std::pow(std::pow(10.0, 0.1 * v), power); });
}

TransformPtr contrast(double amount) {
  SORUS_CHECK(amount >= 0 && amount <= 100, ValueError,
              "Contrast: enhancement_amount is out of range: got {}, need 0 to 100", amount);
  return each("Contrast", [amount](double v) {
    double angle = v * std::numbers::pi / 2;
    return std::sin(angle + amount / 750 * std::sin(4 * angle));
  });
}

TransformPtr dc_shift(double shift, std::optional<double> limiter) {
  SORUS_CHECK(shift >= -2 && shift <= 2, ValueError, "DCShift: shift is out of range: got {}, need -2 to 2",
              shift);
  return each("DCShift", [=](double v) {
    return limiter && shift != 0 ? shifted(v, shift, *limiter) : cut_off(v + shift);
  });
}

TransformPtr gain(double decibel) {
  return each("Gain", [factor = decibels(decibel)](double v) { return v * factor; });
}

TransformPtr volume(double gain, GainType type) {
  SORUS_CHECK(type == GainType::kDb || (type == GainType::kPower ? gain > 0 : gain >= 0), ValueError,
              "Vol: gain is out of range: got {}, need {}", gain,
              type == GainType::kPower ? "more than 0" : "0 or more");
  double factor = type == GainType::kDb ? decibels(gain) : gain;
  if (type == GainType::kPower) factor = std::sqrt(gain);
  return each("Vol", [factor](double v) { return cut_off(v * factor); });
}

TransformPtr fade(int64_t in, int64_t out, FadeShape shape) {
  SORUS_CHECK(in >= 0 && out >= 0, ValueError,
              "Fade: fade_in_len or fade_out_len is out of range: got {} and {}, need 0 or more", in, out);
  auto fits = [=](const Shape& s) {
    check_rank("Fade", s, 1, "(..., time)");
    int64_t length = s.size(s.rank() - 1);
    SORUS_CHECK(in <= length && out <= length, ShapeError,
                "Fade: fades are longer than the waveform: got {} and {} for {}, need at most its length", in,
                out, s);
    return s;
  };
  return signal("Fade", fits, [=](const Shape& s, Numbers x, Result y, Draws&) {
    int64_t length = s.size(s.rank() - 1);
    each_line(s, x, y, length, [&](Numbers from, Result to) {
      for (int64_t i = 0; i < length; ++i) {
        double v = from[static_cast<size_t>(i)];
        if (i < in) v *= fade_factor(shape, i, in, true);
        if (i >= length - out) v *= fade_factor(shape, i - (length - out), out, false);
        to[static_cast<size_t>(i)] = v;
      }
    });
  });
}

TransformPtr overdrive(double gain, double color) {
  SORUS_CHECK(gain >= 0 && gain <= 100 && color >= 0 && color <= 100, ValueError,
              "Overdrive: gain or color is out of range: got {} and {}, need 0 to 100", gain, color);
  return signal("Overdrive", same_shape("Overdrive"), [=](const Shape& s, Numbers x, Result y, Draws&) {
    each_line(s, x, y, s.size(s.rank() - 1), [&](Numbers from, Result to) {
      double last_in = 0;
      double last_out = 0;
      for (size_t i = 0; i < from.size(); ++i) {
        double v = std::clamp(from[i] * decibels(gain) + color / 200, -1.0, 1.0);
        v -= v * v * v / 3;
        last_out = v - last_in + 0.995 * last_out;
        last_in = v;
        to[i] = cut_off(from[i] * 0.5 + last_out * 0.75);
      }
    });
  });
}

TransformPtr dither(Density density, bool shaping) {
  return signal("Dither", same_shape("Dither"), [=](const Shape& s, Numbers x, Result y, Draws& draws) {
    constexpr double kSteps = 32768;
    Samples scaled(x.begin(), x.end());
    for (double& v : scaled) v *= kSteps - 2;  // so that a step of noise stays within 16 bits
    Samples noisy = scaled;
    add_noise(density, s, scaled, noisy, draws);
    for (size_t i = 0; i < noisy.size(); ++i) noisy[i] = std::round(noisy[i]) / kSteps;
    auto length = static_cast<size_t>(s.size(s.rank() - 1));
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = noisy[i] + (shaping && i % length != 0 ? noisy[i - 1] - x[i - 1] : 0);
  });
}

TransformPtr mu_law_encoding(int64_t channels) {
  SORUS_CHECK(channels >= 1, ValueError,
              "MuLawEncoding: quantization_channels is out of range: got {}, need 1 or more", channels);
  return each("MuLawEncoding",
              [mu = static_cast<double>(channels - 1)](double v) {
                double level = std::copysign(std::log1p(mu * std::abs(v)) / std::log1p(mu), v);
                return std::trunc((level + 1) / 2 * mu + 0.5);
              },
              {.result = DType::kInt32});
}

TransformPtr mu_law_decoding(int64_t channels) {
  SORUS_CHECK(channels >= 1, ValueError,
              "MuLawDecoding: quantization_channels is out of range: got {}, need 1 or more", channels);
  return each("MuLawDecoding", [mu = static_cast<double>(channels - 1)](double v) {
    double level = v / mu * 2 - 1;
    return std::copysign(std::expm1(std::abs(level) * std::log1p(mu)) / mu, level);
  });
}

OperationPtr magphase(double power) {
  return std::make_shared<Both>("Magphase", norm_of("Magphase", power), angle());
}

TransformPtr angle() {
  return of_pairs("Angle", [](double re, double im) { return std::atan2(im, re); });
}

TransformPtr complex_norm(double power) { return norm_of("ComplexNorm", power); }

}  // namespace sorus::data::audio
