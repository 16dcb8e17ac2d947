#include "sorus/math/fft.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "sorus/base/error.h"

namespace sorus::math {
namespace {

/// Products as written: those of std::complex look for infinities first.
template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
std::complex<T> times_i(std::complex<T> a) {
  return {-a.imag(), a.real()};
}

/// exp(-2 pi i k / n), rounded from double.
template <class T>
std::complex<T> turn(int64_t k, int64_t n) {
  double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
}

/// The transform of P numbers, P odd: x[j] and x[P-j] together, so that all factors are real.
template <int P, class T>
struct Odd {
  std::array<std::array<std::complex<T>, P>, P> factors;  ///< (cos, sin) of 2 pi j k / P
  Odd() {
    for (int j = 0; j < P; ++j)
      for (int k = 0; k < P; ++k)
        factors[static_cast<size_t>(j)][static_cast<size_t>(k)] = std::conj(turn<T>(j * k % P, P));
  }
  void operator()(std::array<std::complex<T>, P>& x) const {
    constexpr size_t kHalf = P / 2;
    std::array<std::complex<T>, kHalf> sums;
    std::array<std::complex<T>, kHalf> differences;
    std::complex<T> first = x[0];
    for (size_t j = 0; j < kHalf; ++j) {
      sums[j] = x[j + 1] + x[P - 1 - j];
      differences[j] = x[j + 1] - x[P - 1 - j];
      x[0] += sums[j];
    }
    for (size_t k = 1; k <= kHalf; ++k) {
      std::complex<T> even = first;
      std::complex<T> odd = 0;
      for (size_t j = 0; j < kHalf; ++j) {
        even += factors[j + 1][k].real() * sums[j];
        odd += factors[j + 1][k].imag() * differences[j];
      }
      x[k] = even - times_i(odd);
      x[P - k] = even + times_i(odd);
    }
  }
};
template <class T>
struct Two {
  void operator()(std::array<std::complex<T>, 2>& x) const { x = {x[0] + x[1], x[0] - x[1]}; }
};
template <class T>
struct Four {
  void operator()(std::array<std::complex<T>, 4>& x) const {
    auto a = x[0] + x[2];
    auto b = x[0] - x[2];
    auto c = x[1] + x[3];
    auto d = times_i(x[1] - x[3]);
    x = {a + c, b - d, a - c, b + d};
  }
};

/// One step of Stockham's algorithm: `done` is the product of the radices before.
template <size_t P, class T, class Small>
void step(const Small& small, int64_t n, int64_t done, const std::complex<T>* turns, const std::complex<T>* x,
          std::complex<T>* y) {
  int64_t m = n / (done * static_cast<int64_t>(P));
  for (int64_t q = 0; q < m; ++q) {
    std::array<std::complex<T>, P> factors;
    for (size_t k = 0; k < P; ++k) factors[k] = turns[q * done * static_cast<int64_t>(k)];
    for (int64_t r = 0; r < done; ++r) {
      std::array<std::complex<T>, P> part;
      for (size_t j = 0; j < P; ++j) part[j] = x[r + done * (q + m * static_cast<int64_t>(j))];
      small(part);
      std::complex<T>* to = y + r + done * static_cast<int64_t>(P) * q;
      to[0] = part[0];
      for (size_t k = 1; k < P; ++k) to[done * static_cast<int64_t>(k)] = times(part[k], factors[k]);
    }
  }
}

/// The radices of a length, or none when it has a prime factor above 13.
std::vector<int64_t> radices_of(int64_t n) {
  std::vector<int64_t> radices;
  for (int64_t p : {4, 2, 3, 5, 7, 11, 13})
    for (; n % p == 0; n /= p) radices.push_back(p);
  return n == 1 ? radices : std::vector<int64_t>();
}

}  // namespace

template <class T>
Fft<T>::Fft(int64_t n) : n_(n) {
  SORUS_CHECK(n >= 1, ValueError, "fft: length is out of range: got {}, need 1 or more", n);
  radices_ = radices_of(n);
  turns_.resize(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) turns_[static_cast<size_t>(k)] = turn<T>(k, n);
  if (n % 2 == 0) half_ = std::make_shared<Fft>(n / 2);
  if (n == 1 || !radices_.empty()) return;
  auto m = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
  inner_ = std::make_shared<Fft>(m);
  filter_.resize(static_cast<size_t>(m));
  int64_t square = 0;  // k * k modulo 2 n
  for (int64_t k = 0; k < n; ++k, square = (square + 2 * k - 1) % (2 * n)) {
    chirp_.push_back(turn<T>(square, 2 * n));
    auto value = std::conj(chirp_.back()) / static_cast<T>(m);
    filter_[static_cast<size_t>(k)] = value;
    if (k > 0) filter_[static_cast<size_t>(m - k)] = value;
  }
  inner_->forward(filter_.data());
}

template <class T>
void Fft<T>::mixed_radix(Complex* x) const {
  std::vector<Complex> scratch(static_cast<size_t>(n_));
  Complex* from = x;
  Complex* to = scratch.data();
  int64_t done = 1;
  static const Odd<3, T> three;
  static const Odd<5, T> five;
  static const Odd<7, T> seven;
  static const Odd<11, T> eleven;
  static const Odd<13, T> thirteen;
  for (int64_t radix : radices_) {
    const Complex* turns = turns_.data();
    if (radix == 2) step<2, T>(Two<T>(), n_, done, turns, from, to);
    if (radix == 3) step<3, T>(three, n_, done, turns, from, to);
    if (radix == 4) step<4, T>(Four<T>(), n_, done, turns, from, to);
    if (radix == 5) step<5, T>(five, n_, done, turns, from, to);
    if (radix == 7) step<7, T>(seven, n_, done, turns, from, to);
    if (radix == 11) step<11, T>(eleven, n_, done, turns, from, to);
    if (radix == 13) step<13, T>(thirteen, n_, done, turns, from, to);
    std::swap(from, to);
    done *= radix;
  }
  if (from != x) std::copy_n(from, n_, x);
}

template <class T>
void Fft<T>::bluestein(Complex* x) const {
  std::vector<Complex> wide(filter_.size());
  for (size_t k = 0; k < chirp_.size(); ++k) wide[k] = times(x[k], chirp_[k]);
  inner_->forward(wide.data());
  for (size_t k = 0; k < wide.size(); ++k) wide[k] = times(wide[k], filter_[k]);
  inner_->backward(wide.data());
  for (size_t k = 0; k < chirp_.size(); ++k) x[k] = times(wide[k], chirp_[k]);
}

template <class T>
void Fft<T>::forward(Complex* x) const {
  if (n_ == 1) return;
  if (inner_) return bluestein(x);
  mixed_radix(x);
}

template <class T>
void Fft<T>::backward(Complex* x) const {
  auto mirror = [&] { std::transform(x, x + n_, x, [](Complex c) { return std::conj(c); }); };
  mirror();
  forward(x);
  mirror();
}

template <class T>
void Fft<T>::forward_real(const T* x, Complex* y) const {
  auto n = static_cast<size_t>(n_);
  if (!half_) {
    std::vector<Complex> whole(x, x + n_);
    forward(whole.data());
    std::copy_n(whole.data(), n_ / 2 + 1, y);
    return;
  }
  std::vector<Complex> pairs(n / 2);
  for (size_t k = 0; k < n / 2; ++k) pairs[k] = {x[2 * k], x[2 * k + 1]};
  half_->forward(pairs.data());
  for (size_t k = 0; k <= n / 2; ++k) {
    Complex a = pairs[k % (n / 2)];
    Complex b = std::conj(pairs[(n / 2 - k) % (n / 2)]);
    Complex odd = times(turns_[k], times_i(a - b));
    y[k] = (a + b - odd) * static_cast<T>(0.5);
  }
}

template <class T>
void Fft<T>::backward_real(const Complex* x, T* y) const {
  auto n = static_cast<size_t>(n_);
  if (!half_) {
    std::vector<Complex> whole(n);
    whole[0] = x[0].real();
    for (size_t k = 1; k <= n / 2; ++k) {
      whole[k] = x[k];
      whole[n - k] = std::conj(x[k]);
    }
    backward(whole.data());
    for (size_t k = 0; k < n; ++k) y[k] = whole[k].real();
    return;
  }
  std::vector<Complex> pairs(n / 2);
  auto at = [&](size_t k) { return k == 0 || k == n / 2 ? Complex(x[k].real()) : x[k]; };
  for (size_t k = 0; k < n / 2; ++k) {
    Complex a = at(k);
    Complex b = std::conj(at(n / 2 - k));
    pairs[k] = a + b + times_i(times(std::conj(turns_[k]), a - b));
  }
  half_->backward(pairs.data());
  for (size_t k = 0; k < n / 2; ++k) {
    y[2 * k] = pairs[k].real();
    y[2 * k + 1] = pairs[k].imag();
  }
}

template class Fft<float>;
template class Fft<double>;

}  // namespace sorus::math
