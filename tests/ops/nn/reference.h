#pragma once

#include <algorithm>

#include "sorus/dispatch/kernel.h"
#include "tests/ops/harness/sample.h"

namespace sorus::samples {

/// The results of the same call for float64 operands by the reference kernels, which the tests beside this
/// file hold to plain definitions: a reference for narrower dtypes and for faster kernels. Inputs at
/// `integral` keep int32.
inline Reference in_double(Call call, std::vector<size_t> integral = {}) {
  return [call = std::move(call), integral = std::move(integral)](const std::vector<HostArray>& in) {
    TensorList wide;
    for (size_t i = 0; i < in.size(); ++i) {
      bool keeps = std::find(integral.begin(), integral.end(), i) != integral.end();
      wide.push_back(to_tensor(in[i], keeps ? DType::kInt32 : DType::kFloat64));
    }
    bool saved = reference_kernels_only();
    reference_kernels_only() = true;
    TensorList out = call(wide);
    reference_kernels_only() = saved;
    std::vector<HostArray> host;
    for (const Tensor& t : out) host.push_back(to_host(t));
    return host;
  };
}

/// A sample compared with in_double; `absolute` is what sums of that size may lose, in epsilons.
inline Sample sample_of(std::string name, std::vector<Input> inputs, Call call, double absolute = 20,
                        std::vector<size_t> integral = {}) {
  Sample s;
  s.name = std::move(name);
  s.inputs = std::move(inputs);
  s.reference = in_double(call, std::move(integral));
  s.call = std::move(call);
  s.absolute = absolute;
  s.ulp = 8;
  s.equal_kernels = false;
  return s;
}

}  // namespace sorus::samples
