#include <algorithm>
#include <cmath>
#include <numeric>

#include "sorus/ops/reduce/reduce.h"
#include "tests/ops/reduce/reference.h"

namespace sorus::samples {
namespace {

using List = std::vector<Real>;
using Lists = std::vector<List>;
/// Results of one line along the axis.
using Line = std::function<Lists(const List&)>;

/// Applies `line` to every line of `a` along the axis; each of its results makes an array of the same shape
/// but for the axis' extent.
std::vector<HostArray> along(const HostArray& a, int64_t axis, size_t results, const Line& line) {
  const int at = normalize_axis("reference", axis, a.shape.rank());
  int64_t inner = 1;
  for (int i = at + 1; i < a.shape.rank(); ++i) inner *= a.shape.size(i);
  const int64_t extent = a.shape.size(at);
  const int64_t lines = extent == 0 ? 0 : a.shape.numel() / extent;
  std::vector<HostArray> out(results);
  for (int64_t l = 0; l < lines; ++l) {
    const int64_t outer = l / inner;
    List values;
    for (int64_t k = 0; k < extent; ++k)
      values.push_back(a.values[static_cast<size_t>((outer * extent + k) * inner + l % inner)]);
    const Lists made = line(values);
    for (size_t r = 0; r < results; ++r) {
      const auto length = static_cast<int64_t>(made[r].size());
      out[r].shape = a.shape;
      out[r].shape[at] = length;
      out[r].values.resize(static_cast<size_t>(out[r].shape.numel()));
      for (int64_t k = 0; k < length; ++k)
        out[r].values[static_cast<size_t>((outer * length + k) * inner + l % inner)] =
            made[r][static_cast<size_t>(k)];
    }
  }
  return out;
}

struct Case {
  Shape shape;
  int64_t axis;
};
/// The large ones are cut into pieces, sorted by digits and walked in groups of lines.
const std::vector<Case> kCases = {{{7}, 0},         {{3, 5}, 1},     {{5, 3}, 0},     {{2, 4, 3}, -2},
                                  {{130, 301}, -1}, {{2, 1500}, -1}, {{2, 9, 140}, 1}};

SampleList line_family(size_t results, const std::function<TensorList(const Tensor&, int64_t)>& call,
                       const Line& line, const std::vector<DType>& dtypes, bool gradient,
                       double absolute = 0) {
  SampleList list;
  for (const Case& c : kCases)
    list.push_back(
        {.name = c.shape.text() + " along " + std::to_string(c.axis),
         .inputs = {integers(c.shape, 1, 9, 3)},
         .call = [=](const TensorList& in) { return call(in[0], c.axis); },
         .reference = [=](const std::vector<HostArray>& in) { return along(in[0], c.axis, results, line); },
         .dtypes = dtypes,
         .absolute = absolute,
         .gradient = gradient && c.shape.numel() < 100});
  return list;
}
/// Distinct real numbers, so that a small step changes no order.
void make_distinct(SampleList& list) {
  for (Sample& s : list) {
    HostArray& a = s.inputs[0].data;
    for (size_t i = 0; i < a.values.size(); ++i)
      a.values[i] =
          static_cast<Real>((i * 7919 + 13) % a.values.size()) / static_cast<Real>(a.values.size()) * 64 - 30;
  }
}

Lists running(const List& v, bool exclusive, bool reverse, Real start,
              const std::function<Real(Real, Real)>& join) {
  List x = v;
  if (reverse) std::reverse(x.begin(), x.end());
  List out;
  Real r = start;
  for (Real e : x) {
    if (exclusive) out.push_back(r);
    r = join(r, e);
    if (!exclusive) out.push_back(r);
  }
  if (reverse) std::reverse(out.begin(), out.end());
  return {out};
}

using Scan = Tensor (*)(const Tensor&, int64_t, bool, bool);
SampleList scans(Scan f, Real start, const std::function<Real(Real, Real)>& join, double absolute) {
  SampleList list;
  for (bool exclusive : {false, true})
    for (bool reverse : {false, true})
      for (Sample& s : line_family(
               1, [=](const Tensor&x, int64_t axis) { return TensorList{f(x, axis, exclusive, reverse)}; },
               [=](const List&v) { return running(v, exclusive, reverse, start, join); }, floats(), true,
               absolute)) {
        s.name += exclusive ? ", exclusive" : "";
        s.name += reverse ? ", reverse" : "";
        list.push_back(std::move(s));
      }
  return list;
}
OP_SAMPLES(cumsum) {
  SampleList list = scans(
      cumsum, 0, [](Real a, Real b) { return a + b; }, 3000);
  list.push_back({.name = "bools and integers",
                  .inputs = {items({1, 0, 1, 1})},
                  .call = [](const TensorList& in) { return TensorList{cumsum(in[0], 0)}; },
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{items({1, 1, 2, 3})};
                      },
                  .dtypes = {kBool, DType::kInt8, DType::kUInt64, DType::kInt32}});
  return list;
}
OP_SAMPLES(cumprod) {
  SampleList list = scans(
      cumprod, 1, [](Real a, Real b) { return a * b; }, 0);
  for (Sample& s : list) {
    s.ulp = 400;
    for (Real& v : s.inputs[0].data.values) v = 0.995L + v / 1000;
  }
  return list;
}

Lists extreme_so_far(const List& v, bool greatest) {
  Lists out(2);
  size_t best = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (std::isnan(v[i]) || (greatest ? v[i] >= v[best] : v[i] <= v[best])) best = i;
    out[0].push_back(v[best]);
    out[1].push_back(static_cast<Real>(best));
  }
  return out;
}
TensorList both(ValuesAndIndices r) { return {r.values, r.indices}; }

