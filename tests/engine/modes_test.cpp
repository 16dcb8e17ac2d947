#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "sorus/autograd/grad.h"
#include "sorus/compiler/boundary.h"
#include "sorus/compiler/compile.h"
#include "sorus/compiler/compile_cache.h"
#include "sorus/compiler/compile_stats.h"
#include "sorus/compiler/dump.h"
#include "sorus/compiler/partition.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/compiler/program.h"
#include "sorus/compiler/replay.h"
#include "sorus/core/parameter.h"
#include "sorus/dispatch/body.h"
#include "sorus/formats/sealed.h"
#include "sorus/ir/byte_stream.h"
#include "sorus/ir/encoding.h"
#include "sorus/ir/graph_body.h"
#include "sorus/ops/control/control.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/compiler/expect_error.h"
#include "tests/engine/engine_testing.h"

/// Engines in everything that graph mode does: the bits are those of eager calls, whoever runs what.
namespace sorus::testing {
namespace {

namespace fs = std::filesystem;

Tensor noise(const Shape& shape, double frequency) {
  std::vector<float> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(std::sin((static_cast<double>(i) + 1) * frequency));
  return Tensor(std::span<const float>(v), shape);
}

TestEngine::Options near(std::string name = "near") {
  return {.facts = {.name = std::move(name), .revision = "1", .numerics = "cpu"}};
}

/// Random programs whose ops have one result in all kernels, reference and fast.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {
    for (const Shape& shape : {Shape{4, 6}, Shape{6}, Shape{4, 1}})
      values_.push_back(graph_.add_input({DType::kFloat32, {}, shape}));
    values_.push_back(graph_.add_constant(noise({4, 6}, .21)));
    const int count = 4 + static_cast<int>(random_() % 20);
    for (int i = 0; i < count; ++i) add_call();
    for (ValueId v : values_)
      if (!graph_.is_constant(v) && random_() % 3 == 0) graph_.outputs.push_back(v);
    graph_.outputs.push_back(values_.back());
  }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  std::mt19937& random() { return random_; }

 private:
  ValueId pick() { return values_[random_() % values_.size()]; }
  void add(const char* op, std::initializer_list<ValueId> in, std::string_view attributes = "") {
    const OpDef& def = *find_op(op);
    std::vector<std::max_align_t> attrs(def.attrs.size / sizeof(std::max_align_t) + 1);
    def.attrs.construct(attrs.data());
    def.attrs.parse(attributes, attrs.data());
    for (ValueId v : graph_
                         .add_node(def, AttrsRef(def.attrs, attrs.data()),
                                   std::span<const ValueId>(in.begin(), in.size()))
                         .out)
      values_.push_back(v);
    def.attrs.destroy(attrs.data());
  }
  void add_call() {
    const ValueId x = pick(), y = pick();
    const Shape& shape = graph_.type(x).shape;
    const char* const binary[] = {"add", "mul", "sub", "maximum"};
    const char* const unary[] = {"tanh", "neg", "exp", "abs"};
    switch (random_() % 5) {
      case 0:
      case 1:
        if (shape == graph_.type(y).shape) return add(binary[random_() % 4], {x, y});
        return add(unary[random_() % 2], {x});
      case 2:
        if (shape.rank() != 2) return add("abs", {x});
        return add("transpose", {x}, "axes=(1, 0)");
      case 3:
        if (shape.rank() != 2) return add("neg", {x});
        return add("amax", {x}, "axes=(1,), keepdims=true");
      default:
        return add("reshape", {x}, fmt::format("shape=({},)", shape.numel()));
    }
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<ValueId> values_;
};

std::vector<std::vector<std::byte>> eager(const Graph& graph, const TensorList& in) {
  std::vector<std::vector<std::byte>> bits;
  for (const Tensor& t : apply_graph(graph, in)) bits.push_back(bits_of(t));
  return bits;
}

std::vector<std::vector<std::byte>> compiled(Executable& executable, const TensorList& in) {
  std::vector<Ref<Value>> inputs, outputs(executable.graph().outputs.size());
  for (const Tensor& t : in) inputs.push_back(t.value());
  std::vector<char> donated(inputs.size(), 0);
  executable.run(inputs, donated, {}, outputs, true);
  std::vector<std::vector<std::byte>> bits;
  for (Ref<Value>& v : outputs) bits.push_back(bits_of(Tensor(std::move(v))));
  return bits;
}

TEST(EngineModes, RandomSplitsOverThreeEnginesGiveTheBitsOfEagerCalls) {
  Registered far;
  const std::shared_ptr<Engine> reference = find_engine(kReferenceEngine);
  ASSERT_TRUE(reference);
  const TensorList rows{noise({4, 6}, .37), noise({6}, .73), noise({4, 1}, .11)};
  const TensorList columns{transpose(noise({6, 4}, .37), {1, 0}), rows[1], rows[2]};
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomProgram program(seed);
    const auto wanted = eager(program.graph(), rows);
    const auto wanted_columns = eager(program.graph(), columns);
    for (int split = 0; split < 4; ++split) {
      Assignment engines;
      for (size_t i = 0; i < program.graph().nodes.size(); ++i)
        engines.push_back(
            std::array<std::shared_ptr<Engine>, 3>{nullptr, far.get(), reference}[program.random()() % 3]);
      Graph cut = program.graph();
      cut_graph(cut, engines);
      cut.verify();
      PassOptions rest;
      if (split % 2 == 1) rest.only = {"cse", "constant_fold", "dce", "fuse"};
      if (split % 2 == 1) run_passes(cut, rest);
      Executable executable(std::move(cut));
      EXPECT_EQ(compiled(executable, rows), wanted) << "program " << seed << " split " << split;
      EXPECT_EQ(compiled(executable, columns), wanted_columns) << "program " << seed << " split " << split;
    }
  }
}

