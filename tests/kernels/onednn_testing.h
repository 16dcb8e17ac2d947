#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/onednn/types.h"

/// What the tests of the oneDNN provider share.
namespace sorus::kernels::onednn::testing {

inline float from_bfloat16(uint16_t half) {
  uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline uint16_t to_bfloat16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Memory of elements of one type, 64-byte aligned, read and written as float.
class Buffer {
 public:
  Buffer(ElementType type, int64_t elements)
      : type_(type), bytes_(static_cast<size_t>(elements) * element_size(type)), data_(allocate(bytes_)) {
    std::memset(data_.get(), 0xff, bytes_);
  }
  [[nodiscard]] void* data() { return data_.get(); }
  [[nodiscard]] const void* data() const { return data_.get(); }
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(bytes_ / element_size(type_)); }
  [[nodiscard]] float get(int64_t i) const {
    if (type_ == ElementType::kBFloat16)
      return from_bfloat16(reinterpret_cast<const uint16_t*>(data_.get())[i]);
    return reinterpret_cast<const float*>(data_.get())[i];
  }
  void set(int64_t i, float value) {
    if (type_ == ElementType::kBFloat16) {
      reinterpret_cast<uint16_t*>(data_.get())[i] = to_bfloat16(value);
    } else {
      reinterpret_cast<float*>(data_.get())[i] = value;
    }
  }
  /// Uniform values in [-1, 1) from the seed.
  void fill(uint32_t seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    for (int64_t i = 0; i < size(); ++i) set(i, values(generator));
  }
  [[nodiscard]] bool operator==(const Buffer& other) const {
    return bytes_ == other.bytes_ && std::memcmp(data_.get(), other.data_.get(), bytes_) == 0;
  }

 private:
  struct Free {
    void operator()(char* p) const { ::operator delete (p, std::align_val_t{kWorkspaceAlignment}); }
  };
  static std::unique_ptr<char, Free> allocate(size_t bytes) {
    return std::unique_ptr<char, Free>(
        static_cast<char*>(::operator new (bytes + 1, std::align_val_t{kWorkspaceAlignment})));
  }
  ElementType type_;
  size_t bytes_;
  std::unique_ptr<char, Free> data_;
};

inline Buffer workspace(size_t bytes) {
  return Buffer(ElementType::kFloat32, static_cast<int64_t>(bytes / 4 + 1));
}

/// Threads of this process.
inline int64_t thread_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

/// OpenMP's setting for the calling thread, through the runtime that oneDNN brings along.
inline int openmp_threads() {
  return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"))();
}
inline void set_openmp_threads(int n) {
  reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))(n);
}

/// Sets the pool's size for a scope.
class Threads {
 public:
  explicit Threads(int n) : before_(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

}  // namespace sorus::kernels::onednn::testing
