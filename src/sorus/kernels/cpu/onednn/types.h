#pragma once

#include <cstddef>
#include <cstdint>

/// What the functions of this folder share. They work on raw memory, know no tensor, and are the only place
/// of the library that speaks to oneDNN; no header here but those in detail/ includes it.
///
/// Threads: every function may be called from any thread, several at once; it spreads its work over the pool
/// of base/thread_pool.h. oneDNN itself always runs one thread per call, so OpenMP never starts one. Bits:
/// results depend on the problem's sizes and types and on the CPU, never on strides, threads or the run.
namespace sorus::kernels::onednn {

enum class ElementType : uint8_t { kFloat32, kBFloat16 };

[[nodiscard]] constexpr size_t element_size(ElementType type) {
  return type == ElementType::kFloat32 ? 4 : 2;
}

/// Function applied to each result before it is stored.
enum class Activation : uint8_t { kNone, kRelu };

/// Alignment in bytes that workspaces need.
inline constexpr size_t kWorkspaceAlignment = 64;

}  // namespace sorus::kernels::onednn
