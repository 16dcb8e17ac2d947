#include "sorus/data/mindrecord/detail/packing.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "sorus/base/error.h"

namespace sorus::data::mindrecord {

void Place::fail(int64_t at, const std::string& what) const {
  raise<IOError>("mindrecord: '{}': record is damaged: {} (at byte {})", file, what, offset + at);
}

namespace {

constexpr int kDeepest = 16;

/// Reads MessagePack values one by one.
class Unpacker {
 public:
  Unpacker(std::string_view bytes, const Place& place) : bytes_(bytes), place_(place) {}

  /// Entries of the map that comes next.
  uint64_t map_size() {
    const uint8_t code = byte();
    if ((code & 0xf0) == 0x80) return code & 0x0f;
    if (code == 0xde) return number(2);
    if (code == 0xdf) return number(4);
    place_.fail(at_ - 1, fmt::format("got code 0x{:02x}, need a map", code));
  }
  std::string_view name() {
    const int64_t begin = at_;
    const Scalar value = scalar(0);
    if (const auto* text = std::get_if<std::string_view>(&value)) return *text;
    place_.fail(begin, "got a name of another kind, need a string");
  }
  Scalar scalar(int depth) {
    const uint8_t code = byte();
    if (code < 0x80) return int64_t{code};
    if (code >= 0xe0) return int64_t{static_cast<int8_t>(code)};
    if ((code & 0xe0) == 0xa0) return take(code & 0x1f);
    if ((code & 0xf0) == 0x90) return skip(code & 0x0f, depth);
    if ((code & 0xf0) == 0x80) return skip(uint64_t{2} * (code & 0x0f), depth);
    return long_form(code, depth);
  }
  [[nodiscard]] bool done() const { return at_ == std::ssize(bytes_); }
  [[nodiscard]] int64_t at() const { return at_; }

