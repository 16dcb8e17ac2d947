#include "sorus/base/error.h"

#include <fmt/format.h>

// The formatters of our types in headers that include only <fmt/core.h> derive from this one, which that
// header declares.
template SORUS_API fmt::format_context::iterator fmt::formatter<fmt::string_view>::format(
    const fmt::string_view&, fmt::format_context&) const;

namespace sorus::detail {

std::string format_error(fmt::string_view text, fmt::format_args args) { return fmt::vformat(text, args); }

void internal_error(const char* file, int line, const std::string& text) {
  std::string_view path = file;
  if (auto at = path.rfind("src/sorus/"); at != std::string_view::npos) path.remove_prefix(at);
  throw InternalError(
      fmt::format("internal error at {}:{}: {}. This is a fault of Sorus; please report it with this text.",
                  path, line, text));
}

}  // namespace sorus::detail
