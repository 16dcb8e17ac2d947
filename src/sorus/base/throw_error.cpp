#include "sorus/base/throw_error.h"

namespace sorus {

void throw_error(ErrorKind kind, const std::string& text) {
  switch (kind) {
    case ErrorKind::kValue:
      throw ValueError(text);
    case ErrorKind::kType:
      throw TypeError(text);
    case ErrorKind::kShape:
      throw ShapeError(text);
    case ErrorKind::kDType:
      throw DTypeError(text);
    case ErrorKind::kIndex:
      throw IndexError(text);
    case ErrorKind::kKey:
      throw KeyError(text);
    case ErrorKind::kIO:
      throw IOError(text);
    case ErrorKind::kRuntime:
      throw RuntimeError(text);
    case ErrorKind::kMemory:
      throw MemoryError(text);
    case ErrorKind::kNotSupported:
      throw NotSupportedError(text);
    case ErrorKind::kInternal:
      break;
  }
  throw InternalError(text);
}

}  // namespace sorus
