#include "sorus/dispatch/kernel.h"

namespace sorus {
namespace {

/// What there is to check has been checked before.
void run(const KernelCall& call) { *call.out[0].as<bool>() = true; }

const KernelRegistrar registered{"binary_cross_entropy_check", Kernel{.name = "reference", .run = run},
                                 kReferenceRank};

}  // namespace
}  // namespace sorus
