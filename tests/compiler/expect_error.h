#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace sorus {

/// Holds when `f` throws an E whose text has `part` in it.
template <class E>
void expect_error(const std::function<void()>& f, const std::string& part) {
  try {
    f();
    FAIL() << "no error, wanted " << part;
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

}  // namespace sorus
