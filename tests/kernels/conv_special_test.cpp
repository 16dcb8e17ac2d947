#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sorus/base/cpu_features.h"
#include "sorus/kernels/cpu/conv/conv.h"
#include "sorus/kernels/cpu/conv/finite.h"
#include "sorus/kernels/cpu/conv/mend.h"
#include "tests/kernels/conv_testing.h"

// Infinities and NaN in all kernels of convolutions: they reach the results whose taps read them, as the
// definition says, and no others.
namespace sorus::kernels {
namespace {

using onednn::ConvOptions;
using onednn::ConvPass;
using onednn::ConvProblem;
using onednn::ElementType;
using onednn::testing::Buffer;
using onednn::testing::Collector;
using onednn::testing::ConvTensors;
using onednn::testing::floats;
using onednn::testing::for_products;
using onednn::testing::Threads;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr ConvPass kPasses[] = {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeights};

/// A problem of two spatial dimensions, of which `change` sets what else there is.
ConvProblem plane(int64_t n, int64_t ic, int64_t oc, std::array<int64_t, 2> size, int64_t kernel,
                  int64_t stride, int64_t pad, const std::function<void(ConvProblem&)>& change = {}) {
  ConvProblem p;
  p.n = n, p.in_channels = ic, p.out_channels = oc;
  p.in = {size[0], size[1], 1}, p.kernel = {kernel, kernel, 1}, p.stride = {stride, stride, 1};
  p.pad_low = p.pad_high = {pad, pad, 0};
  if (change) change(p);
  return p;
}

std::vector<std::pair<std::string, ConvProblem>> cases() {
  return {
      {"one_channel", plane(2, 1, 2, {3, 4}, 3, 1, 0)},
      {"few_channels", plane(3, 2, 5, {5, 6}, 3, 1, 1)},
      {"few_channels_strided", plane(2, 3, 4, {7, 8}, 3, 2, 1)},
      {"lenet", plane(3, 6, 16, {8, 7}, 5, 1, 2)},
      {"odd_channels", plane(2, 5, 17, {6, 5}, 3, 1, 1)},
      {"same", plane(2, 16, 32, {8, 9}, 3, 1, 1)},
      {"strided", plane(2, 32, 48, {9, 10}, 3, 2, 1)},
      {"uneven", plane(2, 8, 16, {6, 9}, 3, 1, 1,
                       [](ConvProblem& p) {
                         p.kernel = {3, 2, 1}, p.stride = {1, 2, 1};
                         p.pad_low = {0, 1, 0}, p.pad_high = {2, 0, 0};
                       })},
      {"dilated", plane(2, 16, 16, {9, 8}, 3, 1, 2,
                        [](ConvProblem& p) {
                          p.dilation = {2, 2, 1};
                        })},
      {"groups", plane(2, 12, 18, {5, 6}, 3, 1, 1, [](ConvProblem& p) { p.groups = 3; })},
      {"depthwise", plane(2, 32, 32, {6, 7}, 3, 1, 1, [](ConvProblem& p) { p.groups = 32; })},
      {"depthwise_strided", plane(2, 32, 32, {7, 8}, 3, 2, 1, [](ConvProblem& p) { p.groups = 32; })},
      {"winograd", plane(2, 32, 32, {26, 26}, 3, 1, 1)},
      {"taps", plane(2, 512, 64, {3, 4}, 3, 1, 1)},
      {"taps_strided", plane(2, 64, 128, {5, 6}, 3, 2, 1)},
      {"slices", plane(2, 128, 192, {5, 4}, 3, 1, 1)},
      {"rows", plane(1, 32, 48, {40, 33}, 3, 2, 1)},
      {"many_results", plane(2, 3, 64, {20, 21}, 7, 1, 3)},
      {"pointwise", plane(2, 25, 40, {5, 6}, 1, 1, 0)},
      {"pointwise_strided", plane(2, 7, 24, {7, 6}, 1, 2, 0)},
      {"pointwise_padded", plane(2, 16, 16, {4, 5}, 1, 1, 1)},
      {"line", plane(3, 16, 24, {30, 1}, 5, 2, 2, [](ConvProblem& p) { p.rank = 1; })},
      {"volume",
       plane(2, 8, 16, {4, 5}, 3, 1, 1,
             [](ConvProblem& p) {
               p.rank = 3, p.in = {4, 5, 3}, p.kernel = {3, 3, 3}, p.pad_low = p.pad_high = {1, 1, 1};
             })},
  };
}

/// What a pass reads and writes of its tensors.
struct Roles {
  Buffer* first;
  Buffer* second;
  const Buffer* result;  // of its size
  Roles(ConvTensors& t, ConvPass pass)
      : first(pass == ConvPass::kBackwardData ? &t.out : &t.input),
        second(pass == ConvPass::kBackwardWeights ? &t.out : &t.weights),
        result(pass == ConvPass::kForward        ? &t.out
               : pass == ConvPass::kBackwardData ? &t.input
                                                 : &t.weights) {}
};

enum class Way { kPlain, kPacked, kPieces };

Buffer run(const ConvProblem& p, ConvPass pass, ConvTensors& t, Way way = Way::kPlain) {
  Buffer space = onednn::testing::workspace(conv::workspace(p, pass));
  Buffer result(p.type, Roles(t, pass).result->size());
  const Collector collector(static_cast<float*>(result.data()));
  const float* bias = p.has_bias ? floats(t.bias) : nullptr;
  ConvOptions options;
  if (way == Way::kPieces) options.taker = &collector;
  void* to = way == Way::kPieces ? nullptr : result.data();
  if (pass == ConvPass::kForward) {
    Buffer packed = onednn::testing::workspace(conv::packed_weights_bytes(p));
    options.weights_packed = way == Way::kPacked;
    if (options.weights_packed) conv::pack_weights(p, t.weights.data(), packed.data());
    conv::forward(p, t.input.data(), options.weights_packed ? packed.data() : t.weights.data(), bias, to,
                  space.data(), options);
  } else if (pass == ConvPass::kBackwardData) {
    conv::backward_data(p, t.out.data(), t.weights.data(), to, space.data(), options);
  } else {
    conv::backward_weights(p, t.input.data(), t.out.data(), to, space.data());
  }
  return result;
}

/// The same bits on one and two threads, from packed weights and in pieces; returns them.
Buffer expect_one_result(const ConvProblem& p, ConvPass pass, ConvTensors& t) {
  Buffer result = run(p, pass, t);
  for (int threads : {1, 2}) {
    Threads set(threads);
    EXPECT_TRUE(run(p, pass, t) == result) << threads << " threads";
  }
  if (pass == ConvPass::kForward && conv::packed_weights_bytes(p) != 0) {
    EXPECT_TRUE(run(p, pass, t, Way::kPacked) == result) << "packed";
  }
  const bool pieces = pass != ConvPass::kBackwardWeights && conv::has_pieces(p, pass);
  if (pieces && p.type == ElementType::kFloat32) {
    EXPECT_TRUE(run(p, pass, t, Way::kPieces) == result) << "pieces";
  }
  return result;
}

/// What one special number adds to each result, by the definition; nothing where it is not read.
using Reach = std::vector<std::optional<double>>;

/// Of each of some places of one operand, as if `value` stood there.
std::vector<Reach> reaches_of(const ConvProblem& p, ConvPass pass, ConvTensors& t, bool second,
                              const std::vector<int64_t>& places, const std::vector<float>& values) {
  const Roles roles(t, pass);
  std::vector<Reach> reaches(places.size(), Reach(static_cast<size_t>(roles.result->size())));
  std::vector<int> index(static_cast<size_t>((second ? roles.second : roles.first)->size()), -1);
  for (size_t i = 0; i < places.size(); ++i) index[static_cast<size_t>(places[i])] = static_cast<int>(i);
  for_products(p, [&](int64_t i, int64_t w, int64_t o) {
    const int64_t a = pass == ConvPass::kBackwardData ? o : i;
    const int64_t b = pass == ConvPass::kBackwardWeights ? o : w;
    const int64_t to = pass == ConvPass::kForward ? o : pass == ConvPass::kBackwardData ? i : w;
    const int found = index[static_cast<size_t>(second ? b : a)];
    if (found < 0) return;
    const auto at = static_cast<size_t>(found);
    std::optional<double>& sum = reaches[at][static_cast<size_t>(to)];
    const double other = second ? roles.first->get(a) : roles.second->get(b);
    sum = sum.value_or(0) + static_cast<double>(values[at]) * other;
  });
  return reaches;
}

/// How many results are other than `reach` says, where `ordinary` are those without the special number.
int64_t count_wrong(const Buffer& got, const Buffer& ordinary, const Reach& reach, ElementType type) {
  const double tolerance = type == ElementType::kFloat32 ? 1e-4 : 0x1p-7;
  int64_t wrong = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    const double found = got.get(i), before = ordinary.get(i);
    const std::optional<double>& added = reach[static_cast<size_t>(i)];
    if (!added)
      wrong += !(std::abs(found - before) <= tolerance * (1 + std::abs(before)));
    else if (std::isnan(*added))
      wrong += !std::isnan(found);
    else
      wrong += found != *added;
  }
  return wrong;
}

/// Places on the borders and within of an operand.
std::vector<int64_t> places_in(const Buffer& operand) {
  const int64_t size = operand.size();
  std::set<int64_t> places{0, size - 1, size / 2, size / 3, size * 3 / 4, std::min<int64_t>(size - 1, 3)};
  return {places.begin(), places.end()};
}

void check(const ConvProblem& p, ConvPass pass) {
  ConvTensors t(p);
  const Buffer ordinary = run(p, pass, t);
  for (bool second : {false, true}) {
    Buffer& operand = second ? *Roles(t, pass).second : *Roles(t, pass).first;
    const std::vector<int64_t> places = places_in(operand);
    std::vector<float> values;
    for (size_t i = 0; i < places.size(); ++i)
      values.push_back(i % 3 == 0 ? kInfinity : i % 3 == 1 ? kNan : -kInfinity);
    const std::vector<Reach> reaches = reaches_of(p, pass, t, second, places, values);
    for (size_t i = 0; i < places.size(); ++i) {
      const float before = operand.get(places[i]);
      operand.set(places[i], values[i]);
      const Buffer got = expect_one_result(p, pass, t);
      EXPECT_EQ(count_wrong(got, ordinary, reaches[i], p.type), 0)
          << conv::implementation(p, pass) << ", pass " << static_cast<int>(pass) << ": " << values[i]
          << " at " << places[i] << " of operand " << second << ", of " << got.size() << " results";
      operand.set(places[i], before);
    }
  }
}

class ConvSpecialTest : public ::testing::TestWithParam<std::tuple<size_t, ElementType>> {};

TEST_P(ConvSpecialTest, ReachWhatReadsThemAlone) {
  const auto [index, type] = GetParam();
  ConvProblem p = cases()[index].second;
  p.type = p.weights_grad_type = type;
  if (type == ElementType::kBFloat16 && !cpu_features().avx512)
    GTEST_SKIP() << "oneDNN has no bfloat16 on this CPU";
  for (ConvPass pass : kPasses) check(p, pass);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvSpecialTest,
                         ::testing::Combine(::testing::Range(size_t{0}, cases().size()),
                                            ::testing::Values(ElementType::kFloat32, ElementType::kBFloat16)),
                         [](const auto& sample) {
                           return cases()[std::get<0>(sample.param)].first +
                                  (std::get<1>(sample.param) == ElementType::kFloat32 ? "_f32" : "_bf16");
                         });

TEST(ConvSpecial, ShapesReachAllKernels) {
  if (cpu_features().avx2 == false) GTEST_SKIP() << "this CPU has few kernels";
  std::set<std::string> kernels;
  for (const auto& [name, p] : cases())
    for (ConvPass pass : kPasses) kernels.insert(conv::implementation(p, pass));
  for (const char* own : {"small channels", "depthwise", "products of taps", "Winograd", "matmul"})
    EXPECT_EQ(kernels.erase(own), 1U) << own;
  EXPECT_FALSE(kernels.empty()) << "the library's";
}

/// The bias comes after the sum: a NaN or infinity there changes its own channel, in mended results too.
TEST(ConvSpecial, GoThroughTheBias) {
  for (const auto& [name, plain] : cases()) {
    ConvProblem p = plain;
    p.has_bias = true;
    ConvTensors t(p);
    t.bias.set(0, kNan), t.bias.set(p.out_channels - 1, -kInfinity);
    t.weights.set(0, kInfinity), t.weights.set(p.weights() - 1, kInfinity);
    const Buffer got = expect_one_result(p, ConvPass::kForward, t);
    for (int64_t i = 0; i < got.size(); ++i) {
      const int64_t channel = i % p.out_channels;
      if (channel == 0)
        ASSERT_TRUE(std::isnan(got.get(i))) << name;
      else if (channel == p.out_channels - 1)
        ASSERT_FALSE(std::isfinite(got.get(i))) << name;
      else
        ASSERT_TRUE(std::isfinite(got.get(i))) << name << " at " << i;
    }
  }
}

/// The sums of a pass in double, by loops of their own.
std::vector<double> sums_of(const ConvProblem& p, ConvPass pass, ConvTensors& t) {
  const Roles roles(t, pass);
  std::vector<double> sums(static_cast<size_t>(roles.result->size()));
  for_products(p, [&](int64_t i, int64_t w, int64_t o) {
    const double x = t.input.get(i), y = t.weights.get(w), g = t.out.get(o);
    sums[static_cast<size_t>(pass == ConvPass::kForward        ? o
                             : pass == ConvPass::kBackwardData ? i
                                                               : w)] += pass == ConvPass::kForward ? x * y
                                                                        : pass == ConvPass::kBackwardData
                                                                            ? g * y
                                                                            : x * g;
  });
  return sums;
}

/// Whatever a kernel has spoilt, also by an overflow on the way, is the sum in double, rounded once. Kernels
/// have no part in this, so it holds for bfloat16 on every CPU.
TEST(ConvSpecial, MendedResultsAreSumsInDouble) {
  for (auto [name, p] : cases())
    for (ElementType type : {ElementType::kFloat32, ElementType::kBFloat16})
      for (ConvPass pass : kPasses) {
        p.type = p.weights_grad_type = type;
        ConvTensors t(p);
        const std::vector<double> want = sums_of(p, pass, t);
        Buffer result(type, static_cast<int64_t>(want.size()));
        for (int64_t i = 0; i < result.size(); ++i) result.set(i, i % 5 == 0 ? kInfinity : kNan);
        if (pass == ConvPass::kBackwardWeights) {
          conv::mend_weights(p, t.input.data(), t.out.data(), result.data());
        } else {
          const Buffer& source = *Roles(t, pass).first;
          conv::ResultMender(p, pass, source.data(), t.weights.data(), nullptr, nullptr)
              .mend_all(result.data());
        }
        const double ulp = type == ElementType::kFloat32 ? 0x1p-23 : 0x1p-7;
        int64_t wrong = 0;
        for (int64_t i = 0; i < result.size(); ++i) {
          const double need = want[static_cast<size_t>(i)];
          wrong += !(std::abs(result.get(i) - need) <= ulp * std::abs(need) + 1e-14);
        }
        EXPECT_EQ(wrong, 0) << name << ", pass " << static_cast<int>(pass) << ", of " << result.size();
      }
}

/// In rows of other numbers, as pieces of some columns lie, what is finite stays.
TEST(ConvSpecial, MendsPartsOfRows) {
  const ConvProblem p = plane(2, 3, 5, {4, 5}, 3, 1, 1);
  ConvTensors t(p);
  const std::vector<double> want = sums_of(p, ConvPass::kForward, t);
  Buffer rows(p.type, 4 * 7);  // rows 6 to 9 of the result, of which columns 2 and 3 are in the middle
  for (int64_t i = 0; i < rows.size(); ++i) rows.set(i, i % 2 == 0 ? 100.0F : kNan);
  const conv::ResultMender mender(p, ConvPass::kForward, t.input.data(), t.weights.data(), nullptr, nullptr);
  mender.take({static_cast<float*>(rows.data()) + 3, 7, 6, 4, 2, 2});
  for (int64_t i = 0; i < rows.size(); ++i) {
    const int64_t row = i / 7, column = i % 7 - 3 + 2;
    if (i % 2 == 0)
      EXPECT_EQ(rows.get(i), 100.0F);
    else if (column != 2 && column != 3)
      EXPECT_TRUE(std::isnan(rows.get(i)));
    else
      EXPECT_NEAR(rows.get(i), want[static_cast<size_t>((6 + row) * 5 + column)], 1e-6);
  }
}

/// Few operands tell that many results are finite, unless they hold what may overflow.
TEST(ConvSpecial, FewOperandsAreLookedAtFirst) {
  const ConvProblem p = plane(1, 2, 64, {12, 12}, 3, 1, 1);
  ConvTensors t(p);
  const auto is_known = [&](ConvPass pass) {
    return conv::is_known_finite(p, pass, Roles(t, pass).first->data(), Roles(t, pass).second->data());
  };
  EXPECT_TRUE(is_known(ConvPass::kForward));
  EXPECT_FALSE(is_known(ConvPass::kBackwardData));  // there are fewer results
  t.weights.set(7, 0x1p60F);
  EXPECT_FALSE(is_known(ConvPass::kForward));
  t.weights.set(7, 0x1p50F), t.input.set(3, -0x1p50F);
  EXPECT_TRUE(is_known(ConvPass::kForward));
  t.input.set(3, kNan);
  EXPECT_FALSE(is_known(ConvPass::kForward));
}

TEST(AllBelow, LooksAtEveryNumber) {
  for (ElementType type : {ElementType::kFloat32, ElementType::kBFloat16})
    for (int64_t size : {1, 7, 64, 65, 333}) {
      Buffer numbers(type, size);
      numbers.fill(1);
      EXPECT_TRUE(conv::all_finite(type, numbers.data(), size));
      EXPECT_TRUE(conv::all_below(0, type, numbers.data(), size) || type == ElementType::kBFloat16);
      EXPECT_TRUE(conv::all_below(1, type, numbers.data(), size));
      for (int64_t at = 0; at < size; ++at) {
        const float before = numbers.get(at);
        for (float special : {kInfinity, -kInfinity, kNan, -kNan}) {
          numbers.set(at, special);
          ASSERT_FALSE(conv::all_finite(type, numbers.data(), size)) << special << " at " << at;
        }
        numbers.set(at, -3e38F);
        ASSERT_TRUE(conv::all_finite(type, numbers.data(), size));
        numbers.set(at, -8.0F);
        ASSERT_FALSE(conv::all_below(3, type, numbers.data(), size));
        ASSERT_TRUE(conv::all_below(4, type, numbers.data(), size));
        numbers.set(at, before);
      }
    }
}

}  // namespace
}  // namespace sorus::kernels
