#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "sorus/autograd/grad.h"
#include "sorus/core/tensor.h"

/// What the tests of the neural-network ops share.
namespace sorus::testing {

/// Repeatable numbers in (-1, 1) without ties.
inline std::vector<double> numbers(int64_t n, uint64_t seed) {
  std::vector<double> out;
  uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    out.push_back(static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0);
  }
  return out;
}

template <class T = double>
Tensor random_tensor(const Shape& shape, uint64_t seed) {
  std::vector<T> items;
  for (double v : numbers(shape.numel(), seed)) items.push_back(T(static_cast<ComputeType<T>>(v)));
  return Tensor(std::span<const T>(items), shape);
}

inline std::vector<double> doubles(const Tensor& t) {
  std::vector<double> out;
  visit_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, bool>)
      for (T v : t.to_vector<T>()) out.push_back(static_cast<double>(static_cast<ComputeType<T>>(v)));
  });
  return out;
}

inline void expect_near(const Tensor& got, const std::vector<double>& need, double tolerance = 1e-12) {
  std::vector<double> items = doubles(got);
  ASSERT_EQ(items.size(), need.size());
  for (size_t i = 0; i < need.size(); ++i)
    ASSERT_NEAR(items[i], need[i], tolerance * (1 + std::abs(need[i]))) << "at " << i;
}

template <class E, class F>
void expect_error(F&& f, const std::string& text) {
  try {
    f();
    FAIL() << "nothing was thrown, need: " << text;
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

using ListFunction = std::function<Tensor(const TensorList&)>;

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Compares the pullback of f in one random direction of every float64 operand with central differences.
inline void check_gradient(const ListFunction& f, const TensorList& inputs, double tolerance = 1e-6) {
  Pullback p = vjp([&](const TensorList& x) { return TensorList{f(x)}; }, inputs);
  Tensor cotangent = random_tensor(p.values[0].shape(), 91);
  TensorList gradients = p.pull({cotangent});
  std::vector<double> weights = doubles(cotangent);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != DType::kFloat64) continue;
    ASSERT_TRUE(gradients[i].defined()) << "operand " << i;
    ASSERT_EQ(gradients[i].shape(), inputs[i].shape()) << "operand " << i;
    std::vector<double> direction = numbers(inputs[i].numel(), 17 + i);
    auto value_at = [&](double step) {
      std::vector<double> moved = doubles(inputs[i]);
      for (size_t k = 0; k < moved.size(); ++k) moved[k] += step * direction[k];
      TensorList list = inputs;
      list[i] = Tensor(std::span<const double>(moved), inputs[i].shape());
      return dot(doubles(f(list)), weights);
    };
    constexpr double kStep = 1e-5;
    double numeric = (value_at(kStep) - value_at(-kStep)) / (2 * kStep);
    double analytic = dot(doubles(gradients[i]), direction);
    EXPECT_NEAR(analytic, numeric, tolerance * (1 + std::abs(numeric))) << "operand " << i;
  }
}

/// check_gradient for f and for its gradient as a function of the operands and of the cotangent.
inline void check_two_gradients(const ListFunction& f, const TensorList& inputs, double tolerance = 1e-6) {
  check_gradient(f, inputs, tolerance);
  Tensor cotangent = random_tensor(f(inputs).shape(), 55);
  for (size_t which = 0; which < inputs.size(); ++which) {
    if (inputs[which].dtype() != DType::kFloat64) continue;
    TensorList extended = inputs;
    extended.push_back(cotangent);
    auto slope = [&](const TensorList& x) {
      TensorList own;
      for (size_t i = 0; i + 1 < x.size(); ++i) own.push_back(x[i]);
      Pullback p = vjp([&](const TensorList& y) { return TensorList{f(y)}; }, own);
      return p.pull({x[x.size() - 1]})[which];
    };
    SCOPED_TRACE("second gradient of operand " + std::to_string(which));
    check_gradient(slope, extended, tolerance);
  }
}

}  // namespace sorus::testing
