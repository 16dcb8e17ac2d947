#include "sorus/data/vision/vision.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sorus/base/thread_pool.h"
#include "sorus/data/sources/image_sources.h"
#include "tests/data/helpers.h"

/// Transforms, against the pixels that the genuine MindSpore gave (bench/peers/facts_data.py).
namespace sorus::data {
namespace {

using test::error_of;

const nlohmann::json& facts() {
  static const nlohmann::json record = [] {
    std::ifstream file(SORUS_SOURCE_DIR "/tests/fixtures/mindspore/facts.json");
    return nlohmann::json::parse(file);
  }();
  return record;
}

Tensor image_of(const std::vector<int64_t>& shape, const std::string& hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return Tensor(std::span<const uint8_t>(bytes), Shape(std::span<const int64_t>(shape)));
}

/// The transform of one image; rows are images.
Column apply_to(const TransformPtr& transform, const Tensor& image) {
  std::vector<int64_t> shape{1};
  for (Dim d : image.shape().dims()) shape.push_back(d.value());
  auto bytes = image.to_vector<uint8_t>();
  Tensor rows(std::span<const uint8_t>(bytes), Shape{std::span<const int64_t>(shape)});
  std::exception_ptr error;
  return transform->apply({rows_of(rows)}, {}, error).front();
}

class RecordedResize : public testing::TestWithParam<const char*> {};

TEST_P(RecordedResize, HasEqualPixels) {
  const auto& images = facts()["images"];
  const auto& resized = facts()["resized"];
  std::map<std::string, Tensor> sources;
  for (int i = 0; i < 2; ++i)
    sources[i == 0 ? "gray" : "gray second"] = image_of(images["first two"][i][1], images["first two"][i][2]);
  sources["color"] = image_of(resized["color"][0], resized["color"][1]);
  struct Case {
    const char* suffix;
    TransformPtr transform;
  };
  const std::map<std::string, Interpolation> kinds = {{"BILINEAR", Interpolation::kLinear},
                                                      {"NEAREST", Interpolation::kNearest},
                                                      {"BICUBIC", Interpolation::kCubic},
                                                      {"AREA", Interpolation::kArea}};
  Interpolation kind = kinds.at(GetParam());
  int compared = 0;
  for (const auto& [name, source] : sources)
    for (const Case& c : {Case{"(32, 32)", resize(32, 32, kind)}, Case{"(12, 17)", resize(12, 17, kind)},
                          Case{"20", resize_shorter(20, kind)}}) {
      std::string key = name + " " + c.suffix + " " + GetParam();
      if (!resized.contains(key)) continue;
      const auto& recorded = resized[key];
      Tensor expected = image_of(recorded[1], recorded[2]);
      Tensor got = apply_to(c.transform, source).tensor(0);
      EXPECT_EQ(got.shape(), expected.shape()) << key;
      EXPECT_EQ(got.to_vector<uint8_t>(), expected.to_vector<uint8_t>()) << key;
      ++compared;
    }
  EXPECT_GE(compared, 6);
}
INSTANTIATE_TEST_SUITE_P(Filters, RecordedResize, testing::Values("BILINEAR", "NEAREST", "BICUBIC", "AREA"));

TEST(Vision, HasTheRecordedResults) {
  const auto& record = facts()["vision_transforms"];
  auto ints = record["small"][2].get<std::vector<uint8_t>>();
  Tensor small(std::span<const uint8_t>(ints), Shape{4, 5, 3});
  std::vector<float> mean(3, 120.F);
  std::vector<float> deviation(3, 60.F);
  const std::pair<const char*, TransformPtr> cases[] = {
      {"HWC2CHW", hwc_to_chw()},
      {"CenterCrop(3)", center_crop(3, 3)},
      {"Crop((1, 2), (3, 2))", crop(1, 2, 3, 2)},
      {"HorizontalFlip", flip(true)},
      {"VerticalFlip", flip(false)},
      {"Invert", invert()},
      {"Pad(1)", pad({1, 1, 1, 1})},
      {"Pad((1, 0, 2, 1), 7)", pad({1, 0, 2, 1}, {7})},
      {"Pad(1, REFLECT)", pad({1, 1, 1, 1}, {0}, Border::kReflect)},
      {"Rescale(0.5, 1.0)", rescale(0.5, 1.0)},
      {"Normalize", normalize(mean, deviation)},
      {"ToTensor", to_tensor()},
      {"ConvertColor RGB2GRAY", to_gray()},
      {"ConvertColor RGB2BGR", reverse_channels()},
      {"Equalize", equalize()},
      {"Rotate(90)", rotate(90)},
      {"Rotate(30)", rotate(30)},
      {"GaussianBlur(3)", gaussian_blur(3, 3)},
      {"AutoContrast", auto_contrast()},
      {"AdjustBrightness(1.5)", adjust_brightness(1.5)},
      {"AdjustContrast(1.5)", adjust_contrast(1.5)},
      {"AdjustSaturation(0.5)", adjust_saturation(0.5)},
      {"Posterize(3)", posterize(3)},
      {"Solarize((10, 200))", solarize(10, 200)},
  };
  for (const auto& [name, transform] : cases) {
    ASSERT_TRUE(record.contains(name)) << name;
    Tensor got = apply_to(transform, small).tensor(0);
    EXPECT_EQ(std::string(dtype_name(got.dtype())), record[name][0].get<std::string>()) << name;
    EXPECT_EQ(got.shape(), Shape(std::span<const int64_t>(record[name][1].get<std::vector<int64_t>>())))
        << name;
    if (got.dtype() == DType::kFloat32)
      EXPECT_EQ(got.to_vector<float>(), record[name][2].get<std::vector<float>>()) << name;
    else
      EXPECT_EQ(got.to_vector<uint8_t>(), record[name][2].get<std::vector<uint8_t>>()) << name;
  }
  Tensor chw = apply_to(hwc_to_chw(), small).tensor(0);
  EXPECT_EQ(apply_to(normalize(mean, deviation, false), chw).tensor(0).to_vector<float>(),
            record["Normalize, CHW"][2].get<std::vector<float>>());
}

TEST(Vision, LeNetPipelineHasTheRecordedBits) {
  const auto& images = facts()["images"];
  Dataset chain = mnist(SORUS_SOURCE_DIR "/examples/data/mnist/train", "train");
  chain = chain.map({type_cast(DType::kInt32)}, {"label"});
  chain = chain.map(
      {resize(32, 32), rescale(1 / 255.0, 0.0), rescale(1 / 0.3081, -0.1307 / 0.3081), hwc_to_chw()},
      {"image"});
  chain = chain.batch(32, true);
  auto iterator = chain.iterate();
  Row row;
  ASSERT_TRUE(iterator.next(row));
  EXPECT_EQ(row[0].shape(), (Shape{32, 1, 32, 32}));
  EXPECT_EQ(row[1].to_vector<int32_t>(),
            images["LeNet pipeline, label of the first batch"].get<std::vector<int32_t>>());
  const auto* line = row[0].data<float>() + 10 * 32;
  EXPECT_EQ(std::vector<float>(line, line + 32),
            images["LeNet pipeline, row 10 of the first image"][2].get<std::vector<float>>());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(row[0].data<float>()) % 64, 0U);
}

TEST(Vision, TablesHaveTheBitsOfTheStepsTheyStandFor) {
  std::vector<uint8_t> items(3 * 16);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<uint8_t>(i * 5);
  Column bytes = rows_of(Tensor(std::span<const uint8_t>(items), Shape{1, 4, 4, 3}));
  std::vector<TransformPtr> chain = {rescale(0.37, -3), normalize({1, 2, 3}, {0.5F, 0.25F, 3}),
                                     rescale(1.7, 0.1), type_cast(DType::kFloat16)};
  std::vector<RowContext> contexts(chain.size());
  Column together = run_transforms(chain, bytes, contexts);
  Column single = bytes;
  for (const TransformPtr& step : chain)
    single = run_transforms({step}, single, std::span(contexts).first(1));
  ASSERT_EQ(together.type.text(), "float16(4, 4, 3)");
  EXPECT_EQ(std::memcmp(together.row(0), single.row(0), together.type.bytes()), 0);
  // Channels first, folded and on float32, which is not folded.
  Column chw = run_transforms({hwc_to_chw()}, bytes, std::span(contexts).first(1));
  TransformPtr by_plane = normalize({1, 2, 3}, {2, 4, 8}, false);
  Column folded = run_transforms({by_plane, rescale(2, 1)}, chw, std::span(contexts).first(2));
  Column plain = chw;
  for (const TransformPtr& step : {type_cast(DType::kFloat32), by_plane, rescale(2, 1)})
    plain = run_transforms({step}, plain, std::span(contexts).first(1));
  EXPECT_EQ(std::memcmp(folded.row(0), plain.row(0), folded.type.bytes()), 0);
}

Dataset augmented() {
  return mnist(SORUS_SOURCE_DIR "/examples/data/mnist/test", "test")
      .take(200)
      .map({random_crop(28, 28, {4, 4, 4, 4}), random_flip(true)}, {"image"});
}

std::vector<uint8_t> pixels(DatasetIterator& iterator) {
  std::vector<uint8_t> all;
  for (const Row& row : iterator) {
    auto image = row[0].to_vector<uint8_t>();
    all.insert(all.end(), image.begin(), image.end());
  }
  return all;
}

TEST(Vision, RandomPixelsDependOnSeedEpochAndRowAlone) {
  int threads = num_threads();
  std::vector<std::vector<uint8_t>> runs;
  for (int n : {1, 2, 5}) {
    set_num_threads(n);
    auto iterator = augmented().batch(n == 5 ? 7 : 1).iterate({.epochs = 2, .seed = 3});
    runs.push_back(pixels(iterator));
    runs.push_back(pixels(iterator));
  }
  set_num_threads(threads);
  EXPECT_EQ(runs[0], runs[2]);
  EXPECT_EQ(runs[0], runs[4]);
  EXPECT_EQ(runs[1], runs[5]);
  EXPECT_NE(runs[0], runs[1]);
  auto other = augmented().iterate({.seed = 4});
  EXPECT_NE(runs[0], pixels(other));
}

TEST(Vision, RandomFlipFlipsAboutHalf) {
  std::vector<uint8_t> items;
  for (int i = 0; i < 1000; ++i) items.insert(items.end(), {0, 1});
  Dataset rows = from_tensors({"x"}, {Tensor(std::span<const uint8_t>(items), Shape{1000, 1, 2})});
  auto iterator = rows.map({random_flip(true)}).batch(1000).iterate({.seed = 1});
  Row row;
  ASSERT_TRUE(iterator.next(row));
  auto got = row[0].to_vector<uint8_t>();
  int flipped = 0;
  for (size_t i = 0; i < got.size(); i += 2) flipped += got[i];
  EXPECT_GT(flipped, 430);
  EXPECT_LT(flipped, 570);
}

TEST(Vision, WorksOnImagesOfDifferentSizes) {
  std::vector<uint8_t> a(12, 10);
  std::vector<uint8_t> b(30, 20);
  Column ragged =
      concatenate(std::vector<Column>{rows_of(Tensor(std::span<const uint8_t>(a), Shape{1, 3, 4, 1})),
                                      rows_of(Tensor(std::span<const uint8_t>(b), Shape{1, 5, 6, 1}))});
  EXPECT_TRUE(ragged.is_ragged());
  RowContext context;
  Column out = run_transforms({resize(2, 2)}, ragged, std::span(&context, 1));
  ASSERT_FALSE(out.is_ragged());
  EXPECT_EQ(out.tensor(1).to_vector<uint8_t>(), (std::vector<uint8_t>{20, 20, 20, 20}));
}

TEST(Vision, OneHotAndTypeCast) {
  Dataset labels = from_tensors({"x"}, {Tensor({2, 0})});
  auto iterator = labels.map({one_hot(3), type_cast(DType::kFloat32)}).batch(2).iterate();
  Row row;
  ASSERT_TRUE(iterator.next(row));
  EXPECT_EQ(row[0].to_vector<float>(), (std::vector<float>{0, 0, 1, 1, 0, 0}));
  auto wrong = from_tensors({"x"}, {Tensor({3})}).map({one_hot(3)}).iterate();
  EXPECT_EQ(error_of<ValueError>([&] { (void)wrong.next(row); }),
            "OneHot: label is out of range: got 3, need 0 to 2");
}

TEST(Vision, ShrinksByWholeBlocksToTheirMeans) {
  Tensor image({uint8_t{1}, uint8_t{2}, uint8_t{9}, uint8_t{3}, uint8_t{4}, uint8_t{9}}, Shape{2, 3, 1});
  EXPECT_EQ(apply_to(resize(1, 1, Interpolation::kArea), image).tensor(0).item<int>(), 5);  // 28 / 6 = 4.67
  EXPECT_EQ(apply_to(resize(2, 1, Interpolation::kArea), image).tensor(0).to_vector<uint8_t>(),
            (std::vector<uint8_t>{4, 5}));
  Tensor square({uint8_t{0}, uint8_t{0}, uint8_t{1}, uint8_t{1}}, Shape{2, 2, 1});
  EXPECT_EQ(apply_to(resize(1, 1, Interpolation::kArea), square).tensor(0).item<int>(), 1);  // a half goes up
}

TEST(Vision, RefusesWhatDoesNotFit) {
  Tensor small({uint8_t{1}, uint8_t{2}}, Shape{1, 2, 1});
  EXPECT_THROW((void)apply_to(crop(0, 0, 2, 2), small), ShapeError);
  EXPECT_THROW((void)apply_to(random_crop(3, 3), small), ShapeError);
  EXPECT_THROW((void)apply_to(normalize({1, 2}, {1, 1}), small), ShapeError);
  EXPECT_THROW((void)resize(0, 3), ValueError);
  EXPECT_THROW((void)normalize({1}, {0}), ValueError);
  EXPECT_THROW((void)apply_to(resize(2, 2), Tensor({uint8_t{1}})), ShapeError);
}

}  // namespace
}  // namespace sorus::data
