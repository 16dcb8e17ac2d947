#include "sorus/data/audio/audio.h"

#include <cmath>
#include <numbers>
#include <random>

#include "tests/data/helpers.h"

namespace sorus::data::audio {
namespace {

using data::test::error_of;

std::vector<float> noise(int64_t n) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> draw(-0.5F, 0.5F);
  std::vector<float> x(static_cast<size_t>(n));
  for (float& v : x) v = draw(generator);
  return x;
}

/// Rows of one shape in the column "sound".
Dataset rows(const std::vector<float>& items, const Shape& shape) {
  return from_tensors({"sound"}, {Tensor(std::span<const float>(items), shape)});
}

/// All rows of the first column, one after the other.
std::vector<float> all_of(const Dataset& dataset, size_t column = 0) {
  std::vector<float> out;
  for (const Row& row : dataset.iterate({.seed = 5}))
    for (float v : row[static_cast<size_t>(column)].to_vector<float>()) out.push_back(v);
  return out;
}

TEST(Audio, FilterIsItsRecursion) {
  std::vector<float> x = noise(50);
  std::vector<double> a{2, 0.3, -0.4};
  std::vector<double> b{0.5, 0.1, 0.7};
  std::vector<double> y;
  for (size_t n = 0; n < x.size(); ++n) {
    double sum = 0;
    for (size_t k = 0; k < 3 && k <= n; ++k) sum += b[k] * static_cast<double>(x[n - k]);
    for (size_t k = 1; k < 3 && k <= n; ++k) sum -= a[k] * y[n - k];
    y.push_back(sum / a[0]);
  }
  auto ours = all_of(rows(x, Shape{1, 50}).map({lfilter(a, b, false)}, {"sound"}));
  ASSERT_EQ(ours.size(), y.size());
  for (size_t n = 0; n < y.size(); ++n) EXPECT_FLOAT_EQ(ours[n], static_cast<float>(y[n]));
}

TEST(Audio, SpectrogramAndBack) {
  std::vector<float> x = noise(3 * 96);
  for (int64_t n_fft : {16, 15, 22}) {
    Frames frames{.n_fft = n_fft, .hop_length = 4};
    auto back = all_of(
        rows(x, Shape{3, 96}).map({spectrogram(frames, 0), inverse_spectrogram(frames, 96)}, {"sound"}));
    ASSERT_EQ(back.size(), x.size());
    // What no whole window of the last frame reaches is lost.
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], i % 96 < 88 ? x[i] : back[i], 1e-6) << i;
  }
}

TEST(Audio, RandomMasksAreKeyedByRow) {
  std::vector<float> x(40 * 6 * 8, 1);
  Dataset masked = rows(x, Shape{40, 6, 8}).map({mask_along_axis_iid(5, 0, 2)}, {"sound"});
  std::vector<float> once = all_of(masked);
  EXPECT_EQ(once, all_of(masked.batch(7)));
  std::vector<size_t> widths;
  for (size_t row = 0; row < 40; ++row)
    widths.push_back(static_cast<size_t>(std::count(once.begin() + static_cast<int64_t>(row * 48),
                                                    once.begin() + static_cast<int64_t>(row * 48 + 8), 0)));
  EXPECT_EQ(*std::min_element(widths.begin(), widths.end()), 0U);
  EXPECT_EQ(*std::max_element(widths.begin(), widths.end()), 4U);
}

TEST(Audio, MelDescentFindsTheSpectrogram) {
  MelBank bank{.mels = 6, .sample_rate = 8000};
  std::vector<float> mel(6 * 3, 1);
  auto there_and_back =
      all_of(rows(mel, Shape{1, 6, 3}).map({inverse_mel_scale(33, bank), mel_scale(bank, 33)}, {"sound"}));
  ASSERT_EQ(there_and_back.size(), mel.size());
  for (float v : there_and_back) EXPECT_NEAR(v, 1, 0.02);
}

TEST(Audio, MagphaseGivesTwoColumns) {
  std::vector<float> x{3, 4, 0, 2};
  Dataset parts = rows(x, Shape{1, 2, 2}).map({magphase()}, {"sound"}, {"size", "angle"});
  EXPECT_EQ(all_of(parts, 0), (std::vector<float>{5, 2}));
  EXPECT_FLOAT_EQ(all_of(parts, 1)[1], std::numbers::pi_v<float> / 2);
}

TEST(Audio, RefusesWhatDoesNotFit) {
  auto run = [](const OperationPtr& operation, const Shape& shape, DType dtype = DType::kFloat32) {
    std::exception_ptr error;
    Column column = make_numbers({ItemKind::kNumbers, dtype, shape}, 1);
    std::memset(column.row(0), 0, column.type.bytes());
    auto out = operation->apply({column}, {}, error);
    if (error) std::rethrow_exception(error);
  };
  EXPECT_EQ(error_of<DTypeError>([&] { run(riaa_biquad(44100), Shape{4}, DType::kInt32); }),
            "RiaaBiquad: rows have the wrong type: got int32(4,), need float16, float32 or float64");
  EXPECT_EQ(error_of<ShapeError>([&] { run(angle(), Shape{4}); }),
            "Angle: rows have the wrong shape: got (4,), need (..., 2) with at least one number");
  EXPECT_EQ(error_of<ShapeError>([&] {
              run(angle(), Shape{2, 4});
            }),
            "Angle: rows have the wrong shape: got (2, 4), need (..., 2)");
  EXPECT_EQ(error_of<ShapeError>([&] {
              run(mask_along_axis(3, 2, 0, 2), Shape{2, 4});
            }),
            "MaskAlongAxis: mask is beyond the spectrogram: got 2 from 3 on for (2, 4), need them within 4");
  EXPECT_EQ(error_of<ShapeError>([&] { run(spectrogram({.n_fft = 8, .center = false}), Shape{7}); }),
            "Spectrogram: waveform is too short: got 7 samples, need 8 for one frame");
  EXPECT_EQ(error_of<ShapeError>([&] { run(voice_activity(8000), Shape{0}); }),
            "Vad: rows have the wrong shape: got (0,), need (..., time) with at least one number");
  EXPECT_EQ(error_of<ValueError>([&] {
              static_cast<void>(lfilter({0, 1}, {1, 1}));
            }),
            "LFilter: the first of a is out of range: got 0, need another number");
}

}  // namespace
}  // namespace sorus::data::audio
