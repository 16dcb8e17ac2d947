#include "sorus/ops/index/placing.h"

#include <algorithm>

#include "tests/ops/shape/moves.h"

namespace sorus::samples {
namespace {

Input indices(std::vector<Real> values) { return {items(std::move(values)), DType::kInt64}; }

OP_SAMPLES(index_fill) {
  Sample s =
      move("columns", {2, 3}, {}, {{2, 3}, [](const Index& i) { return i[1] == 1 ? i[0] * 3 + 1 : -1; }});
  s.inputs.push_back(indices({2, -3, 2}));
  s.call = [](const TensorList& in) { return TensorList{index_fill(in[0], 1, in[1], Tensor(0.0F))}; };
  return {s};
}
OP_ERRORS(index_fill) {
  return {{"value",
           [] {
             (void)index_fill(Tensor({1.0F}), 0, Tensor({0}), Tensor({1.0F, 2.0F}));
           },
           ErrorKind::kShape, "got shape (2,), need one element"}};
}

OP_SAMPLES(masked_scatter) {
  Sample s =
      moves("row", {{2, 2}, {3}}, {}, {{{2, 2}, [](const Index& i) { return i[0] == 1 ? 4 + i[1] : i[1]; }}});
  s.inputs.push_back(Input(HostArray{{2, 1}, {0, 1}}, kBool));
  s.call = [](const TensorList& in) { return TensorList{masked_scatter(in[0], in[2], in[1])}; };
  return {s};
}
OP_ERRORS(masked_scatter) {
  return {{"too few",
           [] {
             (void)masked_scatter(Tensor({1.0F, 2.0F}), Tensor({true, true}), Tensor({1.0F}));
           },
           ErrorKind::kValue, "got 1, need 2"},
          {"dtype", [] { (void)masked_scatter(Tensor({1.0F}), Tensor({1}), Tensor({1.0F})); },
           ErrorKind::kDType, "got int32"}};
}

Call placing(std::function<Tensor(const Tensor&, const Tensor&)> f) {
  return [f](const TensorList& in) { return TensorList{f(in[0], in[1])}; };
}

OP_SAMPLES(select_scatter) {
  return {
      moves("column", {{2, 3}, {2}},
            placing([](const Tensor& x, const Tensor& s) { return select_scatter(x, s, 1, -1); }),
            {{{2, 3}, [](const Index& i) { return i[1] == 2 ? 6 + i[0] : 3 * i[0] + i[1]; }}}),
      moves("slice", {{2, 5}, {2, 2}},
            placing([](const Tensor& x, const Tensor& s) { return slice_scatter(x, s, -1, 1, 5, 2); }),
            {{{2, 5},
              [](const Index& i) { return i[1] % 2 == 1 ? 10 + 2 * i[0] + i[1] / 2 : 5 * i[0] + i[1]; }}}),
      moves("diagonal", {{2, 3}, {2}},
            placing([](const Tensor& x, const Tensor& s) { return diagonal_scatter(x, s, 1); }),
            {{{2, 3}, [](const Index& i) { return i[1] == i[0] + 1 ? 6 + i[0] : 3 * i[0] + i[1]; }}})};
}
OP_ERRORS(select_scatter) {
  return {{"index", [] { (void)select_scatter(Tensor({1.0F}), Tensor(1.0F), 0, 1); }, ErrorKind::kIndex,
           "on axis 0: got 1, need -1 <= index < 1"},
          {"shape", [] { (void)select_scatter(Tensor({1.0F}), Tensor({1.0F}), 0, 0); }, ErrorKind::kShape,
           "got shape (1,), need ()"}};
}
OP_ERRORS(slice_scatter) {
  return {{"shape", [] { (void)slice_scatter(Tensor({1.0F}), Tensor({1.0F}), 0, 1, 1); }, ErrorKind::kShape,
           "got shape (1,), need (0,)"}};
}
OP_ERRORS(diagonal_scatter) {
  return {{"shape",
           [] {
             (void)diagonal_scatter(Tensor({1.0F}, Shape{1, 1}), Tensor(1.0F));
           },
           ErrorKind::kShape, "got shape (), need (1,)"}};
}

/// Rows 0 to 3 in segments 1, 0, 1 and none; segment 2 is empty.
Sample segment(const std::string& name, Tensor (*f)(const Tensor&, const Tensor&, int64_t), Real start,
               std::function<Real(Real, Real)> combine) {
  return {.name = name,
          .inputs = {uniform({4, 2}, 0.5, 2), indices({1, 0, 1, -1})},
          .call = [f](const TensorList& in) { return TensorList{f(in[0], in[1], 3)}; },
          .reference =
              [=](const std::vector<HostArray>& in) {
                HostArray r = full({3, 2}, start);
                for (size_t i = 0; i < 6; ++i) {
                  Real& to = r.values[(i / 2 == 1 ? 0 : 2) + i % 2];
                  to = combine(to, in[0].values[i]);
                }
                return std::vector{r};
              },
          .dtypes = wide_floats(),
          .absolute = 2};
}

OP_SAMPLES(unsorted_segment_sum) {
  return {segment("sum", unsorted_segment_sum, 0, [](Real a, Real b) { return a + b; }),
          segment("product", unsorted_segment_prod, 1, [](Real a, Real b) { return a * b; })};
}

/// The least number of a segment without elements depends on the dtype.
Sample extreme(const std::string& name, Tensor (*f)(const Tensor&, const Tensor&, int64_t), DType dtype,
               Real empty) {
  bool largest = f == unsorted_segment_max;
  Sample s = segment(name, f, empty,
                     [largest](Real a, Real b) { return largest ? std::max(a, b) : std::min(a, b); });
  s.dtypes = {dtype};
  return s;
}
OP_SAMPLES(unsorted_segment_max) {
  constexpr Real kFloat = 0x1.fffffep127L;
  return {extreme("max", unsorted_segment_max, DType::kFloat32, -kFloat),
          extreme("min", unsorted_segment_min, DType::kFloat32, kFloat),
          extreme("max of float16", unsorted_segment_max, DType::kFloat16, -65504),
          extreme("min of bfloat16", unsorted_segment_min, DType::kBFloat16, 0x1.fep127L),
          extreme("max of int8", unsorted_segment_max, DType::kInt8, -128)};
}
OP_ERRORS(unsorted_segment_sum) {
  return {{"shape",
           [] {
             (void)unsorted_segment_sum(Tensor({1.0F}), Tensor({0, 0}), 1);
           },
           ErrorKind::kShape, "got shape (2,) for shape (1,)"},
          {"count", [] { (void)unsorted_segment_sum(Tensor({1.0F}), Tensor({0}), -1); }, ErrorKind::kValue,
           "got -1"},
          {"number of segments",
           [] {
             (void)unsorted_segment_sum(Tensor({1.0F, 2.0F}), Tensor({0, 2}), 2);
           },
           ErrorKind::kIndex, "unsorted_segment_sum: index out of range on axis 0: got 2"},
          {"no segment", [] { (void)unsorted_segment_sum(Tensor({1.0F}), Tensor({0}), 0); },
           ErrorKind::kIndex, "got 0 segments"}};
}
OP_ERRORS(unsorted_segment_max) {
  return {{"number of segments",
           [] {
             (void)unsorted_segment_max(Tensor({1.0F, 2.0F}), Tensor({0, 3}), 2);
           },
           ErrorKind::kIndex, "index out of range on axis 0: got 3"}};
}

OP_SAMPLES(reverse_sequence) {
  Sample s =
      move("rows", {2, 3}, {}, {{2, 3}, [](const Index& i) {
                                  const int64_t length[] = {2, 3};
                                  return 3 * i[0] + (i[1] < length[i[0]] ? length[i[0]] - 1 - i[1] : i[1]);
                                }});
  s.inputs.push_back(indices({2, 3}));
  s.call = [](const TensorList& in) { return TensorList{reverse_sequence(in[0], in[1], 1)}; };
  return {s};
}
OP_ERRORS(reverse_sequence) {
  return {{"lengths",
           [] {
             (void)reverse_sequence(Tensor({1.0F}, Shape{1, 1}), Tensor({1, 1}), 1);
           },
           ErrorKind::kShape, "got shape (2,), need (1,)"},
          {"axes", [] { (void)reverse_sequence(Tensor({1.0F}), Tensor({1}), 0); }, ErrorKind::kValue,
           "the same"}};
}

Sample counts(const std::string& name, Call f, HostArray want) {
  return {.name = name,
          .inputs = {Input(items({2, 0, 5}), DType::kInt32)},
          .call = std::move(f),
          .reference = [want = std::move(want)](const std::vector<HostArray>&) { return std::vector{want}; },
          .dtypes = {DType::kFloat32},
          .gradient = false};
}
OP_SAMPLES(sequence_mask) {
  return {counts("mask", [](const TensorList& in) { return TensorList{sequence_mask(in[0], 3)}; },
                 {{3, 3}, {1, 1, 0, 0, 0, 0, 1, 1, 1}}),
          counts("unravel",
                 [](const TensorList& in) {
                   return TensorList{unravel_index(in[0], {2, 3})};
                 },
                 {{3, 2}, {0, 2, 0, 0, 1, 2}})};
}
OP_ERRORS(unravel_index) {
  return {{"range",
           [] {
             (void)unravel_index(Tensor({6}), {2, 3});
           },
           ErrorKind::kIndex, "got 6, need 0 <= position < 6"}};
}

}  // namespace
}  // namespace sorus::samples
