#include "sorus/formats/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sorus/base/error.h"
#include "sorus/formats/crc32c.h"

namespace sorus::formats {
namespace {

constexpr size_t kLengthBytes = 8, kCrcBytes = 4, kHeadBytes = kLengthBytes + kCrcBytes;
constexpr size_t kAhead = size_t{64} << 10;  // bytes read at once, so that short records cost few calls

void put(std::string& out, uint64_t v, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i));
}

uint64_t get(std::string_view bytes) {
  uint64_t v = 0;
  for (size_t i = bytes.size(); i-- > 0;) v = v << 8 | static_cast<uint8_t>(bytes[i]);
  return v;
}

bool crc_fits(std::string_view bytes, std::string_view stored) {
  return masked_crc(crc32c(bytes)) == get(stored);
}

uint64_t size_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

}  // namespace

RecordWriter::RecordWriter(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0600);
  if (fd_ < 0) fail("cannot create the file");
}

RecordWriter::~RecordWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void RecordWriter::append(std::string_view record) {
  std::string framed;
  framed.reserve(record.size() + kRecordOverhead);
  put(framed, record.size(), kLengthBytes);
  put(framed, masked_crc(crc32c(framed)), kCrcBytes);
  framed += record;
  put(framed, masked_crc(crc32c(record)), kCrcBytes);
  for (std::string_view rest = framed; !rest.empty();) {
    ssize_t n = ::write(fd_, rest.data(), std::min<size_t>(rest.size(), size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      // What is there of the record must not stand before a later one.
      const int error = errno;
      if (::ftruncate(fd_, static_cast<off_t>(size_)) == 0) ::lseek(fd_, static_cast<off_t>(size_), SEEK_SET);
      errno = error;
      fail("cannot write the file");
    }
    rest.remove_prefix(static_cast<size_t>(n));
  }
  size_ += framed.size();
}

void RecordWriter::flush() {
  // A pipe or a device has no disk to wait for.
  if (::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail("cannot write the file");
}

void RecordWriter::fail(const char* what) const {
  raise<IOError>("{}: {} at byte {}: got '{}', need a writable folder with space", path_, what, size_,
                 std::strerror(errno));
}

RecordReader::RecordReader(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  SORUS_CHECK(fd_ >= 0, IOError, "{}: cannot open the file: got '{}', need a readable file", path_,
              std::strerror(errno));
  struct stat info {};
  if (::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) return;
  ::close(fd_);
  raise<IOError>("{}: is not a file: got a folder or device, need a regular file", path_);
}

RecordReader::~RecordReader() { ::close(fd_); }

size_t RecordReader::read_at(char* to, size_t n, uint64_t at) {
  size_t done = 0;
  if (at >= ahead_at_ && at - ahead_at_ < ahead_.size()) {
    done = ahead_.copy(to, n, static_cast<size_t>(at - ahead_at_));
  }
  while (done < n) {
    const size_t left = n - done;
    // The rest of a long record goes to its place at once, that of a short one comes with what follows it.
    if (left < kAhead) ahead_.resize(kAhead);
    ssize_t got = ::pread(fd_, left < kAhead ? ahead_.data() : to + done, left < kAhead ? kAhead : left,
                          static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      ahead_.clear();
      fail(fmt::format("'{}'", std::strerror(errno)), "a file that can be read");
    }
    if (left < kAhead) {
      ahead_.resize(static_cast<size_t>(got));
      ahead_at_ = at + done;
      ahead_.copy(to + done, left);
      got = std::min<ssize_t>(got, static_cast<ssize_t>(left));
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

bool RecordReader::next(std::string& record) {
  char head[kHeadBytes];
  const size_t n = read_at(head, kHeadBytes, offset_);
  if (n == 0) return false;
  if (n < kHeadBytes)
    fail(fmt::format("the last {} bytes of the file", n), "16 or more: the file may be cut");
  const std::string_view length(head, kLengthBytes);
  if (!crc_fits(length, std::string_view(head + kLengthBytes, kCrcBytes)))
    fail("a length whose checksum differs", "a record as it was written");
  const uint64_t count = get(length), file = size_of(fd_);
  // The file may have been cut since its head was read.
  const uint64_t left = file > offset_ + kHeadBytes ? file - offset_ - kHeadBytes : 0;
  if (left < kCrcBytes || count > left - kCrcBytes)
    fail(fmt::format("{} bytes for a record of {}", left, count), "all of them: the file may be cut");
  const auto whole = static_cast<size_t>(count) + kCrcBytes;
  std::string bytes(whole, '\0');
  if (read_at(bytes.data(), whole, offset_ + kHeadBytes) < whole)
    fail("fewer bytes than the record has", "all of them: the file may be cut");
  const std::string crc = bytes.substr(static_cast<size_t>(count));
  bytes.resize(static_cast<size_t>(count));
  if (!crc_fits(bytes, crc)) fail("bytes whose checksum differs", "a record as it was written");
  record = std::move(bytes);
  offset_ += count + kRecordOverhead;
  return true;
}

void RecordReader::fail(std::string_view got, std::string_view need) const {
  raise<IOError>("{}: record at byte {} is damaged: got {}, need {}", path_, offset_, got, need);
}

void for_each_record(const std::string& path,
                     const std::function<void(std::string_view bytes, uint64_t offset)>& f) {
  RecordReader in(path);
  std::string record;
  for (uint64_t at = 0; in.next(record); at = in.offset()) f(record, at + kHeadBytes);
}

}  // namespace sorus::formats
