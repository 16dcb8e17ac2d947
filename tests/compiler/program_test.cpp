#include "sorus/compiler/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "sorus/autograd/grad.h"
#include "sorus/compiler/boundary.h"
#include "sorus/core/generator.h"
#include "sorus/core/parameter.h"
#include "sorus/dispatch/body.h"
#include "sorus/formats/sealed.h"
#include "sorus/ir/graph.h"
#include "sorus/ops/control/control.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/reduce/reduce.h"
#include "tests/compiler/expect_error.h"

namespace sorus {
namespace {

namespace fs = std::filesystem;

const TensorType kVector{DType::kFloat32, {}, {3}};
const ProgramValue kInputs[] = {{"x", kVector}, {"y", kVector}};
const Tensor kX({1.F, -2.F, 0.5F}), kY({0.25F, 3.F, -1.F});

TensorList both(const TensorList& in) {
  const Tensor product = mul(exp(in[0]), in[1]);
  return {sum(product), product};
}

std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

TensorFunction program_function(const Program& program) {
  return [program](const TensorList& in) { return program(in); };
}

TEST(Program, RunsWithTheBitsOfTheFunction) {
  const Program program = Program::trace(both, kInputs);
  const Program loaded = Program::from_bytes(program.bytes());
  EXPECT_EQ(loaded.bytes(), program.bytes());
  const TensorList wanted = both({kX, kY});
  for (const Program& p : {program, loaded})
    for (int run = 0; run < 3; ++run) {
      const TensorList got = p({kX, kY});
      ASSERT_EQ(got.size(), 2U);
      EXPECT_EQ(got[0].item<float>(), wanted[0].item<float>());
      EXPECT_EQ(floats(got[1]), floats(wanted[1]));
    }
  EXPECT_EQ(floats(kX), (std::vector<float>{1.F, -2.F, 0.5F}));  // inputs stay what they are
}

TEST(Program, HoldsWhatTheFunctionUsed) {
  Parameter weight(Tensor({1.F, 2.F, 3.F}), "weight");
  const std::string file = fs::temp_directory_path() / ("sorus_program_" + std::to_string(getpid()));
  const ProgramValue inputs[] = {{"x", kVector}};
  const std::string outputs[] = {"scaled"};
  save_program(
      file, [&](const TensorList& in) { return TensorList{mul(in[0], weight)}; }, inputs, outputs);
  weight.set_value(Tensor({0.F, 0.F, 0.F}));
  const Program program = load_program(file);
  fs::remove(file);
  EXPECT_EQ(program.inputs().at(0).name, "x");
  EXPECT_EQ(program.inputs().at(0).type, kVector);
  const auto results = program.by_name({{"x", kX}});
  EXPECT_EQ(floats(results.at("scaled")), (std::vector<float>{1.F, -4.F, 1.5F}));
}

TEST(Program, MayGiveBackInputsAndConstants) {
  const Tensor constant({7.F});
  const Program program = Program::from_bytes(Program::trace(
                                                  [&](const TensorList& in) {
                                                    return TensorList{in[1], in[1], constant, in[0]};
                                                  },
                                                  kInputs)
                                                  .bytes());
  const TensorList got = program({kX, kY});
  EXPECT_EQ(floats(got[0]), floats(kY));
  EXPECT_EQ(floats(got[1]), floats(kY));
  EXPECT_EQ(floats(got[2]), floats(constant));
  EXPECT_EQ(floats(got[3]), floats(kX));
}

TEST(Program, HoldsControlFlow) {
  auto f = [](const TensorList& in) {
    auto more = [](const TensorList& c) { return TensorList{less(sum(c[0]), sum(c[1]))}; };
    auto step = [](const TensorList& c) { return TensorList{add(c[0], abs(c[1])), c[1]}; };
    return while_loop(more, step, in);
  };
  const TensorList in = {kX, mul(kY, kY)};
  const Program program = Program::from_bytes(Program::trace(f, kInputs).bytes());
  EXPECT_EQ(floats(program(in)[0]), floats(f(in)[0]));
}

TEST(Program, ChecksItsInputs) {
  const Program program = Program::trace(both, kInputs);
  expect_error<ValueError>([&] { (void)program(TensorList{kX}); }, "got 1, need 2 (x, y)");
  expect_error<DTypeError>([&] { (void)program({kX, Tensor({1, 2, 3})}); }, "input 'y'");
  expect_error<ShapeError>([&] { (void)program({Tensor({1.F}), kY}); }, "got float32(1,), need float32(3,)");
  expect_error<ValueError>([&] { (void)program({kX, Tensor()}); }, "input 'y'");
  expect_error<KeyError>([&] { (void)program.by_name({{"x", kX}}); }, "'y'");
  expect_error<KeyError>([&] { (void)program.by_name({{"x", kX}, {"y", kY}, {"z", kY}}); }, "'z'");
  expect_error<ValueError>([&] { (void)Program()({kX}); }, "there is none");
}

TEST(Program, ChecksValuesWhenItRuns) {
  const ProgramValue inputs[] = {{"x", kVector}, {"i", {DType::kInt32, {}, {2}}}};
  const Program program = Program::from_bytes(
      Program::trace([](const TensorList& in) { return TensorList{take(in[0], in[1], 0)}; }, inputs).bytes());
  EXPECT_EQ(floats(program({kX, Tensor({2, 0})})[0]), (std::vector<float>{0.5F, 1.F}));
  EXPECT_THROW((void)program({kX, Tensor({0, 3})}), Error);
}

TEST(Program, RefusesStateAndChance) {
  Parameter p(Tensor({1.F, 2.F, 3.F}), "p");
  expect_error<NotSupportedError>(
      [&] {
        (void)Program::trace(
            [&](const TensorList& in) {
              p.set_value(add(p, in[0]));
              return TensorList{in[1]};
            },
            kInputs);
      },
      "in place");
  EXPECT_EQ(floats(p.value()), (std::vector<float>{1.F, 2.F, 3.F}));
  expect_error<NotSupportedError>(
      [&] {
        (void)Program::trace([](const TensorList& in) { return TensorList{add(in[0], randn({3}))}; },
                             kInputs);
      },
      "random numbers");
  expect_error<ValueError>(
      [&] {
        (void)Program::trace([](const TensorList& in) { return TensorList{in[in[0].data<float>()[0] > 0]}; },
                             kInputs);
      },
      "read");
  const ProgramValue twice[] = {{"x", kVector}, {"x", kVector}};
  expect_error<ValueError>([&] { (void)Program::trace(both, twice); }, "repeated");
  const std::string one[] = {"one"};
  expect_error<ValueError>([&] { (void)Program::trace(both, kInputs, one); }, "number of results");
}

TEST(Program, IsRecordedAndDifferentiatedLikeItsFunction) {
  const Program program = Program::from_bytes(Program::trace(both, kInputs).bytes());
  auto gradients = [](const TensorFunction& f) {
    const int positions[] = {0, 1};
    return value_and_grad([&](const TensorList& in) { return TensorList{f(in)[0]}; }, {kX, kY}, positions, {})
        .inputs;
  };
  const auto wanted = gradients(&both), got = gradients(program_function(program));
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(floats(got[i]), floats(wanted[i]));
  const TensorFunction compiled = jit(program_function(program));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(floats(compiled({kX, kY})[1]), floats(both({kX, kY})[1]));
}

TEST(Program, DamageIsFound) {
  const std::string good = Program::trace(both, kInputs).bytes();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    EXPECT_THROW((void)Program::from_bytes(bad), IOError) << i;
    EXPECT_THROW((void)Program::from_bytes(good.substr(0, i)), IOError) << i;
  }
  expect_error<IOError>([] { (void)load_program("/no/such/file"); }, "/no/such/file");
}

/// Damage that the checksum does not know of, as another program might make it.
TEST(Program, DamageUnderASealNeverCrashes) {
  const std::string good = Program::trace(both, kInputs).bytes();
  const std::string inside(formats::unseal("SRSPRG1", good, "test"));
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = inside;
    for (int k = 0; k < 1 + i % 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    try {
      const Program program = Program::from_bytes(formats::seal("SRSPRG1", bad));
      if (program.inputs().size() == 2) (void)program({kX, kY});
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace sorus
