#include "sorus/formats/png_image.h"

#include <gtest/gtest.h>
#include <png.h>

#include <random>
#include <vector>

#include "sorus/base/error.h"

namespace sorus::formats {
namespace {

TEST(Png, HoldsThePixels) {
  std::mt19937 random(3);
  for (const auto& [height, width] : {std::pair{5, 7}, {1, 1}, {1, 300}, {64, 3}}) {
    std::vector<uint8_t> pixels(static_cast<size_t>(height * width * 3));
    for (uint8_t& p : pixels) p = static_cast<uint8_t>(random());
    const std::string file = encode_png(pixels, height, width);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    ASSERT_TRUE(png_image_begin_read_from_memory(&image, file.data(), file.size())) << image.message;
    EXPECT_EQ(image.format, static_cast<png_uint_32>(PNG_FORMAT_RGB));
    ASSERT_EQ(std::pair(static_cast<int>(image.height), static_cast<int>(image.width)),
              std::pair(height, width));
    std::vector<uint8_t> read(pixels.size());
    ASSERT_TRUE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr)) << image.message;
    EXPECT_EQ(read, pixels);
  }
}

TEST(Png, RefusesExtentsThatDoNotFit) {
  const std::vector<uint8_t> pixels(12);
  EXPECT_THROW(static_cast<void>(encode_png(pixels, 2, 3)), ValueError);
  EXPECT_THROW(static_cast<void>(encode_png(pixels, 0, 2)), ValueError);
  EXPECT_THROW(static_cast<void>(encode_png({}, 0, 0)), ValueError);
}

}  // namespace
}  // namespace sorus::formats
