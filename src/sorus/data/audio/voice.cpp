#include <algorithm>
#include <cmath>

#include "sorus/data/audio/detail/stft.h"

/// Detection of voices, after SoX: where the cepstrum of what is louder than the noise has a peak in the
/// range of voices, measured `measure_frequency` times a second.
namespace sorus::data::audio {
namespace {

constexpr const char* kName = "Vad";

int64_t rounded(double v) { return static_cast<int64_t>(v + 0.5); }

/// The numbers that a sampling rate and a search make.
struct Plan {
  Plan(double rate, const VoiceSearch& s);
  double noise_reduction;
  double trigger_level;
  int64_t measure_length;
  int64_t measure_period;
  int64_t fft_length;
  int64_t measures;  ///< how many are kept
  int64_t gap;
  int64_t samples;  ///< how many are kept
  int64_t boots;
  int64_t spectrum_begin;
  int64_t spectrum_end;
  int64_t cepstrum_begin;
  int64_t cepstrum_end;
  double noise_up;
  double noise_down;
  double smooth;
  double trigger;
  Samples spectrum_window;
  Samples cepstrum_window;
  std::shared_ptr<const math::Fft<double>> spectrum_fft;
  std::shared_ptr<const math::Fft<double>> cepstrum_fft;
};

Samples scaled_hann(int64_t n) {
  Samples window = window_of(Window::kHann, n);
  for (double& v : window) v *= 2 / std::sqrt(static_cast<double>(n));
  return window;
}

Plan::Plan(double rate, const VoiceSearch& s)
    : noise_reduction(s.noise_reduction), trigger_level(s.trigger_level) {
  double f = s.measure_frequency;
  measure_length = rounded(rate * s.measure_duration.value_or(2 / f));
  measure_period = rounded(rate / f);
  fft_length = 16;
  while (fft_length < measure_length) fft_length *= 2;
  measures = static_cast<int64_t>(std::ceil(s.search_time * f));
  gap = rounded(s.allowed_gap * f);
  samples = rounded(s.pre_trigger_time * rate) + measures * measure_period + measure_length;
  boots = static_cast<int64_t>(s.boot_time * f - 0.5);
  auto length = static_cast<double>(fft_length);
  spectrum_begin = std::max<int64_t>(1, rounded(s.high_pass / rate * length));
  spectrum_end = std::min(fft_length / 2, rounded(s.low_pass / rate * length));
  cepstrum_begin = static_cast<int64_t>(std::ceil(rate * 0.5 / s.low_pass_lifter));
  cepstrum_end = std::min(fft_length / 4, static_cast<int64_t>(std::floor(rate * 0.5 / s.high_pass_lifter)));
  SORUS_CHECK(measures >= 1 && measure_length >= 1 && measure_period >= 1, ValueError,
              "{}: search_time, measure_freq or measure_duration is out of range: got {}, {} and {}, need a "
              "sample or more",
              kName, s.search_time, f, s.measure_duration.value_or(2 / f));
  SORUS_CHECK(
      spectrum_begin < spectrum_end && cepstrum_begin < cepstrum_end, ValueError,
      "{}: filters leave nothing: got {} to {} Hz and lifters {} to {} Hz at {} Hz, need wider ranges", kName,
      s.high_pass, s.low_pass, s.high_pass_lifter, s.low_pass_lifter, rate);
  auto fading = [f](double time) { return std::exp(-1 / (time * f)); };
  noise_up = fading(s.noise_up_time);
  noise_down = fading(s.noise_down_time);
  smooth = fading(s.measure_smooth_time);
  trigger = fading(s.trigger_time);
  spectrum_window = scaled_hann(measure_length);
  cepstrum_window = scaled_hann(spectrum_end - spectrum_begin);
  spectrum_fft = std::make_shared<math::Fft<double>>(fft_length);
  cepstrum_fft = std::make_shared<math::Fft<double>>(fft_length / 2);
}

/// One channel while it is listened to.
class Listener {
 public:
  explicit Listener(const Plan& p)
      : plan_(p),
        spectrum_(static_cast<size_t>(p.fft_length), 0.0),
        noise_(spectrum_),
        measures_(static_cast<size_t>(p.measures), 0.0) {}

  /// Looks at the last samples of `x` up to `end`, samples before the first being 0; true at a voice.
  bool measure(Numbers x, int64_t end, int64_t place, int64_t boot) {
    double value = cepstral_peak(x, end - plan_.measure_length, boot);
    measures_[static_cast<size_t>(place)] = value;
    mean_ = mean_ * plan_.trigger + value * (1 - plan_.trigger);
    return mean_ >= plan_.trigger_level;
  }
  /// How many measures before the one at `place` the voice began.
  [[nodiscard]] int64_t measures_back(int64_t place) const {
    int64_t n = plan_.measures;
    int64_t voice = n;
    int64_t zero = n;
    int64_t j = 0;
    for (int64_t k = place; j < n; ++j, k = (k + n - 1) % n) {
      double value = measures_[static_cast<size_t>(k)];
      if (value >= plan_.trigger_level && j <= voice + plan_.gap) {
        zero = voice = j;
      } else if (value == 0 && voice >= zero) {
        zero = j;
      }
    }
    return std::min(j - 1, zero);
  }

