#pragma once

#include <cstdint>
#include <string>

#include "sorus/base/export.h"

namespace sorus {

/// What the processor and the operating system offer; found once per process.
struct CpuFeatures {
  bool avx2 = false;    ///< AVX2 and FMA
  bool avx512 = false;  ///< F, DQ, BW, VL
  bool avx512_bf16 = false;
  bool avx512_vnni = false;
  bool avx512_fp16 = false;
  bool amx = false;   ///< tiles with bf16 and int8
  std::string model;  ///< name from the processor, "unknown" when it has none
};

[[nodiscard]] SORUS_API const CpuFeatures& cpu_features();

/// The features as one line of words, for run_check() and bug reports.
[[nodiscard]] SORUS_API std::string describe_cpu();

/// Bytes of the last level of caches as the processor tells them, of which others may use a part; 0 when it
/// does not tell.
[[nodiscard]] SORUS_API int64_t last_level_cache_bytes();

/// Cores this process may run on (affinity respected), at least 1.
[[nodiscard]] SORUS_API int available_cores();

}  // namespace sorus
