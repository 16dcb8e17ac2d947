#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "sorus/autograd/grad.h"
#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/compiler/program.h"
#include "sorus/ops/elementwise/activation.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/nn/attention.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/norm.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

/// The proof that parameters which are declared bit-neutral are: calls and fused programs, large enough that
/// every parameter decides something, with the parameters that they read at both ends of their ranges. And
/// the proof that the proof is worth something: those that are declared to move bits are found to.
namespace sorus {
namespace {

struct Case {
  std::string name;
  std::vector<Shape> shapes;
  TensorFunction call;
  DType dtype = DType::kFloat32;
};

Tensor filled(const Shape& shape, DType dtype, uint64_t seed) {
  std::vector<float> numbers(static_cast<size_t>(shape.numel()));
  uint64_t state = seed * 2 + 1;
  for (float& x : numbers) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x = static_cast<float>(static_cast<int64_t>(state >> 40) - (1 << 23)) / static_cast<float>(1 << 23);
  }
  return cast(Tensor(std::span<const float>(numbers), shape), dtype);
}

TensorList inputs_of(const Case& c) {
  TensorList in;
  for (const Shape& s : c.shapes) in.push_back(filled(s, c.dtype, in.size() + 1));
  return in;
}

std::string bits_of(const TensorList& tensors) {
  std::string bits;
  for (const Tensor& t : tensors) {
    const size_t at = bits.size();
    bits.resize(at + static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
    t.copy_to(bits.data() + at, t.dtype());
  }
  return bits;
}

/// With this thread's overrides: the call alone, and as a program that is compiled now.
std::string results(const Case& c, const TensorList& in) {
  std::vector<ProgramValue> values;
  for (size_t i = 0; i < in.size(); ++i) values.push_back({"x" + std::to_string(i), in[i].type()});
  const Program program = Program::trace(c.call, values);
  return bits_of(c.call(in)) + bits_of(program(in)) + bits_of(program(in));
}

/// Gradients of all inputs, for the results as those of the results.
TensorFunction with_gradients(TensorFunction f) {
  return [f = std::move(f)](const TensorList& in) {
    const Pullback p = vjp(f, in);
    TensorList all = p.values;
    for (Tensor& t : p.pull(p.values)) all.push_back(std::move(t));
    return all;
  };
}

Case product(int64_t m, int64_t n, int64_t k) {
  return {"matmul " + std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k),
          {{m, k}, {k, n}},
          with_gradients([](const TensorList& in) { return TensorList{matmul(in[0], in[1])}; })};
}

/// The updates of many parameters by one rule.
Case updates() {
  Case c{"updates", {}, [](const TensorList& in) {
           TensorList out;
           for (size_t i = 0; i + 1 < in.size(); i += 2)
             out.push_back(sub(in[i], mul(in[i + 1], Tensor(0.1F))));
           return out;
         }};
  for (int64_t extent : {3, 100, 100, 100, 16, 900, 7000, 64, 64, 2000, 30000, 128, 256, 1})
    c.shapes.insert(c.shapes.end(), {Shape{extent}, Shape{extent}});
  return c;
}

std::vector<Case> elementwise_cases() {
  auto exp_of = [](const TensorList& in) { return TensorList{exp(in[0])}; };
  auto chain = [](const TensorList& in) {
    const Tensor y = tanh(add(mul(in[0], in[1]), in[2]));
    return TensorList{mul(y, exp(in[0])), sub(y, in[1])};
  };
  return {
      {"exp", {{400'000}}, exp_of},
      {"exp of halves", {{70'000}}, exp_of, DType::kFloat16},
      {"broadcast",
       {{300, 400}, {300, 1}},
       [](const TensorList& in) { return TensorList{add(in[0], in[1])}; }},
      {"copy",
       {{700, 900}},
       [](const TensorList& in) {
         return TensorList{contiguous(transpose(in[0], {1, 0}))};
       }},
      {"copy of rows",
       {{700, 900}},
       [](const TensorList& in) {
         return TensorList{contiguous(slice(in[0], {0, 1}, {700, 700}, {1, 1}))};
       }},
      {"chain", {{400'000}, {400'000}, {1}}, chain},
      {"chain over columns", {{500, 300}, {500, 300}, {500, 1}}, chain},
      {"chain over rows", {{500, 300}, {300}, {500, 300}}, chain},
      {"chain of halves", {{50'000}, {50'000}, {50'000}}, chain, DType::kBFloat16},
      updates(),
  };
}

std::vector<Case> row_cases() {
  return {
      {"sum", {{300'000}}, [](const TensorList& in) { return TensorList{sum(in[0])}; }},
      {"sums of rows", {{20, 70'000}}, [](const TensorList& in) { return TensorList{sum(in[0], {1})}; }},
      {"sums of columns", {{9000, 70}}, [](const TensorList& in) { return TensorList{sum(in[0], {0})}; }},
      {"mean of halves",
       {{300'000}},
       [](const TensorList& in) { return TensorList{mean(in[0])}; },
       DType::kFloat16},
      {"product", {{100'000}}, [](const TensorList& in) { return TensorList{prod(in[0])}; }, DType::kFloat64},
      {"softmax", {{300, 1000}}, with_gradients([](const TensorList& in) {
         return TensorList{softmax(in[0])};
       })},
      {"rows",
       {{300, 1000}, {300, 1000}},
       [](const TensorList& in) {
         return TensorList{add(softmax(mul(in[0], in[1])), in[1]), sum(mul(in[0], in[0]), {1})};
       }},
      {"layer norm", {{700, 300}, {300}, {300}}, with_gradients([](const TensorList& in) {
         return TensorList{layer_norm(in[0], {300}, in[1], in[2])};
       })},
      {"batch norm", {{16, 32, 20, 20}, {32}, {32}}, with_gradients([](const TensorList& in) {
         return TensorList{batch_norm_train(in[0], in[1], in[2]).y};
       })},
      {"attention",
       {{2, 4, 300, 32}, {2, 4, 300, 32}, {2, 4, 300, 32}},
       with_gradients([](const TensorList& in) {
         return TensorList{scaled_dot_product_attention(in[0], in[1], in[2])};
       })},
  };
}

Case convolution(const std::string& name, const Shape& x, const Shape& weight) {
  return {name, {x, weight}, with_gradients([](const TensorList& in) {
            return TensorList{conv2d(in[0], in[1], {}, {.padding = {1}})};
          })};
}

std::vector<Case> product_cases() {
  return {
      product(64, 64, 64),
      product(200, 300, 1000),
      product(1500, 96, 300),
      product(40, 200, 9000),
      product(1, 1000, 700),
      product(500, 1, 600),
      product(24, 3000, 40),
      {"batch", {{6, 100, 64}, {6, 64, 80}}, with_gradients([](const TensorList& in) {
         return TensorList{matmul(in[0], in[1])};
       })},
      {"by a transposed weight",
       {{100, 300}, {500, 300}},
       [](const TensorList& in) { return TensorList{matmul(in[0], swap_last(in[1]))}; }},
      {"with what follows",
       {{700, 256}, {256, 64}, {64}, {700, 64}},
       [](const TensorList& in) { return TensorList{add(relu(matmul_bias(in[0], in[1], in[2])), in[3])}; }},
      {"waiting for others",
       {{100, 100}, {100, 100}},
       [](const TensorList& in) {
         const Tensor early = exp(in[0]);
         const Tensor product = matmul(in[0], in[1]);
         const Tensor scale = softmax(sum(cumsum(in[1], 0), {0}));
         return TensorList{add(mul(early, tanh(in[1])), product), mul(add(product, early), scale)};
       }},
      {"at once",
       {{200, 200}, {200, 200}},
       [](const TensorList& in) {
         TensorList out;
         for (float f : {1.F, 2.F, 3.F}) out.push_back(tanh(matmul(mul(in[0], Tensor(f)), in[1])));
         return out;
       }},
      {"one tap and depthwise",
       {{2, 32, 40, 40}, {64, 32, 1, 1}, {64, 1, 3, 3}},
       [](const TensorList& in) {
         const Tensor expanded = relu(conv2d(in[0], in[1]));
         return TensorList{relu(conv2d(expanded, in[2], {}, {.padding = {1}, .groups = 64}))};
       }},
      convolution("few channels", {16, 3, 20, 20}, {8, 3, 5, 5}),
      convolution("many channels", {4, 32, 14, 14}, {64, 32, 3, 3}),
      convolution("one tap", {4, 64, 16, 16}, {96, 64, 1, 1}),
  };
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (const auto& some : {elementwise_cases(), row_cases(), product_cases()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return cases;
}

/// Those of the library: other tests declare some of their own.
bool is_own(const Tunable& p) { return p.spec().name.find("_test.") == std::string_view::npos; }

struct Read {
  std::string bits;  ///< with the defaults
  std::vector<const Tunable*> parameters;
};

Read run_and_see(const Case& c, const TensorList& in) {
  const TunableTrace trace;
  Read read{results(c, in), {}};
  for (const Tunable* p : trace.read())
    if (is_own(*p)) read.parameters.push_back(p);
  return read;
}

/// Whether results differ from `read` with one parameter, or several, at an end.
bool moves(const Case& c, const TensorList& in, const Read& read, std::span<const Tunable* const> parameters,
           int64_t TunableSpec::*end) {
  TunedValues values;
  for (const Tunable* p : parameters) values.set(*p, p->spec().*end);
  const TuningOverride ends(values);
  return results(c, in) != read.bits;
}

class Neutral : public testing::Test {
 protected:
  Neutral() { set_num_threads(3); }
  ~Neutral() override { set_num_threads(before_); }
  int before_ = num_threads();
};

class NeutralCase : public testing::TestWithParam<size_t> {};

TEST_P(NeutralCase, KeepsItsBitsAtBothEndsOfWhatItReads) {
  const Case& c = all_cases()[GetParam()];
  const TensorList in = inputs_of(c);
  const Read read = run_and_see(c, in);
  std::vector<const Tunable*> neutral;
  for (const Tunable* p : read.parameters)
    if (p->spec().effect == BitEffect::kNeutral) neutral.push_back(p);
  ASSERT_FALSE(neutral.empty());
  for (auto end : {&TunableSpec::least, &TunableSpec::most}) {
    EXPECT_FALSE(moves(c, in, read, neutral, end)) << c.name << ": all at once";
    for (const Tunable* p : neutral)
      EXPECT_FALSE(moves(c, in, read, std::span(&p, 1), end))
          << c.name << ": " << p->spec().name << "=" << p->spec().*end << " is declared neutral and is not";
  }
}

INSTANTIATE_TEST_SUITE_P(All, NeutralCase, testing::Range(size_t{0}, all_cases().size()),
                         [](const auto& parameter) {
                           std::string name = all_cases()[parameter.param].name;
                           for (char& x : name)
                             if (std::isalnum(static_cast<unsigned char>(x)) == 0) x = '_';
                           return name;
                         });

/// So that a new parameter cannot do without its proof.
TEST_F(Neutral, EveryParameterIsReadByACase) {
  std::set<std::string_view> read;
  for (const Case& c : all_cases())
    for (const Tunable* p : run_and_see(c, inputs_of(c)).parameters) read.insert(p->spec().name);
  for (const Tunable* p : all_tunables())
    EXPECT_TRUE(!is_own(*p) || read.count(p->spec().name) == 1) << p->spec().name << ": no case reads it";
}

/// Were one of these declared neutral, the test above would fail: here the same comparison finds each.
TEST_F(Neutral, ParametersThatMoveBitsAreFoundOut) {
  std::map<std::string_view, bool> found;
  for (const Tunable* p : all_tunables())
    if (is_own(*p) && p->spec().effect == BitEffect::kMovesBits) found[p->spec().name] = false;
  EXPECT_GE(found.size(), 3U);
  for (const Case& c : all_cases()) {
    const TensorList in = inputs_of(c);
    const Read read = run_and_see(c, in);
    for (const Tunable* p : read.parameters) {
      const auto at = found.find(p->spec().name);
      if (at == found.end() || at->second) continue;
      at->second = moves(c, in, read, std::span(&p, 1), &TunableSpec::least) ||
                   moves(c, in, read, std::span(&p, 1), &TunableSpec::most);
    }
  }
  for (const auto& [name, moved] : found)
    EXPECT_TRUE(moved) << name << ": no case tells it from a neutral one";
}

}  // namespace
}  // namespace sorus
