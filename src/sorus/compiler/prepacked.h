#pragma once

#include <cstdint>
#include <vector>

#include "sorus/base/export.h"
#include "sorus/core/storage.h"

namespace sorus {

/// Operands of a bound program, weights mostly, as its kernels have packed them (Kernel::prepack). A copy is
/// made at the second run that has the same value, and dropped when another one comes: values never change,
/// and their ids are never used again. All copies of the process together take at most SORUS_PREPACK_MB
/// (1024; 0: none). Thread-safe.
class SORUS_API PrepackedOperands {
 public:
  PrepackedOperands() = default;
  PrepackedOperands(const PrepackedOperands&) = delete;
  PrepackedOperands& operator=(const PrepackedOperands&) = delete;
  ~PrepackedOperands();

  /// One more operand, whose copy takes so many bytes, 0 for none that is kept; returns its number. Before
  /// the first run.
  int32_t add(size_t bytes);
  /// The copy for the value with this id. Null when there is none; `memory` is then set where the caller
  /// should make one there and keep() it.
  [[nodiscard]] Ref<Storage> find(int32_t operand, uint64_t id, Ref<Storage>* memory);
  void keep(int32_t operand, uint64_t id, Ref<Storage> copy);

 private:
  struct Operand {
    size_t bytes = 0;
    uint64_t id = 0;  ///< of the value that the last run had
    Ref<Storage> copy;
  };
  std::vector<Operand> operands_;
};

}  // namespace sorus
