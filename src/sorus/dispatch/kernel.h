#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sorus/dispatch/op_def.h"
#include "sorus/dispatch/result_piece.h"

namespace sorus {

/// An operand or result as a kernel sees it: typed, strided bytes. An absent optional operand has null data.
struct Array {
  std::byte* data = nullptr;
  DType dtype = DType::kFloat32;
  const Shape* shape = nullptr;
  Strides strides;

  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data);
  }
  [[nodiscard]] bool present() const { return shape != nullptr; }
  [[nodiscard]] int rank() const { return shape->rank(); }
  [[nodiscard]] int64_t size(int axis) const { return shape->size(axis); }
  [[nodiscard]] int64_t numel() const { return shape->numel(); }
};

/// One call of a kernel. `out` data is null while `supports` and `workspace` are asked.
struct KernelCall {
  const OpDef& op;
  const void* attributes;
  std::span<const Array> in;
  std::span<const Array> out;
  void* workspace = nullptr;
  /// What Kernel::prepack made of the operand `prepacked_in`, whose own bytes are not read then; else null.
  const void* prepacked = nullptr;
  template <class A>
  [[nodiscard]] const A& attrs() const {
    return *static_cast<const A*>(attributes);
  }
};

/// Why a kernel does not take a call, in words; null when it takes it.
using Refusal = const char*;
inline constexpr Refusal kAccepted = nullptr;

/// Memory order that a kernel wants of its operands, or gives to its results.
enum class Layout : uint8_t {
  kAny,  ///< operands: any strides. Results: the order of the first operand of the same shape (elementwise)
  kContiguous,    ///< row-major
  kChannelsLast,  ///< axis 1 innermost
};

/// Computes `n` elements of `out` from as many of each operand, all contiguous and of the compute type. `out`
/// may be one of the operands. `parameters` are the attributes of the op that are numbers.
using TileFunction = void (*)(void* out, const void* const* in, int64_t n, const double* parameters);

/// An elementwise call as a function of tiles. Operands are converted to the compute types before it, its
/// result to the dtype of the call after it; only 16-bit floats ever differ from what is stored.
struct ElementTile {
  TileFunction function = nullptr;
  DType compute[4] = {};  ///< of each operand
  DType result = {};      ///< what the function writes
};

/// One way to compute an op on one kind of device. It is chosen by (op, types, shapes, attributes, CPU)
/// alone, so `supports` must not look at strides; operands in another layout are converted before the call.
struct Kernel {
  std::string_view name;
  Layout in_layout = Layout::kContiguous;
  Layout out_layout = Layout::kContiguous;
  Refusal (*supports)(const KernelCall&) = nullptr;  ///< null: takes every call
  size_t (*workspace)(const KernelCall&) = nullptr;  ///< bytes, aligned to 64; null: none
  void (*run)(const KernelCall&) = nullptr;
  /// Output 0 may be written over input i bit-safely when both have the same type and strides (mask of
  /// inputs).
  uint32_t in_place = 0;
  /// Operands and results (bits) that are row-major whatever the layouts above say: weights of a convolution.
  uint32_t row_major_in = 0;
  uint32_t row_major_out = 0;
  /// Elementwise kernels: the function with which run() computes, given the call's attributes as parameters.
  ElementTile (*tile)(const KernelCall&) = nullptr;
  /// Kernels that compute each row by itself: the first axis of a row, or -1 when this call has no such rows.
  /// run() may then be given some of the rows: arrays whose axes before the first have fewer elements.
  int (*row_axis)(const KernelCall&) = nullptr;
  /// Operands (bits) that every row needs whole, as the scale of a norm.
  uint32_t whole_in = 0;
  /// Kernels that can hand over result 0 piece by piece, the bits being those of run(): whether they can for
  /// a call, by types and attributes alone, and how. `out` data is null where nobody else wants the result:
  /// the pieces then lie in memory of the threads.
  bool (*has_pieces)(const KernelCall&) = nullptr;
  void (*run_pieces)(const KernelCall&, const PieceTaker& taker) = nullptr;
  /// An operand that the kernel copies into another order before it computes, as the weights of products and
  /// convolutions: the copy can be made once and given to many calls (KernelCall::prepacked), the bits being
  /// the same. It takes `prepacked_bytes`, 0 where a call has nothing to gain, and belongs to this process.
  int prepacked_in = -1;
  size_t (*prepacked_bytes)(const KernelCall&) = nullptr;
  void (*prepack)(const KernelCall&, void* to) = nullptr;
};

/// Registers a kernel while the library loads. Providers are tried by rank: higher first, the reference (rank
/// 0) last.
class SORUS_API KernelRegistrar {
 public:
  KernelRegistrar(std::string_view op, Kernel kernel, int rank, std::string_view device = "host");
};
inline constexpr int kReferenceRank = 0;
inline constexpr int kSimdRank = 10;
inline constexpr int kLibraryRank = 20;

/// Kernels of an op in the order in which they are tried.
[[nodiscard]] SORUS_API std::vector<const Kernel*> kernels_of(const OpDef& op, Device device);
/// The first kernel that takes the call. Throws NotSupportedError with every refusal.
[[nodiscard]] SORUS_API const Kernel& choose_kernel(const KernelCall& call, Device device);
/// While set on this thread, only reference kernels are chosen: for tests.
[[nodiscard]] SORUS_API bool& reference_kernels_only();

/// Strides of result `index` of a call under the kernel's layout rule.
[[nodiscard]] SORUS_API Strides output_strides(const Kernel& kernel, std::span<const Array> in,
                                               const Shape& shape, size_t index);
/// True when operand `index` must be copied before the kernel can take it, and the strides of the copy.
[[nodiscard]] SORUS_API bool needs_conversion(const Kernel& kernel, const Array& operand, size_t index,
                                              Strides* wanted);

}  // namespace sorus
