#include "tests/ops/harness/corpus.h"

namespace sorus::samples {

SampleList Corpus::samples() const {
  SampleList all;
  for (auto* make : all_samples().at(GetParam()))
    for (Sample& s : make()) all.push_back(std::move(s));
  return all;
}

TensorList Corpus::inputs_of(const Sample& sample, DType dtype) {
  TensorList in;
  for (const Input& i : sample.inputs) in.push_back(to_tensor(i.data, i.fixed ? i.dtype : dtype));
  return in;
}

void Corpus::expect_equal(const TensorList& got, const TensorList& want, std::string_view what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(compare_bits(got[i], want[i]), "") << what << ", result " << i;
}

std::vector<std::string> sampled_functions() {
  std::vector<std::string> names;
  for (const auto& [name, make] : all_samples()) names.push_back(name);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace sorus::samples
