#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sorus/compiler/recording.h"

namespace sorus {

/// A recorded call whose types and integer attributes may hold symbols (core/dim.h) instead of numbers.
struct GeneralCall {
  RecordedCall call;
  bool open_attrs = false;  ///< an attribute holds a symbol
};
using GeneralSegment = std::vector<GeneralCall>;

/// What two or more recordings of a function have in common that differ in extents alone: numbers that are
/// not the same in all of them are symbols, and numbers that go together in all of them are one symbol. A
/// call with further extents is followed by it: each call is matched, its types are inferred, and where a
/// symbol would have to stand for two numbers, following ends. So it claims nothing about how extents depend
/// on each other; it only knows which ones were equal whenever they were seen.
///
/// It also keeps some programs that were compiled for such recordings. A program for further extents is made
/// of two of them that took the same way through the passes: types and attributes are replaced, and inference
/// is asked whether they agree. The passes decide by which extents are equal, and those that were equal in
/// both programs are equal in the new one; where that does not hold, there is none. Thread-safe, its segments
/// never change.
class GeneralPlan {
 public:
  /// Of the main ways through two plans, which then belong to it. Null when they differ in more than extents.
  [[nodiscard]] static std::shared_ptr<GeneralPlan> of(Plan& a, Plan& b);
  /// With one more recording, which goes the same way but fits no numbers of `general`.
  [[nodiscard]] static std::shared_ptr<GeneralPlan> of(const GeneralPlan& general, Plan& b);

  [[nodiscard]] const std::vector<GeneralSegment>& segments() const { return segments_; }
  /// A number for each symbol, none of which is known.
  [[nodiscard]] Extents no_extents() const;
  /// True when `given` has the extents that `open` says; symbols without a number get theirs.
  [[nodiscard]] bool match(const TensorType& open, const TensorType& given, Extents* extents) const;
  [[nodiscard]] bool match(const GeneralCall& open, AttrsRef given, Extents* extents) const;

  /// The graph after the passes of a segment for such extents, made of others; nothing when there are none
  /// that can serve.
  [[nodiscard]] std::optional<Graph> instance(size_t segment, const std::vector<char>& live,
                                              const std::vector<int32_t>& slots,
                                              const Extents& extents) const;
  /// Keeps a compiled graph for others to be made of, the oldest one goes.
  void learn(size_t segment, const std::vector<char>& live, const std::vector<int32_t>& slots,
             std::shared_ptr<const Graph> graph, const Extents& extents);

 private:
  [[nodiscard]] bool match(int64_t open, int64_t given, Extents* extents) const;
  [[nodiscard]] AttrsBox close(const AttrsBox& open, const Extents& extents) const;
  class Generalizer;
  class Instance;
  struct Sample {
    size_t segment;
    std::vector<char> live;
    std::vector<int32_t> slots;
    std::shared_ptr<const Graph> graph;
    Extents extents;
  };

  std::vector<GeneralSegment> segments_;
  std::unordered_map<int64_t, size_t> numbers_of_;  ///< place of a symbol's number, by Dim::raw
  std::vector<Sample> samples_;                     ///< under fork_mutex_of(this)
};

}  // namespace sorus
