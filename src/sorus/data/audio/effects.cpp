#include <algorithm>
#include <cmath>
#include <numbers>

#include "sorus/data/audio/detail/signal.h"

/// Effects with delays that a slow wave drives.
namespace sorus::data::audio {
namespace {

/// One period of a sine or triangle between two values, begun at `phase`, a part of the period.
Samples wave_table(bool sine, int64_t size, double low, double high, double phase) {
  Samples table(static_cast<size_t>(size));
  auto offset = static_cast<int64_t>(phase * static_cast<double>(size) + 0.5);
  for (int64_t i = 0; i < size; ++i) {
    int64_t point = (i + offset) % size;
    double at = static_cast<double>(point) / static_cast<double>(size);
    double v = (std::sin(at * 2 * std::numbers::pi) + 1) / 2;
    if (!sine) {
      int64_t quarter = 4 * point / size;
      v = 2 * at + (quarter == 0 ? 0.5 : quarter == 3 ? -1.5 : 0);
      if (quarter == 1 || quarter == 2) v = 1.5 - 2 * at;
    }
    table[static_cast<size_t>(i)] = v * (high - low) + low;
  }
  return table;
}

/// The delay line of one channel of the flanger.
class FlangerLine {
 public:
  FlangerLine(int64_t length, double feedback, bool linear)
      : buffer_(static_cast<size_t>(length), 0.0), feedback_(feedback), linear_(linear) {}
  /// The sample `delay` ago.
  double next(double in, double delay) {
    auto size = buffer_.size();
    at_ = (at_ + size - 1) % size;
    buffer_[at_] = in + last_ * feedback_;
    double whole = std::floor(delay);
    double part = delay - whole;
    auto back = [&](size_t more) { return buffer_[(at_ + static_cast<size_t>(whole) + more) % size]; };
    double first = back(0);
    double second = back(1) - first;
    if (linear_) return last_ = first + second * part;
    double third = back(2) - first;
    double a = third * 0.5 - second;
    double b = second * 2 - third * 0.5;
    return last_ = first + (a * part + b) * part;
  }

 private:
  Samples buffer_;
  double feedback_;
  bool linear_;
  double last_ = 0;
  size_t at_ = 0;
};

}  // namespace

TransformPtr phaser(int64_t sample_rate, const Sweep& sweep) {
  auto rate = static_cast<double>(sample_rate);
  auto delays = static_cast<int64_t>(sweep.delay_ms * 0.001 * rate + 0.5);
  auto period = static_cast<int64_t>(rate / sweep.speed + 0.5);
  SORUS_CHECK(delays >= 1 && period >= 1, ValueError,
              "Phaser: delay or speed is out of range: got {} ms and {} Hz at {} Hz, need a sample or more",
              sweep.delay_ms, sweep.speed, sample_rate);
  Samples wave = wave_table(sweep.sinusoidal, period, 1, static_cast<double>(delays), 0.25);
  for (double& v : wave) v = std::trunc(v + 0.5);
  return signal("Phaser", same_shape("Phaser"), [=](const Shape& s, Numbers x, Result y, Draws&) {
    each_line(s, x, y, s.size(s.rank() - 1), [&](Numbers from, Result to) {
      auto size = static_cast<size_t>(delays);
      Samples buffer(size, 0.0);
      for (size_t i = 0; i < from.size(); ++i) {
        auto back = static_cast<size_t>(wave[i % wave.size()]);
        double v = from[i] * sweep.gain_in + buffer[(i + back) % size];
        buffer[(i + 1) % size] = v * sweep.decay;
        to[i] = std::clamp(v * sweep.gain_out, -1.0, 1.0);
      }
    });
  });
}

TransformPtr flanger(int64_t sample_rate, const FlangerOptions& o) {
  auto rate = static_cast<double>(sample_rate);
  auto length = static_cast<int64_t>((o.delay + o.depth) / 1000 * rate + 0.5) + 2;
  auto period = static_cast<int64_t>(rate / o.speed);
  SORUS_CHECK(sample_rate > 0 && period >= 1, ValueError,
              "Flanger: speed is out of range: got {} Hz at {} Hz, need a sample or more", o.speed,
              sample_rate);
  Samples wave = wave_table(o.sinusoidal, period, std::floor(o.delay / 1000 * rate + 0.5),
                            static_cast<double>(length - 2), 0.75);
  auto fits = [](const Shape& shape) {
    check_rank("Flanger", shape, 2, "(..., channel, time)");
    SORUS_CHECK(shape.size(shape.rank() - 2) <= 4, ShapeError,
                "Flanger: rows have too many channels: got {}, need at most 4", shape);
    return shape;
  };
  return signal("Flanger", fits, [=](const Shape& s, Numbers x, Result y, Draws&) {
    double feedback = o.regen / 100;
    double in_gain = 1 / (1 + o.width / 100);
    double delay_gain = o.width / 100 * in_gain * (1 - std::abs(feedback));
    int64_t number = 0;
    each_line(s, x, y, s.size(s.rank() - 1), [&](Numbers from, Result to) {
      FlangerLine line(length, feedback, o.linear);
      auto channel = static_cast<double>(number++ % s.size(s.rank() - 2));
      auto ahead = static_cast<size_t>(channel * static_cast<double>(period) * o.phase / 100 + 0.5);
      for (size_t i = 0; i < from.size(); ++i)
        to[i] = std::clamp(
            from[i] * in_gain + line.next(from[i], wave[(i + ahead) % wave.size()]) * delay_gain, -1.0, 1.0);
    });
  });
}

}  // namespace sorus::data::audio
