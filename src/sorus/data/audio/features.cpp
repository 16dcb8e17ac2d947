#include <algorithm>
#include <cmath>
#include <numeric>

#include "sorus/data/audio/detail/stft.h"

/// What is told of sound over time.
namespace sorus::data::audio {
namespace {

/// First and last frame of the window around frame t, the last not in it.
std::pair<int64_t, int64_t> window_around(const CmnWindow& w, int64_t t, int64_t frames) {
  int64_t begin = w.center ? t - w.size / 2 : t - w.size;
  int64_t end = w.center ? begin + w.size : t + 1;
  if (begin < 0) {
    end -= begin;
    begin = 0;
  }
  if (!w.center && end > t) end = std::max(t + 1, w.least);
  if (end > frames) {
    begin = std::max<int64_t>(0, begin - (end - frames));
    end = frames;
  }
  return {begin, end};
}

/// (time, features) of one channel.
void normalize_frames(const CmnWindow& w, int64_t features, Numbers x, Result y) {
  int64_t frames = std::ssize(x) / features;
  auto at = [=](int64_t t, int64_t f) { return static_cast<size_t>(t * features + f); };
  for (int64_t f = 0; f < features; ++f) {
    Samples sum(static_cast<size_t>(frames + 1), 0.0);
    for (int64_t t = 0; t < frames; ++t)
      sum[static_cast<size_t>(t + 1)] = sum[static_cast<size_t>(t)] + x[at(t, f)];
    for (int64_t t = 0; t < frames; ++t) {
      auto [begin, end] = window_around(w, t, frames);
      auto count = static_cast<double>(end - begin);
      double mean = (sum[static_cast<size_t>(end)] - sum[static_cast<size_t>(begin)]) / count;
      double v = x[at(t, f)] - mean;
      if (w.variance) {
        double spread = 0;
        for (int64_t k = begin; k < end; ++k) spread += (x[at(k, f)] - mean) * (x[at(k, f)] - mean);
        v = count == 1 ? 0 : v / std::sqrt(spread / count);
      }
      y[at(t, f)] = v;
    }
  }
}

/// Search for the pitch of a waveform's frames.
class PitchFinder {
 public:
  PitchFinder(int64_t sample_rate, const PitchSearch& s)
      : rate_(static_cast<double>(sample_rate)),
        lags_(static_cast<int64_t>(std::ceil(rate_ / s.low))),
        least_(static_cast<int64_t>(std::ceil(rate_ / s.high))),
        frame_(static_cast<int64_t>(std::ceil(rate_ * s.frame_time))),
        median_(s.median) {
    SORUS_CHECK(
        frame_ >= 1 && s.median >= 1 && s.low > 0 && s.high > 0 && least_ < lags_ / 2, ValueError,
        "DetectPitchFrequency: arguments are out of range: got frame_time {}, win_length {}, freq_low {} "
        "and freq_high {} at {} Hz, need them positive and freq_high more than twice freq_low",
        s.frame_time, s.median, s.low, s.high, sample_rate);
  }
  [[nodiscard]] int64_t frames(int64_t length) const { return (length + frame_ - 1) / frame_; }
  [[nodiscard]] int64_t results(int64_t length) const {
    return frames(length) + (median_ - 1) / 2 - median_ + 1;
  }
  void run(Numbers x, Result y) const {
    int64_t count = frames(std::ssize(x));
    int64_t before = (median_ - 1) / 2;
    std::vector<int64_t> best(static_cast<size_t>(before + count));
    for (int64_t t = 0; t < count; ++t) best[static_cast<size_t>(before + t)] = best_lag(x, t * frame_);
    // The frame that is repeated in front is the first one.
    for (int64_t t = 0; t < before; ++t) best[static_cast<size_t>(t)] = best[static_cast<size_t>(before)];
    for (size_t i = 0; i < y.size(); ++i) {
      std::vector<int64_t> around(best.begin() + static_cast<int64_t>(i),
                                  best.begin() + static_cast<int64_t>(i) + median_);
      auto middle = around.begin() + (median_ - 1) / 2;
      std::nth_element(around.begin(), middle, around.end());
      y[i] = rate_ / (1e-9 + static_cast<double>(*middle));
    }
  }

