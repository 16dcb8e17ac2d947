#include "sorus/dispatch/builtin.h"

namespace sorus {

BuiltinOps& builtin_ops() {
  static BuiltinOps table;
  return table;
}

}  // namespace sorus
