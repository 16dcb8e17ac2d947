#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/dispatch/op_def.h"

/// Programs that are kept: functions of tensors as graphs with everything they need inside, for files and for
/// other processes. Running one needs neither the code that it was made of nor Python.
namespace sorus {

class Graph;

/// A tensor that a program takes or gives.
struct ProgramValue {
  std::string name;
  TensorType type;
};

/// A function of tensors without state. Immutable and cheap to copy; any number of threads may run one at
/// once.
class SORUS_API Program {
 public:
  Program() = default;

  /// Calls `f` once with values that have types and no bytes, and keeps its op calls. What `f` uses from
  /// outside (parameters, constants) becomes part of the program with the value that it has now. Results are
  /// called output0, output1 and so on unless `outputs` names them. What `f` throws is passed on. Throws
  /// ValueError when `f` reads a value or names are empty or repeated, NotSupportedError when it updates a
  /// parameter in place or draws random numbers from a generator.
  [[nodiscard]] static Program trace(const TensorFunction& f, std::span<const ProgramValue> inputs,
                                     std::span<const std::string> outputs = {});
  /// The inverse of bytes(). Throws IOError naming `source` for bytes that are damaged, of another kind, or
  /// name an op that this library lacks.
  [[nodiscard]] static Program from_bytes(std::string_view bytes, const std::string& source = "program");
  /// The program in a form that any build of this version of the format reads, on any processor; constants
  /// keep their bits.
  [[nodiscard]] std::string bytes() const;

  [[nodiscard]] bool defined() const { return state_ != nullptr; }
  [[nodiscard]] const std::vector<ProgramValue>& inputs() const;
  [[nodiscard]] const std::vector<ProgramValue>& outputs() const;
  [[nodiscard]] const Graph& graph() const;

  /// Compiles now what the first run would: for inputs in row-major order and this thread's numerics.
  void compile() const;
  /// Gives the bits of the function that was traced. Inside a boundary or a gradient scope the program's
  /// calls are made one by one, so that they are recorded and have gradients. Throws ValueError, ShapeError
  /// or DTypeError naming the input when number or types differ, and what checks of values throw.
  [[nodiscard]] TensorList operator()(const TensorList& in) const;
  /// The same with names. Throws KeyError for a name that is missing or unknown.
  [[nodiscard]] std::map<std::string, Tensor> by_name(const std::map<std::string, Tensor>& in) const;

 private:
  friend SORUS_API void save_program(const std::string& path, const Program& program);
  struct State;
  [[nodiscard]] std::string unsealed() const;
  explicit Program(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  [[nodiscard]] const State& state() const;
  std::shared_ptr<const State> state_;
};

/// Writes the program to a file, under a temporary name until it is whole. Throws IOError.
SORUS_API void save_program(const std::string& path, const Program& program);
/// Program::trace() and save_program() at once.
SORUS_API void save_program(const std::string& path, const TensorFunction& f,
                            std::span<const ProgramValue> inputs, std::span<const std::string> outputs = {});
/// Throws IOError for a file that is missing, damaged or of another kind.
[[nodiscard]] SORUS_API Program load_program(const std::string& path);

}  // namespace sorus