/// An engine that takes about half of the calls, whichever.
TestEngine::Options picky(uint32_t seed, std::string name, bool own_memory) {
  TestEngine::Options options = near(std::move(name));
  options.facts.own_memory = own_memory;
  options.takes = [seed](const Graph& graph, const Node& n) {
    return hash_combine(seed, hash_combine(hash_bytes(n.op->name), graph.type(n.out[0]).hash())) % 2 == 0;
  };
  return options;
}

/// A training step with everything: gradients, updates in place, labels that are checked.
struct Network {
  Parameter w1{noise({8, 16}, .37), "w1"}, w2{noise({16, 4}, .73), "w2"}, bias{noise({16}, .5), "bias"};
  std::vector<std::byte> bits;

  void step(const Tensor& x, const Tensor& rows) {
    const Parameter all[] = {w1, w2, bias};
    auto [loss, gradients] = value_and_grad(
        [&] {
          const Tensor hidden = tanh(matmul(x, w1) + bias);
          const Tensor picked = gather(hidden, rows, 0);
          return mean(log_softmax(matmul(picked, w2), -1) * 3., {});
        },
        all);
    for (size_t i = 0; i < 3; ++i) {
      Parameter p = all[i];
      p.set_value(sub(p, gradients[i] * .1));
    }
    note(loss);
  }
  void note(const Tensor& t) {
    const std::vector<std::byte> more = bits_of(t);
    bits.insert(bits.end(), more.begin(), more.end());
  }
};

std::vector<std::byte> trained(bool as_boundary) {
  Network network;
  const uint64_t id = new_boundary_id();
  const Tensor rows(std::span<const int64_t>(std::vector<int64_t>{0, 2, 1, 2}), {4});
  for (int i = 0; i < 5; ++i) {
    const Tensor x = noise({4, 8}, .3 + i);
    if (as_boundary)
      run_boundary(id, [&] { network.step(x, rows); });
    else
      network.step(x, rows);
  }
  for (const Parameter& p : {network.w1, network.w2, network.bias}) network.note(p.value());
  return network.bits;
}

TEST(EngineModes, TrainingKeepsItsBits) {
  const std::vector<std::byte> wanted = trained(false);
  EXPECT_EQ(trained(true), wanted);
  for (uint32_t seed = 0; seed < 6; ++seed) {
    Registered one(picky(seed, "one", true));
    Registered two(picky(seed + 100, "two", false));
    EXPECT_EQ(trained(true), wanted) << seed;
    EXPECT_GT(one->runs + two->runs, 0) << seed;
  }
}