 private:
  /// How alike a frame is to the signal `lag` later.
  [[nodiscard]] double likeness(Numbers x, int64_t begin, int64_t lag) const {
    auto at = [&](int64_t i) { return i < std::ssize(x) ? x[static_cast<size_t>(i)] : 0; };
    double product = 0;
    double first = 0;
    double second = 0;
    for (int64_t i = begin; i < begin + frame_; ++i) {
      double a = at(i);
      double b = at(i + lag);
      product += a * b;
      first += a * a;
      second += b * b;
    }
    double size = (1e-9 + std::sqrt(first)) * (1e-9 + std::sqrt(second));
    return product / (size * size);
  }
  /// The best lag; one of the shorter half wins when it is nearly as good.
  [[nodiscard]] int64_t best_lag(Numbers x, int64_t begin) const {
    Samples like(static_cast<size_t>(lags_));
    for (int64_t lag = 1; lag <= lags_; ++lag) like[static_cast<size_t>(lag - 1)] = likeness(x, begin, lag);
    auto first = like.begin() + least_;
    auto best = std::max_element(first, like.end());
    auto half = std::max_element(first, like.begin() + lags_ / 2);
    return (*half > 0.99 * *best ? half : best) - like.begin() + 1;
  }
  double rate_;
  int64_t lags_;
  int64_t least_;
  int64_t frame_;
  int64_t median_;
};

}  // namespace

TransformPtr sliding_window_cmn(const CmnWindow& window) {
  SORUS_CHECK(window.size >= 0 && window.least >= 0, ValueError,
              "SlidingWindowCmn: cmn_window or min_cmn_window is out of range: got {} and {}, need 0 or more",
              window.size, window.least);
  return signal("SlidingWindowCmn", same_shape("SlidingWindowCmn", 2, "(..., time, features)"),
                [window](const Shape& s, Numbers x, Result y, Draws&) {
                  auto part = static_cast<size_t>(s.size(s.rank() - 2) * s.size(s.rank() - 1));
                  for (size_t i = 0; i < x.size(); i += part)
                    normalize_frames(window, s.size(s.rank() - 1), x.subspan(i, part), y.subspan(i, part));
                });
}

TransformPtr compute_deltas(int64_t window, Border border) {
  SORUS_CHECK(window >= 3, ValueError, "ComputeDeltas: win_length is out of range: got {}, need 3 or more",
              window);
  int64_t n = (window - 1) / 2;
  double weight = static_cast<double>(n * (n + 1) * (2 * n + 1)) / 3;
  return signal("ComputeDeltas", same_shape("ComputeDeltas", 2, "(..., feature, time)"),
                [=](const Shape& s, Numbers x, Result y, Draws&) {
                  int64_t length = s.size(s.rank() - 1);
                  each_line(s, x, y, length, [&](Numbers from, Result to) {
                    for (int64_t t = 0; t < length; ++t)
                      for (int64_t k = -n; k <= n; ++k)
                        if (int64_t at = bordered(t + k, length, border); at >= 0)
                          to[static_cast<size_t>(t)] +=
                              static_cast<double>(k) * from[static_cast<size_t>(at)] / weight;
                  });
                });
}

TransformPtr detect_pitch_frequency(int64_t sample_rate, const PitchSearch& search) {
  constexpr const char* kName = "DetectPitchFrequency";
  PitchFinder finder(sample_rate, search);
  auto shape_of = [=](const Shape& s) {
    check_rank(kName, s, 1, "(..., time)");
    int64_t results = finder.results(s.size(s.rank() - 1));
    SORUS_CHECK(results >= 1, ShapeError,
                "{}: waveform is too short: got {}, need more frames than win_length / 2", kName, s);
    return replaced(s, 1, {results});
  };
  return signal(kName, shape_of,
                [=](const Shape& s, Numbers x, Result y, Draws&) {
                  each_line(s, x, y, finder.results(s.size(s.rank() - 1)),
                            [&](Numbers in, Result out) { finder.run(in, out); });
                },
                {.result = DType::kFloat32});
}

}  // namespace sorus::data::audio
