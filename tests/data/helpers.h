#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "sorus/data/dataset.h"

/// Shared by the tests of the data room.
namespace sorus::data::test {

/// The text of the E that `body` throws; fails the test when it throws none.
template <class E, class F>
std::string error_of(F&& body) {
  try {
    body();
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int v : values) bytes.push_back(static_cast<std::byte>(v));
  return bytes;
}

/// An idx file of uint8.
inline std::vector<std::byte> idx_bytes(const std::vector<uint32_t>& shape,
                                        const std::vector<uint8_t>& items) {
  std::vector<std::byte> bytes = bytes_of({0, 0, 8, static_cast<int>(shape.size())});
  for (uint32_t size : shape)
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::byte>(size >> shift));
  for (uint8_t item : items) bytes.push_back(std::byte{item});
  return bytes;
}

/// A folder of its own that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> number{0};
    path_ = std::filesystem::temp_directory_path() /
            ("sorus_data_" + std::to_string(getpid()) + "_" + std::to_string(number++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::vector<std::byte>& bytes) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path path_;
};

/// A whole file.
inline std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(chars.size());
  std::transform(chars.begin(), chars.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

/// Rows 0 to n - 1 in the column "x", as int64 scalars.
inline Dataset numbers(int64_t n, SamplerPtr sampler = sequential_sampler()) {
  std::vector<int64_t> items;
  for (int64_t i = 0; i < n; ++i) items.push_back(i);
  return from_tensors({"x"}, {Tensor(std::span<const int64_t>(items), Shape{n})}, std::move(sampler));
}

/// The int64 of the first column, epoch after epoch; without a seed in the order of the process.
inline std::vector<std::vector<int64_t>> epochs_of(const Dataset& dataset, int64_t epochs = 1,
                                                   std::optional<uint32_t> seed = 0) {
  auto iterator = dataset.iterate({.epochs = epochs, .seed = seed});
  std::vector<std::vector<int64_t>> out;
  for (int64_t e = 0; e < epochs; ++e) {
    out.emplace_back();
    for (const Row& row : iterator) {
      auto items = row[0].to_vector<int64_t>();
      out.back().insert(out.back().end(), items.begin(), items.end());
    }
  }
  return out;
}
inline std::vector<int64_t> rows_of_epoch(const Dataset& dataset, std::optional<uint32_t> seed = 0) {
  return epochs_of(dataset, 1, seed).front();
}

}  // namespace sorus::data::test
