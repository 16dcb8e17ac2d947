#pragma once

#include <string_view>

#include "sorus/base/error.h"

namespace sorus::detail {

/// Throws an error of e's kind whose text names `op` in place of the op that failed.
[[noreturn]] void rethrow_as(std::string_view op, const Error& e);

/// Computes f(), which is composed of other ops; what the user did wrong is told as a mistake in calling
/// `op`. Costs nothing unless something is thrown.
template <class F>
auto told_as(std::string_view op, F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    rethrow_as(op, e);
  }
}

}  // namespace sorus::detail
