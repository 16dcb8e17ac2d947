#include "sorus/kernels/convert.h"
#include "sorus/kernels/reference/element.h"

namespace sorus::reference {
namespace {

template <class From, class To>
void cast_element(std::byte* out, const std::byte* const* in, const double*) {
  From from;
  std::memcpy(&from, in[0], sizeof(From));
  To to = convert_element<To>(from);
  std::memcpy(out, &to, sizeof(To));
}

void run_cast(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class From>(std::type_identity<From>) {
    visit_dtype(call.out[0].dtype,
                [&]<class To>(std::type_identity<To>) { for_each_element(call, cast_element<From, To>); });
  });
}

const KernelRegistrar registered{
    "cast",
    Kernel{.name = "reference", .in_layout = Layout::kAny, .out_layout = Layout::kAny, .run = run_cast},
    kReferenceRank};

}  // namespace
}  // namespace sorus::reference
