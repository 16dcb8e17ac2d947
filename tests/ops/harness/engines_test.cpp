#include "sorus/autograd/grad.h"
#include "tests/engine/engine_testing.h"
#include "tests/ops/harness/corpus.h"

/// Every op on other engines.
namespace sorus::samples {
namespace {

class EnginesCorpus : public Corpus {
 protected:
  /// Recorded, compiled, run again; the results are those of the plain call.
  static void expect_same(const std::function<TensorList()>& call, std::string_view what) {
    const TensorList eager = call();
    const uint64_t key = new_boundary_id();
    for (int i = 0; i < 3; ++i) {
      TensorList out;
      run_boundary(key, [&] { out = call(); });
      expect_equal(out, eager, what);
    }
  }
  static TensorList gradients(const Sample& sample, const TensorList& in) {
    Pullback p = vjp(sample.call, in);
    TensorList seeds, floating;
    for (const Tensor& v : p.values) seeds.push_back(v);
    for (const Tensor& t : p.pull(seeds))
      if (t.defined() && is_floating(t.dtype())) floating.push_back(t);
    return floating;
  }
};

TEST_P(EnginesCorpus, AnEngineWithMemoryOfItsOwnKeepsTheBits) {
  const testing::Registered engine;
  for_each([](const Sample& sample, DType dtype) {
    const TensorList in = inputs_of(sample, dtype);
    expect_same([&] { return sample.call(in); }, "on an engine");
    if (sample.gradient && is_floating(dtype) && dtype == sample.dtypes.back())
      expect_same([&] { return gradients(sample, in); }, "gradients on an engine");
  });
}

TEST_P(EnginesCorpus, TheReferenceEngineMakesTheModesAgree) {
  const ScopedEngines wish({.use = "cpu_reference"});
  for_each([](const Sample& sample, DType dtype) {
    if (dtype != sample.dtypes.back()) return;
    const TensorList in = inputs_of(sample, dtype);
    expect_same([&] { return sample.call(in); }, "on the reference engine");
  });
}

INSTANTIATE_TEST_SUITE_P(Op, EnginesCorpus, ::testing::ValuesIn(sampled_functions()), test_name);

}  // namespace
}  // namespace sorus::samples