template <ValuesAndIndices (*kF)(const Tensor&, int64_t)>
SampleList running_extreme(bool greatest) {
  auto call = [](const Tensor& x, int64_t axis) { return both(kF(x, axis)); };
  auto reference = [greatest](const List& v) { return extreme_so_far(v, greatest); };
  SampleList list = line_family(2, call, reference, numbers(), false);
  SampleList distinct = line_family(2, call, reference, wide_floats(), true);
  make_distinct(distinct);
  for (Sample& s : distinct) list.push_back(std::move(s));
  // A NaN is never left, but for a later one; kernels take rows and columns in groups.
  HostArray holes = integers({19, 22}, 1, 9, 5);
  for (size_t i = 30; i < holes.values.size(); i += 37) holes.values[i] = NAN;
  for (int64_t axis : {0, 1})
    list.push_back({.name = "NaN along " + std::to_string(axis),
                    .inputs = {holes},
                    .call = [=](const TensorList& in) { return call(in[0], axis); },
                    .reference =
                        [=](const std::vector<HostArray>& in) {
                          return along(in[0], static_cast<int>(axis), 2, reference);
                        },
                    .gradient = false});
  return list;
}
OP_SAMPLES(cummax) { return running_extreme<&cummax>(true); }
OP_SAMPLES(cummin) { return running_extreme<&cummin>(false); }

/// Places of the elements in order, the earlier of equal ones first.
List order_of(const List& v, bool descending) {
  std::vector<size_t> order(v.size());
  std::iota(order.begin(), order.end(), size_t{0});
  auto before = [&](size_t a, size_t b) {
    if (std::isnan(v[a]) || std::isnan(v[b]))
      return descending ? std::isnan(v[a]) && !std::isnan(v[b]) : !std::isnan(v[a]) && std::isnan(v[b]);
    return descending ? v[a] > v[b] : v[a] < v[b];
  };
  std::stable_sort(order.begin(), order.end(), before);
  List out;
  for (size_t i : order) out.push_back(static_cast<Real>(i));
  return out;
}
Lists sorted(const List& v, bool descending, size_t keep) {
  Lists out(2);
  out[1] = order_of(v, descending);
  out[1].resize(std::min(keep, v.size()));
  for (Real i : out[1]) out[0].push_back(v[static_cast<size_t>(i)]);
  return out;
}

