#pragma once

#include "sorus/dispatch/kernel.h"

/// Kernels of 16-bit floats made of kernels of float32, where no library multiplies 16-bit floats: operands
/// are widened, results rounded once at the end.
namespace sorus::cpu {

/// A call as a kernel of float32 sees it, its arrays at the beginning of `space`. They must be dense.
class WidenedCall {
 public:
  explicit WidenedCall(const KernelCall& from, void* space = nullptr);
  [[nodiscard]] KernelCall call() const;
  /// Bytes of the arrays; the workspace of the kernel comes after them.
  [[nodiscard]] size_t bytes() const { return used_; }

  void widen_operands() const;
  void narrow_results() const;

 private:
  Array place(const Array& x);

  const KernelCall& from_;
  std::byte* space_;
  size_t used_ = 0;
  SmallVector<Array, 4> in_, out_;
};

/// The kernel for 16-bit floats made of kFloat32, which takes operands that lie as `layout` says.
template <const Kernel& kFloat32>
struct Widened {
  static Refusal supports(const KernelCall& c) {
    if (!is_half(c.out[0].dtype)) return "element type is not a 16-bit float";
    return kFloat32.supports(WidenedCall(c).call());
  }
  static size_t workspace(const KernelCall& c) {
    const WidenedCall wide(c);
    return wide.bytes() + kFloat32.workspace(wide.call());
  }
  static void run(const KernelCall& c) {
    const WidenedCall wide(c, c.workspace);
    wide.widen_operands();
    kFloat32.run(wide.call());
    wide.narrow_results();
  }
  static Kernel kernel(std::string_view name, Layout layout) {
    return {.name = name,
            .in_layout = layout,
            .out_layout = kFloat32.out_layout,
            .supports = supports,
            .workspace = workspace,
            .run = run,
            .row_major_in = kFloat32.row_major_in};
  }
};

}  // namespace sorus::cpu
