#include "sorus/formats/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <vector>

#include "sorus/base/error.h"

namespace sorus::formats {
namespace {

uint32_t number(std::string_view bytes) {
  uint32_t v = 0;
  for (char c : bytes.substr(0, 4)) v = v << 8 | static_cast<uint8_t>(c);
  return v;
}

/// The chunks of a file, their checksums verified.
std::vector<std::pair<std::string, std::string>> chunks(std::string_view file) {
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::vector<std::pair<std::string, std::string>> out;
  for (file.remove_prefix(8); !file.empty();) {
    const uint32_t n = number(file);
    const std::string_view checked = file.substr(4, n + 4);
    EXPECT_EQ(number(file.substr(8 + n)),
              ::crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
    out.emplace_back(checked.substr(0, 4), checked.substr(4));
    file.remove_prefix(n + 12);
  }
  return out;
}

TEST(Png, HoldsThePixels) {
  std::mt19937 random(3);
  constexpr size_t kHeight = 5, kWidth = 7;
  std::vector<uint8_t> pixels(kHeight * kWidth * 3);
  for (uint8_t& p : pixels) p = static_cast<uint8_t>(random());
  const auto parts = chunks(encode_png(pixels, kHeight, kWidth));
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0], (std::pair<std::string, std::string>(
                          "IHDR", std::string("\0\0\0\x07\0\0\0\x05\x08\x02\0\0\0", 13))));
  EXPECT_EQ(parts[2].first, "IEND");
  std::vector<uint8_t> rows(kHeight * (kWidth * 3 + 1));
  uLongf size = rows.size();
  ASSERT_EQ(::uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(parts[1].second.data()),
                         parts[1].second.size()),
            Z_OK);
  ASSERT_EQ(size, rows.size());
  for (size_t y = 0; y < kHeight; ++y) {
    uint8_t* row = rows.data() + y * (kWidth * 3 + 1);
    ASSERT_EQ(row[0], 1);  // each byte less the one of the pixel before
    for (size_t x = 0; x < kWidth * 3; ++x) {
      if (x >= 3) row[1 + x] = static_cast<uint8_t>(row[1 + x] + row[1 + x - 3]);
      EXPECT_EQ(row[1 + x], pixels[y * kWidth * 3 + x]);
    }
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
