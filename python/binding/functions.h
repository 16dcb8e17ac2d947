#pragma once

#include "binding/function.h"

/// The tables of C++ functions that Python reaches, by family: one line a function.
namespace sorus::python {

[[nodiscard]] std::vector<Function> elementwise_functions();
[[nodiscard]] std::vector<Function> two_operand_functions();
[[nodiscard]] std::vector<Function> activation_functions();
[[nodiscard]] std::vector<Function> shape_functions();
[[nodiscard]] std::vector<Function> stacking_functions();
[[nodiscard]] std::vector<Function> index_functions();
[[nodiscard]] std::vector<Function> reduce_functions();
[[nodiscard]] std::vector<Function> linalg_functions();
[[nodiscard]] std::vector<Function> nn_functions();
[[nodiscard]] std::vector<Function> recurrent_functions();
[[nodiscard]] std::vector<Function> optim_functions();
[[nodiscard]] std::vector<Function> schedule_functions();
[[nodiscard]] std::vector<Function> loss_functions();
[[nodiscard]] std::vector<Function> random_functions();

/// Bits of tensor parameters beside which numbers promote weakly.
inline constexpr uint32_t kBoth = 3;

}  // namespace sorus::python
