#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "sorus/base/export.h"

/// Typed errors. A user's mistake throws one of the types below with the text
/// `op: what was wrong: what we got, what we need`; a mistake of ours throws InternalError with file and
/// line.
namespace sorus {

/// What kind of mistake an Error reports; bindings map it to the natural exception of their language.
enum class ErrorKind {
  kValue,
  kType,
  kShape,
  kDType,
  kIndex,
  kKey,
  kIO,
  kRuntime,
  kMemory,
  kNotSupported,
  kInternal
};

/// Root of all exceptions thrown by the library.
class SORUS_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

namespace detail {
template <ErrorKind kKind, class Base = Error>
class KindError : public Base {
 public:
  explicit KindError(const std::string& text) : Base(kKind, text) {}

 protected:
  KindError(ErrorKind kind, const std::string& text) : Base(kind, text) {}
};
}  // namespace detail

/// A value outside its domain.
class SORUS_API ValueError : public detail::KindError<ErrorKind::kValue> {
  using KindError::KindError;
};
/// An argument of the wrong kind.
class SORUS_API TypeError : public detail::KindError<ErrorKind::kType> {
  using KindError::KindError;
};
/// Shapes that do not fit; a kind of ValueError.
class SORUS_API ShapeError : public detail::KindError<ErrorKind::kShape, ValueError> {
  using KindError::KindError;
};
/// Element types that do not fit; a kind of TypeError.
class SORUS_API DTypeError : public detail::KindError<ErrorKind::kDType, TypeError> {
  using KindError::KindError;
};
/// An index or label out of range.
class SORUS_API IndexError : public detail::KindError<ErrorKind::kIndex> {
  using KindError::KindError;
};
/// A name that is not there.
class SORUS_API KeyError : public detail::KindError<ErrorKind::kKey> {
  using KindError::KindError;
};
/// A file or stream that cannot be read or written; the text names the file and, where known, the byte
/// offset.
class SORUS_API IOError : public detail::KindError<ErrorKind::kIO> {
  using KindError::KindError;
};
/// A failure while running that no argument caused.
class SORUS_API RuntimeError : public detail::KindError<ErrorKind::kRuntime> {
  using KindError::KindError;
};
/// Memory that could not be had.
class SORUS_API MemoryError : public detail::KindError<ErrorKind::kMemory> {
  using KindError::KindError;
};
/// Something that this build or version cannot do; the text says what can be done instead.
class SORUS_API NotSupportedError : public detail::KindError<ErrorKind::kNotSupported> {
  using KindError::KindError;
};
/// A mistake of ours.
class SORUS_API InternalError : public detail::KindError<ErrorKind::kInternal> {
  using KindError::KindError;
};

namespace detail {
/// Formats out of line, so that a check costs its caller one cold call.
SORUS_API std::string format_error(fmt::string_view text, fmt::format_args args);
[[noreturn]] SORUS_API void internal_error(const char* file, int line, const std::string& text);

template <class E, class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void raise(fmt::format_string<Args...> text, Args&&... args) {
  throw E(format_error(text, fmt::make_format_args(args...)));
}
}  // namespace detail

/// Throws the error type E with the formatted text.
template <class E, class... Args>
[[noreturn]] void raise(fmt::format_string<Args...> text, Args&&... args) {
  detail::raise<E>(text, std::forward<Args>(args)...);
}

}  // namespace sorus

/// Throws `type` with the formatted text unless the condition holds. For mistakes of the user.
#define SORUS_CHECK(condition, type, ...)        \
  do {                                           \
    if (!(condition)) [[unlikely]]               \
      ::sorus::detail::raise<type>(__VA_ARGS__); \
  } while (false)

/// Throws InternalError with file and line unless the condition holds. For mistakes of ours.
#define SORUS_INTERNAL(condition, ...)                                                 \
  do {                                                                                 \
    if (!(condition)) [[unlikely]]                                                     \
      ::sorus::detail::internal_error(__FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)
