#include <type_traits>

#include "sorus/dispatch/kernel.h"

namespace sorus {
namespace {

/// Floating sums are in double, one after the other; integers wrap. `bias` may be null.
template <class T>
void multiply_matrix(const Array& a, const Array& b, const Array* bias, const Array& out, const int64_t* at) {
  using Compute = ComputeType<T>;
  using Sum = std::conditional_t<std::is_floating_point_v<Compute>, double, uint64_t>;
  int ra = a.rank();
  int rb = b.rank();
  int ro = out.rank();
  const T* pa = a.as<T>() + at[0];
  const T* pb = b.as<T>() + at[1];
  T* po = out.as<T>() + at[2];
  for (int64_t i = 0; i < out.size(ro - 2); ++i)
    for (int64_t j = 0; j < out.size(ro - 1); ++j) {
      Sum sum = 0;
      for (int64_t p = 0; p < a.size(ra - 1); ++p)
        sum += static_cast<Sum>(static_cast<Compute>(pa[i * a.strides[ra - 2] + p * a.strides[ra - 1]])) *
               static_cast<Sum>(static_cast<Compute>(pb[p * b.strides[rb - 2] + j * b.strides[rb - 1]]));
      if (bias) sum += static_cast<Sum>(static_cast<Compute>(bias->as<T>()[j * bias->strides[0]]));
      po[i * out.strides[ro - 2] + j * out.strides[ro - 1]] = static_cast<T>(static_cast<Compute>(sum));
    }
}

/// Offset of matrix `batch` (row-major over the result's batch axes) in an operand that may broadcast.
int64_t batch_offset(const Array& x, const Array& out, int64_t batch) {
  int64_t offset = 0;
  int shift = out.rank() - x.rank();
  for (int axis = out.rank() - 2; axis-- > 0;) {
    int64_t index = batch % out.size(axis);
    batch /= out.size(axis);
    if (axis >= shift && x.size(axis - shift) != 1) offset += index * x.strides[axis - shift];
  }
  return offset;
}

void run_matmul(const KernelCall& call) {
  const Array& out = call.out[0];
  int64_t count = out.numel();
  if (count == 0) return;
  int64_t batches = count / (out.size(out.rank() - 2) * out.size(out.rank() - 1));
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    for (int64_t batch = 0; batch < batches; ++batch) {
      int64_t at[3] = {batch_offset(call.in[0], out, batch), batch_offset(call.in[1], out, batch),
                       batch_offset(out, out, batch)};
      multiply_matrix<T>(call.in[0], call.in[1], call.in.size() > 2 ? &call.in[2] : nullptr, out, at);
    }
  });
}

const Kernel kernel{.name = "matmul_reference", .in_layout = Layout::kAny, .run = run_matmul};
const KernelRegistrar registered[] = {{"matmul", kernel, kReferenceRank},
                                      {"matmul_bias", kernel, kReferenceRank}};

}  // namespace
}  // namespace sorus
