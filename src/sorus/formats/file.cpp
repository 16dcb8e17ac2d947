#include "sorus/formats/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
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

std::string read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  SORUS_CHECK(fd >= 0, IOError, "{}: cannot be read: got '{}', need a readable file", path,
              std::strerror(errno));
  struct stat info {};
  const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  std::string bytes(regular ? static_cast<size_t>(info.st_size) : 0, '\0');
  size_t size = 0;
  ssize_t n = 1;
  while (size < bytes.size() && (n > 0 || (n < 0 && errno == EINTR))) {
    n = ::read(fd, bytes.data() + size, bytes.size() - size);
    if (n > 0) size += static_cast<size_t>(n);
  }
  const int error = errno;
  ::close(fd);
  SORUS_CHECK(regular, IOError, "{}: is not a file: got a folder or device, need a regular file", path);
  SORUS_CHECK(n >= 0, IOError, "{}: cannot be read: got '{}', need a readable file", path,
              std::strerror(error));
  bytes.resize(size);  // somebody may cut it meanwhile
  return bytes;
}

namespace {

/// Of its own for each writer.
std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  return path + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(count++);
}

/// What symbolic links at `path` finally name, so that they stay links.
std::string behind_links(std::string path) {
  constexpr int kMostLinks = 40;
  std::string target(4096, '\0');
  for (int i = 0; i < kMostLinks; ++i) {
    ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size <= 0 || static_cast<size_t>(size) == target.size()) break;
    std::string_view name(target.data(), static_cast<size_t>(size));
    size_t slash = path.rfind('/');
    path = (name.front() == '/' || slash == std::string::npos ? "" : path.substr(0, slash + 1)).append(name);
  }
  return path;
}

/// The process of a temporary name's end "PID.NUMBER"; 0 where it is none.
pid_t writer_of(std::string_view end) {
  pid_t pid = 0;
  auto [rest, error] = std::from_chars(end.data(), end.data() + end.size(), pid);
  return error == std::errc{} && rest != end.data() + end.size() && *rest == '.' ? pid : 0;
}

/// Removes what processes that ended while they wrote `path` have left. A writer holds a lock as well, by
/// which one is known whose number says nothing here, as in another container.
void remove_left_behind(const std::string& path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "./" : path.substr(0, slash + 1);
  std::string begin = (slash == std::string::npos ? path : path.substr(slash + 1)) + ".tmp.";
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return;
  while (const dirent* entry = ::readdir(dir)) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(begin)) continue;
    pid_t pid = writer_of(name.substr(begin.size()));
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    std::string left = folder + std::string(name);
    int fd = ::open(left.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(left.c_str());
    ::close(fd);
  }
  ::closedir(dir);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, Safety safety)
    : path_(behind_links(std::move(path))), temporary_(temporary_name(path_)), safety_(safety) {
  // Who writes to /dev/null must not put a file in its place.
  struct stat info {};
  SORUS_CHECK(::lstat(path_.c_str(), &info) != 0 || S_ISREG(info.st_mode), IOError,
              "{}: is not a file: got a folder or device, need a regular file or none", path_);
  if (safety_ == Safety::kDurable) remove_left_behind(path_);
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) fail("cannot create the file");
  ::flock(fd_, LOCK_EX | LOCK_NB);
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

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path, AtomicFile::Safety::kCache);
  file.write(bytes);
  file.commit();
}

}  // namespace sorus::formats
