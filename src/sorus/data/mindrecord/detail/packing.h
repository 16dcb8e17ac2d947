#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "sorus/data/mindrecord/schema.h"

/// The bytes of records: MessagePack for numbers and strings, packed integers for arrays.
namespace sorus::data::mindrecord {

inline void put_little(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}
inline void put_big(std::string& out, uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}
[[nodiscard]] inline uint64_t get_little(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}
[[nodiscard]] inline uint64_t get_big(std::string_view bytes) {
  uint64_t value = 0;
  for (char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

/// Where bytes lie, for errors.
struct Place {
  const std::string& file;
  int64_t offset = 0;  ///< of the first byte in the file

  [[noreturn]] void fail(int64_t at, const std::string& what) const;
};

/// A number or string of a raw record; strings point into the record.
using Scalar = std::variant<std::monostate, int64_t, double, std::string_view>;

/// Calls `take` with each name and value of the map that a raw record is; values of other kinds are
/// std::monostate. Throws IOError naming file and byte for bytes that are no such map.
void read_scalars(std::string_view record, const Place& place,
                  const std::function<void(std::string_view, const Scalar&)>& take);
void put_map_header(std::string& out, size_t entries);
void put_string(std::string& out, std::string_view text);
/// In the shortest form.
void put_integer(std::string& out, int64_t value);
/// float32 where that is the same number, float64 otherwise.
void put_double(std::string& out, double value);

/// Array elements of int32 or int64 in their shortest widths, and back. Throws IOError naming file and byte
/// for bytes that are no packed array, before it takes memory for one.
[[nodiscard]] std::string pack_integers(std::string_view elements, FieldType type);
[[nodiscard]] std::string unpack_integers(std::string_view packed, FieldType type, const Place& place);

}  // namespace sorus::data::mindrecord
