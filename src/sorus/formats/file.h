#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sorus/base/export.h"

namespace sorus::formats {

/// A file mapped read-only into memory. Throws IOError naming the path when it is missing, a folder or
/// unreadable.
class SORUS_API MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

/// The bytes of a file, copied: a mapped file that somebody cuts would end the process. Throws IOError naming
/// the path when it is missing, unreadable, or no file but a folder, a device or a pipe, for none of which it
/// waits.
[[nodiscard]] SORUS_API std::string read_file(const std::string& path);

/// Writes a file under a temporary name beside the target and gives it its name in commit(), after the bytes
/// have reached the disk: no moment leaves a file that looks whole and is not. Without commit() nothing is
/// left behind, and what a process left that was killed is removed when the next one writes there (kDurable).
/// A path that is a symbolic link stays one: what it names is written. A folder, a device or a pipe is
/// refused and stays what it is. Threads and processes may write the same file at once: one of them wins.
/// Throws IOError naming path and reason (no space, no permission, no folder).
class SORUS_API AtomicFile {
 public:
  /// kCache: commit() does not wait for the disk, for files whose loss does no harm and whose damage is
  /// found, or of which there are many.
  enum class Safety { kDurable, kCache };
  explicit AtomicFile(std::string path, Safety safety = Safety::kDurable);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_, temporary_;
  Safety safety_;
  int fd_ = -1;
};

/// Writes a file that has these bytes, as AtomicFile does; does not wait for the disk.
SORUS_API void write_file(const std::string& path, std::string_view bytes);

}  // namespace sorus::formats