 private:
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  uint64_t number(int64_t size) { return get_big(take(static_cast<uint64_t>(size))); }
  std::string_view take(uint64_t count) {
    const auto left = static_cast<uint64_t>(std::ssize(bytes_) - at_);
    if (count > left) place_.fail(at_, fmt::format("got {} bytes, need {}", left, count));
    std::string_view part = bytes_.substr(static_cast<size_t>(at_), count);
    at_ += static_cast<int64_t>(count);
    return part;
  }
  Scalar skip(uint64_t values, int depth) {
    if (depth >= kDeepest) place_.fail(at_, fmt::format("got lists nested deeper than {}", kDeepest));
    for (; values > 0; --values) (void)scalar(depth + 1);
    return {};
  }
  Scalar long_form(uint8_t code, int depth) {
    switch (code) {
      case 0xc0:
        return {};
      case 0xc2:
      case 0xc3:
        return int64_t{code - 0xc2};
      case 0xca:
        return double{std::bit_cast<float>(static_cast<uint32_t>(number(4)))};
      case 0xcb:
        return std::bit_cast<double>(number(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:  // unsigned beyond int64 wraps as the field type does
        return static_cast<int64_t>(number(int64_t{1} << (code - 0xcc)));
      case 0xd0:
        return int64_t{static_cast<int8_t>(number(1))};
      case 0xd1:
        return int64_t{static_cast<int16_t>(number(2))};
      case 0xd2:
        return int64_t{static_cast<int32_t>(number(4))};
      case 0xd3:
        return static_cast<int64_t>(number(8));
      case 0xc4:
      case 0xd9:
        return take(number(1));
      case 0xc5:
      case 0xda:
        return take(number(2));
      case 0xc6:
      case 0xdb:
        return take(number(4));
      case 0xdc:
        return skip(number(2), depth);
      case 0xdd:
        return skip(number(4), depth);
      case 0xde:
        return skip(2 * number(2), depth);
      case 0xdf:
        return skip(2 * number(4), depth);
      default:
        place_.fail(at_ - 1, fmt::format("got code 0x{:02x}, need a number, string, list or map", code));
    }
  }

  std::string_view bytes_;
  const Place& place_;
  int64_t at_ = 0;
};

/// A code and a number after it.
void put_coded(std::string& out, int code, uint64_t value, int bytes) {
  out += static_cast<char>(code);
  put_big(out, value, bytes);
}

int width_of(int64_t value) {
  if (value >= INT8_MIN && value <= INT8_MAX) return 0;
  if (value >= INT16_MIN && value <= INT16_MAX) return 1;
  return value >= INT32_MIN && value <= INT32_MAX ? 2 : 3;
}

int64_t element(std::string_view elements, size_t i, size_t size) {
  const uint64_t bits = get_little(elements.substr(i * size, size));
  return size == 4 ? int64_t{static_cast<int32_t>(bits)} : static_cast<int64_t>(bits);
}

}  // namespace

void read_scalars(std::string_view record, const Place& place,
                  const std::function<void(std::string_view, const Scalar&)>& take) {
  Unpacker from(record, place);
  for (uint64_t left = from.map_size(); left > 0; --left) {
    const std::string_view name = from.name();
    take(name, from.scalar(0));
  }
  if (!from.done()) place.fail(from.at(), "got bytes after its end");
}

void put_map_header(std::string& out, size_t entries) {
  if (entries < 16)
    out += static_cast<char>(0x80 | entries);
  else if (entries <= UINT16_MAX)
    put_coded(out, 0xde, entries, 2);
  else
    put_coded(out, 0xdf, entries, 4);
}

void put_string(std::string& out, std::string_view text) {
  if (text.size() < 32)
    out += static_cast<char>(0xa0 | text.size());
  else if (text.size() <= UINT8_MAX)
    put_coded(out, 0xd9, text.size(), 1);
  else if (text.size() <= UINT16_MAX)
    put_coded(out, 0xda, text.size(), 2);
  else
    put_coded(out, 0xdb, text.size(), 4);
  out += text;
}

void put_integer(std::string& out, int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  if (value >= -32 && value < 128)
    out += static_cast<char>(value);
  else if (value >= 0)
    for (int i = 0; i < 4; ++i) {
      const int bytes = 1 << i;
      if (i < 3 && bits >> (8 * bytes) != 0) continue;
      put_coded(out, 0xcc + i, bits, bytes);
      return;
    }
  else
    put_coded(out, 0xd0 + width_of(value), bits, 1 << width_of(value));
}

void put_double(std::string& out, double value) {
  const auto single = static_cast<float>(value);
  const bool fits = std::isfinite(value) && std::isfinite(single) && static_cast<double>(single) == value;
  if (fits)
    put_coded(out, 0xca, std::bit_cast<uint32_t>(single), 4);
  else
    put_coded(out, 0xcb, std::bit_cast<uint64_t>(value), 8);
}

std::string pack_integers(std::string_view elements, FieldType type) {
  const size_t size = dtype_size(dtype_of(type));
  const size_t count = elements.size() / size;
  SORUS_CHECK(count <= UINT32_MAX, ValueError,
              "mindrecord: an array of integers is too long: got {} elements, need at most {}", count,
              UINT32_MAX);
  std::string out;
  out.reserve(4 + (count + 3) / 4 + elements.size());
  put_big(out, count, 4);
  const size_t map = out.size();
  out.append((count + 3) / 4, '\0');
  for (size_t i = 0; i < count; ++i) {
    const int64_t value = element(elements, i, size);
    const int width = width_of(value);
    char& bits = out[map + i / 4];
    bits = static_cast<char>(static_cast<uint8_t>(bits) | width << (6 - 2 * (i % 4)));
    put_little(out, static_cast<uint64_t>(value), 1 << width);
  }
  return out;
}

std::string unpack_integers(std::string_view packed, FieldType type, const Place& place) {
  if (packed.size() < 4)
    place.fail(0, fmt::format("got a packed array of {} bytes, need 4 or more", packed.size()));
  const uint64_t count = get_big(packed.substr(0, 4));
  const uint64_t map_bytes = (count + 3) / 4;
  if (map_bytes + count > packed.size() - 4)
    place.fail(0, fmt::format("got {} bytes for an array of {} elements, need {} or more", packed.size(),
                              count, 4 + map_bytes + count));
  const size_t size = dtype_size(dtype_of(type));
  std::string out(count * size, '\0');
  size_t at = 4 + map_bytes;
  for (size_t i = 0; i < count; ++i) {
    const int width = static_cast<uint8_t>(packed[4 + i / 4]) >> (6 - 2 * (i % 4)) & 3;
    const size_t bytes = size_t{1} << width;
    if (bytes > packed.size() - at) place.fail(static_cast<int64_t>(at), "got an array that ends early");
    const int shift = 64 - 8 * static_cast<int>(bytes);
    const auto value = static_cast<int64_t>(get_little(packed.substr(at, bytes)) << shift) >> shift;
    std::memcpy(out.data() + i * size, &value, size);
    at += bytes;
  }
  if (at != packed.size()) place.fail(static_cast<int64_t>(at), "got bytes after an array's end");
  return out;
}

}  // namespace sorus::data::mindrecord
