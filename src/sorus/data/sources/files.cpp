#include "sorus/data/sources/detail/files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <system_error>

#include "sorus/base/fork_mutex.h"
#include "sorus/data/classes.h"

namespace sorus::data::detail {
namespace {

class Loaded final : public RandomAccess, public HasClasses {
 public:
  Loaded(std::vector<std::string> names, std::vector<LoadPart> parts)
      : names_(std::move(names)), parts_(std::move(parts)) {}
  int64_t rows() const override { return load().rows; }
  std::vector<std::string> names() const override { return names_; }
  Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run&,
             std::exception_ptr&) const override {
    return pick(load(), ids, begin, count);
  }
  /// The second column has labels, uint32; where they are several numbers, the first tells the class.
  ClassRows classes(const std::string&) const override {
    ClassRows classes;
    const Column& labels = load().columns.at(1);
    for (int64_t i = 0; i < labels.rows; ++i)
      classes[*reinterpret_cast<const uint32_t*>(labels.row(i))].push_back(i);
    return classes;
  }

 private:
  /// The rows, read at the first call. Two threads that come at once both read, and one's rows are kept: no
  /// lock is held so long.
  const Chunk& load() const {
    {
      std::lock_guard lock(fork_mutex_of(this));
      if (!rows_.columns.empty()) return rows_;
    }
    std::vector<Chunk> chunks;
    for (const LoadPart& part : parts_) chunks.push_back(part());
    Chunk rows = concatenate(chunks);
    std::lock_guard lock(fork_mutex_of(this));
    if (rows_.columns.empty()) std::swap(rows_, rows);
    return rows_;
  }
  std::vector<std::string> names_;
  std::vector<LoadPart> parts_;
  mutable Chunk rows_;
};

}  // namespace

Column read_bytes(const char* source, const std::string& path) {
  std::error_code ignored;
  SORUS_CHECK(!std::filesystem::is_directory(path, ignored), IOError,
              "{}: file '{}' cannot be opened: got a folder, need a file", source, path);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  SORUS_CHECK(size >= 0, IOError, "{}: file '{}' cannot be opened: got '{}', need a readable file", source,
              path, std::generic_category().message(errno));
  Column column = make_numbers({ItemKind::kNumbers, DType::kUInt8, Shape{static_cast<int64_t>(size)}}, 1);
  column.file = std::make_shared<const std::string>(path);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(column.row(0)), size);
  SORUS_CHECK(file.gcount() == size, IOError, "{}: file '{}' cannot be read: got {} bytes, need {}", source,
              path, file.gcount(), size);
  return column;
}

void check_folder(const char* source, const std::string& folder) {
  std::error_code ignored;
  SORUS_CHECK(std::filesystem::exists(folder, ignored), IOError,
              "{}: folder '{}' does not exist: need a folder with its files", source, folder);
  SORUS_CHECK(std::filesystem::is_directory(folder, ignored), IOError,
              "{}: '{}' is not a folder: got a file, need a folder with its files", source, folder);
}

void check_usage(const char* source, const std::string& usage, std::initializer_list<const char*> known) {
  std::string words;
  for (const char* word : known) {
    if (usage == word) return;
    words += (words.empty() ? "'" : word == *(known.end() - 1) ? " or '" : ", '") + std::string(word) + "'";
  }
  raise<ValueError>("{}: usage is unknown: got '{}', need {}", source, usage, words);
}

std::shared_ptr<const RandomAccess> loaded_source(std::vector<std::string> names,
                                                  std::vector<LoadPart> parts) {
  return std::make_shared<Loaded>(std::move(names), std::move(parts));
}

}  // namespace sorus::data::detail
