#include "sorus/engine/load.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "sorus/compiler/boundary.h"
#include "sorus/compiler/compile.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/core/parameter.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ir/graph_body.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "tests/compiler/expect_error.h"
#include "tests/engine/engine_testing.h"

/// Engines from shared libraries that are written in C (tests/engine/libraries).
namespace sorus::testing {
namespace {

enum Fault { kNone, kCompile, kRun, kShape, kNoProgram, kNonsense, kOtherResults, kSilent };

/// The tiny engine, known while this lives.
class Tiny {
 public:
  Tiny() : handle_(dlopen(TINY_ENGINE, RTLD_NOW)) { EXPECT_EQ(load_engine(TINY_ENGINE), "tiny"); }
  ~Tiny() {
    fault() = kNone;
    remove_engine("tiny");
  }
  Tiny(const Tiny&) = delete;
  Tiny& operator=(const Tiny&) = delete;
  int& fault() { return number("tiny_fault"); }
  int& programs() { return number("tiny_programs"); }
  int& runs() { return number("tiny_runs"); }

 private:
  int& number(const char* name) { return *static_cast<int*>(dlsym(handle_, name)); }
  void* handle_;
};

const Tensor kX({1.F, -2.5F, 3.F});

/// Adds and multiplies with a constant between two calls that the engine does not take.
Tensor mixed(const Tensor& x) {
  static const Tensor constant({0.1F, 7.F, -0.5F});
  const Tensor e = exp(x);
  return tanh(add(mul(e, x), constant)) + x;
}

std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

/// The tiny engine runs what follows, and fails where it is told to.
void run_twice(Fault fault, Tiny& tiny) {
  std::function<Tensor(const Tensor&)> f = jit(std::function<Tensor(const Tensor&)>(mixed));
  EXPECT_EQ(floats(f(kX)), floats(mixed(kX)));
  tiny.fault() = fault;
  static_cast<void>(floats(f(kX)));
}

TEST(LoadEngine, RunsPartsInC) {
  Tiny tiny;
  const int programs = tiny.programs(), runs = tiny.runs();
  {
    std::function<Tensor(const Tensor&)> f = jit(std::function<Tensor(const Tensor&)>(mixed));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(floats(f(kX)), floats(mixed(kX)));
    EXPECT_EQ(tiny.runs() - runs, 3 * 2);
    EXPECT_EQ(tiny.programs() - programs, 2);
  }
  clear_recordings();
  EXPECT_EQ(tiny.programs(), programs);
}

TEST(LoadEngine, ConstantsTravelAsBits) {
  Tiny tiny;
  const char* const text =
      "graph @g(%0: float32(2,)) {\n"
      "  %1 = constant 0x0000807f010000ff : float32(2,)\n"
      "  %2 = add(%0, %1) : float32(2,)\n"
      "  return %2\n"
      "}\n";
  std::unique_ptr<Executable> executable = compile(Graph::parse(text));
  EXPECT_EQ(parts_of(executable->graph()), "tiny: add");
  const Tensor x({1.F, 0.F});
  Ref<Value> in[] = {x.value()}, out[1];
  char donated[1] = {0};
  executable->run(in, donated, {}, out, true);
  const Tensor wanted = apply_graph(Graph::parse(text), {x})[0];
  EXPECT_EQ(std::isinf(floats(wanted)[0]), true);
  EXPECT_EQ(bits_of(Tensor(out[0]))[3], bits_of(wanted)[3]);
  EXPECT_EQ(floats(Tensor(out[0]))[0], floats(wanted)[0]);
}

TEST(LoadEngine, LoadingAgainGivesTheSameEngine) {
  Tiny tiny;
  const std::shared_ptr<Engine> engine = find_engine("tiny");
  const uint64_t generation = engine_generation();
  EXPECT_EQ(load_engine(TINY_ENGINE), "tiny");
  EXPECT_EQ(find_engine("tiny"), engine);
  EXPECT_EQ(engine_generation(), generation);
  EXPECT_EQ(engine_names(), "cpu, cpu_reference, tiny");
}

TEST(LoadEngine, ANameThatIsTakenIsRefused) {
  TestEngine::Options options;
  options.facts.name = "tiny";
  Registered first(options);
  expect_error<ValueError>([] { static_cast<void>(load_engine(TINY_ENGINE)); }, "name is taken: got 'tiny'");
}

TEST(LoadEngine, LibrariesThatAreNoEnginesAreRefused) {
  const std::string before = engine_names();
  expect_error<IOError>([] { static_cast<void>(load_engine("no_such_file.so")); },
                        "library cannot be loaded: got 'no_such_file.so'");
  expect_error<IOError>([] { static_cast<void>(load_engine(SORUS_SOURCE_DIR "/CMakeLists.txt")); },
                        "library cannot be loaded");
  expect_error<NotSupportedError>([] { static_cast<void>(load_engine(NO_ENGINE)); },
                                  "library is no engine: got no function 'sorus_engine'");
  expect_error<NotSupportedError>([] { static_cast<void>(load_engine(OTHER_VERSION)); },
                                  "library is of another version: got 2 from");
  expect_error<NotSupportedError>([] { static_cast<void>(load_engine(UNKNOWN_VERSION)); },
                                  "library knows another interface: got none for version 1");
  expect_error<ValueError>([] { static_cast<void>(load_engine(HALF_ENGINE)); },
                           "engine is not whole: got no 'run'");
  EXPECT_EQ(engine_names(), before);
}

TEST(LoadEngine, AFailingRunIsATypedError) {
  Tiny tiny;
  expect_error<MemoryError>([&] { run_twice(kRun, tiny); },
                            "engine tiny: run failed: got 'tiny: out of memory: got 0 bytes, need more'");
}

TEST(LoadEngine, AResultOfAnotherShapeIsRefused) {
  Tiny tiny;
  expect_error<RuntimeError>(
      [&] { run_twice(kShape, tiny); },
      "engine tiny: result 0 of a part is of another type: got float32(4,), need float32(3,)");
}

TEST(LoadEngine, AFailingCompileGivesWayUnlessTheEngineIsAskedFor) {
  Tiny tiny;
  for (Fault fault : {kCompile, kSilent}) {
    tiny.fault() = kNone;
    std::function<Tensor(const Tensor&)> f = jit(std::function<Tensor(const Tensor&)>(mixed));
    static_cast<void>(f(kX));
    tiny.fault() = fault;
    EXPECT_EQ(floats(f(kX)), floats(mixed(kX)));
  }
  ScopedEngines wish({.use = "tiny"});
  expect_error<NotSupportedError>([&] { run_twice(kCompile, tiny); }, "tiny: no room: got 1 call, need 0");
  tiny.fault() = kNone;
  expect_error<RuntimeError>([&] { run_twice(kSilent, tiny); },
                             "engine tiny: compile failed: got 'status 77'");
}

TEST(LoadEngine, APassThatGivesNoGraphIsNamed) {
  Tiny tiny;
  expect_error<RuntimeError>([&] { run_twice(kNonsense, tiny); }, "engine tiny: its pass gave no graph");
  tiny.fault() = kNone;
  expect_error<InternalError>([&] { run_twice(kOtherResults, tiny); }, "after pass tiny.optimize");
}

TEST(LoadEngine, ParametersThatItUpdatesAreWholeAfterAFailure) {
  Tiny tiny;
  Parameter w(Tensor({1.F, 2.F}), "w");
  const Tensor factor({0.5F, 3.F});
  const uint64_t id = new_boundary_id();
  auto step = [&] { run_boundary(id, [&] { w.set_value(mul(tanh(add(w, factor)), factor)); }); };
  for (int i = 0; i < 3; ++i) step();
  const std::vector<float> before = floats(w);
  tiny.fault() = kRun;
  EXPECT_THROW(step(), MemoryError);
  EXPECT_EQ(floats(w), before);
  tiny.fault() = kNone;
  step();
  EXPECT_EQ(floats(w), floats(mul(tanh(add(Tensor(std::span<const float>(before), {2}), factor)), factor)));
}

}  // namespace
}  // namespace sorus::testing
