#include <random>

#include "sorus/autograd/grad.h"
#include "sorus/compiler/boundary.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/compiler/program.h"
#include "sorus/ir/encoding.h"
#include "tests/ops/harness/corpus.h"

namespace sorus::samples {
namespace {

class ModesCorpus : public Corpus {};

/// Results of running `body` as a boundary three times: recorded, compiled, run again.
std::vector<TensorList> three_calls(uint64_t key, const std::function<TensorList()>& body) {
  std::vector<TensorList> results;
  for (int i = 0; i < 3; ++i) {
    TensorList out;
    run_boundary(key, [&] { out = body(); });
    results.push_back(std::move(out));
  }
  return results;
}

/// Sets the passes with which this thread compiles, and puts the usual ones back.
class OnlyPasses {
 public:
  explicit OnlyPasses(std::vector<std::string> only) { pass_options().only = std::move(only); }
  ~OnlyPasses() { pass_options().only.clear(); }
};

TensorList floating_inputs(const TensorList& in) {
  TensorList out;
  for (const Tensor& t : in)
    if (t.defined() && is_floating(t.dtype())) out.push_back(t);
  return out;
}

TEST_P(ModesCorpus, EagerRecordedAndCompiledHaveEqualBits) {
  for_each([](const Sample& sample, DType dtype) {
    const TensorList in = inputs_of(sample, dtype);
    const TensorList eager = sample.call(in);
    for (const TensorList& got : three_calls(new_boundary_id(), [&] { return sample.call(in); }))
      expect_equal(got, eager, "in a boundary");
  });
}

TEST_P(ModesCorpus, EachPassAloneKeepsTheBits) {
  std::vector<std::vector<std::string>> choices;
  for (const Pass& p : all_passes()) choices.push_back({std::string(p.name)});
  for_each([&](const Sample& sample, DType dtype) {
    if (dtype != sample.dtypes.back()) return;  // passes do not look at dtypes; one is enough
    const TensorList in = inputs_of(sample, dtype);
    const TensorList eager = sample.call(in);
    for (const auto& choice : choices) {
      OnlyPasses only(choice);
      expect_equal(three_calls(new_boundary_id(), [&] { return sample.call(in); })[1], eager, choice[0]);
    }
  });
}

TEST_P(ModesCorpus, GradientsHaveTheBitsOfEager) {
  for_each([](const Sample& sample, DType dtype) {
    if (!sample.gradient || !is_floating(dtype)) return;
    const TensorList in = inputs_of(sample, dtype);
    auto gradients = [&] {
      Pullback p = vjp(sample.call, in);
      TensorList seeds;
      for (const Tensor& v : p.values) seeds.push_back(v);  // as good as any other of its type
      return floating_inputs(p.pull(seeds));
    };
    const TensorList eager = gradients();
    for (const TensorList& got : three_calls(new_boundary_id(), gradients))
      expect_equal(got, eager, "gradients in a boundary");
  });
}

TEST_P(ModesCorpus, GraphTextIsLossless) {
  for_each([](const Sample& sample, DType dtype) {
    if (dtype != sample.dtypes.back()) return;
    const TensorList in = inputs_of(sample, dtype);
    const uint64_t key = new_boundary_id();
    run_boundary(key, [&] { static_cast<void>(sample.call(in)); });
    for (const Graph& graph : recorded_graphs(key)) {
      graph.verify();
      const std::string text = graph.text();
      EXPECT_EQ(Graph::parse(text).text(), Graph::parse(Graph::parse(text).text()).text());
      EXPECT_EQ(Graph::parse(text).nodes.size(), graph.nodes.size()) << text;
      for (size_t i = 0; i < graph.nodes.size(); ++i)
        EXPECT_TRUE(Graph::parse(text).nodes[i].attrs == graph.nodes[i].attrs) << text;
      const Graph from_bytes = decode_graph(encode_graph(graph));
      EXPECT_EQ(from_bytes.text(), Graph::parse(text).text());
      for (size_t i = 0; i < graph.nodes.size(); ++i)
        EXPECT_TRUE(from_bytes.nodes[i].attrs == graph.nodes[i].attrs) << text;
    }
  });
}

/// Inference must bear attributes that no public function has seen.
TEST_P(ModesCorpus, DamagedBytesNeverCrash) {
  std::mt19937 random(11);
  for_each([&](const Sample& sample, DType dtype) {
    if (dtype != sample.dtypes.back()) return;
    const TensorList in = inputs_of(sample, dtype);
    const uint64_t key = new_boundary_id();
    run_boundary(key, [&] { static_cast<void>(sample.call(in)); });
    for (const Graph& graph : recorded_graphs(key)) {
      const std::string good = encode_graph(graph);
      for (int i = 0; i < 50; ++i) {
        std::string bad = good;
        bad[random() % bad.size()] = static_cast<char>(i % 4 == 0 ? 0xff : random());
        try {
          decode_graph(bad).verify();
        } catch (const Error& e) {
          EXPECT_NE(e.kind(), ErrorKind::kInternal) << e.what();
        }
      }
    }
  });
}

/// The sample as a program over those operands that are there; none where it has state or looks at values.
Program saved_program(const Sample& sample, const TensorList& in) {
  std::vector<ProgramValue> values;
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].defined()) values.push_back({"x" + std::to_string(i), in[i].type()});
  auto call = [&](const TensorList& given) {
    TensorList all;
    size_t next = 0;
    for (const Tensor& t : in) all.push_back(t.defined() ? given[next++] : Tensor());
    return sample.call(all);
  };
  try {
    return Program::from_bytes(Program::trace(call, values).bytes());
  } catch (const NotSupportedError& e) {
    EXPECT_NE(std::string(e.what()).find("random numbers"), std::string::npos) << e.what();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("reads a value"), std::string::npos) << e.what();
  }
  return {};
}

TEST_P(ModesCorpus, SavedProgramsHaveTheBitsOfEager) {
  for_each([](const Sample& sample, DType dtype) {
    const TensorList in = inputs_of(sample, dtype);
    const Program program = saved_program(sample, in);
    if (!program.defined()) return;
    TensorList given;
    for (const Tensor& t : in)
      if (t.defined()) given.push_back(t);
    const TensorList eager = sample.call(in);
    for (int run = 0; run < 2; ++run) expect_equal(program(given), eager, "as a saved program");
  });
}

INSTANTIATE_TEST_SUITE_P(Op, ModesCorpus, ::testing::ValuesIn(sampled_functions()), test_name);

}  // namespace
}  // namespace sorus::samples
