#include "sorus/ops/nn/conv.h"

#include <cmath>
#include <limits>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::check_two_gradients;
using testing::doubles;
using testing::expect_error;
using testing::expect_near;
using testing::random_tensor;

struct Case {
  Shape x, w;
  ConvOptions options;
};

std::vector<Case> cases() {
  return {
      {{2, 3, 7, 6}, {4, 3, 3, 2}, {}},
      {{1, 4, 9, 8}, {6, 2, 3, 3}, {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2}},
      {{2, 5, 6, 7}, {10, 1, 3, 3}, {.stride = {2}, .padding = {0, 1, 2, 0}, .groups = 5}},
      {{2, 3, 11}, {2, 3, 4}, {.stride = {3}, .padding = {1, 2}, .dilation = {2}}},
      {{1, 2, 4, 5, 3}, {3, 2, 2, 3, 1}, {.stride = {1, 2, 1}, .padding = {1, 1, 0}}},
      {{2, 6, 4, 4}, {3, 6, 1, 1}, {}},
  };
}

/// The definition with plain loops over 3 spatial axes (missing ones lead, with extent 1), row-major
/// operands.
std::vector<double> naive_conv(const Tensor& x, const Tensor& w, const std::vector<double>& bias,
                               const ConvOptions& o, const Shape& out) {
  int n = x.rank() - 2;
  int64_t in[3], kernel[3], size[3], step[3], low[3], spread[3];
  auto pick = [n](const Ints& list, int at, int64_t fallback) {
    if (list.empty()) return fallback;
    if (list.size() == 1) return list[0];
    return list.size() == 2 * n ? list[2 * at] : list[at];
  };
  for (int i = 0; i < 3; ++i) {
    int at = i - (3 - n);
    in[i] = at < 0 ? 1 : x.size(2 + at);
    kernel[i] = at < 0 ? 1 : w.size(2 + at);
    size[i] = at < 0 ? 1 : out.size(2 + at);
    step[i] = at < 0 ? 1 : pick(o.stride, at, 1);
    spread[i] = at < 0 ? 1 : pick(o.dilation, at, 1);
    low[i] = at < 0 ? 0 : pick(o.padding, at, 0);
  }
  std::vector<double> xs = doubles(x), ws = doubles(w), ys;
  int64_t group_in = w.size(1), group_out = w.size(0) / o.groups;
  for (int64_t b = 0; b < x.size(0); ++b)
    for (int64_t oc = 0; oc < w.size(0); ++oc)
      for (int64_t p = 0; p < size[0] * size[1] * size[2]; ++p) {
        int64_t window[3] = {p / (size[1] * size[2]), p / size[2] % size[1], p % size[2]};
        double sum = bias.empty() ? 0 : bias[static_cast<size_t>(oc)];
        for (int64_t c = 0; c < group_in; ++c)
          for (int64_t k = 0; k < kernel[0] * kernel[1] * kernel[2]; ++k) {
            int64_t tap[3] = {k / (kernel[1] * kernel[2]), k / kernel[2] % kernel[1], k % kernel[2]};
            int64_t at[3];
            bool inside = true;
            for (int i = 0; i < 3; ++i) {
              at[i] = window[i] * step[i] - low[i] + tap[i] * spread[i];
              inside = inside && at[i] >= 0 && at[i] < in[i];
            }
            if (!inside) continue;
            int64_t channel = oc / group_out * group_in + c;
            int64_t xi = (((b * x.size(1) + channel) * in[0] + at[0]) * in[1] + at[1]) * in[2] + at[2];
            int64_t wi =
                (((oc * group_in + c) * kernel[0] + tap[0]) * kernel[1] + tap[1]) * kernel[2] + tap[2];
            sum += xs[static_cast<size_t>(xi)] * ws[static_cast<size_t>(wi)];
          }
        ys.push_back(sum);
      }
  return ys;
}

TEST(Conv, EqualsItsDefinition) {
  for (const Case& c : cases()) {
    Tensor x = random_tensor(c.x, 1), w = random_tensor(c.w, 2);
    Tensor b = random_tensor({c.w[0]}, 3);
    Tensor y = conv(x, w, b, c.options);
    expect_near(y, naive_conv(x, w, doubles(b), c.options, y.shape()));
    Tensor y32 = conv(random_tensor<float>(c.x, 1), random_tensor<float>(c.w, 2), {}, c.options);
    expect_near(y32, naive_conv(x, w, {}, c.options, y.shape()), 4e-6);
  }
}