TEST(EngineModes, TheReferenceEngineMakesTheModesAgree) {
  const std::vector<std::byte> usual = trained(false);
  ScopedEngines wish({.use = "cpu_reference"});
  const std::vector<std::byte> wanted = trained(false);
  EXPECT_NE(wanted, usual) << "the test needs ops whose kernels differ";
  EXPECT_EQ(trained(true), wanted);
}

TEST(EngineModes, ChangingTheChoiceRecordsAnew) {
  TensorFunction f = jit([](const TensorList& in) { return TensorList{tanh(in[0]) * in[0]}; });
  const Tensor x = noise({4}, .4);
  const std::vector<std::byte> wanted = bits_of(f({x})[0]);
  EXPECT_EQ(bits_of(f({x})[0]), wanted);
  Registered engine(near());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bits_of(f({x})[0]), wanted);
  EXPECT_EQ(engine->runs, 2);
  {
    ScopedEngines wish({.forbid = {"near"}});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(bits_of(f({x})[0]), wanted);
    EXPECT_EQ(engine->runs, 2);
  }
  EXPECT_EQ(bits_of(f({x})[0]), wanted);
  EXPECT_EQ(engine->runs, 3);  // the recording is still there
}

TEST(EngineModes, AnEngineThatIsGoneIsNotMissed) {
  TensorFunction f = jit([](const TensorList& in) { return TensorList{tanh(in[0]) * in[0]}; });
  const Tensor x = noise({4}, .4);
  const std::vector<std::byte> wanted = bits_of(tanh(x) * x);
  {
    Registered engine(near());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(bits_of(f({x})[0]), wanted);
    EXPECT_EQ(engine->runs, 2);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bits_of(f({x})[0]), wanted);
}

TEST(EngineModes, TheChoiceCannotChangeInABoundary) {
  Registered engine(near());
  run_boundary(new_boundary_id(), [&] {
    expect_error<RuntimeError>([] { set_engine_choice({.use = "near"}); },
                               "cannot change in a compiled call");
  });
  EXPECT_TRUE(engine_choice().is_default());
}

TEST(EngineModes, ChoicesAreChecked) {
  expect_error<ValueError>([] { set_engine_choice({.use = "nobody"}); },
                           "got 'nobody', need one of cpu, cpu_ref");
  expect_error<ValueError>([] { set_engine_choice({.use_for = {{"no_op", "cpu"}}}); }, "no_op");
  expect_error<ValueError>([] { set_engine_choice({.use_for = {{"add", "nobody"}}}); }, "nobody");
  expect_error<ValueError>([] { set_engine_choice({.forbid = {"cpu"}}); }, "cannot be forbidden");
  expect_error<ValueError>([] { set_engine_choice({.forbid = {"nobody"}}); }, "nobody");
  expect_error<ValueError>([] { set_engine_choice({.use = "cpu_reference", .forbid = {"cpu_reference"}}); },
                           "wanted and forbidden");
  EXPECT_TRUE(engine_choice().is_default());
}

TEST(EngineModes, EnginesAreChecked) {
  auto add = [](EngineFacts facts) {
    register_engine(std::make_shared<TestEngine>(TestEngine::Options{facts}));
  };
  expect_error<ValueError>([&] { add({.name = "two words", .revision = "1", .numerics = "cpu"}); },
                           "malformed");
  expect_error<ValueError>([&] { add({.name = "", .revision = "1", .numerics = "cpu"}); }, "malformed");
  expect_error<ValueError>([&] { add({.name = "cpu", .revision = "1", .numerics = "cpu"}); }, "taken");
  expect_error<ValueError>([&] { add({.name = "cpu_reference", .revision = "1", .numerics = "cpu"}); },
                           "taken");
  expect_error<ValueError>([&] { add({.name = "x", .revision = "1"}); }, "numerics");
  expect_error<ValueError>([&] { add({.name = "x", .revision = "1", .numerics = "cpu", .start_ns = -1}); },
                           "negative time");
  expect_error<ValueError>([] { register_engine(nullptr); }, "null");
  EXPECT_FALSE(remove_engine("x"));
}

