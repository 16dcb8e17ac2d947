#include <algorithm>
#include <cmath>
#include <numbers>

#include "sorus/data/audio/detail/stft.h"

/// Banks of filters over frequencies, and cepstral coefficients.
namespace sorus::data::audio {
namespace {

/// A matrix (rows, columns) in float64.
struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  Samples values;
  double& at(int64_t i, int64_t j) { return values[static_cast<size_t>(i * columns + j)]; }
  [[nodiscard]] double at(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * columns + j)]; }
};
Matrix matrix(int64_t rows, int64_t columns) {
  return {rows, columns, Samples(static_cast<size_t>(rows * columns), 0.0)};
}
Tensor tensor_of(const Matrix& m) {
  std::vector<float> values(m.values.begin(), m.values.end());
  return Tensor(std::span<const float>(values), Shape{m.rows, m.columns});
}

constexpr double kLinearStep = 200.0 / 3;  // Hz of a mel below 1000 Hz, after Slaney
constexpr double kLogStart = 1000;
const double kLogStep = std::log(6.4) / 27;

double to_mel(double hz, MelType type) {
  if (type == MelType::kHtk) return 2595 * std::log10(1 + hz / 700);
  if (hz < kLogStart) return hz / kLinearStep;
  return kLogStart / kLinearStep + std::log(hz / kLogStart) / kLogStep;
}
double to_hz(double mel, MelType type) {
  if (type == MelType::kHtk) return 700 * (std::pow(10.0, mel / 2595) - 1);
  double start = kLogStart / kLinearStep;
  return mel < start ? mel * kLinearStep : kLogStart * std::exp(kLogStep * (mel - start));
}

/// Triangles with these corners, three neighbours each.
Matrix triangles(int64_t frequencies, const Samples& corners, double highest) {
  Matrix bank = matrix(frequencies, std::ssize(corners) - 2);
  for (int64_t i = 0; i < frequencies; ++i) {
    double hz = frequencies > 1 ? highest * static_cast<double>(i) / static_cast<double>(frequencies - 1) : 0;
    for (int64_t j = 0; j < bank.columns; ++j) {
      const double* corner = corners.data() + j;
      double up = (hz - corner[0]) / (corner[1] - corner[0]);
      double down = (corner[2] - hz) / (corner[2] - corner[1]);
      bank.at(i, j) = std::max(0.0, std::min(up, down));
    }
  }
  return bank;
}
Samples evenly(double low, double high, int64_t filters) {
  Samples points(static_cast<size_t>(filters + 2));
  for (size_t i = 0; i < points.size(); ++i)
    points[i] = low + (high - low) * static_cast<double>(i) / static_cast<double>(filters + 1);
  return points;
}
double half_rate(int64_t sample_rate) { return static_cast<double>(sample_rate / 2); }

void check_bank(const char* op, int64_t filters, int64_t frequencies, double f_min, double f_max) {
  SORUS_CHECK(filters >= 1 && frequencies >= 0, ValueError,
              "{}: filters or frequencies are out of range: got {} and {}, need 1 or more and 0 or more", op,
              filters, frequencies);
  SORUS_CHECK(f_min < f_max, ValueError, "{}: f_min is out of range: got {}, need less than f_max, {}", op,
              f_min, f_max);
}

Matrix mel_matrix(const char* op, int64_t frequencies, const MelBank& bank) {
  double f_max = bank.f_max.value_or(half_rate(bank.sample_rate));
  check_bank(op, bank.mels, frequencies, bank.f_min, f_max);
  Samples corners = evenly(to_mel(bank.f_min, bank.type), to_mel(f_max, bank.type), bank.mels);
  for (double& c : corners) c = to_hz(c, bank.type);
  Matrix m = triangles(frequencies, corners, half_rate(bank.sample_rate));
  if (bank.norm == MelNorm::kSlaney)
    for (int64_t i = 0; i < m.rows; ++i)
      for (int64_t j = 0; j < m.columns; ++j)
        m.at(i, j) *= 2 / (corners[static_cast<size_t>(j + 2)] - corners[static_cast<size_t>(j)]);
  return m;
}
Matrix linear_matrix(const char* op, int64_t frequencies, const LinearBank& bank) {
  double f_max = bank.f_max.value_or(half_rate(bank.sample_rate));
  check_bank(op, bank.filters, frequencies, bank.f_min, f_max);
  return triangles(frequencies, evenly(bank.f_min, f_max, bank.filters), half_rate(bank.sample_rate));
}
Matrix dct_matrix(int64_t coefficients, int64_t mels, bool ortho) {
  SORUS_CHECK(coefficients >= 1 && mels >= 1, ValueError,
              "create_dct: n_mfcc or n_mels is out of range: got {} and {}, need 1 or more", coefficients,
              mels);
  Matrix m = matrix(mels, coefficients);
  auto n = static_cast<double>(mels);
  for (int64_t i = 0; i < mels; ++i)
    for (int64_t k = 0; k < coefficients; ++k) {
      double v = std::cos(std::numbers::pi / n * (static_cast<double>(i) + 0.5) * static_cast<double>(k));
      m.at(i, k) = v * (ortho ? std::sqrt((k == 0 ? 1 : 2) / n) : 2);
    }
  return m;
}

