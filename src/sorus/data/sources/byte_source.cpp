#include "sorus/data/sources/detail/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "sorus/base/error.h"

namespace sorus::data::detail {
namespace {

constexpr size_t kAtOnce = size_t{64} << 10;
constexpr int kWindowBits = 15;

}  // namespace

ByteSource::ByteSource(const char* source, std::string path, RecordCompression compression)
    : source_(source), path_(std::move(path)), file_(path_, std::ios::binary) {
  std::error_code ignored;
  SORUS_CHECK(file_ && std::filesystem::is_regular_file(path_, ignored), IOError,
              "{}: file '{}' cannot be opened: got '{}', need a readable file", source_, path_,
              file_ ? "a folder or device" : std::generic_category().message(errno));
  if (compression == RecordCompression::kNone) return;
  constexpr int kGzipHeader = 16;
  int bits = kWindowBits + (compression == RecordCompression::kGzip ? kGzipHeader : 0);
  SORUS_CHECK(inflateInit2(&stream_, bits) == Z_OK, RuntimeError,
              "{}: no memory to unpack file '{}': need some 64 KiB", source_, path_);
  inflates_ = true;
}

ByteSource::~ByteSource() {
  if (inflates_) inflateEnd(&stream_);
}

size_t ByteSource::read(std::string& to) {
  to.resize(kAtOnce);
  file_.read(to.data(), static_cast<std::streamsize>(to.size()));
  to.resize(static_cast<size_t>(file_.gcount()));
  read_ += to.size();
  SORUS_CHECK(!file_.bad(), IOError,
              "{}: file '{}' cannot be read at byte {}: got '{}', need a file that can", source_, path_,
              read_, std::generic_category().message(errno));
  return to.size();
}

void ByteSource::fail(const char* got) const {
  raise<IOError>("{}: file '{}' is damaged at byte {}: got {}, need bytes as they were compressed", source_,
                 path_, read_ - stream_.avail_in, got);
}

void ByteSource::inflate_more() {
  bytes_.resize(kAtOnce);
  stream_.next_out = reinterpret_cast<Bytef*>(bytes_.data());
  stream_.avail_out = static_cast<uInt>(bytes_.size());
  while (stream_.avail_out == bytes_.size()) {
    if (stream_.avail_in == 0) {
      stream_.avail_in = static_cast<uInt>(read(packed_));
      stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
      if (stream_.avail_in == 0) {
        if (begun_) fail("the file's end within compressed bytes");
        break;
      }
    }
    begun_ = true;
    int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {  // another member may follow
      inflateReset(&stream_);
      begun_ = false;
    } else if (result != Z_OK) {
      fail(stream_.msg ? stream_.msg : "no compressed bytes");
    }
  }
  bytes_.erase(bytes_.size() - stream_.avail_out);  // never longer, which the compiler cannot see of a resize
}

std::string_view ByteSource::peek() {
  if (at_ == bytes_.size()) {
    at_ = 0;
    if (inflates_)
      inflate_more();
    else
      read(bytes_);
  }
  return std::string_view(bytes_).substr(at_);
}

std::string ByteSource::take(uint64_t count) {
  std::string out;
  while (out.size() < count) {
    std::string_view there = peek();
    if (there.empty()) break;
    size_t part = std::min<uint64_t>(there.size(), count - out.size());
    out.append(there.substr(0, part));
    skip(part);
  }
  return out;
}

}  // namespace sorus::data::detail
