#pragma once

#include <csetjmp>
#include <type_traits>

namespace sorus {

/// Calls into a library that reports errors by a jump to reader.failed; false when it did. `body` must hold
/// nothing that has a destructor, since the jump passes over it.
template <class Reader, class Body>
bool guarded(Reader& reader, Body&& body) {
  static_assert(std::is_trivially_destructible_v<std::remove_reference_t<Body>>);
  if (setjmp(reader.failed) != 0) return false;
  body();
  return true;
}

}  // namespace sorus
