#include "sorus/formats/sealed.h"

#include <gtest/gtest.h>

#include "sorus/base/error.h"

namespace sorus::formats {
namespace {

TEST(Sealed, GivesBackTheBytes) {
  for (const std::string& bytes : {std::string(), std::string("abc"), std::string(1000, '\0')})
    EXPECT_EQ(unseal("KIND1", seal("KIND1", bytes), "file"), bytes);
}

TEST(Sealed, FindsAnyChange) {
  const std::string good = seal("KIND1", "some bytes");
  for (size_t i = 0; i < good.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      EXPECT_THROW(static_cast<void>(unseal("KIND1", bad, "file")), IOError) << i;
    }
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_THROW(static_cast<void>(unseal("KIND1", good.substr(0, n), "file")), IOError) << n;
  EXPECT_THROW(static_cast<void>(unseal("KIND1", good + "x", "file")), IOError);
}

TEST(Sealed, NamesFileAndKind) {
  try {
    static_cast<void>(unseal("KIND2", seal("KIND1", "abc"), "a.file"));
    FAIL() << "no error";
  } catch (const IOError& e) {
    EXPECT_STREQ(e.what(), "a.file: is of another kind or version: got 'KIND1', need 'KIND2'");
  }
}

}  // namespace
}  // namespace sorus::formats
