#include "sorus/base/cpu_features.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace sorus {
namespace {

std::string model_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

CpuFeatures detect() {
  CpuFeatures f;
  f.model = model_name();
#if defined(__x86_64__)
  __builtin_cpu_init();
  f.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  f.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  f.avx512_bf16 = __builtin_cpu_supports("avx512bf16");
  f.avx512_vnni = __builtin_cpu_supports("avx512vnni");
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("flags")) continue;
    line += ' ';
    f.avx512_fp16 = line.find(" avx512_fp16 ") != std::string::npos;
    f.amx = line.find(" amx_bf16 ") != std::string::npos && line.find(" amx_int8 ") != std::string::npos;
    break;
  }
#endif
  return f;
}

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

std::string describe_cpu() {
  const CpuFeatures& f = cpu_features();
  std::string text = f.model + ":";
  if (f.avx2) text += " avx2";
  if (f.avx512) text += " avx512";
  if (f.avx512_bf16) text += " avx512_bf16";
  if (f.avx512_vnni) text += " avx512_vnni";
  if (f.avx512_fp16) text += " avx512_fp16";
  if (f.amx) text += " amx";
  return text;
}

int64_t last_level_cache_bytes() {
  for (int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const long bytes = sysconf(level); bytes > 0) return bytes;
  return 0;
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace sorus
