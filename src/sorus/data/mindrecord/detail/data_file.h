#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The data file of a shard, read and written by offset.
namespace sorus::data::mindrecord {

class DataFile {
 public:
  enum class Mode { kRead, kCreate, kContinue };
  /// Throws IOError naming the path for a file that is missing, no file, or cannot be had.
  DataFile(std::string path, Mode mode);
  ~DataFile();
  DataFile(DataFile&& other) noexcept;
  DataFile& operator=(DataFile&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int64_t size() const { return size_; }
  /// Bytes [at, at + count); throws IOError when the file ends before.
  void read(int64_t at, char* to, int64_t count) const;
  [[nodiscard]] std::string read(int64_t at, int64_t count) const;
  void write(int64_t at, std::string_view bytes);
  /// Waits until the disk has all.
  void sync();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

}  // namespace sorus::data::mindrecord
