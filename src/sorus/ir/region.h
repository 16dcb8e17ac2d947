#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sorus/dispatch/kernel.h"
#include "sorus/ir/graph.h"

namespace sorus {

/// What a region runs on.
struct RegionCall {
  std::span<std::byte* const> in;   ///< addresses of the operands
  std::span<std::byte* const> out;  ///< and of the results
  std::span<const AttrsBox> slots;  ///< run-time attributes
  std::byte* workspace = nullptr;   ///< RegionProgram::workspace_bytes, aligned to 64
  /// What RegionProgram::prepack made of each of `RegionProgram::prepacked`, null where it made nothing.
  std::span<const void* const> prepacked;
};

/// The body of a call, prepared to run at once over operands of given strides: what lies between its nodes
/// never reaches memory. It gives the bits of running the nodes one by one. Immutable; it refers to the body,
/// which must outlive it.
class SORUS_API RegionProgram {
 public:
  virtual ~RegionProgram() = default;
  RegionProgram() = default;
  RegionProgram(const RegionProgram&) = delete;
  RegionProgram& operator=(const RegionProgram&) = delete;

  /// Computes the results, in pieces on the pool that are cut by shapes alone.
  virtual void run(const RegionCall& call) const = 0;
  /// Prepares the operand of prepacked[index] for many calls; see Kernel::prepack.
  virtual void prepack(size_t index, std::byte* operand, void* to) const;

  std::vector<Strides> in_strides;   ///< of the operands as it takes them: others are copied
  std::vector<Strides> out_strides;  ///< of the results; all are dense
  std::vector<uint64_t> in_place;    ///< by result: operands (bits) over which it may be written
  size_t workspace_bytes = 0;
  struct Prepacked {
    int32_t operand = -1;
    size_t bytes = 0;  ///< that prepack() writes
  };
  std::vector<Prepacked> prepacked;  ///< operands, weights mostly, that can be prepared once for many calls
};

/// Prepares the body for operands as they are (their data is null), or returns null where it does not know
/// how.
using RegionBinder = std::unique_ptr<RegionProgram> (*)(const Graph& body, std::span<const Array> in);

/// Called once, while the library loads, by whoever runs regions.
SORUS_API void set_region_binder(RegionBinder binder);
/// The program of a body; null when nobody can run it whole.
[[nodiscard]] SORUS_API std::unique_ptr<RegionProgram> bind_region(const Graph& body,
                                                                   std::span<const Array> in);

}  // namespace sorus
