#include "sorus/formats/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sorus/base/error.h"

namespace sorus::formats {

FileLock::FileLock(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  SORUS_CHECK(fd_ >= 0, IOError,
              "{}: cannot be opened for locking: got '{}', need a file that can be written", path,
              std::strerror(errno));
  while (::flock(fd_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const std::string reason = std::strerror(errno);
    ::close(fd_);
    raise<IOError>("{}: cannot be locked: got '{}', need a file system with locks", path, reason);
  }
}

FileLock::~FileLock() { ::close(fd_); }

}  // namespace sorus::formats