OP_SAMPLES(sort) {
  SampleList list;
  for (bool descending : {false, true}) {
    auto call = [=](const Tensor& x, int64_t axis) { return both(sort(x, axis, descending)); };
    auto line = [=](const List& v) { return sorted(v, descending, v.size()); };
    for (Sample& s : line_family(2, call, line, any_type(), false)) list.push_back(std::move(s));
    SampleList distinct = line_family(2, call, line, wide_floats(), true);
    make_distinct(distinct);
    for (Sample& s : distinct) list.push_back(std::move(s));
    list.push_back({.name = "special values",
                    .inputs = {special_values()},
                    .call = [=](const TensorList& in) { return call(in[0], 0); },
                    .reference = [=](const std::vector<HostArray>& in) { return along(in[0], 0, 2, line); },
                    .gradient = false});
  }
  return list;
}
OP_SAMPLES(argsort) {
  return line_family(
      1, [](const Tensor& x, int64_t axis) { return TensorList{argsort(x, axis)}; },
      [](const List& v) { return Lists{order_of(v, false)}; }, numbers(), false);
}
OP_SAMPLES(topk) {
  SampleList list;
  for (bool largest : {false, true}) {
    auto call = [=](const Tensor& x, int64_t axis) { return both(topk(x, 2, axis, largest)); };
    auto line = [=](const List& v) { return sorted(v, largest, 2); };
    for (Sample& s : line_family(2, call, line, numbers(), false)) list.push_back(std::move(s));
    SampleList distinct = line_family(2, call, line, wide_floats(), true);
    make_distinct(distinct);
    for (Sample& s : distinct) list.push_back(std::move(s));
    // Rows in which every element beats the best so far, or none does, with special values on the way.
    for (int64_t k : {3, 700})
      for (int64_t slope : {1, -1}) {
        HostArray row = full({1900}, 0);
        for (size_t i = 0; i < row.values.size(); ++i)
          row.values[i] = static_cast<Real>(slope * static_cast<int64_t>(i / 2));
        row.values[400] = row.values[1500] = NAN;
        row.values[7] = -0.0L;
        list.push_back({.name = "best " + std::to_string(k) + " of a row of slope " + std::to_string(slope),
                        .inputs = {row},
                        .call = [=](const TensorList& in) { return both(topk(in[0], k, 0, largest)); },
                        .reference =
                            [=](const std::vector<HostArray>& in) {
                              return along(in[0], 0, 2, [=](const List& v) {
                                return sorted(v, largest, static_cast<size_t>(k));
                              });
                            },
                        .gradient = false});
      }
  }
  return list;
}
OP_ERRORS(topk) {
  return {{"k", [] { (void)topk(Tensor({1.0F, 2.0F}), 3); }, ErrorKind::kValue, "got 3, need 0 <= k <= 2"}};
}

Lists first_extreme(const List& v, bool greatest) {
  const auto at = greatest ? std::max_element(v.begin(), v.end()) : std::min_element(v.begin(), v.end());
  return {{*at}, {static_cast<Real>(at - v.begin())}};
}
SampleList arg_family(Tensor (*f)(const Tensor&, int64_t, bool), bool greatest) {
  SampleList list = line_family(
      1, [=](const Tensor& x, int64_t axis) { return TensorList{f(x, axis, true)}; },
      [=](const List& v) { return Lists{first_extreme(v, greatest)[1]}; }, any_type(), false);
  list.push_back({.name = "NaN",
                  .inputs = {items({1, NAN, 3, NAN})},
                  .call = [f](const TensorList& in) { return TensorList{f(in[0], 0, false)}; },
                  .reference = [](const std::vector<HostArray>&) { return std::vector{full({}, 1)}; },
                  .gradient = false});
  HostArray late = integers({5000}, 1, 9, 3);
  late.values[4003] = late.values[4900] = NAN;
  list.push_back({.name = "NaN late in a row",
                  .inputs = {late},
                  .call = [f](const TensorList& in) { return TensorList{f(in[0], 0, false)}; },
                  .reference = [](const std::vector<HostArray>&) { return std::vector{full({}, 4003)}; },
                  .gradient = false});
  late.shape = {50, 100};
  list.push_back({.name = "NaN in columns",
                  .inputs = {late},
                  .call = [f](const TensorList& in) { return TensorList{f(in[0], 0, false)}; },
                  .gradient = false});
  return list;
}
OP_SAMPLES(argmax) { return arg_family(argmax, true); }
OP_SAMPLES(argmin) { return arg_family(argmin, false); }
OP_ERRORS(argmax) {
  return {{"extent",
           [] {
             (void)argmax(to_tensor(full({2, 0}, 0), DType::kFloat32), 1);
           },
           ErrorKind::kValue, "nothing to choose from"}};
}
OP_SAMPLES(max_with_index) {
  SampleList list = line_family(
      2, [](const Tensor& x, int64_t axis) { return both(max_with_index(x, axis, true)); },
      [](const List& v) { return first_extreme(v, true); }, wide_floats(), true);
  make_distinct(list);
  return list;
}
OP_SAMPLES(min_with_index) {
  SampleList list = line_family(
      2, [](const Tensor& x, int64_t axis) { return both(min_with_index(x, axis, true)); },
      [](const List& v) { return first_extreme(v, false); }, wide_floats(), true);
  make_distinct(list);
  return list;
}
OP_SAMPLES(median) {
  SampleList list = line_family(
      2, [](const Tensor& x, int64_t axis) { return both(median(x, axis, true)); },
      [](const List& v) {
        const Lists s = sorted(v, false, v.size());
        const size_t middle = (v.size() - 1) / 2;
        return Lists{{s[0][middle]}, {s[1][middle]}};
      },
      wide_floats(), true);
  make_distinct(list);
  return list;
}

}  // namespace
}  // namespace sorus::samples