/// (..., m.rows, time) to (..., m.columns, time).
TransformPtr product(const std::string& name, Matrix m) {
  auto shape_of = [name, rows = m.rows, columns = m.columns](const Shape& s) {
    check_rank(name, s, 2, "(..., frequency, time)");
    SORUS_CHECK(s.size(s.rank() - 2) == rows, ShapeError,
                "{}: rows have the wrong shape: got {}, need (..., {}, time)", name, s, rows);
    return replaced(s, 2, {columns, s.size(s.rank() - 1)});
  };
  return signal(name, shape_of, [m = std::move(m)](const Shape& s, Numbers x, Result y, Draws&) {
    auto time = static_cast<size_t>(s.size(s.rank() - 1));
    size_t in = static_cast<size_t>(m.rows) * time;
    size_t out = static_cast<size_t>(m.columns) * time;
    for (size_t b = 0; b * in < x.size(); ++b)
      for (int64_t i = 0; i < m.rows; ++i)
        for (int64_t j = 0; j < m.columns; ++j) {
          double factor = m.at(i, j);
          if (factor == 0) continue;
          const double* from = x.data() + b * in + static_cast<size_t>(i) * time;
          double* to = y.data() + b * out + static_cast<size_t>(j) * time;
          for (size_t t = 0; t < time; ++t) to[t] += factor * from[t];
        }
  });
}

/// Transforms one after the other as one, in float64 between.
TransformPtr chain(std::string name, std::vector<TransformPtr> steps) {
  auto shape_of = [steps](const Shape& s) {
    RowType type{ItemKind::kNumbers, DType::kFloat64, s};
    for (const auto& step : steps) type = step->infer(type);
    return type.shape;
  };
  return signal(std::move(name), shape_of, [steps](const Shape& s, Numbers x, Result y, Draws&) {
    RowType type{ItemKind::kNumbers, DType::kFloat64, s};
    Samples from(x.begin(), x.end());
    for (const auto& step : steps) {
      RowType next = step->infer(type);
      Samples to(static_cast<size_t>(next.items()));
      step->run(type, reinterpret_cast<const std::byte*>(from.data()),
                reinterpret_cast<std::byte*>(to.data()), 1, RowContext{});
      from = std::move(to);
      type = next;
    }
    std::copy(from.begin(), from.end(), y.begin());
  });
}

int64_t frequencies_of(const Frames& f) { return f.onesided ? f.n_fft / 2 + 1 : f.n_fft; }

TransformPtr logarithm() {
  return signal("log", same_shape("log"), [](const Shape&, Numbers x, Result y, Draws&) {
    std::transform(x.begin(), x.end(), y.begin(), [](double v) { return std::log(v + 1e-6); });
  });
}

/// What is done to a filtered spectrogram for cepstral coefficients.
TransformPtr cepstrum(const std::string& name, TransformPtr filtered, int64_t filters, int64_t coefficients,
                      bool ortho, bool log) {
  SORUS_CHECK(coefficients <= filters, ValueError,
              "{}: there are more coefficients than filters: got {} and {}, need at most as many", name,
              coefficients, filters);
  return chain(name, {std::move(filtered), log ? logarithm() : amplitude_to_db(),
                      product(name, dct_matrix(coefficients, filters, ortho))});
}