TEST(EngineModes, ControlFlowRunsInPartsAndItsBodiesToo) {
  auto f = [](const TensorList& in) {
    const TensorList last =
        fori_loop(0, 3, [&](const TensorList& v) { return TensorList{tanh(v[1] * in[0]) + in[0]}; }, {in[0]});
    const TensorList one = cond(
        sum(last[0]), [](const TensorList& v) { return TensorList{v[0] * 2.}; },
        [](const TensorList& v) { return TensorList{neg(v[0])}; }, last);
    return TensorList{one[0] + last[0]};
  };
  const Tensor x = noise({5}, .4);
  const std::vector<std::byte> wanted = bits_of(f({x})[0]);
  TestEngine::Options whole = near();
  whole.takes = only({"scan", "cond", "add"});
  TestEngine::Options inside{.takes = only({"tanh", "mul", "neg"})};
  for (const TestEngine::Options& options : {whole, inside}) {
    Registered engine(options);
    TensorFunction compiled = jit(f);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(bits_of(compiled({x})[0]), wanted);
    EXPECT_GT(engine->runs, 0);
  }
  ScopedEngines wish({.use = "cpu_reference"});
  TensorFunction compiled = jit(f);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bits_of(compiled({x})[0]), wanted);
}

TEST(EngineModes, ShapesThatChangeShareTheCutWhereEnginesTakeThem) {
  TestEngine::Options options = near();
  options.takes = [](const Graph& graph, const Node& n) {  // as an engine with limits
    return n.op->name == "tanh" && graph.type(n.out[0]).shape.size(0) != 7;
  };
  Registered engine(options);
  auto f = [](const Tensor& x) { return softmax(tanh(x * 2.) + x, -1) * x; };
  std::function<Tensor(const Tensor&)> compiled = jit(std::function<Tensor(const Tensor&)>(f));
  follow_stats() = {};
  for (int64_t n : {4, 5, 4, 5, 6, 7, 8, 7, 6}) {
    const Tensor x = noise({n, 16}, .3);
    EXPECT_EQ(bits_of(compiled(x)), bits_of(f(x))) << n;
  }
  EXPECT_EQ(follow_stats().signatures, 2);
  EXPECT_EQ(follow_stats().instances, 2);  // for 6 and 8; 7 is compiled
  EXPECT_EQ(follow_stats().programs, 3);
  EXPECT_EQ(engine->runs, 5);
}

TEST(EngineModes, PureFunctionsAndSavedProgramsRunOnEngines) {
  auto f = [](const TensorList& in) { return TensorList{tanh(in[0]) * in[0]}; };
  const Tensor x = noise({4}, .4);
  const std::vector<std::byte> wanted = bits_of(f({x})[0]);
  TensorFunction pure = jit_pure(f);
  const ProgramValue inputs[] = {{"x", x.type()}};
  const Program program = Program::trace(f, inputs);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(bits_of(pure({x})[0]), wanted);
    EXPECT_EQ(bits_of(program({x})[0]), wanted);
  }
  {
    Registered engine;
    EXPECT_EQ(bits_of(pure({x})[0]), wanted);  // records
    EXPECT_EQ(engine->runs, 0);
    EXPECT_EQ(bits_of(pure({x})[0]), wanted);
    EXPECT_EQ(bits_of(program({x})[0]), wanted);
    EXPECT_EQ(engine->runs, 2);
    EXPECT_EQ(bits_of(Program::from_bytes(program.bytes())({x})[0]), wanted);
    EXPECT_EQ(engine->runs, 3);
  }
  EXPECT_EQ(bits_of(pure({x})[0]), wanted);
  EXPECT_EQ(bits_of(program({x})[0]), wanted);
}

const char* const kProduct =
    "graph @g(%0: float32(2,)) {\n"
    "  %1 = mul(%0, %0) : float32(2,)\n"
    "  %2 = tanh(%1) : float32(2,)\n"
    "  return %2\n"
    "}\n";

