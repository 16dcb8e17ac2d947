#pragma once

#include <string>

#include "sorus/base/export.h"

namespace sorus::formats {

/// Holds a file locked against other processes and threads that lock it, from its construction to its end; it
/// waits until nobody else does. The file is made where there is none, holds nothing, and stays. A process
/// that dies lets go. Throws IOError naming path and reason.
class SORUS_API FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace sorus::formats
