#pragma once

#include <random>

#include "sorus/data/text/text.h"
#include "tests/data/helpers.h"

/// Shared by the tests of text.
namespace sorus::data::text::test {

using data::test::error_of;
using data::test::TemporaryFolder;

/// One string a row, in the column "text".
inline Dataset strings(std::vector<std::string> items) {
  const auto rows = static_cast<int64_t>(items.size());
  return from_columns({"text"}, {{make_strings(Shape{}, std::move(items), rows)}, rows});
}

/// What an operation makes of one string: its strings.
inline std::vector<std::string> tokens_of(const OperationPtr& operation, const std::string& text) {
  std::exception_ptr error;
  auto made = operation->apply({make_strings(Shape{}, {text}, 1)}, {}, error);
  if (error) std::rethrow_exception(error);
  auto items = made.at(0).cell(0).row_strings(0);
  return {items.begin(), items.end()};
}

/// The bytes that tokens of one string cover: begins and ends, one after the other.
inline std::vector<uint32_t> offsets_of(const OperationPtr& operation, const std::string& text) {
  std::exception_ptr error;
  auto made = operation->apply({make_strings(Shape{}, {text}, 1)}, {}, error);
  if (error) std::rethrow_exception(error);
  std::vector<uint32_t> places;
  for (size_t c : {size_t{1}, size_t{2}})
    for (uint32_t place : made.at(c).tensor(0).to_vector<uint32_t>()) places.push_back(place);
  return places;
}

inline std::string write(const TemporaryFolder& folder, const std::string& name, const std::string& content) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

/// Strings of random bytes, many of which look like text.
inline std::string random_bytes(std::mt19937& random, size_t most) {
  constexpr std::string_view kCommon = "ab 1.:,\n\t[]<>&;#-\xE5\xBA\x8A\xF0\x9F\x98\x80\xC3\xA9";
  std::string bytes(random() % most, '\0');
  for (char& c : bytes)
    c = random() % 4 == 0 ? static_cast<char>(random() % 256) : kCommon[random() % kCommon.size()];
  return bytes;
}

}  // namespace sorus::data::text::test
