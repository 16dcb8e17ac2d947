#include "sorus/ops/control/control.h"

#include <cmath>

#include "sorus/core/generator.h"
#include "sorus/core/parameter.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/elementwise/logic.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/harness/sample.h"

/// Control flow: bodies that compute, against plain loops.
namespace sorus::samples {
namespace {

std::vector<DType> numbers_of_any_kind() {
  return {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64};
}

/// A number of the dtype of `like`.
Tensor number(const Tensor& like, double value) { return sorus::full({like.dtype(), {}, {}}, value); }

HostArray map_of(const HostArray& a, const std::function<Real(Real)>& f) {
  HostArray out = a;
  for (Real& v : out.values) v = f(v);
  return out;
}

TensorList square_or_double(const TensorList& in) {
  const Tensor outside = number(in[1], 2);
  return cond(
      in[0], [](const TensorList& x) { return TensorList{x[0] * x[0]}; },
      [&](const TensorList& x) { return TensorList{x[0] * outside}; }, {in[1]});
}

OP_SAMPLES(cond) {
  const Reference square = [](const std::vector<HostArray>& in) {
    return std::vector{map_of(in[1], [](Real v) { return v * v; })};
  };
  const Reference twice = [](const std::vector<HostArray>& in) {
    return std::vector{map_of(in[1], [](Real v) { return v + v; })};
  };
  const HostArray x = integers({2, 3}, -5, 5);
  return {{.name = "taken",
           .inputs = {{full({}, 1), kBool}, {x}},
           .call = square_or_double,
           .reference = square,
           .dtypes = numbers_of_any_kind()},
          {.name = "not taken",
           .inputs = {{full({1}, 0), DType::kInt32}, {x}},
           .call = square_or_double,
           .reference = twice,
           .dtypes = numbers_of_any_kind()},
          {.name = "whole numbers",
           .inputs = {{full({}, 1), kBool}, {x}},
           .call = square_or_double,
           .reference = square,
           .dtypes = {DType::kInt64}}};
}

constexpr int64_t kMostSteps = 20;

/// Doubles until the sum reaches 100, but not forever; counts the steps.
TensorList double_to_hundred(const TensorList& in) {
  const Tensor limit = number(in[0], 100), most(kMostSteps);
  return while_loop(
      [&](const TensorList& v) {
        return TensorList{logical_and(less(sorus::sum(v[0]), limit), less(v[1], most))};
      },
      [](const TensorList& v) {
        return TensorList{v[0] + v[0], v[1] + number(v[1], 1)};
      },
      {in[0], Tensor(int64_t{0})});
}

std::vector<HostArray> doubled_to_hundred(const std::vector<HostArray>& in) {
  HostArray x = in[0];
  Real steps = 0;
  const auto total = [&] {
    Real t = 0;
    for (Real v : x.values) t += v;
    return t;
  };
  for (; total() < 100 && steps < kMostSteps; ++steps) x = map_of(x, [](Real v) { return v + v; });
  return {x, full({}, steps)};
}

OP_SAMPLES(while_loop) {
  return {{.name = "doubling",
           .inputs = {{arange({4}, 1)}},
           .call = double_to_hundred,
           .reference = doubled_to_hundred,
           .dtypes = numbers_of_any_kind()},
          {.name = "whole numbers",
           .inputs = {{arange({4}, 1)}},
           .call = double_to_hundred,
           .reference = doubled_to_hundred,
           .dtypes = {DType::kInt64}},
          {.name = "no step",
           .inputs = {{full({3}, 50)}},
           .call = double_to_hundred,
           .reference = doubled_to_hundred,
           .dtypes = numbers_of_any_kind()},
          {.name = "values that change places",
           .inputs = {{arange({3}, 1)}, {full({3}, 7)}},
           .call =
               [](const TensorList& in) {
                 const Tensor limit = sorus::full({DType::kInt64, {}, {}}, 3);
                 return while_loop([&](const TensorList& v) { return TensorList{less(v[2], limit)}; },
                                   [](const TensorList& v) {
                                     return TensorList{v[1], v[0], v[2] + number(v[2], 1)};
                                   },
                                   {in[0], in[1], sorus::full({DType::kInt64, {}, {}}, 0)});
               },
           .reference =
               [](const std::vector<HostArray>& in) {
                 return std::vector{in[1], in[0], full({}, 3)};
               },
           .dtypes = numbers_of_any_kind()}};
}

/// c = c * w + x with w from outside; y = c + x.
TensorList recurrence(const TensorList& in, bool reverse) {
  const Tensor w = in[2];
  const ScanResult r = scan(
      [&](const TensorList& v) {
        Tensor c = v[0] * w + v[1];
        return TensorList{c, c + v[1]};
      },
      {in[0]}, {in[1]}, {.reverse = reverse});
  return {r.carry[0], r.ys[0]};
}

Reference recurrence_reference(bool reverse) {
  return [=](const std::vector<HostArray>& in) {
    HostArray c = in[0], ys = in[1];
    const int64_t rows = in[1].shape.size(0);
    const auto width = static_cast<int64_t>(c.values.size());
    for (int64_t step = 0; step < rows; ++step) {
      const int64_t at = reverse ? rows - 1 - step : step;
      for (int64_t i = 0; i < width; ++i) {
        const Real x = in[1].values[static_cast<size_t>(at * width + i)];
        Real& value = c.values[static_cast<size_t>(i)];
        value = value * in[2].values[0] + x;
        ys.values[static_cast<size_t>(at * width + i)] = value + x;
      }
    }
    return std::vector{c, ys};
  };
}

OP_SAMPLES(scan) {
  const std::vector<Input> whole{{integers({3}, -3, 3)}, {integers({5, 3}, -3, 3, 2)}, {full({}, 2)}};
  return {{.name = "recurrence",
           .inputs = whole,
           .call = [](const TensorList& in) { return recurrence(in, false); },
           .reference = recurrence_reference(false),
           .dtypes = numbers_of_any_kind()},
          {.name = "from the end",
           .inputs = whole,
           .call = [](const TensorList& in) { return recurrence(in, true); },
           .reference = recurrence_reference(true),
           .dtypes = numbers_of_any_kind()},
          {.name = "whole numbers",
           .inputs = whole,
           .call = [](const TensorList& in) { return recurrence(in, false); },
           .reference = recurrence_reference(false),
           .dtypes = {DType::kInt32}},
          {.name = "no rows",
           .inputs = {{full({2}, 3)}, {HostArray{{0, 2}, {}}}, {full({}, 2)}},
           .call = [](const TensorList& in) { return recurrence(in, false); },
           .reference = recurrence_reference(false),
           .dtypes = numbers_of_any_kind()},
          {.name = "counted",
           .inputs = {{full({2}, 1)}},
           .call =
               [](const TensorList& in) {
                 return fori_loop(
                     2, 5, [](const TensorList& v) { return TensorList{v[1] * cast(v[0], v[1].dtype())}; },
                     in);
               },
           .reference = [](const std::vector<HostArray>&) { return std::vector{full({2}, 24)}; },
           .dtypes = numbers_of_any_kind()},
          {.name = "scan in scan",
           .inputs = {{full({2}, 1)}, {integers({3, 2, 2}, -2, 2)}},
           .call =
               [](const TensorList& in) {
                 return scan(
                            [](const TensorList& outer) {
                              return scan([](const TensorList& v) { return TensorList{v[0] + v[1]}; },
                                          {outer[0]}, {outer[1]})
                                  .carry;
                            },
                            {in[0]}, {in[1]})
                     .carry;
               },
           .reference =
               [](const std::vector<HostArray>& in) {
                 HostArray c = in[0];
                 for (size_t i = 0; i < in[1].values.size(); ++i) c.values[i % 2] += in[1].values[i];
                 return std::vector{c};
               },
           .dtypes = numbers_of_any_kind()}};
}

TensorList same(const TensorList& in) { return in; }
Tensor ones(const Shape& shape) { return sorus::full({DType::kFloat32, {}, shape}, 1); }

OP_ERRORS(cond) {
  return {
      {"types differ",
       [] {
         (void)cond(Tensor(true), same, [](const TensorList& in) { return TensorList{less(in[0], in[0])}; },
                    {ones({2})});
       },
       ErrorKind::kType, "cond: the branches differ in the type of result 0: got float32(2,) and bool(2,)"},
      {"predicate", [] { (void)cond(ones({2}), same, same, {ones({2})}); }, ErrorKind::kShape,
       "cond: the predicate has the wrong shape: got (2,)"},
      {"a read",
       [] {
         (void)cond(Tensor(true),
                    [](const TensorList& in) { return TensorList{in[0] * in[0].item<float>()}; }, same,
                    {ones({})});
       },
       ErrorKind::kValue, "cond: the body reads a value while it is recorded: got a read of float32()"}};
}

OP_ERRORS(while_loop) {
  const TensorFunction never = [](const TensorList&) { return TensorList{Tensor(false)}; };
  return {
      {"type changes",
       [=] {
         (void)while_loop(never, [](const TensorList& in) { return TensorList{sorus::sum(in[0])}; },
                          {ones({2})});
       },
       ErrorKind::kType,
       "while_loop: the body changes the type of carried value 0: got float32(), need float32(2,)"},
      {"count changes",
       [=] {
         (void)while_loop(never, [](const TensorList& in) { return TensorList{in[0], in[0]}; }, {ones({2})});
       },
       ErrorKind::kType, "while_loop: the body gives another number of values than it takes: got 2, need 1"},
      {"condition", [] { (void)while_loop(same, same, {ones({2})}); }, ErrorKind::kShape,
       "while_loop: the condition has the wrong shape"},
      {"draws",
       [=] {
         (void)while_loop(never,
                          [](const TensorList& in) {
                            (void)default_generator().key(1);
                            return in;
                          },
                          {ones({2})});
       },
       ErrorKind::kType, "while_loop: the condition or the body draws random numbers"}};
}

OP_ERRORS(scan) {
  return {{"lengths",
           [] {
             (void)scan(same, {}, {ones({2}), ones({3})});
           },
           ErrorKind::kShape, "scan: the first axes differ: got 3 rows in xs[1], need 2"},
          {"no length", [] { (void)scan(same, {ones({2})}, {}); }, ErrorKind::kValue,
           "scan: length is missing or negative"},
          {"no axis", [] { (void)scan(same, {}, {ones({})}); }, ErrorKind::kShape, "scan: xs[0] has no axis"},
          {"type changes",
           [] {
             (void)scan([](const TensorList& in) { return TensorList{less(in[0], in[0])}; }, {ones({2})},
                        {ones({2})});
           },
           ErrorKind::kType, "scan: the body changes the type of carried value 0"},
          {"update",
           [] {
             Parameter p(ones({2}), "p");
             (void)scan(
                 [&](const TensorList& in) {
                   p.set_value(in[0]);
                   return in;
                 },
                 {ones({2})}, {}, {.length = 2});
           },
           ErrorKind::kNotSupported,
           "scan: the body updates a tensor or parameter in place that it did not make"}};
}

}  // namespace
}  // namespace sorus::samples
