#include "sorus/data/mindrecord/detail/data_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sorus/base/error.h"

namespace sorus::data::mindrecord {
namespace {

int flags_of(DataFile::Mode mode) {
  switch (mode) {
    case DataFile::Mode::kRead:
      return O_RDONLY | O_NONBLOCK;  // a pipe must not be waited for
    case DataFile::Mode::kCreate:
      return O_RDWR | O_CREAT | O_TRUNC;
    case DataFile::Mode::kContinue:
      return O_RDWR;
  }
  return O_RDONLY;
}

}  // namespace

DataFile::DataFile(std::string path, Mode mode)
    : path_(std::move(path)), fd_(::open(path_.c_str(), flags_of(mode) | O_CLOEXEC, 0600)) {
  if (fd_ < 0) fail("cannot be opened");
  struct stat info {};
  const bool regular = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
  if (!regular) ::close(fd_);
  SORUS_CHECK(regular, IOError, "mindrecord: '{}' is no file: got a folder or device, need a data file",
              path_);
  size_ = info.st_size;
  if (mode != Mode::kRead) ::flock(fd_, LOCK_EX | LOCK_NB);  // says that its writer lives
}

DataFile::~DataFile() {
  if (fd_ >= 0) ::close(fd_);
}

DataFile::DataFile(DataFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

void DataFile::read(int64_t at, char* to, int64_t count) const {
  int64_t done = 0;
  while (done < count) {
    const ssize_t n = ::pread(fd_, to + done, static_cast<size_t>(count - done), at + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be read");
    SORUS_CHECK(n > 0, IOError, "mindrecord: '{}' is cut: got {} bytes, need {} (at byte {})", path_,
                at + done, at + count, at + done);
    done += n;
  }
}

std::string DataFile::read(int64_t at, int64_t count) const {
  std::string bytes(static_cast<size_t>(count), '\0');
  read(at, bytes.data(), count);
  return bytes;
}

void DataFile::write(int64_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written");
    at += n;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  size_ = std::max(size_, at);
}

void DataFile::sync() {
  if (::fsync(fd_) != 0) fail("cannot be written");
}

void DataFile::fail(const char* what) const {
  raise<IOError>("mindrecord: '{}' {}: got '{}', need a file that can be used and a disk with space", path_,
                 what, std::strerror(errno));
}

}  // namespace sorus::data::mindrecord
