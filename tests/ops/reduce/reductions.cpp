#include <algorithm>
#include <cmath>
#include <numeric>

#include "sorus/ops/reduce/reduce.h"
#include "tests/ops/reduce/reference.h"

namespace sorus::samples {
namespace {

using List = std::vector<Real>;

Real total(const List& v) { return std::accumulate(v.begin(), v.end(), Real{0}); }
Real average(const List& v) { return total(v) / static_cast<Real>(v.size()); }
Real greatest(const List& v) { return *std::max_element(v.begin(), v.end()); }
Real least(const List& v) { return *std::min_element(v.begin(), v.end()); }
Real variance(const List& v, Real correction) {
  Real sum = 0;
  for (Real x : v) sum += (x - average(v)) * (x - average(v));
  return sum / std::max<Real>(0, static_cast<Real>(v.size()) - correction);
}

OP_SAMPLES(mean) { return reduction_family(mean, average); }

OP_SAMPLES(prod) {
  // Near 1, so that the product of many stays in range.
  SampleList list = reduction_family(prod,
                                     [](const List& v) {
                                       Real p = 1;
                                       for (Real x : v) p *= x;
                                       return p;
                                     },
                                     {.low = 0.9995L, .high = 1.0005L, .absolute = 4000});
  list.push_back({.name = "zeros",
                  .inputs = {HostArray{{3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9}}},
                  .call = [](const TensorList& in) { return TensorList{prod(in[0], {1})}; },
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{items({6, 0, 0})};
                      },
                  .second_gradient = false});
  list.push_back({.name = "integers",
                  .inputs = {HostArray{{2, 3}, {1, 2, 3, 4, 5, 6}}},
                  .call = [](const TensorList& in) { return TensorList{prod(in[0], {1})}; },
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{items({6, 120})};
                      },
                  .dtypes = integer_types()});
  return list;
}

Sample with_nan(ReductionCall f) {
  return {.name = "NaN",
          .inputs = {HostArray{{2, 3}, {1, NAN, 3, -INFINITY, 2, INFINITY}}},
          .call = [f](const TensorList& in) { return TensorList{f(in[0], {0}, false)}; },
          .reference =
              [f](const std::vector<HostArray>&) {
                const bool is_max = f == amax;
                return std::vector{items({is_max ? 1 : -INFINITY, NAN, is_max ? INFINITY : 3})};
              },
          .gradient = false};
}
OP_SAMPLES(amax) {
  SampleList list = reduction_family(amax, greatest, {.dtypes = numbers(), .empty = false, .absolute = 0});
  list.push_back(with_nan(amax));
  return list;
}
OP_ERRORS(amax) {
  return {{"nothing",
           [] {
             (void)amax(to_tensor(full({2, 0}, 0), DType::kFloat32), {1});
           },
           ErrorKind::kValue, "nothing to choose from"}};
}
OP_SAMPLES(amin) {
  SampleList list = reduction_family(amin, least, {.dtypes = numbers(), .empty = false, .absolute = 0});
  list.push_back(with_nan(amin));
  return list;
}

OP_SAMPLES(any) {
  return reduction_family(any,
                          [](const List& v) {
                            return std::any_of(v.begin(), v.end(), [](Real x) { return x != 0; }) ? 1.0L
                                                                                                  : 0.0L;
                          },
                          {.dtypes = any_type(), .integral = true, .gradient = false});
}
OP_SAMPLES(all) {
  return reduction_family(all,
                          [](const List& v) {
                            return std::all_of(v.begin(), v.end(), [](Real x) { return x != 0; }) ? 1.0L
                                                                                                  : 0.0L;
                          },
                          {.dtypes = any_type(), .integral = true, .gradient = false});
}

OP_SAMPLES(var) {
  return reduction_family(
      [](const Tensor& x, const Ints& axes, bool keepdims) { return var(x, axes, 0, keepdims); },
      [](const List& v) { return variance(v, 0); });
}
OP_SAMPLES(std) {
  SampleList list = reduction_family(
      [](const Tensor& x, const Ints& axes, bool keepdims) { return std(x, axes, 1, keepdims); },
      [](const List& v) { return std::sqrt(variance(v, 1)); });
  for (Sample& s : list)  // the root has no slope at 0, and one element has no deviation
    if (s.inputs[0].data.shape.numel() < 2 || s.name.starts_with("extent 1")) s.gradient = false;
  return list;
}
OP_SAMPLES(logsumexp) {
  SampleList list = reduction_family(logsumexp, [](const List& v) {
    Real sum = 0;
    for (Real x : v) sum += std::exp(x);
    return std::log(sum);
  });
  list.push_back({.name = "infinities",
                  .inputs = {HostArray{{3, 2}, {-INFINITY, -INFINITY, 1, INFINITY, 1000, -INFINITY}}},
                  .call = [](const TensorList& in) { return TensorList{logsumexp(in[0], {1})}; },
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{items({-INFINITY, INFINITY, 1000})};
                      },
                  .gradient = false});
  return list;
}

SampleList norm_family(double order, const std::function<Real(const List&)>& exact) {
  SampleList list;
  const std::vector<std::pair<Shape, Ints>> cases = {{{3, 5}, {}}, {{2, 3, 4}, {1}}, {{4, 700}, {-1}}};
  for (const auto& [shape, axes] : cases)
    list.push_back(
        {.name = "order " + std::to_string(order) + " of " + shape.text(),
         .inputs = {uniform(shape, 0.3L, 2)},
         .call = [order, axes = axes](const TensorList& in) { return TensorList{norm(in[0], order, axes)}; },
         .reference =
             [axes = axes, exact](const std::vector<HostArray>& in) {
               return std::vector{reduce_host(in[0], axes, false, exact)};
             },
         .ulp = 4,
         .absolute = 400,
         .gradient = order != 0 && shape.numel() < 100});
  return list;
}
OP_SAMPLES(norm) {
  SampleList list;
  auto add = [&](double order, const std::function<Real(const List&)>& exact) {
    for (Sample& s : norm_family(order, exact)) list.push_back(std::move(s));
  };
  add(1, total);
  add(2, [](const List& v) {
    Real s = 0;
    for (Real x : v) s += x * x;
    return std::sqrt(s);
  });
  add(3, [](const List& v) {
    Real s = 0;
    for (Real x : v) s += x * x * x;
    return std::cbrt(s);
  });
  add(0, [](const List& v) { return static_cast<Real>(v.size()); });
  add(INFINITY, greatest);
  add(-INFINITY, least);
  return list;
}

}  // namespace
}  // namespace sorus::samples
