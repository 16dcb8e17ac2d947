#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "sorus/base/error.h"

/// The protobuf wire encoding over bytes in memory, of any size. (The protobuf library holds a message to 2
/// GiB, and a checkpoint is one message; decision 0006.)
namespace sorus::formats {

/// One field as it lies in the bytes.
struct WireField {
  uint32_t number = 0;
  uint32_t type = 0;  ///< 0 varint, 1 fixed 64, 2 bytes, 5 fixed 32
  uint64_t value = 0;
  std::string_view bytes;
  uint64_t offset = 0;  ///< of the field in the file
};

/// Reads fields one by one. Every length is checked; errors name file and byte offset.
class WireReader {
 public:
  /// `offset` is where `bytes` starts in the file.
  WireReader(std::string_view file, std::string_view bytes, uint64_t offset)
      : file_(file), bytes_(bytes), start_(offset) {}

  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  [[nodiscard]] uint64_t offset() const { return start_ + at_; }
  WireField next() {
    WireField f;
    f.offset = offset();
    uint64_t tag = varint();
    f.number = static_cast<uint32_t>(tag >> 3);
    f.type = static_cast<uint32_t>(tag & 7);
    if (f.number == 0 || tag >> 32 != 0) fail(f.offset, "a field number");
    if (f.type == 0)
      f.value = varint();
    else if (f.type == 1)
      f.bytes = take(8);
    else if (f.type == 2)
      f.bytes = take(varint());
    else if (f.type == 5)
      f.bytes = take(4);
    else
      fail(f.offset, "a known wire type");
    return f;
  }
  /// The message inside a field of bytes.
  [[nodiscard]] WireReader inside(const WireField& f) const {
    if (f.type != 2) fail(f.offset, "a message");
    return {file_, f.bytes, start_ + static_cast<uint64_t>(f.bytes.data() - bytes_.data())};
  }
  /// The number inside a field of 8 or 4 bytes, or of a varint.
  [[nodiscard]] double double_of(const WireField& f) const {
    if (f.type != 1) fail(f.offset, "a double");
    return fixed<double>(f.bytes);
  }
  [[nodiscard]] float float_of(const WireField& f) const {
    if (f.type != 5) fail(f.offset, "a float");
    return fixed<float>(f.bytes);
  }
  [[nodiscard]] int64_t int_of(const WireField& f) const {
    if (f.type != 0) fail(f.offset, "an integer");
    return static_cast<int64_t>(f.value);
  }
  [[nodiscard]] std::string text_of(const WireField& f) const {
    if (f.type != 2) fail(f.offset, "a text");
    return std::string(f.bytes);
  }
  /// A number of a packed list, which stands there without a tag.
  [[nodiscard]] uint64_t bare_varint() { return varint(); }
  [[noreturn]] void fail(uint64_t at, std::string_view need) const {
    raise<IOError>("{}: file is damaged or of another kind: got unreadable data at byte {}, need {}", file_,
                   at, need);
  }

 private:
  uint64_t varint() {
    uint64_t v = 0;
    uint64_t first = offset();
    for (int shift = 0; shift < 64; shift += 7) {
      if (done()) fail(first, "a number that ends within the file");
      auto b = static_cast<uint8_t>(bytes_[at_++]);
      v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    fail(first, "a number of at most 64 bits");
  }
  template <class T>
  static T fixed(std::string_view bytes) {
    static_assert(std::endian::native == std::endian::little);
    T v{};
    std::memcpy(&v, bytes.data(), sizeof v);
    return v;
  }
  std::string_view take(uint64_t n) {
    if (n > bytes_.size() - at_) fail(offset(), "as many bytes as the field says: the file may be cut");
    std::string_view s = bytes_.substr(at_, n);
    at_ += n;
    return s;
  }
  std::string_view file_;
  std::string_view bytes_;
  uint64_t start_;
  size_t at_ = 0;
};

inline void put_varint(std::string& out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}
inline void put_number(std::string& out, uint32_t field, uint64_t v) {
  put_varint(out, static_cast<uint64_t>(field) << 3);
  put_varint(out, v);
}
inline void put_bytes_header(std::string& out, uint32_t field, uint64_t size) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 2);
  put_varint(out, size);
}
inline void put_bytes(std::string& out, uint32_t field, std::string_view bytes) {
  put_bytes_header(out, field, bytes.size());
  out += bytes;
}
inline void put_double(std::string& out, uint32_t field, double v) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 1);
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}
inline void put_float(std::string& out, uint32_t field, float v) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | 5);
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace sorus::formats
