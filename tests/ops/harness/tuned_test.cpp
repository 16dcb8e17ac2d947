#include "sorus/base/tunable.h"
#include "sorus/compiler/boundary.h"
#include "tests/ops/harness/corpus.h"

/// Parameters that are declared bit-neutral, at both ends of their ranges, over all samples. (The larger
/// cases of tests/tuning/neutral_test.cpp reach what is beyond the samples' sizes.)
namespace sorus::samples {
namespace {

class TunedCorpus : public Corpus {};

TunedValues neutral_at(int64_t TunableSpec::*end) {
  TunedValues values;
  for (const Tunable* p : all_tunables())
    if (p->spec().effect == BitEffect::kNeutral) values.set(*p, p->spec().*end);
  return values;
}

TEST_P(TunedCorpus, NeutralParametersKeepTheBitsAtBothEnds) {
  for_each([](const Sample& sample, DType dtype) {
    const TensorList in = inputs_of(sample, dtype);
    const TensorList wanted = sample.call(in);
    for (const TunedValues& values : {neutral_at(&TunableSpec::least), neutral_at(&TunableSpec::most)}) {
      const TuningOverride ends(values);
      expect_equal(sample.call(in), wanted, values.text());
      if (dtype != sample.dtypes.back()) continue;  // passes do not look at dtypes; one is enough
      const uint64_t key = new_boundary_id();
      for (int i = 0; i < 2; ++i) {
        TensorList out;
        run_boundary(key, [&] { out = sample.call(in); });
        expect_equal(out, wanted, "in a boundary: " + values.text());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Op, TunedCorpus, ::testing::ValuesIn(sampled_functions()), test_name);

}  // namespace
}  // namespace sorus::samples
