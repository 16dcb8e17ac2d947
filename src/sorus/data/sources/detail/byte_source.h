#pragma once

#include <zlib.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "sorus/data/sources/file_sources.h"

namespace sorus::data::detail {

/// The bytes of a file, or what they hold compressed, from its beginning to its end. Throws IOError that
/// names `source`, the file and the byte of it.
class ByteSource {
 public:
  ByteSource(const char* source, std::string path, RecordCompression compression = RecordCompression::kNone);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The bytes at hand, at least one but at the end. They stay until skip() has passed over them all.
  [[nodiscard]] std::string_view peek();
  void skip(size_t count) { at_ += count; }
  /// Up to `count` bytes; fewer only at the end.
  [[nodiscard]] std::string take(uint64_t count);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  /// Reads the file's next bytes into `to`; how many there are.
  size_t read(std::string& to);
  void inflate_more();
  [[noreturn]] void fail(const char* got) const;

  const char* source_;
  std::string path_;
  std::ifstream file_;
  uint64_t read_ = 0;  ///< bytes of the file so far
  std::string packed_;
  std::string bytes_;
  size_t at_ = 0;
  z_stream stream_{};
  bool inflates_ = false;
  bool begun_ = false;  ///< within a member of compressed bytes
};

}  // namespace sorus::data::detail