 private:
  double cepstral_peak(Numbers x, int64_t begin, int64_t boot) {
    Samples frame(static_cast<size_t>(plan_.fft_length), 0.0);
    for (int64_t i = 0; i < plan_.measure_length; ++i)
      if (begin + i >= 0)
        frame[static_cast<size_t>(i)] =
            x[static_cast<size_t>(begin + i)] * plan_.spectrum_window[static_cast<size_t>(i)];
    Spectrum bins(frame.size() / 2 + 1);
    plan_.spectrum_fft->forward_real(frame.data(), bins.data());
    auto count = static_cast<double>(boot);
    double keep = boot >= 0 ? count / (1 + count) : plan_.smooth;
    Samples loud(frame.size() / 2, 0.0);
    for (auto k = static_cast<size_t>(plan_.spectrum_begin); k < static_cast<size_t>(plan_.spectrum_end);
         ++k) {
      spectrum_[k] = spectrum_[k] * keep + std::abs(bins[k]) * (1 - keep);
      double power = spectrum_[k] * spectrum_[k];
      double noise = boot >= 0 ? 0 : power > noise_[k] ? plan_.noise_up : plan_.noise_down;
      noise_[k] = noise_[k] * noise + power * (1 - noise);
      loud[k] = std::sqrt(std::max(0.0, power - plan_.noise_reduction * noise_[k])) *
                plan_.cepstrum_window[k - static_cast<size_t>(plan_.spectrum_begin)];
    }
    plan_.cepstrum_fft->forward_real(loud.data(), bins.data());
    double sum = 0;
    for (int64_t k = plan_.cepstrum_begin; k < plan_.cepstrum_end; ++k)
      sum += std::norm(bins[static_cast<size_t>(k)]);
    auto width = static_cast<double>(plan_.cepstrum_end - plan_.cepstrum_begin);
    return sum > 0 ? std::max(0.0, 21 + std::log(sum / width)) : 0;
  }

  const Plan& plan_;
  Samples spectrum_;
  Samples noise_;
  Samples measures_;
  double mean_ = 0;
};

/// Where what is left begins, in samples; all channels together.
int64_t find_voice(const Plan& p, Numbers x, int64_t channels) {
  int64_t length = std::ssize(x) / channels;
  std::vector<Listener> listeners(static_cast<size_t>(channels), Listener(p));
  int64_t timer = p.measure_length;
  int64_t place = 0;
  int64_t boot = 0;
  int64_t begin = length - p.samples;
  for (int64_t at = 1; at <= length; ++at) {
    if (--timer > 0) continue;
    bool found = false;
    int64_t back = 0;
    for (size_t c = 0; c < listeners.size(); ++c) {
      auto part = x.subspan(c * static_cast<size_t>(length), static_cast<size_t>(length));
      found = listeners[c].measure(part, at, place, boot) || found;
      if (found) back = std::clamp(listeners[c].measures_back(place), back, p.measures);
    }
    if (found) {
      begin = at - p.samples + (p.measures - back) * p.measure_period;
      break;
    }
    timer = p.measure_period;
    place = (place + 1) % p.measures;
    if (boot >= 0) boot = boot == p.boots ? -1 : boot + 1;
  }
  // As a slice of Python has it: a negative place counts from the end.
  return begin >= 0 ? begin : std::max<int64_t>(0, begin + length);
}

class Voice final : public Operation {
 public:
  explicit Voice(Plan plan) : plan_(std::move(plan)) {}
  std::string name() const override { return kName; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                            std::exception_ptr& error) const override {
    int64_t rows = columns.front().rows;
    for (Column& column : columns) {
      std::vector<Column> cut;
      try {
        for (int64_t i = 0; i < rows; ++i) cut.push_back(one(column, i, context));
      } catch (...) {
        error = std::current_exception();
        rows = std::ssize(cut);
      }
      column = cut.empty() ? column.slice(0, 0) : concatenate(std::span<const Column>(cut));
    }
    for (Column& column : columns) column = column.slice(0, rows);
    return columns;
  }

 private:
  /// Row i from its voice on.
  [[nodiscard]] Column one(const Column& column, int64_t i, const RowContext& context) const {
    int64_t begin = 0;
    auto shape_of = same_shape(kName);
    // The search sees float64, whatever the row is.
    auto search = signal(kName, shape_of, [&](const Shape& s, Numbers x, Result y, Draws&) {
      begin = find_voice(plan_, x, s.numel() / s.size(s.rank() - 1));
      std::copy(x.begin(), x.end(), y.begin());
    });
    Column whole = run_transforms({search}, column.cell(i), std::span(&context, 1));
    const Shape& s = whole.type.shape;
    int64_t length = s.size(s.rank() - 1);
    Column out = make_numbers({ItemKind::kNumbers, whole.type.dtype, replaced(s, 1, {length - begin})}, 1);
    size_t item = dtype_size(whole.type.dtype);
    size_t kept = static_cast<size_t>(length - begin) * item;
    for (int64_t c = 0; c < s.numel() / length; ++c)
      std::copy_n(whole.row(0) + static_cast<size_t>(c * length + begin) * item, kept,
                  out.row(0) + static_cast<size_t>(c) * kept);
    return out;
  }
  Plan plan_;
};

}  // namespace

OperationPtr voice_activity(int64_t sample_rate, const VoiceSearch& search) {
  SORUS_CHECK(sample_rate >= 1, ValueError, "{}: sample_rate is out of range: got {}, need 1 or more", kName,
              sample_rate);
  SORUS_CHECK(search.noise_up_time >= search.noise_down_time, ValueError,
              "{}: noise_up_time is out of range: got {}, need noise_down_time, {}, or more", kName,
              search.noise_up_time, search.noise_down_time);
  return std::make_shared<Voice>(Plan(static_cast<double>(sample_rate), search));
}

}  // namespace sorus::data::audio
