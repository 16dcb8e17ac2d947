#pragma once

#include "sorus/dispatch/attributes.h"

/// Attributes of the ops of control flow. Each body takes its arguments and then what it captured.
namespace sorus {

struct CondAttrs {
  BodyRef if_true, if_false;
  int64_t arguments = 0;      ///< operands that both take, after the predicate
  int64_t true_captured = 0;  ///< operands that follow for if_true alone; the rest are for if_false
  static constexpr auto fields() {
    return std::tuple{field("if_true", &CondAttrs::if_true), field("if_false", &CondAttrs::if_false),
                      field("arguments", &CondAttrs::arguments),
                      field("true_captured", &CondAttrs::true_captured)};
  }
};

struct WhileLoopAttrs {
  BodyRef condition, body;
  int64_t carried = 0;             ///< operands that go from step to step
  int64_t condition_captured = 0;  ///< operands that follow for the condition alone; the rest are the body's
  static constexpr auto fields() {
    return std::tuple{field("condition", &WhileLoopAttrs::condition), field("body", &WhileLoopAttrs::body),
                      field("carried", &WhileLoopAttrs::carried),
                      field("condition_captured", &WhileLoopAttrs::condition_captured)};
  }
};

struct ScanLoopAttrs {
  BodyRef body;
  int64_t carried = 0;  ///< operands that go from step to step
  int64_t scanned = 0;  ///< operands that follow, of which each step gets a row; the rest are captured
  int64_t length = 0;   ///< of steps
  bool reverse = false;
  static constexpr auto fields() {
    return std::tuple{field("body", &ScanLoopAttrs::body), field("carried", &ScanLoopAttrs::carried),
                      field("scanned", &ScanLoopAttrs::scanned), field("length", &ScanLoopAttrs::length),
                      field("reverse", &ScanLoopAttrs::reverse)};
  }
};

}  // namespace sorus
