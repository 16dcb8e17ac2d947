#pragma once

#include <string>
#include <string_view>

#include "sorus/base/error.h"

/// Errors in the words of what was called.
namespace sorus {

/// While one lives, the errors that this thread raises name `op` in place of what `op` is composed of. Of
/// several the outermost counts. `op` must outlive it. Costs two accesses of a thread-local variable.
class SORUS_API ToldAs {
 public:
  explicit ToldAs(std::string_view op) noexcept;
  ~ToldAs();
  ToldAs(const ToldAs&) = delete;
  ToldAs& operator=(const ToldAs&) = delete;

 private:
  bool outermost_;
};

/// Throws an error of e's type with another text; e itself when its type is none of error.h. Call it inside
/// the handler of e.
[[noreturn]] SORUS_API void rethrow_with(const Error& e, const std::string& text);

}  // namespace sorus
