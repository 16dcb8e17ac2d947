#pragma once

#include <cstdint>

#include "sorus/core/dtype.h"

/// Conversion of 16-bit floats on contiguous elements, and copies past the caches.
namespace sorus::cpu {

void widen(const Float16* from, float* to, int64_t n);
void widen(const BFloat16* from, float* to, int64_t n);
/// Rounds to nearest even.
void narrow(const float* from, Float16* to, int64_t n);
void narrow(const float* from, BFloat16* to, int64_t n);
/// Numbers that bfloat16 has.
void truncate(const float* from, BFloat16* to, int64_t n);

/// Results of more bytes go past the caches by default: from 32 to 64 MB, by what the last level holds.
[[nodiscard]] int64_t usual_streamed_bytes();

/// Copies bytes with non-temporal stores, for results that no cache will hold. Call finish_streams() after
/// the last of them, before another thread reads.
void stream_bytes(const void* from, void* to, int64_t bytes);
void finish_streams();

}  // namespace sorus::cpu
