#include "tests/ops/elementwise/families.h"

namespace sorus::samples {
namespace {

HostArray ordinary(const Shape& shape, const Family& f, uint64_t seed) {
  if (f.integral) return integers(shape, static_cast<int64_t>(f.low), static_cast<int64_t>(f.high), seed);
  return uniform(shape, f.low, f.high, seed);
}

std::vector<DType> floating_of(const std::vector<DType>& dtypes) {
  std::vector<DType> r;
  for (DType t : dtypes)
    if (is_floating(t)) r.push_back(t);
  return r;
}

/// Every special value against every other.
std::pair<HostArray, HostArray> special_pairs() {
  HostArray v = special_values();
  HostArray column = v;
  column.shape = Shape{static_cast<int64_t>(v.values.size()), 1};
  return {column, v};
}

}  // namespace

SampleList unary_family(Tensor (*f)(const Tensor&), std::function<Real(Real)> exact, const Family& family) {
  SampleList list;
  auto add = [&](std::string name, HostArray x) {
    list.push_back({.name = std::move(name),
                    .inputs = {std::move(x)},
                    .call = call_of(f),
                    .reference = map_real(exact),
                    .dtypes = family.dtypes,
                    .ulp = family.ulp,
                    .gradient = family.gradient,
                    .second_gradient = family.second_gradient});
  };
  add("matrix", ordinary({5, 7}, family, 1));
  add("image", ordinary({2, 3, 4, 5}, family, 2));
  add("scalar", ordinary({}, family, 3));
  add("empty", ordinary({3, 0, 2}, family, 4));
  add("large", ordinary({3, 37, 401}, family, 5));
  list.back().gradient = false;
  if (family.special && !floating_of(family.dtypes).empty()) {
    add("special values", special_values());
    list.back().dtypes = floating_of(family.dtypes);
    list.back().gradient = false;
  }
  return list;
}

SampleList binary_family(Tensor (*f)(const Tensor&, const Tensor&), std::function<Real(Real, Real)> exact,
                         const Family& family) {
  SampleList list;
  auto add = [&](std::string name, HostArray a, HostArray b) {
    list.push_back({.name = std::move(name),
                    .inputs = {std::move(a), std::move(b)},
                    .call = call_of(f),
                    .reference = map_real(exact),
                    .dtypes = family.dtypes,
                    .ulp = family.ulp,
                    .gradient = family.gradient,
                    .second_gradient = family.second_gradient});
  };
  auto pair = [&](std::string name, const Shape& a, const Shape& b) {
    add(std::move(name), ordinary(a, family, 1), ordinary(b, family, 2));
  };
  pair("same shape", {4, 9}, {4, 9});
  pair("rows", {2, 3, 5}, {5});
  pair("columns", {3, 1}, {1, 4});
  pair("channels", {2, 3, 4, 5}, {3, 1, 1});
  pair("scalar", {3, 17}, {});
  pair("scalars", {}, {});
  pair("scalar first", {1}, {2, 19});
  pair("empty", {0, 4}, {4});
  pair("large", {3, 37, 401}, {37, 1});
  list.back().gradient = false;
  if (family.special && !floating_of(family.dtypes).empty()) {
    auto [a, b] = special_pairs();
    add("special values", a, b);
    list.back().dtypes = floating_of(family.dtypes);
    list.back().gradient = false;
  }
  return list;
}

}  // namespace sorus::samples