TEST(Conv, ShapesFollowStridePaddingAndDilation) {
  Tensor x = random_tensor({2, 3, 32, 32}, 1), w = random_tensor({6, 3, 5, 5}, 2);
  EXPECT_EQ(conv2d(x, w).shape(), Shape({2, 6, 28, 28}));
  EXPECT_EQ(conv2d(x, w, {}, {.stride = {2}, .padding = {2}}).shape(), Shape({2, 6, 16, 16}));
  EXPECT_EQ(conv2d(x, w, {}, {.dilation = {3}}).shape(), Shape({2, 6, 20, 20}));
  EXPECT_EQ(conv2d(random_tensor({3, 32, 32}, 1), w).shape(), Shape({6, 28, 28}));
  EXPECT_EQ(conv2d(random_tensor({0, 3, 32, 32}, 1), w).shape(), Shape({0, 6, 28, 28}));
}

TEST(Conv, HasGradientsOfBothOrders) {
  for (const Case& c : cases())
    check_two_gradients([&](const TensorList& t) { return conv(t[0], t[1], t[2], c.options); },
                        {random_tensor(c.x, 1), random_tensor(c.w, 2), random_tensor({c.w[0]}, 3)});
}

TEST(Conv, TransposeIsTheAdjoint) {
  for (const Case& c : cases()) {
    Tensor w = random_tensor(c.w, 2);
    Tensor y = random_tensor(conv(random_tensor(c.x, 1), w, {}, c.options).shape(), 5);
    Tensor t = conv_transpose(y, w, {}, c.options);
    Tensor probe = random_tensor(t.shape(), 6);
    EXPECT_NEAR(testing::dot(doubles(t), doubles(probe)),
                testing::dot(doubles(conv(probe, w, {}, c.options)), doubles(y)), 1e-10);
  }
}

TEST(Conv, TransposeGivesOutputPaddingAndBias) {
  Tensor x = random_tensor({1, 2, 3, 3}, 1), w = random_tensor({2, 4, 3, 3}, 2), b = random_tensor({4}, 3);
  ConvOptions options{.stride = {2}, .padding = {1}};
  EXPECT_EQ(conv_transpose(x, w, {}, options).shape(), Shape({1, 4, 5, 5}));
  EXPECT_EQ(conv_transpose(x, w, b, options, {1}).shape(), Shape({1, 4, 6, 6}));
  check_two_gradients([&](const TensorList& t) { return conv_transpose(t[0], t[1], t[2], options, {1}); },
                      {x, w, b});
}

/// With a bias of a size at which an earlier rounding would show.
TEST(Conv, TransposeRounds16BitsOnceAfterTheBias) {
  const ConvOptions options{.stride = {2}};
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const auto exact = [dtype](Shape shape, uint64_t seed) {
      return cast(cast(random_tensor<float>(shape, seed), dtype), DType::kFloat64);
    };
    const Tensor x = exact({2, 6, 7, 5}, 1), w = exact({6, 4, 3, 3}, 2), b = exact({4}, 3);
    const auto narrow = [dtype](const Tensor& t) { return cast(t, dtype); };
    const Tensor got = conv_transpose(narrow(x), narrow(w), narrow(b), options);
    EXPECT_EQ(got.dtype(), dtype);
    const std::vector<double> want = doubles(conv_transpose(x, w, b, options));
    const std::vector<double> have = doubles(cast(got, DType::kFloat64));
    const double half_ulp = dtype == DType::kFloat16 ? 0x1p-11 : 0x1p-8;
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(have[i], want[i], 1.01 * half_ulp * std::abs(want[i]) + 1e-5) << i;
  }
}

TEST(Conv, BitsDependNeitherOnThreadsNorOnStrides) {
  Tensor x = random_tensor<float>({3, 8, 9, 9}, 1), w = random_tensor<float>({12, 8, 3, 3}, 2);
  Tensor moved = transpose(contiguous(transpose(x, {0, 2, 3, 1})), {0, 3, 1, 2});
  ASSERT_FALSE(moved.is_contiguous());
  int threads = num_threads();
  set_num_threads(1);
  std::vector<float> one = conv(x, w).to_vector<float>();
  set_num_threads(2);
  std::vector<float> two = conv(moved, w).to_vector<float>();
  set_num_threads(threads);
  EXPECT_EQ(one, two);
}

/// The three passes for float32 or bfloat16 operands.
template <class T>
std::vector<Tensor> all_passes(const Case& c) {
  Tensor x = random_tensor<T>(c.x, 1), w = random_tensor<T>(c.w, 2), b = random_tensor<T>({c.w[0]}, 3);
  Tensor y = conv(x, w, b, c.options);
  Tensor g = random_tensor<T>(y.shape(), 4);
  Ints in, kernel;
  for (int i = 2; i < x.rank(); ++i) {
    in.push_back(x.size(i));
    kernel.push_back(w.size(i));
  }
  return {y, conv_backward_input(g, w, in, c.options), conv_backward_weight(x, g, kernel, c.options)};
}

