#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "sorus/base/error.h"

/// Numbers and texts as bytes, the same on every machine.
namespace sorus {

class ByteWriter {
 public:
  void byte(uint8_t v) { out_ += static_cast<char>(v); }
  /// Seven bits a byte, lowest first.
  void number(uint64_t v) {
    for (; v >= 0x80; v >>= 7) byte(static_cast<uint8_t>(v | 0x80));
    byte(static_cast<uint8_t>(v));
  }
  void integer(int64_t v) { number(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63)); }
  void fixed(uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) byte(static_cast<uint8_t>(v >> (8 * i)));
  }
  void text(std::string_view s) {
    number(s.size());
    out_ += s;
  }
  [[nodiscard]] std::string& bytes() { return out_; }

 private:
  std::string out_;
};

/// Reads what ByteWriter wrote; nothing is believed. Throws ValueError naming the byte, with `what` in front.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  [[nodiscard]] size_t left() const { return bytes_.size() - at_; }
  uint8_t byte() {
    if (done()) fail("more bytes");
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  uint64_t number() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t b = byte();
      v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    fail("a number of at most 64 bits");
  }
  int64_t integer() {
    const uint64_t v = number();
    return static_cast<int64_t>(v >> 1 ^ (~(v & 1) + 1));
  }
  uint64_t fixed(int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes; ++i) v |= static_cast<uint64_t>(byte()) << (8 * i);
    return v;
  }
  /// How many items follow, of at least `size` bytes each.
  size_t count(size_t size = 1) {
    const uint64_t n = number();
    if (n > left() / size) fail("as many items as are announced");
    return static_cast<size_t>(n);
  }
  /// A number below `end`.
  size_t index(size_t end) {
    const uint64_t i = number();
    if (i >= end) fail("a number of something that is there");
    return static_cast<size_t>(i);
  }
  std::string_view take(size_t n) {
    if (n > left()) fail("as many bytes as are announced");
    const std::string_view s = bytes_.substr(at_, n);
    at_ += n;
    return s;
  }
  std::string_view text() { return take(count()); }
  [[noreturn]] void fail(std::string_view need) const {
    raise<ValueError>("{}: bytes are damaged or of another kind: got unreadable data at byte {}, need {}",
                      what_, at_, need);
  }

 private:
  std::string_view bytes_, what_;
  size_t at_ = 0;
};

}  // namespace sorus
