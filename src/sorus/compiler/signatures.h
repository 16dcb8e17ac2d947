#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sorus/core/tensor.h"

namespace sorus {

/// Names the function of the boundary call that this thread begins while it lives, and how to learn the types
/// that it is given, so that it can be said why the call is recorded anew. It holds no tensor: a value that
/// is held cannot be updated in place.
class SORUS_API NamedCall {
 public:
  using TypesOf = std::vector<TensorType> (*)(const void* context);
  NamedCall(uint64_t function, TypesOf types, const void* context);
  /// Of tensors that outlive the call.
  NamedCall(uint64_t function, const std::span<const Tensor>& operands);
  ~NamedCall();
  NamedCall(const NamedCall&) = delete;
  NamedCall& operator=(const NamedCall&) = delete;
  [[nodiscard]] static const NamedCall* current();
  [[nodiscard]] uint64_t function() const { return function_; }
  [[nodiscard]] std::vector<TensorType> types() const { return types_(context_); }

 private:
  uint64_t function_;
  TypesOf types_;
  const void* context_;
  const NamedCall* outer_;
};

/// The types of tensors; undefined ones count as none.
[[nodiscard]] SORUS_API std::vector<TensorType> types_of(std::span<const Tensor> tensors);

/// A boundary call finds no recording of its signature. Of a named call, SORUS_VERBOSE=compile tells what
/// differs from the call that was recorded last, and a warning comes once when a function is recorded for its
/// kManySignatures-th set of types.
void note_new_recording();
inline constexpr int kManySignatures = 32;

/// How often that function was recorded; 0 for one that is not known.
[[nodiscard]] SORUS_API int signatures_of(uint64_t function);

}  // namespace sorus
