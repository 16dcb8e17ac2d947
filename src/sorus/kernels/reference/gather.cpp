#include "sorus/kernels/reference/blocks.h"
#include "sorus/ops/index/attributes.h"

namespace sorus {
namespace {

void run_gather(const KernelCall& call) {
  const auto& a = call.attrs<GatherAttrs>();
  const Array& x = call.in[0];
  auto axis = static_cast<int>(a.axis);
  blocks::copy_blocks(x, blocks::gather_bases(x, axis, static_cast<int>(a.batch_dims), call.in[1]),
                      blocks::Block(x, axis + 1), call.out[0]);
}

void run_gather_elements(const KernelCall& call) {
  const Array& x = call.in[0];
  auto axis = static_cast<int>(call.attrs<GatherElementsAttrs>().axis);
  blocks::copy_blocks(x, blocks::element_bases(x, axis, call.in[1]), {}, call.out[0]);
}

void run_gather_nd(const KernelCall& call) {
  const Array& x = call.in[0];
  int inner = 0;
  std::vector<int64_t> bases = blocks::nd_bases(x, call.in[1], &inner);
  blocks::copy_blocks(x, bases, blocks::Block(x, inner), call.out[0]);
}

Kernel kernel(std::string_view name, void (*run)(const KernelCall&)) {
  return {.name = name, .in_layout = Layout::kAny, .run = run};
}
const KernelRegistrar registered_gather{"gather", kernel("gather_reference", run_gather), kReferenceRank};
const KernelRegistrar registered_elements{
    "gather_elements", kernel("gather_elements_reference", run_gather_elements), kReferenceRank};
const KernelRegistrar registered_nd{"gather_nd", kernel("gather_nd_reference", run_gather_nd),
                                    kReferenceRank};

}  // namespace
}  // namespace sorus
