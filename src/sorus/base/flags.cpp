#include "sorus/base/flags.h"

#include <charconv>
#include <cstdlib>

#include "sorus/base/error.h"

namespace sorus {

std::string env_string(const char* name, std::string_view fallback) {
  const char* text = std::getenv(name);
  return text && *text ? std::string(text) : std::string(fallback);
}

int64_t env_int(const char* name, int64_t fallback) {
  std::string text = env_string(name);
  if (text.empty()) return fallback;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  SORUS_CHECK(error == std::errc{} && end == text.data() + text.size(), ValueError,
              "environment: {} is not an integer: got '{}', need a whole number", name, text);
  return value;
}

bool verbose(std::string_view topic) {
  static const std::string list = "," + env_string("SORUS_VERBOSE") + ",";
  if (list == ",,") return false;
  return list.find(",all,") != std::string::npos ||
         list.find("," + std::string(topic) + ",") != std::string::npos;
}

}  // namespace sorus
