#include "sorus/kernels/reference/element.h"

namespace sorus::reference {
namespace {

/// Copies the bytes of the chosen operand.
template <class T>
void where_element(std::byte* out, const std::byte* const* in, const double*) {
  bool condition;
  std::memcpy(&condition, in[0], 1);
  std::memcpy(out, condition ? in[1] : in[2], sizeof(T));
}
void run_where(const KernelCall& call) {
  visit_dtype(call.in[1].dtype,
              [&]<class T>(std::type_identity<T>) { for_each_element(call, where_element<T>); });
}

void run_copy(const KernelCall& call) {
  copy_strided(call.in[0].data, call.in[0].strides, call.out[0].data, call.out[0].strides, *call.out[0].shape,
               dtype_size(call.out[0].dtype));
}

KernelRegistrar reference(std::string_view op, void (*run)(const KernelCall&)) {
  return {op, Kernel{.name = "reference", .in_layout = Layout::kAny, .out_layout = Layout::kAny, .run = run},
          kReferenceRank};
}
const KernelRegistrar registered[] = {reference("where", run_where), reference("stop_gradient", run_copy)};

}  // namespace
}  // namespace sorus::reference
