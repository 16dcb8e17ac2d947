#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sorus/dispatch/op_def.h"

/// Samples drive the tests of ops: each states inputs, a call and an independent reference, and the corpus
/// (corpus_test.cpp, gradient_test.cpp) derives all checks from it.
namespace sorus::samples {

/// References compute in it; its 64-bit mantissa holds every int64 and uint64 exactly.
using Real = long double;

/// A plain row-major array of numbers, exact for every element type.
struct HostArray {
  Shape shape;
  std::vector<Real> values;
};

HostArray randn(const Shape& shape, uint64_t seed = 1);
HostArray uniform(const Shape& shape, Real low, Real high, uint64_t seed = 1);
/// Integral values in [low, high].
HostArray integers(const Shape& shape, int64_t low, int64_t high, uint64_t seed = 1);
HostArray arange(const Shape& shape, Real start = 0, Real step = 1);
HostArray full(const Shape& shape, Real value);
HostArray items(std::vector<Real> values);
/// NaN, infinities, zeros of both signs, the least and greatest numbers of the 16- and 32-bit floats, and a
/// few ordinary ones, as a vector.
HostArray special_values();

/// The tensor of that dtype nearest to `a`, and back.
Tensor to_tensor(const HostArray& a, DType dtype);
HostArray to_host(const Tensor& t);

inline constexpr DType kBool = DType::kBool;
std::vector<DType> floats();       ///< float16, bfloat16, float32, float64
std::vector<DType> wide_floats();  ///< float32, float64
std::vector<DType> integer_types();
std::vector<DType> numbers();  ///< floats and integers
std::vector<DType> any_type();

using Call = std::function<TensorList(const TensorList&)>;
/// The gradients of `f` for ones as those of its results.
[[nodiscard]] Call gradients_of(Call f);
using Reference = std::function<std::vector<HostArray>(const std::vector<HostArray>&)>;

struct Input {
  HostArray data;
  bool fixed = false;  ///< keeps `dtype` whatever dtype the sample is run in
  DType dtype = DType::kFloat32;
  bool differentiable = true;  ///< gradients are checked for floating inputs that say so

  Input(HostArray a) : data(std::move(a)) {}  // NOLINT: an array is an input
  Input(HostArray a, DType t) : data(std::move(a)), fixed(true), dtype(t), differentiable(is_floating(t)) {}
  /// The same input without a gradient.
  [[nodiscard]] Input constant() const {
    Input r = *this;
    r.differentiable = false;
    return r;
  }
};

struct Sample {
  std::string name;
  std::vector<Input> inputs;
  Call call;
  /// Gets the inputs as their dtypes hold them. Absent: results are compared between kernels and modes only.
  Reference reference = nullptr;
  std::vector<DType> dtypes = floats();
  /// Error allowed against the reference, in units in the last place of the result; 16-bit results, which are
  /// rounded from float32, get 1 and whatever of this shows there. Integers and bools must be equal.
  double ulp = 2;
  /// Error allowed beside that, in units of the result dtype's epsilon (of float32 for 16-bit results): for
  /// sums, the size of what is summed.
  double absolute = 0;
  /// The chosen kernel gives the bits of the reference kernel; else both are within the bounds.
  bool equal_kernels = true;
  /// The same bits for any strides of the operands.
  bool equal_strides = true;
  bool gradient = true;         ///< the result is differentiable where the inputs are
  bool second_gradient = true;  ///< and its gradient is, too
};

/// A call that must fail, the kind of its error and a part of its text.
struct ErrorSample {
  std::string name;
  std::function<void()> call;
  ErrorKind kind;
  std::string text;
};

/// Samples of a function, found by its name: that of its op where it has one.
using SampleList = std::vector<Sample>;
using ErrorList = std::vector<ErrorSample>;
const std::map<std::string, std::vector<SampleList (*)()>>& all_samples();
const std::map<std::string, std::vector<ErrorList (*)()>>& all_errors();

struct SampleRegistrar {
  SampleRegistrar(const char* op, SampleList (*make)());
};
struct ErrorRegistrar {
  ErrorRegistrar(const char* op, ErrorList (*make)());
};

/// References made of a function of numbers; operands broadcast.
Reference map_real(std::function<Real(Real)> f);
Reference map_real(std::function<Real(Real, Real)> f);
Reference map_real(std::function<Real(Real, Real, Real)> f);
/// The element of `a` that broadcasting puts at the row-major position of `shape`.
Real broadcast_at(const HostArray& a, const Shape& shape, int64_t position);

/// Calls made of a function of tensors.
Call call_of(Tensor (*f)(const Tensor&));
Call call_of(Tensor (*f)(const Tensor&, const Tensor&));
Call call_of(Tensor (*f)(const Tensor&, const Tensor&, const Tensor&));

}  // namespace sorus::samples

/// OP_SAMPLES(add) { return {{.name = "plain", ...}, ...}; }
#define OP_SAMPLES(op)                                                                        \
  static ::sorus::samples::SampleList samples_of_##op();                                      \
  static const ::sorus::samples::SampleRegistrar sample_registrar_##op{#op, samples_of_##op}; \
  static ::sorus::samples::SampleList samples_of_##op()

/// OP_ERRORS(add) { return {{"shapes", [] { ... }, ErrorKind::kShape, "do not broadcast"}}; }
#define OP_ERRORS(op)                                                                      \
  static ::sorus::samples::ErrorList errors_of_##op();                                     \
  static const ::sorus::samples::ErrorRegistrar error_registrar_##op{#op, errors_of_##op}; \
  static ::sorus::samples::ErrorList errors_of_##op()
