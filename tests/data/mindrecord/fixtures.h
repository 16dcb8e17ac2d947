#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sorus/data/mindrecord/reader.h"
#include "sorus/data/mindrecord/writer.h"
#include "tests/data/helpers.h"

/// Files that the genuine MindSpore wrote (bench/peers/record_mindrecord.py), and rows by the formulas of
/// tests/python/mindrecord_recipes.py.
namespace sorus::data::mindrecord::test {

inline constexpr int64_t kHeaderSize = 1 << 14;
inline constexpr int64_t kPageSize = 1 << 15;

inline std::string unpacked_fixture(const std::string& name) {
  const std::string path = SORUS_SOURCE_DIR "/tests/fixtures/mindrecord/" + name + ".gz";
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  std::string bytes;
  char buffer[4096];
  for (int n = gzread(file, buffer, sizeof buffer); n > 0; n = gzread(file, buffer, sizeof buffer))
    bytes.append(buffer, static_cast<size_t>(n));
  gzclose(file);
  return bytes;
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
inline std::string read_bytes(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

/// A folder with the files of some recipes.
class Files {
 public:
  explicit Files(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      for (const char* ending : {"", ".db"})
        write_bytes(path(name + ending), unpacked_fixture(name + ending));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  data::test::TemporaryFolder folder_;
};

template <class T>
std::string elements(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Row i of the recipe "pages": label, text and data of very different sizes.
inline std::string page_text(int64_t i) {
  return std::string(static_cast<size_t>(i * 1237 % 4801), static_cast<char>('a' + i % 26));
}
inline std::string page_data(int64_t i) {
  return std::string(static_cast<size_t>(i * 997 % 9001 + 1), static_cast<char>(i));
}
inline Schema pages_schema() {
  return Schema::make({{"label", FieldType::kInt32, false, {}},
                       {"text", FieldType::kString, false, {}},
                       {"data", FieldType::kBytes, false, {}}});
}
/// In the order of the fields' names: data, label, text.
inline RowValues page_row(int64_t i) { return {page_data(i), i, page_text(i)}; }

inline Schema every_type_schema() {
  return Schema::parse(
      R"({"file_name": {"type": "string"}, "label": {"type": "int32"}, "score": {"type": "float32"},
    "exact": {"type": "float64"}, "big": {"type": "int64"}, "data": {"type": "bytes"},
    "ids": {"type": "int32", "shape": [-1]}, "matrix": {"type": "float32", "shape": [2, -1]},
    "pair": {"type": "int64", "shape": [2]}, "curve": {"type": "float64", "shape": [-1]}})",
      "one of each");
}
/// In the order big, curve, data, exact, file_name, ids, label, matrix, pair, score.
inline RowValues every_type_row(int64_t i) {
  const auto n = static_cast<size_t>(i);
  std::string data;
  std::vector<int32_t> ids;
  std::vector<double> curve;
  for (int64_t k = 0; k < i; ++k) {
    data += static_cast<char>(k);
    ids.push_back(static_cast<int32_t>(300 * k - 200));
    curve.push_back(0.5 * static_cast<double>(k));
  }
  data += '\0';
  const auto x = static_cast<double>(i);
  return {i * 10000000000 - 7,
          elements(curve),
          data,
          x / 3,
          std::to_string(i) + ".jpg",
          elements(ids),
          i - 3,
          elements(std::vector<float>(2 * (n + 1), static_cast<float>(i))),
          elements(std::vector<int64_t>{i * 1000000000, -i * 1000000000000}),
          x * 0.1};
}

}  // namespace sorus::data::mindrecord::test
