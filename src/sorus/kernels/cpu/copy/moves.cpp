#include "sorus/kernels/reference/moves.h"

#include "sorus/kernels/cpu/copy/strided_copy.h"

namespace sorus {
namespace {

const moves::Registration<copy_array> registered{"move_cpu", kSimdRank};

}  // namespace
}  // namespace sorus
