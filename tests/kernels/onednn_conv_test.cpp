#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sorus/base/cpu_features.h"
#include "sorus/base/error.h"
#include "sorus/kernels/cpu/conv/pointwise.h"
#include "sorus/kernels/cpu/onednn/conv.h"
#include "tests/kernels/conv_testing.h"

namespace sorus::kernels::onednn {
namespace {

using testing::Buffer;
using testing::for_products;
using testing::Threads;

/// A problem of two spatial dimensions; the other fields are set by name where a case needs them.
ConvProblem plane(int64_t n, int64_t ic, int64_t oc, int64_t size, int64_t kernel, int64_t stride,
                  int64_t pad) {
  ConvProblem p;
  p.n = n, p.in_channels = ic, p.out_channels = oc;
  p.in = {size, size, 1}, p.kernel = {kernel, kernel, 1}, p.stride = {stride, stride, 1};
  p.pad_low = p.pad_high = {pad, pad, 0};
  return p;
}

ConvProblem with(ConvProblem p, const std::function<void(ConvProblem&)>& change) {
  change(p);
  return p;
}

std::vector<std::pair<std::string, ConvProblem>> cases() {
  return {
      {"lenet1", plane(3, 1, 6, 32, 5, 1, 0)},
      {"lenet2", plane(3, 6, 16, 14, 5, 1, 0)},
      {"same3", plane(2, 16, 32, 12, 3, 1, 1)},
      {"odd_channels", plane(2, 5, 7, 9, 3, 1, 1)},
      {"rows_one_image", plane(1, 64, 64, 28, 3, 1, 1)},
      {"rows_stride", plane(1, 32, 64, 41, 3, 2, 1)},
      {"rows_stride_larger_than_kernel", plane(1, 64, 128, 50, 2, 3, 0)},
      {"many_images", plane(9, 32, 48, 20, 3, 1, 1)},
      {"stem", plane(1, 3, 32, 64, 7, 2, 3)},
      {"pointwise", plane(2, 32, 48, 14, 1, 1, 0)},
      {"pointwise_stride", plane(2, 24, 40, 13, 1, 2, 0)},
      {"pointwise_stride_wide_blocks", plane(1, 256, 512, 14, 1, 2, 0)},
      {"pointwise_padded", plane(2, 16, 16, 7, 1, 1, 1)},
      {"channel_slices", plane(2, 64, 256, 7, 3, 1, 1)},
      {"slices_of_results", plane(3, 160, 192, 9, 3, 1, 1)},
      {"slices_stride", plane(5, 128, 200, 11, 3, 2, 1)},
      {"slices_packed_where_used", plane(2, 64, 512, 7, 3, 1, 1)},
      {"image_chunks", plane(8, 16, 32, 40, 3, 1, 1)},
      {"windows_in_padding", with(plane(1, 17, 24, 22, 2, 2, 0),
                                  [](ConvProblem& p) {
                                    p.kernel = {1, 4, 1}, p.stride = {2, 3, 1};
                                    p.pad_low = {0, 2, 0}, p.pad_high = {2, 0, 0};
                                  })},
      {"row_chunks", plane(1, 24, 32, 90, 3, 1, 1)},
      {"row_chunks_stride", plane(2, 16, 32, 121, 3, 2, 1)},
      {"groups", with(plane(2, 12, 18, 10, 3, 1, 1), [](ConvProblem& p) { p.groups = 3; })},
      {"depthwise", with(plane(2, 32, 32, 15, 3, 2, 1), [](ConvProblem& p) { p.groups = 32; })},
      {"dilation", with(plane(2, 16, 16, 17, 3, 1, 2),
                        [](ConvProblem& p) {
                          p.dilation = {2, 2, 1};
                        })},
      {"uneven", with(plane(2, 8, 16, 11, 3, 1, 1),
                      [](ConvProblem& p) {
                        p.in = {11, 17, 1}, p.kernel = {3, 2, 1}, p.stride = {1, 2, 1};
                        p.pad_low = {0, 1, 0}, p.pad_high = {2, 0, 0};
                      })},
      {"line", with(plane(3, 16, 24, 50, 5, 2, 2), [](ConvProblem& p) { p.rank = 1; })},
      {"volume",
       with(plane(2, 8, 16, 6, 3, 1, 1),
            [](ConvProblem& p) {
              p.rank = 3, p.in = {5, 6, 7}, p.kernel = {3, 3, 3}, p.pad_low = p.pad_high = {1, 1, 1};
            })},
  };
}

struct Tensors {
  Buffer input, weights, out_grad;
  explicit Tensors(const ConvProblem& p)
      : input(p.type, p.n * p.in_positions() * p.in_channels),
        weights(p.type, p.weights()),
        out_grad(p.type, p.n * p.out_positions() * p.out_channels) {
    input.fill(1), weights.fill(2), out_grad.fill(3);
  }
};

/// By the library, except for what are products of matrices.
Buffer run(const ConvProblem& p, ConvPass pass, const Tensors& t, const float* bias = nullptr) {
  bool product = pointwise::takes(p);
  Buffer space = testing::workspace(product ? pointwise::workspace(p, pass) : conv_workspace(p, pass));
  if (pass == ConvPass::kForward) {
    Buffer out(p.type, t.out_grad.size());
    (product ? pointwise::forward : conv_forward)(p, t.input.data(), t.weights.data(), bias, out.data(),
                                                  space.data(), {});
    return out;
  }
  if (pass == ConvPass::kBackwardData) {
    Buffer grad(p.type, t.input.size());
    (product ? pointwise::backward_data : conv_backward_data)(p, t.out_grad.data(), t.weights.data(),
                                                              grad.data(), space.data(), {});
    return grad;
  }
  Buffer grad(p.weights_grad_type, p.weights());
  (product ? pointwise::backward_weights : conv_backward_weights)(p, t.input.data(), t.out_grad.data(),
                                                                  grad.data(), space.data());
  return grad;
}

void expect_close(const Buffer& got, const std::vector<double>& want, const std::vector<double>& magnitude,
                  bool half) {
  for (int64_t i = 0; i < got.size(); ++i) {
    auto at = static_cast<size_t>(i);
    double bound = magnitude[at] * 0x1p-20 + (half ? std::abs(want[at]) * 0x1p-8 : 0) + 1e-30;
    ASSERT_NEAR(got.get(i), want[at], bound) << "element " << i;
  }
}

constexpr ConvPass kPasses[] = {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeights};

bool usable(ElementType type) { return type == ElementType::kFloat32 || cpu_features().avx512; }

class ConvTest : public ::testing::TestWithParam<std::tuple<size_t, ElementType>> {
 protected:
  void SetUp() override {
    auto [index, type] = GetParam();
    problem_ = cases()[index].second;
    problem_.type = problem_.weights_grad_type = type;
    if (!usable(type)) GTEST_SKIP() << "oneDNN has no bfloat16 on this CPU";
  }
  ConvProblem problem_;
};

TEST_P(ConvTest, MatchesDoubleReference) {
  const ConvProblem& p = problem_;
  Tensors t(p);
  for (ConvPass pass : kPasses) {
    Buffer got = run(p, pass, t);
    std::vector<double> want(static_cast<size_t>(got.size())), magnitude(want);
    for_products(p, [&](int64_t i, int64_t w, int64_t o) {
      double x = t.input.get(i), y = t.weights.get(w), g = t.out_grad.get(o);
      int64_t at = pass == ConvPass::kForward ? o : pass == ConvPass::kBackwardData ? i : w;
      double term = pass == ConvPass::kForward ? x * y : pass == ConvPass::kBackwardData ? g * y : x * g;
      want[static_cast<size_t>(at)] += term;
      magnitude[static_cast<size_t>(at)] += std::abs(term);
    });
    SCOPED_TRACE(pointwise::takes(p) ? "matmul" : conv_implementation(p, pass));
    expect_close(got, want, magnitude, p.type == ElementType::kBFloat16);
  }
}

TEST_P(ConvTest, BitsDoNotDependOnThreads) {
  Tensors t(problem_);
  for (ConvPass pass : kPasses) {
    std::vector<Buffer> results;
    for (int threads : {1, 2, 3, 4}) {
      Threads scope(threads);
      results.push_back(run(problem_, pass, t));
    }
    for (size_t i = 1; i < results.size(); ++i) {
      EXPECT_TRUE(results[i] == results[0])
          << "pass " << static_cast<int>(pass) << ", " << i + 1 << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvTest,
                         ::testing::Combine(::testing::Range(size_t{0}, cases().size()),
                                            ::testing::Values(ElementType::kFloat32, ElementType::kBFloat16)),
                         [](const auto& sample) {
                           return cases()[std::get<0>(sample.param)].first +
                                  (std::get<1>(sample.param) == ElementType::kFloat32 ? "_f32" : "_bf16");
                         });

TEST(Conv, FusesBiasAndActivation) {
  for (const char* name : {"same3", "rows_one_image", "slices_of_results", "pointwise", "lenet2", "line"}) {
    ConvProblem p;
    for (auto& [known, problem] : cases()) {
      if (known == name) p = problem;
    }
    Tensors t(p);
    Buffer plain = run(p, ConvPass::kForward, t), bias(ElementType::kFloat32, p.out_channels);
    bias.fill(7);
    p.has_bias = true;
    p.activation = Activation::kRelu;
    Buffer fused = run(p, ConvPass::kForward, t, static_cast<const float*>(bias.data()));
    for (int64_t i = 0; i < plain.size(); ++i) {
      // Not the same bits: a kernel may begin its sums with the bias, as those of AVX2 do.
      ASSERT_NEAR(fused.get(i), std::max(0.0F, plain.get(i) + bias.get(i % p.out_channels)), 1e-4F)
          << name << " at " << i;
    }
  }
}

TEST(Conv, EmptyBatchGivesZeroGradientOfWeights) {
  ConvProblem p = plane(0, 4, 4, 8, 3, 1, 1);
  Tensors t(p);
  Buffer grad = run(p, ConvPass::kBackwardWeights, t);
  for (int64_t i = 0; i < grad.size(); ++i) ASSERT_EQ(grad.get(i), 0.0F);
}

TEST(Conv, RefusesWhatItsContractExcludes) {
  ConvProblem p = plane(1, 4, 4, 8, 3, 1, 1);
  p.groups = 3;
  EXPECT_THROW((void)conv_workspace(p, ConvPass::kForward), ShapeError);
  p.groups = 1;
  p.stride[1] = 0;
  EXPECT_THROW((void)conv_workspace(p, ConvPass::kForward), ValueError);
  p.stride[1] = 1;
  p.rank = 4;
  EXPECT_THROW((void)conv_workspace(p, ConvPass::kForward), ShapeError);
}

TEST(Conv, SeveralCallersAtOnceAreRightAndStartNoOpenMPThread) {
  Threads two(2);
  parallel_for(2, [](int64_t) {});  // the pool's own thread
  int64_t before = testing::thread_count();
  ConvProblem p = plane(4, 32, 32, 20, 3, 1, 1);
  Tensors t(p);
  std::vector<Buffer> want;
  for (ConvPass pass : kPasses) want.push_back(run(p, pass, t));
  std::vector<int> wrong(3, 0);
  std::vector<std::thread> callers;
  for (size_t i = 0; i < wrong.size(); ++i) {
    callers.emplace_back([&, i] {
      testing::set_openmp_threads(5);
      for (int repeat = 0; repeat < 10; ++repeat) wrong[i] += !(run(p, kPasses[i], t) == want[i]);
      wrong[i] += testing::openmp_threads() != 5;
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, std::vector<int>(3, 0));
  EXPECT_EQ(testing::thread_count(), before);
}

}  // namespace
}  // namespace sorus::kernels::onednn
