#include "sorus/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "sorus/base/error.h"
#include "sorus/base/flags.h"
#include "sorus/base/fork_mutex.h"

namespace sorus {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::warn;
}

LogLevel level_from_environment() {
  std::string text = env_string("SORUS_LOG_LEVEL", "warning");
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "warning") return LogLevel::kWarning;
  if (text == "error") return LogLevel::kError;
  if (text == "off") return LogLevel::kOff;
  raise<ValueError>(
      "environment: SORUS_LOG_LEVEL is unknown: got '{}', need debug, info, warning, error or off", text);
}

spdlog::logger& logger() {
  // Never destroyed: destructors of other static objects may still log.
  static auto& instance = *[] {
    auto* made = new spdlog::logger("sorus", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("[sorus %l] %v");
    made->set_level(to_spdlog(level_from_environment()));
    return made;
  }();
  return instance;
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

LogLevel log_level() {
  switch (logger().level()) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LogLevel::kDebug;
    case spdlog::level::info:
      return LogLevel::kInfo;
    case spdlog::level::warn:
      return LogLevel::kWarning;
    case spdlog::level::off:
      return LogLevel::kOff;
    default:
      return LogLevel::kError;
  }
}

void log_message(LogLevel level, std::string_view text) {
  // The sink has a lock of its own, which a fork must not find taken either.
  static auto& mutex = *new ForkMutex;
  std::lock_guard lock(mutex);
  logger().log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
}

void warn_once(std::string_view key, std::string_view text) {
  static auto& mutex = *new ForkMutex;
  static auto& said = *new std::set<std::string, std::less<>>;
  {
    std::lock_guard lock(mutex);
    if (!said.emplace(key).second) return;
  }
  log_message(LogLevel::kWarning, text);
}

}  // namespace sorus
