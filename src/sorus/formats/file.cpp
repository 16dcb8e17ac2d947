#include "sorus/formats/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "sorus/base/error.h"

namespace sorus::formats {

MappedFile::MappedFile(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  SORUS_CHECK(fd >= 0, IOError, "{}: cannot open the file: got '{}', need a readable file", path,
              std::strerror(errno));
  struct stat info {};
  bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  void* data = nullptr;
  if (regular && info.st_size > 0)
    data = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  SORUS_CHECK(regular, IOError, "{}: is not a file: got a folder or device, need a regular file", path);
  SORUS_CHECK(data != MAP_FAILED, IOError, "{}: cannot map the file: got '{}', need memory for {} bytes",
              path, std::strerror(errno), info.st_size);
  data_ = static_cast<const char*>(data);
  size_ = static_cast<size_t>(info.st_size);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), size_);
}

namespace {

/// Of its own for each writer.
std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  return path + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(count++);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, Safety safety)
    : path_(std::move(path)), temporary_(temporary_name(path_)), safety_(safety) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) fail("cannot create the file");
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write the file");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void AtomicFile::commit() {
  if (safety_ == Safety::kDurable && ::fsync(fd_) != 0) fail("cannot write the file");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot give the file its name");
  ::close(fd_);
  fd_ = -1;
  if (safety_ == Safety::kCache) return;
  // The name itself is on disk only when the folder is.
  size_t slash = path_.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    ::fsync(dir);
    ::close(dir);
  }
}

void AtomicFile::fail(const char* what) const {
  raise<IOError>("{}: {}: got '{}', need a writable folder with space", path_, what, std::strerror(errno));
}

}  // namespace sorus::formats
