#include "tests/ops/harness/sample.h"

#include <cmath>
#include <limits>
#include <random>

#include "sorus/autograd/grad.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::samples {
namespace {

auto& sample_table() {
  static std::map<std::string, std::vector<SampleList (*)()>> table;
  return table;
}
auto& error_table() {
  static std::map<std::string, std::vector<ErrorList (*)()>> table;
  return table;
}

template <class Next>
HostArray generate(const Shape& shape, Next next) {
  HostArray a{shape, {}};
  for (int64_t i = 0; i < shape.numel(); ++i) a.values.push_back(next());
  return a;
}

template <class T>
T from_real(Real v) {
  if constexpr (std::is_same_v<T, bool>)
    return v != 0;
  else if constexpr (std::is_integral_v<T>)
    return std::is_signed_v<T> ? static_cast<T>(static_cast<int64_t>(v))
                               : static_cast<T>(v < 0 ? static_cast<uint64_t>(static_cast<int64_t>(v))
                                                      : static_cast<uint64_t>(v));
  else
    return T(static_cast<ComputeType<T>>(v));
}

}  // namespace

const std::map<std::string, std::vector<SampleList (*)()>>& all_samples() { return sample_table(); }
const std::map<std::string, std::vector<ErrorList (*)()>>& all_errors() { return error_table(); }

SampleRegistrar::SampleRegistrar(const char* op, SampleList (*make)()) { sample_table()[op].push_back(make); }
ErrorRegistrar::ErrorRegistrar(const char* op, ErrorList (*make)()) { error_table()[op].push_back(make); }

HostArray randn(const Shape& shape, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  return generate(shape, [&] { return normal(engine); });
}
HostArray uniform(const Shape& shape, Real low, Real high, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> real(static_cast<double>(low), static_cast<double>(high));
  return generate(shape, [&] { return real(engine); });
}
HostArray integers(const Shape& shape, int64_t low, int64_t high, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<int64_t> integer(low, high);
  return generate(shape, [&] { return static_cast<Real>(integer(engine)); });
}
HostArray arange(const Shape& shape, Real start, Real step) {
  int64_t i = 0;
  return generate(shape, [&] { return start + step * static_cast<Real>(i++); });
}
HostArray full(const Shape& shape, Real value) {
  return generate(shape, [&] { return value; });
}
HostArray items(std::vector<Real> values) {
  Shape shape{static_cast<int64_t>(values.size())};
  return {shape, std::move(values)};
}
HostArray special_values() {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  std::vector<Real> v = {std::numeric_limits<Real>::quiet_NaN()};
  for (Real magnitude : {0.0L,      kInfinity, 0x1p-149L, 0x1.fffffep127L,
                         0x1p-126L, 0x1p-24L,  65504.0L,  0x1p-14L,
                         0.25L,     0.5L,      1.0L,      1.5L,
                         2.0L,      2.5L,      3.0L,      10.0L,
                         88.0L,     100.0L,    709.0L,    1000.0L,
                         1e5L}) {
    v.push_back(magnitude);
    v.push_back(-magnitude);
  }
  return items(std::move(v));
}

Tensor to_tensor(const HostArray& a, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    Tensor t(make_dense({dtype, {}, a.shape}));
    T* out = reinterpret_cast<T*>(t.value()->bytes());
    for (size_t i = 0; i < a.values.size(); ++i) out[i] = from_real<T>(a.values[i]);
    return t;
  });
}
HostArray to_host(const Tensor& t) {
  HostArray a{t.shape(), std::vector<Real>(static_cast<size_t>(t.numel()))};
  visit_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::unique_ptr<T[]> elements(new T[a.values.size()]);
    t.copy_to(elements.get(), dtype_of<T>);
    for (size_t i = 0; i < a.values.size(); ++i)
      a.values[i] = static_cast<Real>(static_cast<ComputeType<T>>(elements[i]));
  });
  return a;
}

std::vector<DType> floats() { return {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}; }
std::vector<DType> wide_floats() { return {DType::kFloat32, DType::kFloat64}; }
std::vector<DType> integer_types() {
  return {DType::kInt8,  DType::kInt16,  DType::kInt32,  DType::kInt64,
          DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64};
}
std::vector<DType> numbers() {
  std::vector<DType> all = integer_types();
  for (DType t : floats()) all.push_back(t);
  return all;
}
std::vector<DType> any_type() {
  std::vector<DType> all = numbers();
  all.push_back(DType::kBool);
  return all;
}

Real broadcast_at(const HostArray& a, const Shape& shape, int64_t position) {
  int64_t index = 0;
  int64_t stride = 1;
  const int lead = shape.rank() - a.shape.rank();
  for (int axis = shape.rank(); axis-- > 0;) {
    const int64_t here = position % shape.size(axis);
    position /= shape.size(axis);
    if (axis < lead) continue;
    const int64_t extent = a.shape.size(axis - lead);
    if (extent != 1) index += here * stride;
    stride *= extent;
  }
  return a.values[static_cast<size_t>(index)];
}

namespace {

template <class F>
std::vector<HostArray> map_broadcast(const std::vector<HostArray>& in, F f) {
  Shape shape = in[0].shape;
  for (const HostArray& a : in) shape = broadcast_shapes("reference", shape, a.shape);
  HostArray out{shape, {}};
  for (int64_t i = 0; i < shape.numel(); ++i) out.values.push_back(f(i, shape));
  return {out};
}

}  // namespace

Reference map_real(std::function<Real(Real)> f) {
  return [f](const std::vector<HostArray>& in) {
    return map_broadcast(in, [&](int64_t i, const Shape& s) { return f(broadcast_at(in[0], s, i)); });
  };
}
Reference map_real(std::function<Real(Real, Real)> f) {
  return [f](const std::vector<HostArray>& in) {
    return map_broadcast(in, [&](int64_t i, const Shape& s) {
      return f(broadcast_at(in[0], s, i), broadcast_at(in[1], s, i));
    });
  };
}
Reference map_real(std::function<Real(Real, Real, Real)> f) {
  return [f](const std::vector<HostArray>& in) {
    return map_broadcast(in, [&](int64_t i, const Shape& s) {
      return f(broadcast_at(in[0], s, i), broadcast_at(in[1], s, i), broadcast_at(in[2], s, i));
    });
  };
}

Call call_of(Tensor (*f)(const Tensor&)) {
  return [f](const TensorList& in) { return TensorList{f(in[0])}; };
}
Call call_of(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const TensorList& in) { return TensorList{f(in[0], in[1])}; };
}
Call call_of(Tensor (*f)(const Tensor&, const Tensor&, const Tensor&)) {
  return [f](const TensorList& in) { return TensorList{f(in[0], in[1], in[2])}; };
}

Call gradients_of(Call f) {
  return [f = std::move(f)](const TensorList& t) {
    const Pullback p = vjp(f, t);
    TensorList seeds;
    for (const Tensor& v : p.values) seeds.push_back(sorus::full(v.type(), 1));
    TensorList out;
    for (Tensor& g : p.pull(seeds))
      if (g.defined()) out.push_back(std::move(g));
    return out;
  };
}

}  // namespace sorus::samples
