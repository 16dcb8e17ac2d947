#include "sorus/base/error.h"

#include <fmt/format.h>

#include <typeinfo>

#include "sorus/base/told_as.h"

// The formatters of our types in headers that include only <fmt/core.h> derive from this one, which that
// header declares.
template SORUS_API fmt::format_context::iterator fmt::formatter<fmt::string_view>::format(
    const fmt::string_view&, fmt::format_context&) const;

namespace sorus {
namespace {

thread_local std::string_view outermost_op;

}  // namespace

ToldAs::ToldAs(std::string_view op) noexcept : outermost_(outermost_op.empty()) {
  if (outermost_) outermost_op = op;
}
ToldAs::~ToldAs() {
  if (outermost_) outermost_op = {};
}

namespace {

/// Throws E when that is the type of e.
template <class E>
void throw_if(const Error& e, const std::string& text) {
  if (typeid(e) == typeid(E)) throw E(text);
}

}  // namespace

void rethrow_with(const Error& e, const std::string& text) {
  throw_if<ValueError>(e, text);
  throw_if<TypeError>(e, text);
  throw_if<ShapeError>(e, text);
  throw_if<DTypeError>(e, text);
  throw_if<IndexError>(e, text);
  throw_if<KeyError>(e, text);
  throw_if<NotSupportedError>(e, text);
  throw;
}

namespace detail {

std::string format_error(fmt::string_view text, fmt::format_args args) {
  std::string told = fmt::vformat(text, args);
  size_t end = outermost_op.empty() ? std::string::npos : told.find(": ");
  // Lack of memory is no mistake in calling anything.
  if (end != std::string::npos && told.find(' ') > end && told.compare(0, end, "memory") != 0)
    told.replace(0, end, outermost_op);
  return told;
}

void internal_error(const char* file, int line, const std::string& text) {
  std::string_view path = file;
  if (auto at = path.rfind("src/sorus/"); at != std::string_view::npos) path.remove_prefix(at);
  throw InternalError(
      fmt::format("internal error at {}:{}: {}. This is a fault of Sorus; please report it with this text.",
                  path, line, text));
}

}  // namespace detail
}  // namespace sorus
