#pragma once

#include <dnnl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sorus/kernels/cpu/onednn/types.h"

/// The few things of oneDNN that this folder needs, as objects that own what they hold.
namespace sorus::kernels::onednn::detail {

/// Throws InternalError unless the status is success. A refused problem is found before, by Primitive's
/// constructor.
void check(dnnl_status_t status, const char* what);

[[nodiscard]] dnnl_engine_t engine();

[[nodiscard]] constexpr dnnl_data_type_t data_type(ElementType type) {
  return type == ElementType::kFloat32 ? dnnl_f32 : dnnl_bf16;
}

/// Descriptor of dense or strided memory; `strides` in elements, empty for row-major.
[[nodiscard]] dnnl_memory_desc_t strided_desc(std::span<const int64_t> dims, ElementType type,
                                              std::span<const int64_t> strides = {});
/// Descriptor whose layout is the given tag; dnnl_format_tag_any leaves it to the library.
[[nodiscard]] dnnl_memory_desc_t tagged_desc(std::span<const int64_t> dims, ElementType type,
                                             dnnl_format_tag_t tag);

/// Sets OpenMP to one thread on the calling thread and gives the former setting back at the end of the scope
/// (about 10 ns). Must be alive wherever a primitive is created or executed: oneDNN plans for the setting
/// that it finds, and a plan for several threads both starts OpenMP threads and changes bits.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// Memory of the calling thread, 64-byte aligned, grown on demand and kept for the thread's life. A second
/// request for the same purpose gives the same memory, so nothing may be kept there across calls.
enum class Scratch : uint8_t { kLibrary, kA, kB, kOut, kCount };
[[nodiscard]] void* thread_scratch(Scratch purpose, size_t bytes);

/// Says whether an implementation, named as in DNNL_VERBOSE, may be used.
using AcceptImplementation = bool (*)(std::string_view name);

struct DescriptionDeleter {
  void operator()(dnnl_primitive_desc_t description) const { dnnl_primitive_desc_destroy(description); }
};
using Description = std::unique_ptr<dnnl_primitive_desc, DescriptionDeleter>;

/// What the library would run for an operation, not compiled: enough for the hint that backward primitives
/// ask for. Null when it cannot run it.
[[nodiscard]] Description describe(const void* operation);

/// One compiled primitive with its arguments, ready to run. Immutable for its users: threads may run it at
/// once, each run with its own library scratchpad (a shared one gives wrong sums without an error).
class Primitive {
 public:
  /// `operation` is a oneDNN operation descriptor, `arguments` the ids (DNNL_ARG_...) in the order in which
  /// run() takes their memory. `hint` is the description of the forward operation that backward ones need.
  /// The first implementation that `accept` takes is used; returns null when there is none.
  [[nodiscard]] static std::unique_ptr<Primitive> create(const void* operation,
                                                         const_dnnl_primitive_attr_t attributes,
                                                         std::span<const int> arguments,
                                                         AcceptImplementation accept = nullptr,
                                                         const_dnnl_primitive_desc_t hint = nullptr);
  /// A reorder from one layout to another, run({source, destination}).
  [[nodiscard]] static std::unique_ptr<Primitive> create_reorder(const dnnl_memory_desc_t& from,
                                                                 const dnnl_memory_desc_t& to);
  ~Primitive();
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;

  /// Runs on the calling thread alone.
  void run(std::span<void* const> memory) const;

  /// Layout that the i-th argument must have.
  [[nodiscard]] const dnnl_memory_desc_t& desc(size_t i) const { return descs_[i]; }
  [[nodiscard]] size_t bytes(size_t i) const { return dnnl_memory_desc_get_size(&descs_[i]); }
  [[nodiscard]] std::string_view implementation() const { return implementation_; }

 private:
  struct Runner;
  Primitive() = default;
  void finish(dnnl_primitive_desc_t description, std::span<const int> arguments);
  std::unique_ptr<Runner> take_runner() const;
  void put_runner(std::unique_ptr<Runner> runner) const;

  dnnl_primitive_desc_t description_ = nullptr;
  dnnl_primitive_t primitive_ = nullptr;
  std::vector<int> arguments_;
  std::vector<dnnl_memory_desc_t> descs_;
  dnnl_memory_desc_t scratchpad_{};
  size_t scratchpad_bytes_ = 0;
  std::string_view implementation_;
  mutable std::vector<std::unique_ptr<Runner>> idle_;
};

}  // namespace sorus::kernels::onednn::detail
