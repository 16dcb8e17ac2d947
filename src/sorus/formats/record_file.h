#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sorus/base/export.h"

/// Files of records, as summaries and TFRecord have them. A record is the number of its bytes (8 bytes,
/// lowest first), the masked CRC-32C of those 8 bytes (4), the bytes, and the masked CRC-32C of them (4).
namespace sorus::formats {

/// Bytes that a record takes beside its own.
inline constexpr uint64_t kRecordOverhead = 16;

/// A checksum as files of records store it: rotated and shifted, so that a checksum of bytes that hold
/// checksums stays one.
[[nodiscard]] constexpr uint32_t masked_crc(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8U; }

/// Appends records to a file of its own. A record is in the file as a whole once append() has returned, for
/// whoever reads the file meanwhile, and not at all when it threw. One thread at a time.
class SORUS_API RecordWriter {
 public:
  /// Makes the file, or empties it: readable and writable for its owner alone. Throws IOError naming path and
  /// reason.
  explicit RecordWriter(std::string path);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Throws IOError naming path, offset and reason (no space).
  void append(std::string_view record);
  /// Waits until all records are on the disk. Throws IOError where they cannot be.
  void flush();
  /// Bytes of the file.
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// Reads records one after the other, and those that are appended meanwhile. Nothing is believed before its
/// checksum and the file's size agree. One thread at a time.
class SORUS_API RecordReader {
 public:
  /// Throws IOError naming the path when the file is missing, unreadable, or no file but a folder, a device
  /// or a pipe.
  explicit RecordReader(std::string path);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// The next record in `record`; false at the end of the file. Throws IOError naming the file and the offset
  /// of the record when it is damaged or cut; the reader stays before it then.
  [[nodiscard]] bool next(std::string& record);
  /// Where the next record begins.
  [[nodiscard]] uint64_t offset() const { return offset_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  /// Reads `n` bytes at `at` of the file; fewer at its end.
  size_t read_at(char* to, size_t n, uint64_t at);
  [[noreturn]] void fail(std::string_view got, std::string_view need) const;
  std::string path_;
  std::string ahead_;  // bytes of the file from ahead_at_ on
  uint64_t ahead_at_ = 0;
  int fd_ = -1;
  uint64_t offset_ = 0;
};

/// Calls f(bytes, where they begin in the file) for each record of a file. Throws as RecordReader does.
SORUS_API void for_each_record(const std::string& path,
                               const std::function<void(std::string_view bytes, uint64_t offset)>& f);

}  // namespace sorus::formats
