#include "sorus/kernels/reference/moves.h"

#include "sorus/core/strided_copy.h"

namespace sorus {
namespace {

void copy_plain(const Array& from, const Array& to) {
  copy_strided_plainly(from.data, from.strides, to.data, to.strides, *to.shape, dtype_size(to.dtype));
}

const moves::Registration<copy_plain> registered{"move_reference", kReferenceRank};

}  // namespace
}  // namespace sorus