template <class T>
void expect_passes_near_the_reference(const Case& c, double error) {
  const std::vector<Tensor> fast = all_passes<T>(c);
  reference_kernels_only() = true;
  const std::vector<Tensor> slow = all_passes<T>(c);
  reference_kernels_only() = false;
  for (size_t i = 0; i < fast.size(); ++i) expect_near(fast[i], doubles(slow[i]), error);
}

TEST(Conv, FastKernelsAgreeWithTheReference) {
  for (const Case& c : cases()) {
    expect_passes_near_the_reference<float>(c, 1e-5);
    expect_passes_near_the_reference<BFloat16>(c, 1.0 / 64);
    expect_passes_near_the_reference<Float16>(c, 1.0 / 512);
  }
}

/// No 16-bit type is left to the reference: it takes hundreds of times as long.
TEST(Conv, SixteenBitFloatsHaveFastKernels) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Shape x({2, 16, 8, 8}), w({8, 16, 3, 3}), y({2, 8, 8, 8});
    const ConvAttrs attributes{
        .stride = {1, 1}, .padding = {1, 1, 1, 1}, .dilation = {1, 1}, .groups = 1, .size = {8, 8}};
    const auto kernel = [&](const char* op, const Shape& a, const Shape& b, const Shape& out) {
      const auto array = [dtype](const Shape& s) {
        return Array{nullptr, dtype, &s, Strides::contiguous(s)};
      };
      const Array in[] = {array(a), array(b)}, result[] = {array(out)};
      return std::string(choose_kernel({*find_op(op), &attributes, in, result}, Device{}).name);
    };
    EXPECT_EQ(kernel("conv", x, w, y).find("reference"), std::string::npos);
    EXPECT_EQ(kernel("conv_backward_input", y, w, x).find("reference"), std::string::npos);
    EXPECT_EQ(kernel("conv_backward_weight", x, y, w).find("reference"), std::string::npos);
  }
}

/// With one number replaced.
template <class T>
Tensor with_number(const Tensor& t, int64_t place, double number) {
  std::vector<T> items = t.to_vector<T>();
  items[static_cast<size_t>(place)] = T(static_cast<ComputeType<T>>(number));
  return Tensor(std::span<const T>(items), t.shape());
}

/// Results are NaN or infinite just where they are in double.
void expect_same_specials(const Tensor& got, const Tensor& want) {
  const std::vector<double> found = doubles(got), need = doubles(want);
  ASSERT_EQ(found.size(), need.size());
  for (size_t i = 0; i < need.size(); ++i) {
    if (std::isfinite(need[i]))
      ASSERT_TRUE(std::isfinite(found[i])) << "at " << i;
    else if (std::isnan(need[i]))
      ASSERT_TRUE(std::isnan(found[i])) << "at " << i;
    else
      ASSERT_EQ(found[i], need[i]) << "at " << i;
  }
}

template <class T>
void check_specials(const Case& c) {
  Tensor x = random_tensor<T>(c.x, 1), w = random_tensor<T>(c.w, 2);
  Tensor g = random_tensor<T>(conv(x, w, {}, c.options).shape(), 4);
  Ints in, kernel;
  for (int i = 2; i < x.rank(); ++i) in.push_back(x.size(i)), kernel.push_back(w.size(i));
  const auto check = [&](const Tensor& a, const Tensor& b, auto&& f) {
    const auto wide = [](const Tensor& t) { return cast(t, DType::kFloat64); };
    expect_same_specials(f(a, b), f(wide(a), wide(b)));
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double number : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()})
    for (const int64_t part : {0, 1, 2, 3}) {
      const auto put = [&](const Tensor& t) { return with_number<T>(t, (t.numel() - 1) * part / 3, number); };
      const auto forward = [&](const Tensor& a, const Tensor& b) { return conv(a, b, {}, c.options); };
      const auto to_input = [&](const Tensor& a, const Tensor& b) {
        return conv_backward_input(a, b, in, c.options);
      };
      const auto to_weight = [&](const Tensor& a, const Tensor& b) {
        return conv_backward_weight(a, b, kernel, c.options);
      };
      check(put(x), w, forward), check(x, put(w), forward);
      check(put(g), w, to_input), check(g, put(w), to_input);
      check(put(x), g, to_weight), check(x, put(g), to_weight);
    }
}

