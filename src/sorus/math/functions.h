#pragma once

// The scalar functions of Sorus over the Lane vocabulary (lane.h): `template <Lane V> V exp(V x)` and so on,
// each written once. Contract of all of them, for float and for double, over the whole domain, denormals
// included as arguments and results: the error is at most 2 units in the last place (tests/math holds the
// measured bound of each), and special values (NaN, infinities, signed zeros, domain errors) are those of
// IEEE 754 and NumPy. No exception flags, no errno. Pure functions; safe in any thread.
//
// The definitions stand in functions/*.inc without guard or namespace: a template takes its instruction set
// where it is defined, so SIMD kernels include the same text once per target, through
// kernels/cpu/simd/functions.h. Whatever else is to be instantiated with SIMD lanes (rows of elementwise ops,
// say) must be included in the same way.

#include <cstdint>
#include <limits>
#include <utility>

#include "sorus/math/lane.h"
#include "sorus/math/tables.h"

namespace sorus::math {

#include "sorus/math/functions/all.inc"

}  // namespace sorus::math
