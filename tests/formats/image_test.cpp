#include "sorus/formats/image.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <vector>

#include "sorus/base/error.h"
#include "sorus/data/vision/image_file.h"
#include "sorus/formats/file.h"

namespace sorus::formats {
namespace {

std::vector<uint8_t> noise(const ImageExtents& extents) {
  std::mt19937 random(3);
  std::vector<uint8_t> pixels(static_cast<size_t>(extents.height * extents.width * extents.channels));
  for (uint8_t& p : pixels) p = static_cast<uint8_t>(random());
  return pixels;
}

std::vector<uint8_t> decoded(const std::string& file, const ImageExtents& extents) {
  const auto bytes = std::as_bytes(std::span(file));
  const data::ImageHeader header = data::read_image_header(bytes, "it");
  EXPECT_EQ(std::pair(header.height, header.width), std::pair(extents.height, extents.width));
  std::vector<uint8_t> pixels(static_cast<size_t>(header.height * header.width * 3));
  data::decode_image(bytes, header, {0, 0, header.height, header.width}, pixels.data(), "it");
  return pixels;
}

TEST(Image, PngHoldsThePixels) {
  for (const int64_t channels : {1, 3})
    for (const auto& [height, width] : {std::pair{5, 7}, {1, 1}, {1, 300}, {64, 3}})
      for (const int64_t level : {0, 1, 6, 9}) {
        const ImageExtents extents{height, width, channels};
        const std::vector<uint8_t> pixels = noise(extents);
        const std::string file = encode_png(pixels, extents, level);
        png_image image{};
        image.version = PNG_IMAGE_VERSION;
        ASSERT_TRUE(png_image_begin_read_from_memory(&image, file.data(), file.size())) << image.message;
        EXPECT_EQ(image.format, static_cast<png_uint_32>(channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB));
        ASSERT_EQ(std::pair(static_cast<int>(image.height), static_cast<int>(image.width)),
                  std::pair(height, width));
        std::vector<uint8_t> read(pixels.size());
        ASSERT_TRUE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr)) << image.message;
        EXPECT_EQ(read, pixels);
      }
}

TEST(Image, HigherLevelsAndLowerQualitiesMakeSmallerFiles) {
  const std::vector<uint8_t> flat(300 * 200, 7);
  EXPECT_GT(encode_png(flat, {300, 200, 1}, 0).size(), flat.size());
  EXPECT_LT(encode_png(flat, {300, 200, 1}, 9).size(), encode_png(flat, {300, 200, 1}, 1).size());
  const ImageExtents extents{40, 50, 3};
  EXPECT_LT(encode_jpeg(noise(extents), extents, 20).size(), encode_jpeg(noise(extents), extents, 90).size());
}

TEST(Image, JpegIsNearThePixels) {
  for (const int64_t channels : {1, 3})
    for (const auto& [height, width] : {std::pair{37, 50}, {1, 1}, {1, 300}, {64, 3}}) {
      const ImageExtents extents{height, width, channels};
      std::vector<uint8_t> pixels(static_cast<size_t>(height * width * channels));
      for (size_t i = 0; i < pixels.size(); ++i)
        pixels[i] = static_cast<uint8_t>(i / static_cast<size_t>(channels) % static_cast<size_t>(width) / 2);
      const std::vector<uint8_t> read = decoded(encode_jpeg(pixels, extents, 100), extents);
      for (size_t i = 0; i < read.size(); ++i)
        ASSERT_NEAR(read[i], pixels[channels == 1 ? i / 3 : i], 3) << height << " x " << width << " at " << i;
    }
}

TEST(Image, RefusesExtentsThatDoNotFit) {
  const std::vector<uint8_t> pixels(12);
  for (const ImageExtents& extents : {ImageExtents{2, 3, 3},
                                      {0, 2, 3},
                                      {2, 3, 2},
                                      {-2, -2, 3},
                                      {int64_t{1} << 40, 2, 1},
                                      {int64_t{1} << 62, int64_t{1} << 62, 3}}) {
    EXPECT_THROW(static_cast<void>(encode_png(pixels, extents)), ValueError);
    EXPECT_THROW(static_cast<void>(encode_jpeg(pixels, extents)), ValueError);
  }
  EXPECT_THROW(static_cast<void>(encode_png(pixels, {2, 2, 3}, 10)), ValueError);
  EXPECT_THROW(static_cast<void>(encode_png(pixels, {2, 2, 3}, -1)), ValueError);
  EXPECT_THROW(static_cast<void>(encode_jpeg(pixels, {2, 2, 3}, 0)), ValueError);
  EXPECT_THROW(static_cast<void>(encode_jpeg(pixels, {2, 2, 3}, 101)), ValueError);
}

TEST(Image, TensorsHaveTheShapesOfImages) {
  const std::vector<uint8_t> pixels(12, 9);
  const std::span<const uint8_t> items(pixels);
  const Tensor gray(items, Shape{3, 4});
  EXPECT_EQ(encode_png(gray), encode_png(pixels, {3, 4, 1}));
  EXPECT_EQ(encode_png(Tensor(items, Shape{3, 4, 1})), encode_png(gray));
  EXPECT_EQ(encode_jpeg(Tensor(items, Shape{2, 2, 3}), 30), encode_jpeg(pixels, {2, 2, 3}, 30));
  EXPECT_THROW(static_cast<void>(encode_png(Tensor(items, Shape{12}))), ShapeError);
  EXPECT_THROW(static_cast<void>(encode_jpeg(Tensor(items, Shape{2, 3, 2}))), ShapeError);
  EXPECT_THROW(static_cast<void>(encode_png(Tensor({1.F, 2.F}, Shape{1, 2}))), DTypeError);
}

TEST(Image, FilesAreWrittenAsAWholeOrNotAtAll) {
  std::string folder = std::filesystem::temp_directory_path() / "sorus_write_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/it.png";
  for (const std::string text : {"first", "the second", ""}) {
    write_file(path, text);
    EXPECT_EQ(read_file(path), text);
  }
  EXPECT_THROW(write_file(folder, "x"), IOError);
  EXPECT_THROW(write_file(folder + "/none/it.png", "x"), IOError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sorus::formats
