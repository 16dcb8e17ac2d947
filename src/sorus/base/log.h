#pragma once

#include <fmt/core.h>

#include <string_view>

#include "sorus/base/export.h"

/// Messages to the person at the terminal, on standard error, one line each. SORUS_LOG_LEVEL is one of
/// debug, info, warning (default), error, off. Thread-safe.
namespace sorus {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };
/// Messages below the level are not shown.
SORUS_API void set_log_level(LogLevel level);
[[nodiscard]] SORUS_API LogLevel log_level();
SORUS_API void log_message(LogLevel level, std::string_view text);  ///< writes a line if its level is shown

/// Says `text` as a warning the first time it is called with this `key` in the process, and is silent after.
SORUS_API void warn_once(std::string_view key, std::string_view text);
/// Formats and writes a line; below the level nothing is formatted.
template <class... Args>
void log_warning(fmt::format_string<Args...> text, Args&&... args) {
  log_message(LogLevel::kWarning, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void log_info(fmt::format_string<Args...> text, Args&&... args) {
  if (log_level() <= LogLevel::kInfo)
    log_message(LogLevel::kInfo, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void log_debug(fmt::format_string<Args...> text, Args&&... args) {
  if (log_level() <= LogLevel::kDebug)
    log_message(LogLevel::kDebug, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace sorus
