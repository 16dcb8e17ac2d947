#pragma once

#include <string>
#include <string_view>

#include "sorus/base/export.h"

/// Bytes with a head that says what they are and how many, and a checksum: what our own files begin with.
namespace sorus::formats {

/// `kind` is up to 8 bytes that name the kind and its version. The bytes are: kind padded with zeros, number
/// of bytes (8 bytes, lowest first), CRC-32 of them (4), CRC-32 of the 20 bytes before (4), the bytes.
[[nodiscard]] SORUS_API std::string seal(std::string_view kind, std::string_view bytes);
/// What stands before the bytes.
[[nodiscard]] SORUS_API std::string seal_head(std::string_view kind, std::string_view bytes);

/// The bytes inside. Throws IOError naming `source`, what it is and what was expected, when anything differs.
[[nodiscard]] SORUS_API std::string_view unseal(std::string_view kind, std::string_view sealed,
                                                const std::string& source);

}  // namespace sorus::formats
