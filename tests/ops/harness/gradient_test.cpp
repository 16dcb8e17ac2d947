#include <cmath>

#include "sorus/autograd/grad.h"
#include "tests/ops/harness/corpus.h"

namespace sorus::samples {
namespace {

using GradientCorpus = Corpus;

/// Indices of the inputs whose gradients are checked.
std::vector<size_t> differentiable(const Sample& sample) {
  std::vector<size_t> list;
  for (size_t i = 0; i < sample.inputs.size(); ++i)
    if (sample.inputs[i].differentiable) list.push_back(i);
  return list;
}

bool has_gradient(const Sample& sample, DType dtype) {
  return sample.gradient && is_floating(dtype) && !differentiable(sample).empty();
}

/// The sample as a function of its differentiable inputs, with its floating results alone.
TensorFunction restricted(const Sample& sample, TensorList in) {
  return [&sample, in = std::move(in), at = differentiable(sample)](const TensorList& x) {
    TensorList all = in;
    for (size_t i = 0; i < at.size(); ++i) all[at[i]] = x[i];
    TensorList out;
    for (Tensor& t : sample.call(all))
      if (is_floating(t.dtype())) out.push_back(std::move(t));
    return out;
  };
}

TensorList restricted_inputs(const Sample& sample, const TensorList& in) {
  TensorList x;
  for (size_t i : differentiable(sample)) x.push_back(in[i]);
  return x;
}

TensorList random_like(const TensorList& list, uint64_t seed) {
  TensorList r;
  for (const Tensor& t : list) r.push_back(to_tensor(randn(t.shape(), seed++), t.dtype()));
  return r;
}

Real inner_product(const TensorList& a, const TensorList& b) {
  Real total = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const HostArray x = to_host(a[i]);
    const HostArray y = to_host(b[i]);
    for (size_t k = 0; k < x.values.size(); ++k) total += x.values[k] * y.values[k];
  }
  return total;
}

TensorList moved(const TensorList& x, const TensorList& direction, Real step) {
  TensorList r;
  for (size_t i = 0; i < x.size(); ++i) {
    HostArray a = to_host(x[i]);
    const HostArray d = to_host(direction[i]);
    for (size_t k = 0; k < a.values.size(); ++k) a.values[k] += step * d.values[k];
    r.push_back(to_tensor(a, x[i].dtype()));
  }
  return r;
}

/// The derivative of <weights, f> at x along a direction, by central differences of two widths (Richardson),
/// so that the error is of fourth order.
Real numeric_slope(const TensorFunction& f, const TensorList& x, const TensorList& weights,
                   const TensorList& direction) {
  auto slope = [&](Real h) {
    return (inner_product(weights, f(moved(x, direction, h))) -
            inner_product(weights, f(moved(x, direction, -h)))) /
           (2 * h);
  };
  constexpr Real kStep = 0x1p-14L;
  return (4 * slope(kStep / 2) - slope(kStep)) / 3;
}

/// Size of the terms of a slope, to which its error is relative.
Real magnitude(const TensorList& gradient, const TensorList& direction) {
  Real total = 1e-2L;
  for (size_t i = 0; i < gradient.size(); ++i) {
    const HostArray g = to_host(gradient[i]);
    const HostArray d = to_host(direction[i]);
    for (size_t k = 0; k < g.values.size(); ++k) total += std::fabs(g.values[k] * d.values[k]);
  }
  return total;
}

constexpr Real kTolerance = 2e-7L;
constexpr int kDirections = 3;

void expect_slope(const TensorFunction& f, const TensorList& x, const TensorList& weights,
                  const TensorList& gradient) {
  for (int k = 0; k < kDirections; ++k) {
    const TensorList direction = random_like(x, 100 + static_cast<uint64_t>(k) * 10);
    const Real want = numeric_slope(f, x, weights, direction);
    const Real got = inner_product(gradient, direction);
    EXPECT_NEAR(static_cast<double>(got), static_cast<double>(want),
                static_cast<double>(kTolerance * magnitude(gradient, direction)))
        << "direction " << k;
  }
}

TEST_P(GradientCorpus, GradientIsTheSlope) {
  for_each([](const Sample& sample, DType dtype) {
    if (dtype != DType::kFloat64 || !has_gradient(sample, dtype)) return;
    const TensorList in = inputs_of(sample, dtype);
    const TensorFunction f = restricted(sample, in);
    const TensorList x = restricted_inputs(sample, in);
    const Pullback pullback = vjp(f, x);
    const TensorList weights = random_like(pullback.values, 7);
    expect_slope(f, x, weights, pullback.pull(weights));
  });
}

TEST_P(GradientCorpus, GradientOfGradientIsTheSlope) {
  for_each([](const Sample& sample, DType dtype) {
    if (dtype != DType::kFloat64 || !has_gradient(sample, dtype) || !sample.second_gradient) return;
    const TensorList in = inputs_of(sample, dtype);
    const TensorFunction f = restricted(sample, in);
    const TensorList x = restricted_inputs(sample, in);
    const TensorList weights = random_like(f(x), 7);
    const TensorFunction gradient = [&](const TensorList& at) { return vjp(f, at).pull(weights); };
    const Pullback pullback = vjp(gradient, x);
    const TensorList second = random_like(pullback.values, 17);
    expect_slope(gradient, x, second, pullback.pull(second));
  });
}

TEST_P(GradientCorpus, ForwardModeAgreesWithReverse) {
  for_each([](const Sample& sample, DType dtype) {
    if (dtype != DType::kFloat64 || !has_gradient(sample, dtype) || !sample.second_gradient) return;
    const TensorList in = inputs_of(sample, dtype);
    const TensorFunction f = restricted(sample, in);
    const TensorList x = restricted_inputs(sample, in);
    const TensorList tangents = random_like(x, 3);
    const auto [values, forward] = jvp(f, x, tangents);
    const TensorList weights = random_like(values, 7);
    const TensorList reverse = vjp(f, x).pull(weights);
    const Real want = inner_product(reverse, tangents);
    EXPECT_NEAR(static_cast<double>(inner_product(weights, forward)), static_cast<double>(want),
                static_cast<double>(1e-9L * magnitude(reverse, tangents)));
  });
}

TEST_P(GradientCorpus, GradientHasTheTypeOfTheInput) {
  for_each([](const Sample& sample, DType dtype) {
    if (!has_gradient(sample, dtype)) return;
    const TensorList in = inputs_of(sample, dtype);
    const TensorList x = restricted_inputs(sample, in);
    const Pullback pullback = vjp(restricted(sample, in), x);
    const TensorList gradient = pullback.pull(random_like(pullback.values, 7));
    ASSERT_EQ(gradient.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(gradient[i].type().text(), x[i].type().text()) << i;
  });
}

INSTANTIATE_TEST_SUITE_P(Op, GradientCorpus, ::testing::ValuesIn(sampled_functions()), test_name);

}  // namespace
}  // namespace sorus::samples
