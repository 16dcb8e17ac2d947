#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sorus/compiler/executable.h"
#include "sorus/tuning/judge.h"
#include "sorus/tuning/tune.h"

namespace sorus::tuning {

/// A graph bound with the values of now, and inputs on which it runs again and again.
class Runner {
 public:
  Runner(std::unique_ptr<Executable> executable, const std::vector<Ref<Value>>& inputs);
  void run();
  [[nodiscard]] Executable& executable() { return *executable_; }
  /// The bits of the results, row-major.
  [[nodiscard]] std::string result_bits();

 private:
  std::unique_ptr<Executable> executable_;
  const std::vector<Ref<Value>>& inputs_;
  std::vector<Ref<Value>> outputs_;
  std::vector<char> donated_;
};

/// Something whose parameters are searched: a kind of call, a region, or the whole program.
struct Subject {
  TunedPart part = TunedPart::kCall;
  Digest::Words key{};
  std::string what;
  Graph graph;
  std::vector<Ref<Value>> inputs;
  double ns = 0;  ///< of all its steps together

  /// The graph bound with this thread's overrides over what is in use: through the passes where it is a
  /// program, as it is where it is a call or region.
  [[nodiscard]] std::unique_ptr<Runner> bind() const;
  /// The parameters that it reads, of its part, that may be tuned.
  [[nodiscard]] std::vector<const Tunable*> parameters(bool relaxed) const;
};

/// What a bound program consists of. Its longest subjects come first; of the same kind there is one.
[[nodiscard]] std::vector<Subject> subjects_of(Executable& executable, std::span<const double> step_ns);

/// A line that says what a step computes.
[[nodiscard]] std::string describe(const BoundStep& step);

/// A value of that type and order in memory, filled as example_inputs() says.
[[nodiscard]] Ref<Value> example_value(const TensorType& type, const Strides& strides);

}  // namespace sorus::tuning
