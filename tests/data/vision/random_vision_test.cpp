#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sorus/data/vision/vision.h"
#include "tests/data/helpers.h"

/// Colors and warps against what the genuine MindSpore gave (bench/peers/facts_images.py), and random
/// transforms against the transforms that they draw.
namespace sorus::data {
namespace {

using test::error_of;
using test::file_bytes;

/// An RGB image of 37 x 45 pixels as a row.
Column picture() {
  static const Column image = [] {
    auto bytes = file_bytes(SORUS_SOURCE_DIR "/tests/fixtures/images/color.png");
    ImageHeader header = read_image_header(bytes, "color.png");
    Column made = make_numbers({ItemKind::kNumbers, DType::kUInt8, Shape{header.height, header.width, 3}}, 1);
    decode_image(bytes, header, {0, 0, header.height, header.width}, reinterpret_cast<uint8_t*>(made.row(0)),
                 "color.png");
    return made;
  }();
  return image;
}

std::vector<uint8_t> apply_to(const OperationPtr& transform, const Column& image,
                              const RowContext& context = {}) {
  std::exception_ptr error;
  Column out = transform->apply({image}, context, error).front();
  if (error) std::rethrow_exception(error);
  return out.tensor(0).to_vector<uint8_t>();
}

TEST(MoreVision, HasTheRecordedPixels) {
  std::ifstream file(SORUS_SOURCE_DIR "/tests/fixtures/mindspore/facts.json");
  auto record = nlohmann::json::parse(file)["more_vision"];
  std::map<std::string, TransformPtr> cases = {
      {"Rotate(30, LINEAR)", rotate(30, {{0}, true})},
      {"Rotate(-77.5, center=(3, 5), fill_value=9)", rotate(-77.5, {{9}, false, std::pair(3., 5.)})},
      {"Affine(33, [-0.13, 0.21], 0.7, [11, -7])", affine({33, {-0.13, 0.21}, 0.7, {11, -7}})},
      {"Affine(-8, [0, 0.1], 1.5, [0, 20], LINEAR)", affine({-8, {0, 0.1}, 1.5, {0, 20}}, {{0}, true})},
  };
  for (const char* text : {"0.1", "0.3", "0.73", "1.3", "1.9", "3.3"}) {
    double factor = std::stod(text);
    cases["AdjustBrightness(" + std::string(text) + ")"] = adjust_brightness(factor);
    cases["AdjustContrast(" + std::string(text) + ")"] = adjust_contrast(factor);
    cases["AdjustSaturation(" + std::string(text) + ")"] = adjust_saturation(factor);
    cases["AdjustSharpness(" + std::string(text) + ")"] = adjust_sharpness(factor);
    cases["RandomColor((" + std::string(text) + ", " + text + "))"] = blend_with_gray(factor);
  }
  for (const char* text : {"0.0", "0.1", "0.5", "-0.3", "-0.5"})
    cases["AdjustHue(" + std::string(text) + ")"] = adjust_hue(std::stod(text));
  EXPECT_EQ(cases.size() + 1, record.size());
  for (const auto& [name, transform] : cases) {
    bool narrow = name.starts_with("AdjustHue");
    std::exception_ptr error;
    Column image = narrow ? crop(0, 0, 37, 31)->apply({picture()}, {}, error).front() : picture();
    auto pixels = apply_to(transform, image);
    EXPECT_EQ(crc32(0, pixels.data(), static_cast<uInt>(pixels.size())), record[name][1].get<uint64_t>())
        << name;
  }
}

RowContext row(int64_t i) { return RowContext::make(3, 0, 0, i); }

/// All results of `drawn` are results of `allowed`, and each of these comes up.
void expect_draws(const OperationPtr& drawn, const std::vector<TransformPtr>& allowed, int rows = 200) {
  std::set<std::vector<uint8_t>> left;
  for (const TransformPtr& transform : allowed) left.insert(apply_to(transform, picture()));
  auto all = left;
  for (int i = 0; i < rows; ++i) {
    auto got = apply_to(drawn, picture(), row(i));
    ASSERT_TRUE(all.contains(got)) << drawn->name();
    left.erase(got);
  }
  EXPECT_TRUE(left.empty()) << drawn->name() << ": " << left.size() << " of " << all.size() << " never came";
}

TEST(RandomVision, DrawsAmongItsTransforms) {
  std::vector<TransformPtr> bits;
  for (int64_t b = 2; b <= 5; ++b) bits.push_back(posterize(b));
  expect_draws(random_posterize(2, 5), bits);
  expect_draws(random_solarize(100, 101), {solarize(100, 100), solarize(100, 101), solarize(101, 101)});
  expect_draws(random_rotation({30, 30}), {rotate(30)}, 3);
  expect_draws(random_sharpness({1.5, 1.5}), {adjust_sharpness(1.5)}, 3);
  expect_draws(random_color({0.3, 0.3}), {blend_with_gray(0.3)}, 3);
  expect_draws(random_affine({{5, 5}, {0, 0}, {0, 0}, {0.8, 0.8}, {3, 3}, {4, 4}}),
               {affine({5, {0, 0}, 0.8, {3, 4}})}, 3);
  expect_draws(random_affine({{0, 0}, {-1. / 45, 1. / 45}, {0, 0}}),
               {affine({0, {-1. / 45, 0}}), affine({}), affine({0, {1. / 45, 0}})});
  expect_draws(with_probability("RandomInvert", invert(), 0.5), {invert(), posterize(8)});
  expect_draws(with_probability("RandomInvert", invert(), 0), {posterize(8)}, 20);
}

TEST(RandomVision, ColorsChangeInRandomOrder) {
  auto chained = [](const TransformPtr& a, const TransformPtr& b) {
    std::exception_ptr error;
    Column first = a->apply({picture()}, {}, error).front();
    return apply_to(b, first);
  };
  std::set<std::vector<uint8_t>> allowed{chained(adjust_brightness(1.6), adjust_contrast(0.5)),
                                         chained(adjust_contrast(0.5), adjust_brightness(1.6))};
  ASSERT_EQ(allowed.size(), 2U);
  std::set<std::vector<uint8_t>> seen;
  for (int i = 0; i < 50; ++i)
    seen.insert(apply_to(random_color_adjust({{1.6, 1.6}, {0.5, 0.5}, {1, 1}, {0, 0}}), picture(), row(i)));
  EXPECT_EQ(seen, allowed);
  expect_draws(random_color_adjust({}), {posterize(8)}, 5);
}

TEST(RandomVision, ErasesRectangles) {
  std::vector<float> ones(3 * 20 * 30, 1.F);
  Column image = rows_of(Tensor(std::span<const float>(ones), Shape{1, 3, 20, 30}));
  ErasingDraw draw{1, {0.1, 0.2}, {0.5, 2}, {4, 5, 6}};
  std::exception_ptr error;
  for (int i = 0; i < 50; ++i) {
    auto got = random_erasing(draw)->apply({image}, row(i), error).front().tensor(0).to_vector<float>();
    for (int c = 0; c < 3; ++c) {
      auto count = std::count(got.begin() + c * 600, got.begin() + (c + 1) * 600, static_cast<float>(4 + c));
      EXPECT_GE(count, 45);
      EXPECT_LE(count, 140);
    }
  }
  draw.probability = 0;
  EXPECT_EQ(random_erasing(draw)->apply({image}, row(0), error).front().tensor(0).to_vector<float>(), ones);
  draw = {1, {0.5, 0.5}, {1, 1}, {}};
  auto noise = random_erasing(draw)->apply({image}, row(1), error).front().tensor(0).to_vector<float>();
  std::set<float> values(noise.begin(), noise.end());
  EXPECT_GT(values.size(), 700U);
  draw = {1, {4, 4}, {1, 1}};  // never fits
  EXPECT_EQ(random_erasing(draw)->apply({image}, row(0), error).front().tensor(0).to_vector<float>(), ones);
}

TEST(RandomVision, CutsSquaresOut) {
  std::vector<uint8_t> ones(16 * 20 * 3, 1);
  Column image = rows_of(Tensor(std::span<const uint8_t>(ones), Shape{1, 16, 20, 3}));
  std::set<std::ptrdiff_t> counts;
  for (int i = 0; i < 200; ++i) {
    auto got = apply_to(cut_out(4), image, row(i));
    counts.insert(std::count(got.begin(), got.end(), 0));
  }
  EXPECT_EQ(*counts.rbegin(), 4 * 4 * 3);  // whole squares, and parts of them at the borders
  EXPECT_LT(*counts.begin(), 4 * 4 * 3);
  Column planes = rows_of(Tensor(std::span<const uint8_t>(ones), Shape{1, 3, 16, 20}));
  auto got = apply_to(cut_out(16, 3, false), planes, row(0));
  for (size_t i = 0; i < 320; ++i) EXPECT_EQ(got[i], got[i + 320]);
  EXPECT_THROW((void)apply_to(cut_out(17), image), ShapeError);
}

TEST(RandomVision, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of<ValueError>([] {
              (void)random_color_adjust({{-1, 1}});
            }),
            "RandomColorAdjust: brightness is out of range: got (-1, 1), need (low, high) within 0 to " +
                fmt::format("{}", static_cast<double>(std::numeric_limits<float>::max())));
  EXPECT_THROW((void)random_posterize(0, 3), ValueError);
  EXPECT_THROW((void)random_solarize(20, 10), ValueError);
  EXPECT_THROW((void)adjust_hue(0.6), ValueError);
  EXPECT_THROW((void)with_probability("RandomInvert", invert(), 1.1), ValueError);
  EXPECT_THROW((void)random_affine({{0, 0}, {-2, 0}}), ValueError);
  std::vector<float> ones(12, 1.F);
  Column floats = rows_of(Tensor(std::span<const float>(ones), Shape{1, 2, 2, 3}));
  EXPECT_THROW((void)apply_to(random_color(), floats), DTypeError);
  EXPECT_THROW((void)apply_to(rotate(3, {{0}, true}), floats), DTypeError);
}

}  // namespace
}  // namespace sorus::data
