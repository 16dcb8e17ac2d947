#include "sorus/tuning/tune.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "sorus/base/clock.h"
#include "sorus/base/error.h"
#include "sorus/compiler/compile.h"
#include "sorus/compiler/program.h"
#include "sorus/dispatch/apply.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/dispatch/tuned.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/linalg/linalg.h"

namespace sorus::tuning {
namespace {

namespace fs = std::filesystem;

// An op whose kernel does as much as its parameters say, so that it is known what is faster.
const Tunable loops({.name = "tune_test.loops",
                     .initial = 512 << 10,
                     .least = 1 << 10,
                     .most = 1 << 20,
                     .doc = "of tests: loops of a call"});
const Tunable loops_that_move({.name = "tune_test.loops_that_move",
                               .initial = 512 << 10,
                               .least = 1 << 10,
                               .most = 1 << 20,
                               .effect = BitEffect::kMovesBits,
                               .doc = "of tests: further loops"});

std::atomic<int64_t> last_loops{0};
std::atomic<bool> moves_bits{false};

/// A loop takes a nanosecond of this clock, all else 50 microseconds between two looks at it.
std::atomic<double> passed_ns{0};
void pass(double ns) {
  for (double now = passed_ns; !passed_ns.compare_exchange_weak(now, now + ns);) {
  }
}
double read_clock() {
  pass(50e3);
  return passed_ns;
}

const OpDef probe_op{
    .name = "tune_test_probe",
    .doc = "of tests",
    .inputs = {{"x"}},
    .attrs = attrs_def<NoAttrs>(),
    .infer = [](const InferContext& c) { return TypeList{c.in(0)}; },
    .traits = {.differentiable = false},
};
const OpRegistrar op_registered{probe_op};
const KernelRegistrar kernel_registered{
    "tune_test_probe",
    Kernel{.name = "probe",
           .run =
               [](const KernelCall& call) {
                 last_loops = loops.get();
                 pass(static_cast<double>(loops.get() + loops_that_move.get()));
                 const float moved = moves_bits && loops.get() != loops.spec().initial ? 1.F : 0.F;
                 for (int64_t i = 0; i < call.out[0].numel(); ++i)
                   call.out[0].as<float>()[i] = call.in[0].as<float>()[i] + moved;
               }},
    kReferenceRank};

class Tune : public testing::Test {
 protected:
  Tune() {
    fs::remove(path_);
    set_tuning_database("");
  }
  ~Tune() override {
    set_tuning_database("");
    moves_bits = false;
    fs::remove(path_);
    fs::remove(path_ + ".lock");
  }
  [[nodiscard]] static Graph probe() {
    const TensorType type{DType::kFloat32, {}, {4}};
    return graph_of_call("tune_test_probe", "", std::span(&type, 1));
  }
  [[nodiscard]] static TuneOptions quick(double seconds = 1.5) { return {.seconds = seconds}; }
  static int64_t loops_of_a_call(int64_t extent = 4) {
    static_cast<void>(apply(probe_op, {&inputs_of(extent)[0]}, NoAttrs{}));
    return last_loops;
  }
  static TensorList& inputs_of(int64_t extent) {
    static TensorList in;
    in = {Tensor(std::span<const float>(std::vector<float>(static_cast<size_t>(extent), 1.F)), {extent})};
    return in;
  }
  ScopedClock clock_{read_clock};
  std::string path_ =
      (fs::temp_directory_path() / ("sorus_tune_test_" + std::to_string(getpid()) + ".db")).string();
  Database database_{path_};
};

TEST_F(Tune, FindsKeepsAndUsesWhatIsFaster) {
  const Graph graph = probe();
  const TuneReport report = tune(graph, example_inputs(graph), quick(), &database_);
  EXPECT_TRUE(report.is_faster);
  EXPECT_GT(report.before_ns, report.after_ns);
  ASSERT_EQ(report.gains.size(), 1U);
  const Entry& e = report.gains[0].entry;
  EXPECT_EQ(e.part, TunedPart::kCall);
  EXPECT_EQ(e.what, "tune_test_probe(float32(4,))");
  const int64_t* found = e.values.find(loops);
  ASSERT_NE(found, nullptr);
  EXPECT_LT(*found, loops.spec().initial);
  EXPECT_EQ(e.values.find(loops_that_move), nullptr);  // exact numerics
  ASSERT_EQ(report.steps.size(), 1U);
  EXPECT_EQ(report.steps[0].kernel, "probe");
  EXPECT_GT(report.steps[0].before_ns, report.steps[0].after_ns);

  // In use here, for calls of these types alone, and in another process that reads the file.
  EXPECT_EQ(loops_of_a_call(), *found);
  EXPECT_EQ(loops_of_a_call(5), loops.spec().initial);
  set_tuning_database("");
  EXPECT_EQ(loops_of_a_call(), loops.spec().initial);
  set_tuning_database(path_);
  EXPECT_EQ(loops_of_a_call(), *found);
  {
    const ScopedState<bool> relaxed(&ScopeState::relaxed_numerics, true);
    EXPECT_EQ(loops_of_a_call(), loops.spec().initial);  // what is exact was found for exact numerics
  }
  // In compiled programs too, but not in those that were compiled before.
  const auto executable = compile(graph);
  const auto run = [&](Executable& program) {
    std::vector<Ref<Value>> in{inputs_of(4)[0].value()}, out(1);
    std::vector<char> donated(1, 0);
    program.run(in, donated, {}, out, true);
    return last_loops.load();
  };
  EXPECT_EQ(run(*executable), *found);
  set_tuning_database("");
  EXPECT_EQ(run(*executable), *found);
  EXPECT_EQ(run(*compile(graph)), loops.spec().initial);
}

TEST_F(Tune, RelaxedNumericsHaveMoreParameters) {
  const Graph graph = probe();
  TuneOptions options = quick();
  options.relaxed = true;
  const TuneReport report = tune(graph, example_inputs(graph), options, nullptr);
  ASSERT_EQ(report.gains.size(), 1U);
  EXPECT_NE(report.gains[0].entry.values.find(loops_that_move), nullptr);
  EXPECT_TRUE(report.gains[0].entry.relaxed);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(loops_of_a_call(), loops.spec().initial);
}

/// A parameter that was declared wrongly does no harm where it is found out.
TEST_F(Tune, ExactModeKeepsNothingThatMovesABit) {
  moves_bits = true;
  const Graph graph = probe();
  const TuneReport report = tune(graph, example_inputs(graph), quick(), &database_);
  ASSERT_EQ(report.gains.size(), 1U);
  EXPECT_TRUE(report.gains[0].entry.values.empty());
  EXPECT_TRUE(database_.read().empty());
}

TEST_F(Tune, TunesEveryPartOfAProgram) {
  const Tensor weight({1.F, 2.F, 3.F, 4.F});
  const ProgramValue inputs[] = {{"x", {DType::kFloat32, {}, {64, 64}}},
                                 {"y", {DType::kFloat32, {}, {64, 64}}}};
  const Program program = Program::trace(
      [](const TensorList& in) {
        return TensorList{apply(probe_op, {&in[0]}, NoAttrs{}), relu(add(matmul(in[0], in[1]), in[1])),
                          exp(mul(tanh(in[0]), in[1]))};
      },
      inputs);
  std::vector<std::string> said;
  TuneOptions options = quick(2);
  options.say = [&](std::string_view line) { said.emplace_back(line); };
  const TensorList in = example_inputs(program.graph());
  const TensorList wanted = program(in);
  const TuneReport report = tune(program.graph(), in, options, &database_);
  bool has[3] = {};
  for (const Gain& g : report.gains) has[static_cast<int>(g.entry.part)] = true;
  EXPECT_TRUE(has[0] && has[1] && has[2]);
  EXPECT_EQ(report.gains.back().entry.part, TunedPart::kProgram);
  EXPECT_EQ(said.size(), report.gains.size());
  EXPECT_TRUE(report.is_faster);
  set_tuning_database(path_);
  const TensorList got = Program::from_bytes(program.bytes())(in);
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(got[i].to_vector<float>(), wanted[i].to_vector<float>());
  EXPECT_LT(last_loops, loops.spec().initial);
}

TEST_F(Tune, WhatFailsLeavesEverythingAsItWas) {
  const Graph graph = probe();
  static_cast<void>(tune(graph, example_inputs(graph), quick(), &database_));
  const std::vector<Entry> before = database_.read();
  set_tuning_database(path_);
  const Database nowhere("/proc/nowhere/tuning.db");
  int said = 0;
  TuneOptions options = quick(0.2);
  options.say = [&](std::string_view) { ++said; };
  EXPECT_THROW(static_cast<void>(tune(graph, example_inputs(graph), options, &nowhere)), IOError);
  EXPECT_EQ(said, 0);  // it is known before anything is measured
  EXPECT_EQ(entries_in_use().size(), before.size());
  EXPECT_THROW(static_cast<void>(tune(graph, {}, quick(), nullptr)), ValueError);
  EXPECT_THROW(static_cast<void>(tune(graph, example_inputs(graph), quick(0), nullptr)), ValueError);
}

TEST(GraphOfCall, TakesAttributesAndRefusesWhatIsNot) {
  const TensorType types[] = {{DType::kFloat32, {}, {2, 3}}, {DType::kFloat32, {}, {3, 5}}};
  EXPECT_EQ(graph_of_call("matmul", "", types).type(2).shape, (Shape{2, 5}));
  EXPECT_EQ(graph_of_call("softmax", "axis=0", std::span(types, 1)).nodes[0].attrs.text(), "axis=0");
  EXPECT_THROW(static_cast<void>(graph_of_call("no_such_op", "", types)), ValueError);
  EXPECT_THROW(static_cast<void>(graph_of_call("softmax", "no=1", std::span(types, 1))), ValueError);
  EXPECT_THROW(static_cast<void>(graph_of_call("softmax", "axis=-1", std::span(types, 1))), ValueError);
  EXPECT_THROW(static_cast<void>(graph_of_call("matmul", "", std::span(types, 1))), Error);
}

}  // namespace
}  // namespace sorus::tuning
