#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sorus/dispatch/kernel.h"
#include "sorus/ir/graph.h"

namespace sorus {

/// The body of a call, prepared to run at once over operands of given strides: what lies between its nodes
/// never reaches memory. It gives the bits of running the nodes one by one. Immutable; it refers to the body,
/// which must outlive it.
class SORUS_API RegionProgram {
 public:
  virtual ~RegionProgram() = default;
  RegionProgram() = default;
  RegionProgram(const RegionProgram&) = delete;
  RegionProgram& operator=(const RegionProgram&) = delete;

  /// Pieces of work, cut by shapes alone; any of them may run at the same time.
  [[nodiscard]] virtual int64_t pieces() const = 0;
  /// Computes one piece. `in` and `out` are addresses of operands and results, `slots` the run-time
  /// attributes.
  virtual void run_piece(int64_t piece, std::span<std::byte* const> in, std::span<std::byte* const> out,
                         std::span<const AttrsBox> slots) const = 0;

  std::vector<Strides> out_strides;  ///< of the results; all are dense
  std::vector<uint64_t> in_place;    ///< by result: operands (bits) over which it may be written
  uint64_t row_major_in = 0;         ///< operands (bits) that it takes in row-major order only
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
