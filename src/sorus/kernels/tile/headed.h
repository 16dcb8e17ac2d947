#pragma once

#include <memory>
#include <span>

#include "sorus/dispatch/row_kernel.h"
#include "sorus/ir/region.h"

/// Regions that begin with a product or a convolution: each piece of its result goes through the calls that
/// follow, a tile program, on the thread and in the caches where it was computed.
namespace sorus::tile {

/// Such a region as a part of another one, which knows whether it may (depth_first.h).
class HeadedProgram : public RegionProgram {
 public:
  /// Whether compute_rows() can be called: the head gives rows, and there is one result, of its type.
  [[nodiscard]] virtual bool gives_rows() const = 0;
  /// Rows [begin, end) of the result, on the calling thread, one after the other from `to` on. The results of
  /// the call are not looked at, and what can be prepacked must be.
  virtual void compute_rows(const RegionCall& call, int64_t begin, int64_t end, std::byte* to) const = 0;
  /// Whether run_on_rows() can be called: the operand is the head's first one and nothing else, and the head
  /// takes it by rows.
  [[nodiscard]] virtual bool takes_rows(int32_t operand) const = 0;
  /// run() with that operand, whose address is not looked at, by rows.
  virtual void run_on_rows(const RegionCall& call, const RowSource& rows) const = 0;
};

/// True for a body as the pass `epilogue` makes it: a call whose kernel has pieces, maybe a reshape of its
/// result, and a call of what follows.
[[nodiscard]] bool is_headed(const Graph& body);

/// Null where the kernel has no pieces for the call, or the rest cannot follow it in its order. With
/// `stays_near` nobody calls run(), and results are read where they were written, so that none goes past the
/// caches.
[[nodiscard]] std::unique_ptr<HeadedProgram> bind_headed(const Graph& body, std::span<const Array> in,
                                                         bool stays_near = false);

}  // namespace sorus::tile
