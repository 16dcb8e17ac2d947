#pragma once

#include <vector>

#include "sorus/compiler/engine_parts.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/kept_results.h"
#include "sorus/compiler/prepacked.h"
#include "sorus/compiler/schedule.h"
#include "sorus/ir/region.h"

namespace sorus {

/// Where bytes of a program live.
enum class Place : uint8_t { kInput, kArena, kOwned, kConstant, kKept };

/// One operand or result of a step: its type is fixed, its address is found at run time from its buffer.
struct BoundArray {
  int32_t buffer = -1;  ///< -1: absent operand
  int64_t offset = 0;   ///< bytes from the start of the buffer
  Array array;          ///< with null data
};

/// A kernel with the tuned values that it was bound with, and runs with.
struct TunedKernel {
  const Kernel* kernel = nullptr;
  TunedRef values;
};

/// One kernel call, one region, or one part of an engine.
struct Step {
  const Kernel* kernel =
      nullptr;  ///< null: tuned, a region, a part, or a copy of operand 0 with the strides of result 0
  const TunedKernel* tuned = nullptr;
  const RegionProgram* region = nullptr;
  const Node* node = nullptr;
  uint32_t first = 0;  ///< index of the first array
  uint32_t in_count = 0;
  uint32_t out_count = 0;
  int32_t workspace = -1;    ///< buffer, -1 for none
  int32_t part = -1;         ///< index of an engine's part, -1 for none
  int32_t prepacked = -1;    ///< number of its (first) operand among the prepacked ones, -1 for none
  int32_t kept = -1;         ///< number among the steps whose results are kept, -1 for none
  bool takes_input = false;  ///< a result may be written over an input
  [[nodiscard]] bool is_copy() const { return !kernel && !tuned && !region && part < 0; }
};

struct Buffer {
  Place place = Place::kArena;
  int32_t index = 0;  ///< input number, owned number, constant value or number of the step that is kept
  int64_t bytes = 0;
  int64_t arena_offset = 0;  ///< in the arena, or in what is kept of the step
  int32_t first = 0;
  int32_t last = 0;
  int32_t donor = -1;  ///< for owned buffers: the input whose storage may be taken
};

/// Where a value of the graph is, in a buffer.
struct BoundValue {
  int32_t buffer = -1;
  int64_t offset = 0;  ///< in bytes
  Strides strides;
};

/// A graph resolved for given input strides: kernels, layouts, buffers, plan.
struct Executable::Binding {
  std::shared_ptr<const Graph> graph;  ///< the executable's, or one in which calls gave way to their nodes
  std::vector<std::unique_ptr<RegionProgram>> regions;
  std::vector<std::unique_ptr<TunedKernel>> tuned;
  std::vector<std::shared_ptr<const EnginePart>> parts;
  std::vector<Strides> input_strides;
  std::vector<BoundArray> arrays;
  std::vector<Step> steps;
  Schedule schedule;
  std::vector<Buffer> buffers;
  std::vector<BoundValue> outputs;
  mutable PrepackedOperands prepacked;
  mutable KeptResults kept;
  std::vector<int64_t> kept_bytes;  ///< by number of the step
  int32_t owned_count = 0;
  int64_t arena_bytes = 0;
  ExecutableReport report;
};

}  // namespace sorus
