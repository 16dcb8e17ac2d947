#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "sorus/compiler/boundary.h"

namespace sorus {

/// A function that its author declares pure but for parameters and the default generator: it reads no values,
/// and does the same ops whenever its operands have the same types. The first call of a signature runs it and
/// records; later calls run the compiled program alone, without the function. Handles that it read are inputs
/// and handles that it wrote are outputs; keys are drawn from the generator again. Other tensors that it used
/// are constants. Values are checked as at plain calls; a replay that throws leaves the handles as they were.
/// Among threads a replay reads and writes all its handles in one indivisible step: others that want the new
/// values wait for them.
///
/// With SORUS_JIT=audit the function runs beside every replay and a difference in any bit throws
/// RuntimeError. Inside a gradient scope or another boundary the function just runs. Safe from several
/// threads.
class SORUS_API PureFunction {
 public:
  explicit PureFunction(TensorFunction f) : f_(std::move(f)) {}
  /// Throws ValueError when the function reads a value while it is recorded.
  TensorList operator()(const TensorList& in);
  /// Signatures recorded so far.
  [[nodiscard]] size_t program_count() const;

 private:
  struct Program;
  class Recording;
  class Replay;
  std::shared_ptr<Program> find(uint64_t key) const;
  TensorList record(uint64_t key, const TensorList& in);
  /// Nothing when a handle is gone or holds another type: then the function is recorded anew.
  static std::optional<TensorList> replay(Program& program, const TensorList& in);
  std::optional<TensorList> audit(Program& program, const TensorList& in);

  TensorFunction f_;
  std::unordered_map<uint64_t, std::shared_ptr<Program>> programs_;
};

/// `f` as a PureFunction; copies share their programs.
[[nodiscard]] SORUS_API TensorFunction jit_pure(TensorFunction f);

}  // namespace sorus
