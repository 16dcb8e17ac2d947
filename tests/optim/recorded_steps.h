#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "sorus/core/parameter.h"
#include "sorus/dispatch/op_def.h"

/// The recorded optimizer steps of the genuine package, as tests compare them.
namespace sorus::optim {

using Json = nlohmann::json;

/// What the genuine package was recorded to do with two parameters, three gradients and each optimizer.
inline const Json& recorded() {
  static const Json steps = [] {
    std::ifstream in(std::string(SORUS_SOURCE_DIR) + "/tests/fixtures/mindspore/facts.json");
    return Json::parse(in)["optimizer_steps"];
  }();
  return steps;
}

inline std::vector<Parameter> tiny_parameters() {
  return {Parameter(Tensor({0.5F, -1.F, 2.F, 0.25F}, {2, 2}), "weight"),
          Parameter(Tensor({0.1F, -0.2F}, {2}), "bias")};
}

/// A recorded tensor: [dtype, shape, elements].
inline Tensor tensor_of(const Json& spec) {
  Shape shape;
  for (int64_t extent : spec[1]) shape.push_back(extent);
  auto items = spec[2].get<std::vector<float>>();
  return {std::span<const float>(items), shape};
}

/// One step with the gradients of both parameters.
using StepFunction = std::function<void(const TensorList& gradients)>;

inline void expect_recorded(const std::string& key, const std::vector<Parameter>& parameters,
                            const StepFunction& step) {
  for (size_t t = 0; t < 3; ++t) {
    const Json& gradients = recorded()["gradients"][t];
    step({tensor_of(gradients[0]), tensor_of(gradients[1])});
    for (size_t i = 0; i < 2; ++i) {
      std::vector<float> got = parameters[i].value().to_vector<float>();
      auto want = recorded()[key][t][i][2].get<std::vector<float>>();
      for (size_t k = 0; k < want.size(); ++k)
        EXPECT_NEAR(got[k], want[k], 2e-5 * std::abs(want[k]) + 1e-6)
            << key << ", step " << t << ", " << parameters[i].name() << "[" << k << "]";
    }
  }
}

}  // namespace sorus::optim
