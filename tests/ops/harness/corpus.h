#pragma once

#include <gtest/gtest.h>

#include "sorus/dispatch/apply.h"
#include "tests/ops/harness/compare.h"

/// One test per (function, check), so that a failure names both; the trace names sample and dtype.
namespace sorus::samples {

/// Calls `check` for every op that runs while it is in scope, whatever function called it.
class CallListener : public Recorder {
 public:
  using Check = std::function<void(const OpDef&, OperandSpan, AttrsRef, std::span<const Tensor>)>;
  explicit CallListener(Check check) : check_(std::move(check)) {}
  bool follow(const OpDef&, OperandSpan, AttrsRef, TensorList&) override { return false; }
  void record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<const Tensor> out) override {
    check_(op, in, attrs, out);
  }
  void observe(const Value&) override {}

 private:
  Check check_;
  ScopedState<Recorder*> scope_{&ScopeState::recorder, this};
};

class Corpus : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] SampleList samples() const;
  /// Inputs of the sample in that dtype.
  static TensorList inputs_of(const Sample& sample, DType dtype);

  /// Calls check(sample, dtype) for each sample in each of its dtypes.
  template <class Check>
  void for_each(const Check& check) const {
    for (const Sample& sample : samples())
      for (DType dtype : sample.dtypes) {
        SCOPED_TRACE(GetParam() + ": sample '" + sample.name + "' in " + std::string(dtype_name(dtype)));
        check(sample, dtype);
        if (HasFatalFailure()) return;
      }
  }
  /// Equal bits, result by result.
  static void expect_equal(const TensorList& got, const TensorList& want, std::string_view what);
};

std::vector<std::string> sampled_functions();
std::string test_name(const ::testing::TestParamInfo<std::string>& info);

}  // namespace sorus::samples
