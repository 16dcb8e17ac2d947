#pragma once

#include <cstdint>
#include <memory>
#include <new>

namespace sorus::kernels {

/// Floats aligned to 64 bytes that a kernel keeps for each thread (as a thread_local), grown on demand:
/// memory that a thread used before is near and has its pages.
class Scratch {
 public:
  /// Memory of at least `floats`; what it held is lost when it grows.
  float* reserve(int64_t floats) {
    if (floats > size_) {
      data_.reset();
      data_.reset(static_cast<float*>(
          ::operator new (static_cast<size_t>(floats) * sizeof(float), std::align_val_t{64})));
      size_ = floats;
    }
    return data_.get();
  }

 private:
  struct Delete {
    void operator()(float* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<float, Delete> data_;
  int64_t size_ = 0;
};

}  // namespace sorus::kernels
