#include "sorus/dispatch/body.h"

namespace sorus {
namespace {

BodyMaker& body_maker() {
  static BodyMaker maker;
  return maker;
}

}  // namespace

void set_body_maker(BodyMaker maker) { body_maker() = maker; }

Traced trace(std::string_view name, const TensorFunction& f, std::span<const TensorType> types,
             TraceRule rule) {
  return body_maker().trace(name, f, types, rule);
}

BodyRef parse_body(std::string_view text) { return body_maker().parse(text); }

}  // namespace sorus
