#pragma once

#include <cstdint>
#include <string_view>

#include "sorus/dispatch/kernel.h"

/// Kernels that work on a few rows at a time, so that one can run as another one wants its result. A value is
/// seen as a matrix, as a ResultPiece is: its columns are the innermost axis in memory.
namespace sorus {

/// An operand that is computed a few rows at a time, when they are wanted, and of which no more is ever in
/// memory.
class RowSource {
 public:
  /// Computes rows [begin, end) on the calling thread, one after the other from `to` on. Several threads may
  /// ask at once, for the same rows as well.
  virtual void fill(int64_t begin, int64_t end, void* to) const = 0;

 protected:
  ~RowSource() = default;
};

/// What a Kernel can do by rows: whether it can for a call, by types and attributes alone, and how. The bits
/// are those of Kernel::run.
struct RowKernel {
  /// Computes any rows of result 0 by themselves, on the thread that asks, whole rows from `to` on. An
  /// operand that can be packed (Kernel::prepacked_in) must come packed.
  bool (*gives_rows)(const KernelCall&) = nullptr;
  void (*compute_rows)(const KernelCall&, int64_t begin, int64_t end, void* to) = nullptr;
  /// Takes operand 0, whose data is null then, a few rows at a time, and hands over result 0 as
  /// Kernel::run_pieces does.
  bool (*takes_rows)(const KernelCall&) = nullptr;
  void (*run_on_rows)(const KernelCall&, const RowSource& rows, const PieceTaker& taker) = nullptr;
};

/// Registers what the kernel of this name can do by rows, while the library loads.
class SORUS_API RowKernelRegistrar {
 public:
  RowKernelRegistrar(std::string_view kernel, const RowKernel& rows);
};

/// Whether the kernel gives result 0, or takes operand 0, by rows.
[[nodiscard]] SORUS_API bool gives_rows(const Kernel& kernel, const KernelCall& call);
[[nodiscard]] SORUS_API bool takes_rows(const Kernel& kernel, const KernelCall& call);
/// What the kernel can do by rows. It must be known that it can do something.
[[nodiscard]] SORUS_API const RowKernel& row_kernel_of(const Kernel& kernel);

}  // namespace sorus
