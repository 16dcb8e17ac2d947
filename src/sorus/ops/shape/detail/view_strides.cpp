#include "sorus/ops/shape/detail/view_strides.h"

namespace sorus::detail {

std::optional<Strides> reshape_strides(const Shape& shape, const Strides& strides, const Shape& wanted) {
  if (shape.numel() == 0) return Strides::contiguous(wanted);
  // Neighbouring axes that lie in memory like one axis are merged; axes of extent 1 say nothing.
  int64_t extent[kMaxRank];
  int64_t step[kMaxRank];
  int merged = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    int64_t n = shape.size(i);
    if (n == 1) continue;
    if (merged > 0 && step[merged - 1] == n * strides[i]) {
      extent[merged - 1] *= n;
      step[merged - 1] = strides[i];
    } else {
      extent[merged] = n;
      step[merged++] = strides[i];
    }
  }
  // Each wanted axis is cut from the innermost merged axis that is left; it may not straddle two of them.
  Strides out;
  int at = merged - 1;
  int64_t left = at >= 0 ? extent[at] : 1;
  int64_t next = at >= 0 ? step[at] : 1;
  for (int j = wanted.rank(); j-- > 0;) {
    int64_t n = wanted.size(j);
    out[j] = next;
    if (n == 1) continue;
    if (left == 1) {
      --at;
      left = extent[at];
      next = step[at];
      out[j] = next;
    }
    if (left % n != 0) return std::nullopt;
    left /= n;
    next *= n;
  }
  return out;
}

}  // namespace sorus::detail
