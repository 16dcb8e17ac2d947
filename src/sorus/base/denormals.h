#pragma once

#include "sorus/base/export.h"

/// Whether kernels flush denormal numbers: results that would be denormal become zeros of their sign, and
/// denormal operands count as such zeros (FTZ and DAZ of the processor). Arithmetic with denormal numbers
/// takes a hundred times as long on many processors. A setting of each thread, off at first; the threads of
/// the pool follow the thread whose loop they help with. Only kernels are concerned, not the arithmetic of
/// the program around them. The functions of `math` that work on the bits of a number may still give a
/// denormal one.
namespace sorus {

/// Sets it for kernels that this thread runs from now on.
SORUS_API void set_flush_denormal(bool on);
[[nodiscard]] SORUS_API bool flush_denormal();

/// Sets it while it lives.
class FlushDenormal {
 public:
  explicit FlushDenormal(bool on) : saved_(flush_denormal()) { set_flush_denormal(on); }
  ~FlushDenormal() { set_flush_denormal(saved_); }
  FlushDenormal(const FlushDenormal&) = delete;
  FlushDenormal& operator=(const FlushDenormal&) = delete;

 private:
  bool saved_;
};

/// Makes the processor do on this thread what is set, while it lives: around each run of kernels.
class SORUS_API DenormalControl {
 public:
  DenormalControl() {
    if (flush_denormal()) enter();
  }
  ~DenormalControl() {
    if (entered_) leave();
  }
  DenormalControl(const DenormalControl&) = delete;
  DenormalControl& operator=(const DenormalControl&) = delete;

 private:
  void enter();
  void leave() const;
  bool entered_ = false;
  unsigned own_ = 0;
};

}  // namespace sorus