TEST(EngineModes, TheCompileCacheKnowsEnginesApart) {
  const fs::path folder = fs::temp_directory_path() / ("sorus_engine_cache_" + std::to_string(getpid()));
  set_compile_cache(folder);
  auto parts = [] { return parts_of(compile(Graph::parse(kProduct))->graph()); };
  auto hits = [before = compile_stats().cache_hits] { return compile_stats().cache_hits - before; };
  EXPECT_EQ(parts(), "");
  {
    Registered engine({.takes = only({"mul"})});
    EXPECT_EQ(parts(), "test: to_engine, mul, from_engine");
    EXPECT_EQ(hits(), 0);
    EXPECT_EQ(parts(), "test: to_engine, mul, from_engine");
    EXPECT_EQ(hits(), 1);
    ScopedEngines wish({.forbid = {"test"}});
    EXPECT_EQ(parts(), "");
    EXPECT_EQ(hits(), 1);
  }
  EXPECT_EQ(parts(), "");
  EXPECT_EQ(hits(), 2);  // the first one
  TestEngine::Options newer{.takes = only({"tanh"})};
  newer.facts.revision = "2";
  Registered engine(newer);
  EXPECT_EQ(parts(), "test: to_engine, tanh, from_engine");
  EXPECT_EQ(hits(), 2);
  // The same revision, and takes something else: what the entry says is not believed.
  remove_engine("test");
  TestEngine::Options liar{.takes = only({"mul"})};
  liar.facts.revision = "2";
  register_engine(std::make_shared<TestEngine>(liar));
  const int64_t damaged = compile_stats().cache_damaged;
  EXPECT_EQ(parts(), "test: to_engine, mul, from_engine");
  EXPECT_EQ(compile_stats().cache_damaged, damaged + 1);
  set_compile_cache("");
  fs::remove_all(folder);
}

TEST(EngineModes, APartOfAnUnknownEngineIsRefused) {
  std::string text;
  {
    Registered engine({.takes = only({"mul"})});
    Graph graph = Graph::parse(kProduct);
    run_passes(graph);
    text = graph.text();
  }
  Executable executable(Graph::parse(text));
  expect_error<NotSupportedError>([&] { static_cast<void>(compiled(executable, {noise({2}, 1)})); },
                                  "an engine that is not loaded: got 'test', need one of cpu, cpu_reference");
  Registered other({.takes = only({"tanh"})});
  expect_error<NotSupportedError>([&] { static_cast<void>(compiled(executable, {noise({2}, 1)})); },
                                  "engine test: a part has a call that it does not take: got mul");
}

TEST(EngineModes, AProgramThatIsCutIsRefused) {
  Registered engine({.takes = only({"mul"})});
  Graph graph = Graph::parse(kProduct);
  run_passes(graph);
  ByteWriter head;
  head.text("by hand");
  for (const char* name : {"x", "y"}) {
    head.number(1);
    head.text(name);
  }
  const std::string bytes = formats::seal("SRSPRG1", head.bytes() + encode_graph(graph));
  expect_error<IOError>([&] { static_cast<void>(Program::from_bytes(bytes, "here")); },
                        "here: graph: it is cut for engines: got a part for 'test'");
}

TEST(EngineModes, GradientsGoThroughParts) {
  Registered engine({.takes = only({"mul"})});
  Graph cut = Graph::parse(kProduct);
  run_passes(cut);
  ASSERT_EQ(parts_of(cut), "test: to_engine, mul, from_engine");
  const Tensor x = noise({2}, 1);
  auto gradient = [&](const Graph& graph) {
    return bits_of(grad([&](const Tensor& t) { return apply_graph(graph, {t})[0]; }, x));
  };
  EXPECT_EQ(gradient(cut), gradient(Graph::parse(kProduct)));
}

