#include "sorus/base/told_as.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "sorus/base/error.h"

namespace sorus {
namespace {

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

void refuse(int got) { raise<ValueError>("inner: out of range: got {}, need 1: or 2", got); }

TEST(ToldAs, NamesTheFunctionThatWasCalled) {
  EXPECT_EQ(text_of([] { refuse(3); }), "inner: out of range: got 3, need 1: or 2");
  EXPECT_EQ(text_of([] {
              const ToldAs told("outer");
              refuse(3);
            }),
            "outer: out of range: got 3, need 1: or 2");
  EXPECT_EQ(text_of([] { refuse(4); }), "inner: out of range: got 4, need 1: or 2");
}

TEST(ToldAs, TheOutermostCounts) {
  const ToldAs outer("outer");
  EXPECT_EQ(text_of([] {
              const ToldAs told("middle");
              refuse(3);
            }),
            "outer: out of range: got 3, need 1: or 2");
  EXPECT_EQ(text_of([] { refuse(5); }), "outer: out of range: got 5, need 1: or 2");
}

TEST(ToldAs, LeavesTextsThatNameNoFunction) {
  const ToldAs outer("outer");
  EXPECT_EQ(text_of([] { raise<MemoryError>("memory: out of memory: need {} bytes", 8); }),
            "memory: out of memory: need 8 bytes");
  EXPECT_EQ(text_of([] { raise<ValueError>("a text: with {}", "blanks"); }), "a text: with blanks");
  EXPECT_EQ(text_of([] { raise<ValueError>("nothing"); }), "nothing");
}

TEST(ToldAs, CountsForItsThread) {
  const ToldAs outer("outer");
  std::string text;
  std::thread other([&] { text = text_of([] { refuse(3); }); });
  other.join();
  EXPECT_EQ(text, "inner: out of range: got 3, need 1: or 2");
}

}  // namespace
}  // namespace sorus
