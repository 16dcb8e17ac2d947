#include "sorus/data/sources/idx_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace sorus::data {
namespace {

constexpr size_t kMagicBytes = 4;
/// A deflate stream expands at most 1032 times (zlib's technical notes).
constexpr uint64_t kLargestExpansion = 1032;

uint32_t big_endian(const std::byte* p) {
  uint32_t v = 0;
  for (int i = 0; i < 4; ++i) v = v << 8 | std::to_integer<uint32_t>(p[i]);
  return v;
}

/// Bytes of the file one after the other, as the parser wants them.
class Source {
 public:
  virtual ~Source() = default;
  /// Fills `to`; throws IOError naming the offset at which the bytes ended.
  virtual void read(std::byte* to, size_t count) = 0;
  /// Throws IOError when the bytes go on.
  virtual void expect_end() = 0;
  /// The most bytes that can still come.
  [[nodiscard]] virtual uint64_t limit() const = 0;
};

class PlainSource final : public Source {
 public:
  PlainSource(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}
  void read(std::byte* to, size_t count) override {
    SORUS_CHECK(count <= bytes_.size() - offset_, IOError,
                "idx file '{}': truncated: got {} bytes, need {} (at byte {})", name_, bytes_.size(),
                offset_ + count, bytes_.size());
    if (count > 0) std::memcpy(to, bytes_.data() + offset_, count);
    offset_ += count;
  }
  void expect_end() override {
    SORUS_CHECK(offset_ == bytes_.size(), IOError,
                "idx file '{}': bytes after the data: got {} bytes, need {} (at byte {})", name_,
                bytes_.size(), offset_, offset_);
  }
  [[nodiscard]] uint64_t limit() const override { return bytes_.size() - offset_; }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  size_t offset_ = 0;
};

class GzipSource final : public Source {
 public:
  GzipSource(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK)
      raise<MemoryError>("idx file '{}': decompression needs memory that could not be had", name);
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  void read(std::byte* to, size_t count) override {
    size_t got = inflate_some(to, count);
    offset_ += got;
    SORUS_CHECK(got == count, IOError,
                "idx file '{}': truncated: got {} bytes after decompression, need {} (at byte {})", name_,
                offset_, offset_ - got + count, offset_);
  }
  void expect_end() override {
    std::byte one;  // asking for more also makes zlib check the checksum behind the last byte
    SORUS_CHECK(inflate_some(&one, 1) == 0, IOError,
                "idx file '{}': bytes after the data: need an end (at byte {})", name_, offset_);
    size_t place = fed_ - stream_.avail_in;
    SORUS_CHECK(place == bytes_.size(), IOError,
                "idx file '{}': bytes after the gzip data: got {} more, need an end (at compressed byte {})",
                name_, bytes_.size() - place, place);
  }
  [[nodiscard]] uint64_t limit() const override {
    return (bytes_.size() - fed_ + stream_.avail_in + 64) * kLargestExpansion;
  }

 private:
  size_t inflate_some(std::byte* to, size_t count) {
    constexpr size_t kPiece = size_t{1} << 30;  // zlib counts in 32 bits
    size_t done = 0;
    while (done < count && !ended_) {
      if (stream_.avail_in == 0) feed(kPiece);
      auto room = static_cast<uInt>(std::min(count - done, kPiece));
      stream_.next_out = reinterpret_cast<Bytef*>(to + done);
      stream_.avail_out = room;
      int status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      ended_ = status == Z_STREAM_END;
      size_t place = fed_ - stream_.avail_in;
      SORUS_CHECK(status == Z_OK || ended_ || (status == Z_BUF_ERROR && fed_ < bytes_.size()), IOError,
                  "idx file '{}': {} gzip data (at compressed byte {}): {}", name_,
                  status == Z_BUF_ERROR ? "truncated" : "corrupt", place,
                  stream_.msg ? stream_.msg : "the stream ends early");
    }
    return done;
  }
  void feed(size_t most) {
    size_t count = std::min(most, bytes_.size() - fed_);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes_.data() + fed_));
    stream_.avail_in = static_cast<uInt>(count);
    fed_ += count;
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  z_stream stream_{};
  size_t fed_ = 0;
  size_t offset_ = 0;
  bool ended_ = false;
};

DType element_type(uint32_t magic, const std::string& name) {
  switch (magic >> 8) {
    case 0x08:
      return DType::kUInt8;
    case 0x09:
      return DType::kInt8;
    case 0x0B:
      return DType::kInt16;
    case 0x0C:
      return DType::kInt32;
    case 0x0D:
      return DType::kFloat32;
    case 0x0E:
      return DType::kFloat64;
    default:
      raise<IOError>(
          "idx file '{}': wrong magic number: got 0x{:08x}, need 0x0000 and a type of 08 to 0e (at byte 0); "
          "the file is in another format",
          name, magic);
  }
}

void swap_bytes(std::byte* p, size_t count, size_t size) {
  if (size == 1) return;
  for (size_t i = 0; i < count; ++i) std::reverse(p + i * size, p + (i + 1) * size);
}

Tensor parse(Source& source, const std::string& name) {
  std::byte word[kMagicBytes];
  source.read(word, sizeof word);
  uint32_t magic = big_endian(word);
  DType dtype = element_type(magic, name);
  auto rank = static_cast<int>(magic & 0xffU);
  SORUS_CHECK(rank >= 1 && rank <= kMaxRank, IOError,
              "idx file '{}': wrong number of dimensions: got {}, need 1 to {} (at byte 3)", name, rank,
              kMaxRank);
  Shape shape;
  int64_t numel = 1;
  for (int i = 0; i < rank; ++i) {
    source.read(word, sizeof word);
    auto size = static_cast<int64_t>(big_endian(word));
    shape.push_back(size);
    bool fits = !__builtin_mul_overflow(numel, size, &numel);
    SORUS_CHECK(fits && static_cast<uint64_t>(numel) <= source.limit() / dtype_size(dtype), IOError,
                "idx file '{}': the header promises more than the file holds: got dimensions {}, need at "
                "most {} bytes (at byte {})",
                name, shape, source.limit(), kMagicBytes * static_cast<size_t>(i + 1));
  }
  Ref<Value> value = make_dense({dtype, Device{}, shape});
  size_t bytes = static_cast<size_t>(numel) * dtype_size(dtype);
  source.read(value->storage->data(), bytes);
  source.expect_end();
  swap_bytes(value->storage->data(), static_cast<size_t>(numel), dtype_size(dtype));
  return Tensor(std::move(value));
}

}  // namespace

Tensor parse_idx(std::span<const std::byte> bytes, const std::string& name) {
  bool gzip = bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
  if (gzip) {
    GzipSource source(bytes, name);
    return parse(source, name);
  }
  PlainSource source(bytes, name);
  return parse(source, name);
}

Tensor read_idx(const std::string& path) {
  std::error_code error;
  SORUS_CHECK(!std::filesystem::is_directory(path, error), IOError,
              "idx file '{}': cannot be opened: got a folder, need a file", path);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  SORUS_CHECK(size >= 0, IOError, "idx file '{}': cannot be opened: {}", path,
              std::generic_category().message(errno));
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  SORUS_CHECK(file.gcount() == size, IOError, "idx file '{}': cannot be read: got {} bytes, need {}", path,
              file.gcount(), size);
  return parse_idx(bytes, path);
}

}  // namespace sorus::data