TEST(EngineModes, AnEngineThatCannotCompileGivesWayUnlessItIsAskedFor) {
  TestEngine::Options options = near();
  options.on_compile = [] { raise<NotSupportedError>("near: too hot: got 90 degrees, need 40"); };
  Registered engine(options);
  const Tensor x = noise({2}, 1);
  const auto wanted = eager(Graph::parse(kProduct), {x});
  std::unique_ptr<Executable> plain = compile(Graph::parse(kProduct));
  EXPECT_EQ(parts_of(plain->graph()), "near: mul, tanh");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(compiled(*plain, {x}), wanted);
  EXPECT_EQ(engine->compiled, 1);
  EXPECT_EQ(plain->report().parts, 0);
  ScopedEngines wish({.use = "near"});
  std::unique_ptr<Executable> asked = compile(Graph::parse(kProduct));
  expect_error<NotSupportedError>([&] { static_cast<void>(compiled(*asked, {x})); }, "too hot");
}

TEST(EngineModes, AFailingRunLeavesParametersAsTheyWere) {
  TestEngine::Options options = near();
  options.takes = only({"tanh"});
  bool fails = false;
  options.on_run = [&] {
    if (fails) throw std::logic_error("lost contact");
  };
  Registered engine(options);
  Parameter first(noise({64}, .3), "first"), second(noise({64}, .4), "second");
  const uint64_t id = new_boundary_id();
  auto step = [&] {
    run_boundary(id, [&] {
      first.set_value(first.value() * .5);
      second.set_value(tanh(second.value()) + first.value());
      first.set_value(first.value() + second.value());
    });
  };
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(engine->runs, 2);
  const std::vector<std::byte> before = bits_of(first.value()), before_second = bits_of(second.value());
  fails = true;
  expect_error<RuntimeError>(step, "engine near: run failed: got an exception (lost contact)");
  EXPECT_EQ(bits_of(first.value()), before);
  EXPECT_EQ(bits_of(second.value()), before_second);
  fails = false;
  step();
  EXPECT_NE(bits_of(first.value()), before);
}

TEST(EngineModes, SeveralThreadsMayRunOnePart) {
  Registered engine;
  std::unique_ptr<Executable> executable = compile(Graph::parse(kProduct));
  const Tensor x = noise({2}, 1);
  const auto wanted = eager(Graph::parse(kProduct), {x});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) wrong += compiled(*executable, {x}) != wanted;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(engine->runs, 200);
}

TEST(EngineModes, EmptyTensorsAndPartsWithoutOperands) {
  Registered engine;
  std::unique_ptr<Executable> executable =
      compile(Graph::parse("graph @g(%0: float32(0, 3)) {\n"
                           "  %1 = tanh(%0) : float32(0, 3)\n"
                           "  %2 = full() {dtype=float32, shape=(5000,), value=0x1p+0} : float32(5000,)\n"
                           "  return %1, %2\n"
                           "}\n"));
  const auto got = compiled(*executable, {noise({0, 3}, 1)});
  EXPECT_TRUE(got[0].empty());
  EXPECT_EQ(got[1], bits_of(Tensor(std::span<const float>(std::vector<float>(5000, 1.F)), {5000})));
  EXPECT_EQ(engine->runs, 1);
}

TEST(EngineModes, TheReportSaysWhoHasWhat) {
  const fs::path folder = fs::temp_directory_path() / ("sorus_engine_dump_" + std::to_string(getpid()));
  Registered engine({.takes = only({"mul"})});
  dump_graphs(GraphDump::kPasses, folder);
  std::unique_ptr<Executable> executable = compile(Graph::parse(kProduct));
  dump_graphs(GraphDump::kOff);
  const ExecutableReport report = executable->report();
  EXPECT_EQ(report.parts, 1);
  EXPECT_EQ(report.part_nodes, 1);
  EXPECT_EQ(report.border_copies, 2);
  EXPECT_EQ(report.nodes, 2);
  std::string text, steps;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    if (entry.path().string().ends_with("_report.txt")) text = content;
    if (entry.path().string().ends_with("_partition.txt")) steps = content;
  }
  fs::remove_all(folder);
  EXPECT_NE(
      text.find("engine parts 1\nborder copies 2\nengine cpu nodes 1\npart 0 on test: to_engine, mul, "),
      std::string::npos)
      << text;
  EXPECT_NE(steps.find("call on test"), std::string::npos);
}

}  // namespace
}  // namespace sorus::testing
