#include "sorus/ops/detail/told_as.h"

#include <string>

namespace sorus::detail {

void rethrow_as(std::string_view op, const Error& e) {
  std::string_view text = e.what();
  size_t end = text.find(": ");
  if (end == std::string_view::npos) throw;
  std::string told = std::string(op) + std::string(text.substr(end));
  switch (e.kind()) {
    case ErrorKind::kValue:
      throw ValueError(told);
    case ErrorKind::kType:
      throw TypeError(told);
    case ErrorKind::kShape:
      throw ShapeError(told);
    case ErrorKind::kDType:
      throw DTypeError(told);
    case ErrorKind::kIndex:
      throw IndexError(told);
    case ErrorKind::kKey:
    case ErrorKind::kIO:
    case ErrorKind::kRuntime:
    case ErrorKind::kMemory:
    case ErrorKind::kNotSupported:
    case ErrorKind::kInternal:
      break;  // not a matter of how the op was called
  }
  throw;
}

}  // namespace sorus::detail
