#pragma once

// Which instruction sets Sorus compiles SIMD kernels for: AVX2 and AVX-512 (Highway's AVX2 and AVX3), and one
// scalar target for any other machine. Include it first in every file that includes Highway, so that one
// choice holds everywhere.
//
// What to know of Highway 1.0.3:
// - The baseline of plain x86-64 is SSE2, for which Highway has no target: HWY_STATIC_TARGET is its scalar
// emulation,
//   and it is always compiled. Its MulAdd is not fused and its rounding differs, so SimdLane there is
//   ScalarLane.
// - GCC below 12.3 gets HWY_SCALAR, later ones HWY_EMU128; HWY_BROKEN_EMU128 below makes it HWY_SCALAR for
// all.
// - HWY_DISABLE_BMI2_FMA would make AVX2 MulAdd two roundings: never define it.
// - Min and Max are the processor's: the second operand when either is NaN. SimdLane relies on it.
// - A function template takes its instruction set where it is defined, not where it is instantiated, and so
// does a
//   lambda in a header. Code that lanes flow through must therefore stand between HWY_BEFORE_NAMESPACE() and
//   HWY_AFTER_NAMESPACE() and be included once per target (see simd/functions.h).

#ifdef HWY_DISABLE_BMI2_FMA
#error "SIMD lanes need a fused multiply-add"
#endif
#define HWY_BROKEN_EMU128 1
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_EMU128)
