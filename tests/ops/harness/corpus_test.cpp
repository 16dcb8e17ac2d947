#include "tests/ops/harness/corpus.h"

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/apply.h"
#include "tests/ops/harness/strided.h"

namespace sorus::samples {
namespace {

class ThreadCount {
 public:
  explicit ThreadCount(int n) : saved_(num_threads()) { set_num_threads(n); }
  ~ThreadCount() { set_num_threads(saved_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int saved_;
};

class ReferenceKernels {
 public:
  ReferenceKernels() { reference_kernels_only() = true; }
  ~ReferenceKernels() { reference_kernels_only() = false; }
  ReferenceKernels(const ReferenceKernels&) = delete;
  ReferenceKernels& operator=(const ReferenceKernels&) = delete;
};

std::vector<HostArray> reference_results(const Sample& sample, const TensorList& in) {
  std::vector<HostArray> host;
  for (const Tensor& t : in) host.push_back(to_host(t));
  return sample.reference(host);
}

void expect_reference(const Sample& sample, const TensorList& got, const std::vector<HostArray>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(compare_with_reference(got[i], want[i], sample), "") << "result " << i;
}

TEST_P(Corpus, AgreesWithReference) {
  for_each([](const Sample& sample, DType dtype) {
    if (!sample.reference) return;
    TensorList in = inputs_of(sample, dtype);
    expect_reference(sample, sample.call(in), reference_results(sample, in));
  });
}

TEST_P(Corpus, KernelsAgree) {
  for_each([](const Sample& sample, DType dtype) {
    TensorList in = inputs_of(sample, dtype);
    TensorList chosen = sample.call(in);
    ReferenceKernels scope;
    TensorList plain = sample.call(in);
    if (sample.equal_kernels)
      expect_equal(chosen, plain, "chosen against reference kernels");
    else if (sample.reference)
      expect_reference(sample, plain, reference_results(sample, in));
  });
}

TEST_P(Corpus, InfersWhatItProduces) {
  for_each([](const Sample& sample, DType dtype) {
    CallListener listener([](const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<const Tensor> out) {
      SmallVector<const TensorType*, 8> types;
      for (const Tensor* t : in) types.push_back(t && t->defined() ? &t->type() : nullptr);
      TypeList inferred = infer_types(op, types, attrs.data);
      ASSERT_EQ(inferred.size(), out.size()) << op.name;
      for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(inferred[i].text(), out[i].type().text()) << op.name;
      if (op.cost) {
        EXPECT_GE(op.cost(InferContext(op, types, attrs.data)).bytes, 0) << op.name;
      }
    });
    (void)sample.call(inputs_of(sample, dtype));
  });
}

TEST_P(Corpus, AttributesSurviveText) {
  for_each([](const Sample& sample, DType dtype) {
    CallListener listener([](const OpDef& op, OperandSpan, AttrsRef attrs, std::span<const Tensor>) {
      const AttrsDef& def = op.attrs;
      ASSERT_EQ(&def, attrs.def) << op.name;
      std::vector<std::max_align_t> copy(def.size / sizeof(std::max_align_t) + 1);
      def.construct(copy.data());
      def.parse(def.text(attrs.data), copy.data());
      EXPECT_TRUE(def.equal(copy.data(), attrs.data)) << op.name << ": " << def.text(attrs.data);
      EXPECT_EQ(def.hash(copy.data()), def.hash(attrs.data)) << op.name;
      def.destroy(copy.data());
    });
    (void)sample.call(inputs_of(sample, dtype));
  });
}

TEST_P(Corpus, StridesDoNotMatter) {
  for_each([](const Sample& sample, DType dtype) {
    TensorList in = inputs_of(sample, dtype);
    TensorList want = sample.call(in);
    for (const StrideKind& kind : stride_kinds()) {
      TensorList strided = in;
      for (Tensor& t : strided)
        if (Tensor other = kind.lay_out(t); other.defined()) t = other;
      TensorList got = sample.call(strided);
      if (sample.equal_strides)
        expect_equal(got, want, kind.name);
      else if (sample.reference)
        expect_reference(sample, got, reference_results(sample, in));
      for (size_t i = 0; i < in.size() && in.size() > 1; ++i) {  // one strided operand beside dense ones
        Tensor other = kind.lay_out(in[i]);
        if (!other.defined() || !sample.equal_strides) continue;
        TensorList mixed = in;
        mixed[i] = other;
        expect_equal(sample.call(mixed), want, kind.name);
      }
    }
  });
}

TEST_P(Corpus, RepetitionDoesNotMatter) {
  for_each([](const Sample& sample, DType dtype) {
    TensorList in = inputs_of(sample, dtype);
    for (size_t i = 0; i < in.size() && sample.equal_strides; ++i) {
      if (sample.inputs[i].fixed && !is_floating(sample.inputs[i].dtype)) continue;  // indices may be unique
      TensorList repeated = in;
      repeated[i] = repeat_first(in[i]);
      if (!repeated[i].defined()) continue;
      TensorList dense = repeated;
      dense[i] = dense_copy(repeated[i]);
      expect_equal(sample.call(repeated), sample.call(dense), "operand with a stride of 0");
    }
  });
}

TEST_P(Corpus, ThreadsDoNotMatter) {
  for_each([](const Sample& sample, DType dtype) {
    TensorList in = inputs_of(sample, dtype);
    TensorList want;
    {
      ThreadCount one(1);
      want = sample.call(in);
    }
    for (int n : {2, 3}) {
      ThreadCount more(n);
      expect_equal(sample.call(in), want, "thread count");
    }
  });
}

TEST_P(Corpus, OperandsStayAsTheyAre) {
  for_each([](const Sample& sample, DType dtype) {
    TensorList in = inputs_of(sample, dtype);
    TensorList before;
    for (const Tensor& t : in) before.push_back(dense_copy(t));
    (void)sample.call(in);
    expect_equal(in, before, "operands after the call");
  });
}

INSTANTIATE_TEST_SUITE_P(Op, Corpus, ::testing::ValuesIn(sampled_functions()), test_name);

class ErrorCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(ErrorCorpus, RefusesInWords) {
  for (auto* make : all_errors().at(GetParam())) {
    for (const ErrorSample& sample : make()) {
      SCOPED_TRACE(sample.name);
      try {
        sample.call();
        ADD_FAILURE() << "must throw";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), sample.kind) << error.what();
        EXPECT_NE(std::string(error.what()).find(sample.text), std::string::npos) << error.what();
        EXPECT_EQ(std::string(error.what()).find(GetParam() + ": "), 0U) << error.what();
      }
    }
  }
}

std::vector<std::string> functions_with_errors() {
  std::vector<std::string> names;
  for (const auto& [name, make] : all_errors()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Op, ErrorCorpus, ::testing::ValuesIn(functions_with_errors()), test_name);

}  // namespace
}  // namespace sorus::samples
