#include "sorus/formats/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace sorus::formats {
namespace {

std::string counting(int from, int step) {
  std::string s;
  for (int i = 0; i < 32; ++i) s += static_cast<char>(from + step * i);
  return s;
}

TEST(Crc32c, GivesThePublishedValues) {
  // RFC 3720, appendix B.4, whose bytes of a checksum stand lowest first.
  const std::string read_command(
      "\x01\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x14\0\0\0\0\0\x04\0\0\0\0\x14\0\0\0\x18\x28\0\0\0\0\0\0\0\x02\0\0"
      "\0\0"
      "\0\0\0",
      48);
  const std::pair<std::string, uint32_t> published[] = {{std::string(32, '\0'), 0x8a9136aa},
                                                        {std::string(32, '\xff'), 0x62a8ab43},
                                                        {counting(0, 1), 0x46dd794e},
                                                        {counting(31, -1), 0x113fdb5c},
                                                        {read_command, 0xd9963a56},
                                                        {"123456789", 0xe3069283},
                                                        {"", 0}};
  for (const auto& [bytes, crc] : published) {
    EXPECT_EQ(crc32c(bytes), crc) << bytes.size();
    EXPECT_EQ(crc32c_by_table(bytes), crc) << bytes.size();
  }
}

TEST(Crc32c, IsThatOfThePolynomialBitByBit) {
  std::mt19937 random(1);
  std::string bytes;
  uint32_t expected = 0xffffffff;
  for (int n = 0; n < 100; ++n) {
    EXPECT_EQ(crc32c(bytes), ~expected) << n;
    EXPECT_EQ(crc32c_by_table(bytes), ~expected) << n;
    bytes += static_cast<char>(random());
    expected ^= static_cast<uint8_t>(bytes.back());
    for (int bit = 0; bit < 8; ++bit) expected = expected >> 1 ^ ((expected & 1) != 0 ? 0x82f63b78 : 0);
  }
}

TEST(Crc32c, OfPiecesIsThatOfTheWhole) {
  const std::string bytes = counting(3, 7) + counting(5, 11);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes.substr(cut), crc32c(bytes.substr(0, cut))), crc32c(bytes));
    EXPECT_EQ(crc32c_by_table(bytes.substr(cut), crc32c(bytes.substr(0, cut))), crc32c(bytes));
  }
}

}  // namespace
}  // namespace sorus::formats
