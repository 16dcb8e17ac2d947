#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "sorus/base/export.h"

namespace sorus::math {

/// Discrete Fourier transforms of one length, any from 1 on, for float and double. Lengths whose prime
/// factors are at most 13 take mixed radices, others Bluestein's detour over a power of two; all in n log n
/// steps. The error is some roundings of the largest result. Immutable, so that threads may share one.
template <class T>
class SORUS_API Fft {
 public:
  using Complex = std::complex<T>;

  /// Throws ValueError for a length below 1.
  explicit Fft(int64_t n);
  [[nodiscard]] int64_t size() const { return n_; }
  /// In place: y[k] = sum over j of x[j] exp(-2 pi i j k / n).
  void forward(Complex* x) const;
  /// In place, the sum with exp(+2 pi i j k / n): what forward() gave becomes what it was, times n.
  void backward(Complex* x) const;
  /// The first n/2 + 1 numbers of forward() of real numbers; the others are their conjugates.
  void forward_real(const T* x, Complex* y) const;
  /// n real numbers, times n, whose forward_real() is x; imaginary parts that cannot be there do not count.
  void backward_real(const Complex* x, T* y) const;

 private:
  void mixed_radix(Complex* x) const;
  void bluestein(Complex* x) const;

  int64_t n_;
  std::vector<int64_t> radices_;  ///< none: Bluestein's
  std::vector<Complex> turns_;    ///< exp(-2 pi i k / n)
  std::vector<Complex> chirp_;    ///< exp(-pi i k^2 / n)
  std::vector<Complex> filter_;   ///< the transform of its conjugate, divided by the length
  std::shared_ptr<const Fft> inner_;
  std::shared_ptr<const Fft> half_;  ///< for the pairs of real numbers of an even length
};

extern template class Fft<float>;
extern template class Fft<double>;

}  // namespace sorus::math
