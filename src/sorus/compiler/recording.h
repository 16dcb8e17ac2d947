#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sorus/compiler/executable.h"

namespace sorus {

class GeneralPlan;
/// What the symbols of a general plan stand for, by symbol.
using Extents = std::vector<int64_t>;

/// What a call of the host program is known by when it is met again. Holds no values.
struct RecordedOperand {
  int32_t place =
      0;  ///< result number within the boundary call, or ~i for the i-th distinct value from outside
  int32_t source = 0;      ///< result number within the segment, or ~k for its k-th input; kAbsent for none
  bool first_use = false;  ///< the call at which the segment's next input is met
  TensorType type;         ///< checked where the operand is new
};
inline constexpr int32_t kAbsent = INT32_MIN;

struct RecordedCall {
  const OpDef* op = nullptr;
  AttrsBox attrs;
  bool dynamic = false;  ///< attributes differ from call to call: they are given to each run
  bool varies = false;   ///< attributes differ between recordings of other extents
  SmallVector<RecordedOperand, 3> in;
  SmallVector<TensorType, 1> out;
  int32_t first_out = 0;  ///< number of its first result within the segment
  std::string site;
};

/// A program for one choice of which results are still wanted when the segment ends.
struct SegmentProgram {
  std::vector<char> live;
  std::vector<int32_t> slots;  ///< calls whose attributes are run-time slots, in slot order
  std::unique_ptr<Executable> executable;
};

/// The calls from one read of a value to the next. Siblings share a prefix of calls and know where they part.
struct Segment {
  int32_t base = 0;  ///< number of its first result within the boundary call
  std::vector<RecordedCall> calls;
  int32_t result_count = 0;
  int32_t input_count = 0;
  bool any_dynamic = false;
  int32_t general_index = -1;  ///< the segment of the plan's general one that it follows, -1 for none
  Segment* next = nullptr;
  std::map<size_t, std::vector<Segment*>> forks;  ///< forks[k]: same first k calls, another k-th event
  std::vector<std::shared_ptr<SegmentProgram>> programs;
};

/// All that was recorded for one signature of a boundary. Used by one thread at a time.
struct Plan {
  std::vector<std::unique_ptr<Segment>> segments;
  Segment* head = nullptr;
  std::shared_ptr<GeneralPlan> general;  ///< null until another recording differed in extents alone
  Extents extents;
  /// Memory that the recording and its programs take, roughly.
  [[nodiscard]] size_t bytes() const;
  size_t measured_bytes = 0;  ///< when it last grew
  int misses_in_a_row = 0;    ///< calls that did not go as any before
  bool given_up = false;      ///< it keeps changing: it runs eagerly
};

/// Counters of a thread, for tests and reports.
struct FollowStats {
  int64_t signatures = 0;   ///< boundary calls that found no recording
  int64_t recorded = 0;     ///< calls run eagerly while recording
  int64_t followed = 0;     ///< calls matched with a recording
  int64_t mismatches = 0;   ///< segments that ended otherwise than any recorded one
  int64_t branches = 0;     ///< segments added where two executions part
  int64_t programs = 0;     ///< compilations
  int64_t runs = 0;         ///< compiled runs
  int64_t specialized = 0;  ///< boundary calls with new extents that went as recordings with others
  int64_t instances = 0;    ///< programs for new extents made without passes
};
[[nodiscard]] SORUS_API FollowStats& follow_stats();

/// The graph of the first `count` calls of a segment; outputs are the live results.
[[nodiscard]] Graph segment_graph(const Segment& segment, size_t count, const std::vector<char>& live,
                                  std::vector<int32_t>* slots);

}  // namespace sorus
