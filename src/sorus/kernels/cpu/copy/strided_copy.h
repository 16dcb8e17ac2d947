#pragma once

#include "sorus/dispatch/kernel.h"

namespace sorus {

/// Copies every element of `from` to the same logical index of `to`: equal shapes and element sizes, any
/// strides; `to` has no two elements in one place and overlaps nothing of `from`. Axes that lie alike are
/// merged, runs are copied by memcpy, and transpositions go in tiles that fit the first cache. Spreads large
/// copies over the thread pool. Elements are moved as bytes, so the result does not depend on how.
/// copy_strided() of core comes here, too.
void copy_array(const Array& from, const Array& to);

}  // namespace sorus