TEST(Conv, SpecialValuesReachWhatReadsThemAlone) {
  std::vector<Case> all = cases();
  all.push_back({{2, 1, 3, 4}, {2, 1, 3, 3}, {}});
  all.push_back({{1, 3, 6, 7}, {16, 3, 3, 3}, {.stride = {2}, .padding = {1}}});
  all.push_back({{2, 17, 5, 6}, {18, 17, 3, 3}, {.padding = {1}}});
  for (const Case& c : all) {
    check_specials<float>(c);
    check_specials<double>(c);
    check_specials<Float16>(c);
    check_specials<BFloat16>(c);
  }
}

TEST(Conv, SixteenBitFloatsRoundOnce) {
  Tensor x = random_tensor<BFloat16>({1, 16, 5, 5}, 1), w = random_tensor<BFloat16>({4, 16, 3, 3}, 2);
  Tensor y = conv(x, w);
  EXPECT_EQ(y.dtype(), DType::kBFloat16);
  expect_near(y, naive_conv(x, w, {}, {}, y.shape()), 1.0 / 256);
}

TEST(Conv, NamesWhatDoesNotFit) {
  Tensor x = random_tensor({1, 3, 8, 8}, 1), w = random_tensor({4, 3, 3, 3}, 2);
  expect_error<ShapeError>(
      [&] {
        (void)conv2d(x, random_tensor({4, 2, 3, 3}, 2));
      },
      "conv: channels do not fit: got 3 channels for weight (4, 2, 3, 3)");
  expect_error<ShapeError>(
      [&] {
        (void)conv2d(x, random_tensor({4, 3, 9, 3}, 2));
      },
      "conv: the window is longer than spatial axis 0: got 8 elements");
  expect_error<ValueError>([&] { (void)conv2d(x, w, {}, {.stride = {0}}); },
                           "conv: 'stride' is too small: got (0,)");
  expect_error<DTypeError>(
      [&] {
        (void)conv2d(x, random_tensor<float>({4, 3, 3, 3}, 2));
      },
      "conv: dtypes differ: got float32 for 'weight', need float64");
  expect_error<ShapeError>([&] { (void)conv2d(x, w, random_tensor({3}, 1)); },
                           "conv: bias does not fit: got shape (3,), need (4,)");
  expect_error<ValueError>(
      [&] {
        (void)conv_transpose(random_tensor({1, 4, 2, 2}, 1), w, {}, {}, {1});
      },
      "conv_transpose: 'output_padding' is too large");
}

TEST(Conv, StridesPastTheEndLeaveOneWindow) {
  Tensor x = random_tensor<float>({1, 3, 8, 8}, 1), w = random_tensor<float>({4, 3, 3, 3}, 2);
  const std::vector<double> first = doubles(conv2d(x, w, {}, {.stride = {6}}));
  for (int64_t stride : {int64_t{7}, int64_t{1} << 31, int64_t{1} << 62, INT64_MAX}) {
    const ConvOptions options{.stride = {stride}};
    Tensor y = conv2d(x, w, {}, options);
    EXPECT_EQ(y.shape(), Shape({1, 4, 1, 1}));
    EXPECT_EQ(doubles(y), first);
    EXPECT_EQ(conv_backward_input(y, w, {8, 8}, options).shape(), x.shape());
    EXPECT_EQ(conv_backward_weight(x, y, {3, 3}, options).shape(), w.shape());
  }
  EXPECT_EQ(same_padding({8}, {3}, {INT64_MAX}), Ints({0, 0}));
}

TEST(Conv, RefusesExtentsPast64Bits) {
  Tensor x = random_tensor({1, 3, 8, 8}, 1), w = random_tensor({4, 3, 3, 3}, 2);
  for (const ConvOptions& options :
       {ConvOptions{.padding = {INT64_MAX}}, ConvOptions{.dilation = {INT64_MAX}}})
    expect_error<ValueError>([&] { (void)conv2d(x, w, {}, options); }, "conv: an extent is too large");
  Tensor y = random_tensor({1, 4, 2, 2}, 3);
  expect_error<ValueError>([&] { (void)conv_transpose(y, w, {}, {.stride = {INT64_MAX}}); },
                           "conv_transpose: an extent is too large");
}

TEST(Conv, SamePaddingPutsTheOddElementHigh) {
  EXPECT_EQ(same_padding({32, 7}, {3, 4}), Ints({1, 1, 1, 2}));
  EXPECT_EQ(same_padding({224}, {7}, {2}), Ints({2, 3}));
  EXPECT_EQ(same_padding({5}, {1}, {2}), Ints({0, 0}));
  EXPECT_EQ(same_padding({9}, {3}, {1}, {2}), Ints({2, 2}));
}

}  // namespace
}  // namespace sorus