/// One matrix (mels, time) back to (frequencies, time), by gradient descent.
void descend(const Matrix& m, const Descent& d, Numbers x, Result y, Draws& draws) {
  auto time = static_cast<int64_t>(x.size()) / m.columns;
  Samples speed(y.size(), 0.0);
  for (double& v : y) v = draws.next();
  double last = std::numeric_limits<double>::infinity();
  Samples error(x.size());
  for (int64_t k = 0; k < d.steps; ++k) {
    std::transform(x.begin(), x.end(), error.begin(), std::negate<>());
    auto place = [&](int64_t row, int64_t t) { return static_cast<size_t>(row * time + t); };
    auto each = [&](auto&& f) {
      for (int64_t i = 0; i < m.rows; ++i)
        for (int64_t j = 0; j < m.columns; ++j)
          if (double factor = m.at(i, j); factor != 0)
            for (int64_t t = 0; t < time; ++t) f(place(i, t), place(j, t), factor);
    };
    each([&](size_t i, size_t j, double factor) { error[j] += factor * y[i]; });
    double loss = 0;
    for (double e : error) loss += e * e / static_cast<double>(time);
    Samples slope(y.size(), 0.0);
    each([&](size_t i, size_t j, double factor) {
      slope[i] += 2 * factor * error[j] / static_cast<double>(time);
    });
    for (size_t i = 0; i < y.size(); ++i) {
      speed[i] = d.momentum * speed[i] + slope[i];
      y[i] = std::max(0.0, y[i] - d.rate * speed[i]);
    }
    if (loss < d.least_loss || std::abs(last - loss) < d.least_change) break;
    last = loss;
  }
}

}  // namespace

Tensor create_dct(int64_t coefficients, int64_t mels, bool ortho) {
  return tensor_of(dct_matrix(coefficients, mels, ortho));
}

Tensor melscale_fbanks(int64_t frequencies, const MelBank& bank) {
  return tensor_of(mel_matrix("melscale_fbanks", frequencies, bank));
}

Tensor linear_fbanks(int64_t frequencies, double f_min, double f_max, int64_t filters, int64_t sample_rate) {
  return tensor_of(linear_matrix("linear_fbanks", frequencies, {filters, sample_rate, f_min, f_max}));
}

TransformPtr mel_scale(const MelBank& bank, int64_t frequencies) {
  return product("MelScale", mel_matrix("MelScale", frequencies, bank));
}

TransformPtr inverse_mel_scale(int64_t frequencies, const MelBank& bank, const Descent& descent) {
  constexpr const char* kName = "InverseMelScale";
  Matrix m = mel_matrix(kName, frequencies, bank);
  SORUS_CHECK(frequencies >= 1 && descent.steps >= 1, ValueError,
              "{}: n_stft or max_iter is out of range: got {} and {}, need 1 or more", kName, frequencies,
              descent.steps);
  auto channels = [](const Shape& s) { return s.numel() / (s.size(s.rank() - 2) * s.size(s.rank() - 1)); };
  auto shape_of = [=](const Shape& s) {
    check_rank(kName, s, 2, "(..., mel, time)");
    SORUS_CHECK(s.size(s.rank() - 2) == bank.mels, ShapeError,
                "{}: rows have the wrong shape: got {}, need (..., {}, time)", kName, s, bank.mels);
    return Shape{channels(s), frequencies, s.size(s.rank() - 1)};
  };
  return signal(kName, shape_of, [=](const Shape& s, Numbers x, Result y, Draws& draws) {
    auto parts = static_cast<size_t>(channels(s));
    size_t in = x.size() / parts;
    size_t out = y.size() / parts;
    for (size_t i = 0; i < parts; ++i)
      descend(m, descent, x.subspan(i * in, in), y.subspan(i * out, out), draws);
  });
}

TransformPtr mel_spectrogram(const Frames& frames, double power, const MelBank& bank) {
  constexpr const char* kName = "MelSpectrogram";
  SORUS_CHECK(power > 0, ValueError, "{}: power is out of range: got {}, need more than 0", kName, power);
  return chain(kName, {spectrogram(frames, power), mel_scale(bank, frequencies_of(frames))});
}

TransformPtr mfcc(int64_t coefficients, const Frames& frames, double power, const MelBank& bank, bool ortho,
                  bool log) {
  return cepstrum("MFCC", mel_spectrogram(frames, power, bank), bank.mels, coefficients, ortho, log);
}

TransformPtr lfcc(int64_t coefficients, const Frames& frames, double power, const LinearBank& bank,
                  bool ortho, bool log) {
  SORUS_CHECK(power > 0, ValueError, "LFCC: power is out of range: got {}, need more than 0", power);
  Matrix m = linear_matrix("LFCC", frequencies_of(frames), bank);
  return cepstrum("LFCC", chain("LFCC", {spectrogram(frames, power), product("LFCC", std::move(m))}),
                  bank.filters, coefficients, ortho, log);
}

}  // namespace sorus::data::audio
