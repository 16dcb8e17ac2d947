#include <cmath>

#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/shape/moves.h"

/// Gathers, indexing and what picks elements by value.
namespace sorus::samples {
namespace {

Input indices(const Shape& shape, std::vector<Real> values, DType dtype = DType::kInt64) {
  return {HostArray{shape, std::move(values)}, dtype};
}

/// `f` picks from the first input, whose elements are 1, 2, ..., by the others; the source says which.
Sample picks(const std::string& name, const Shape& x, std::vector<Input> others, Call f, Result result) {
  Sample s = moves(name, {x}, std::move(f), {std::move(result)});
  for (Input& i : others) s.inputs.push_back(std::move(i));
  return s;
}

/// gather without batch axes.
Tensor gather_axis(const Tensor& x, const Tensor& at, int64_t axis) { return gather(x, at, axis); }

Call on_axis(Tensor (*f)(const Tensor&, const Tensor&, int64_t), int64_t axis) {
  return [=](const TensorList& in) { return TensorList{f(in[0], in[1], axis)}; };
}

OP_SAMPLES(gather) {
  Shape x{3, 4};
  auto row = [](int64_t i) { return std::vector<int64_t>{2, 0, 2, 1}[static_cast<size_t>(i)]; };
  return {
      picks("rows", x, {indices({4}, {2, 0, -1, 1})}, on_axis(gather_axis, 0),
            {{4, 4}, [=](const Index& i) { return 4 * row(i[0]) + i[1]; }}),
      picks("columns by a matrix", x, {indices({2, 2}, {2, 0, 2, 1}, DType::kInt32)},
            on_axis(gather_axis, -1),
            {{3, 2, 2}, [=](const Index& i) { return 4 * i[0] + row(2 * i[1] + i[2]); }}),
      picks("one", x, {indices({}, {-1})}, on_axis(gather_axis, 0),
            {{4}, [](const Index& i) { return 8 + i[0]; }}),
      picks("small integers", x, {indices({1}, {1}, DType::kUInt8)}, on_axis(gather_axis, 0),
            {{1, 4}, [](const Index& i) { return 4 + i[1]; }}),
      picks("none", x, {indices({0}, {})}, on_axis(gather_axis, 1), {{3, 0}, [](const Index&) { return 0; }}),
      picks("take", x, {indices({2}, {5, -1})},
            [](const TensorList& in) { return TensorList{take(in[0], in[1])}; },
            {{2}, [](const Index& i) { return i[0] == 0 ? 5 : 11; }}),
      picks("index_select", x, {indices({}, {2})},
            [](const TensorList& in) { return TensorList{index_select(in[0], 1, in[1])}; },
            {{3, 1}, [](const Index& i) { return 4 * i[0] + 2; }}),
      picks("batches", {2, 3, 4}, {indices({2, 2}, {0, -1, 1, 1})},
            [](const TensorList& in) { return TensorList{gather(in[0], in[1], 2, 1)}; },
            {{2, 3, 2},
             [](const Index& i) {
               const int64_t columns[] = {0, 3, 1, 1};
               return 12 * i[0] + 4 * i[1] + columns[2 * i[0] + i[2]];
             }}),
      picks("batches of one index", {2, 3}, {indices({2}, {2, 0})},
            [](const TensorList& in) { return TensorList{gather(in[0], in[1], 1, 1)}; },
            {{2}, [](const Index& i) { return i[0] == 0 ? 2 : 3; }}),
      picks("in the middle", {2, 3, 4}, {indices({2}, {1, 1})}, on_axis(gather_axis, 1),
            {{2, 2, 4}, [](const Index& i) { return 12 * i[0] + 4 + i[2]; }})};
}

std::function<void()> bad_gather(Tensor (*f)(const Tensor&, const Tensor&, int64_t), Shape x, Tensor at,
                                 int64_t axis) {
  return [=] { (void)f(sorus::full({DType::kFloat32, {}, x}, 1), at, axis); };
}
OP_ERRORS(gather) {
  return {{"range", bad_gather(gather_axis, {2, 3}, Tensor({0, 3}), 1), ErrorKind::kIndex,
           "on axis 1: got 3, need -3 <= index < 3"},
          {"negative", bad_gather(gather_axis, {2, 3}, Tensor({-3}), 0), ErrorKind::kIndex,
           "got -3, need -2 <= index < 2"},
          {"dtype", bad_gather(gather_axis, {2, 3}, Tensor({0.0F}), 0), ErrorKind::kDType, "got float32"},
          {"axis", bad_gather(gather_axis, {2, 3}, Tensor({0}), 2), ErrorKind::kValue,
           "got 2, need -2 <= axis < 2"},
          {"scalar", bad_gather(gather_axis, {}, Tensor({0}), 0), ErrorKind::kValue, "axis is out of range"}};
}

OP_SAMPLES(gather_elements) {
  Shape x{3, 4};
  return {picks("rows", x, {indices({2, 3}, {0, 2, -1, 1, 1, 0})}, on_axis(gather_elements, 0),
                {{2, 3},
                 [](const Index& i) {
                   const int64_t rows[] = {0, 2, 2, 1, 1, 0};
                   return 4 * rows[3 * i[0] + i[1]] + i[1];
                 }}),
          picks("columns, repeated", x, {indices({3, 5}, std::vector<Real>(15, 1), DType::kInt32)},
                on_axis(gather_elements, 1), {{3, 5}, [](const Index& i) { return 4 * i[0] + 1; }}),
          picks("none", x, {indices({0, 4}, {})}, on_axis(gather_elements, 0),
                {{0, 4}, [](const Index&) { return 0; }})};
}
OP_ERRORS(gather_elements) {
  return {
      {"range", bad_gather(gather_elements, {2, 2}, Tensor({0, 2}, Shape{1, 2}), 0), ErrorKind::kIndex,
       "on axis 0: got 2, need -2 <= index < 2"},
      {"rank", bad_gather(gather_elements, {2, 2}, Tensor({0}), 0), ErrorKind::kShape, "need equal ranks"},
      {"extent", bad_gather(gather_elements, {2, 2}, Tensor({0, 0, 0}, Shape{1, 3}), 0), ErrorKind::kShape,
       "no larger than"}};
}

OP_SAMPLES(gather_nd) {
  auto f = call_of(gather_nd);
  Shape x{2, 3, 4};
  return {picks("elements", x, {indices({2, 3}, {0, 1, 2, -1, -1, -1})}, f,
                {{2}, [](const Index& i) { return i[0] == 0 ? 6 : 23; }}),
          picks("rows", x, {indices({2, 2}, {1, 2, 0, 0})}, f,
                {{2, 4}, [](const Index& i) { return (i[0] == 0 ? 20 : 0) + i[1]; }}),
          picks("one row", x, {indices({2}, {1, 0}, DType::kInt32)}, f,
                {{4}, [](const Index& i) { return 12 + i[0]; }}),
          picks("everything", x, {indices({2, 0}, {})}, f,
                {{2, 2, 3, 4},
                 [x](const Index& i) {
                   return position_of(x, {i[1], i[2], i[3]});
                 }}),
          picks("none", x, {indices({0, 1}, {})}, f, {{0, 3, 4}, [](const Index&) { return 0; }})};
}
OP_ERRORS(gather_nd) {
  return {{"range",
           [] {
             (void)gather_nd(Tensor({1.0F}), Tensor({1}, Shape{1, 1}));
           },
           ErrorKind::kIndex, "on axis 0: got 1, need -1 <= index < 1"},
          {"width",
           [] {
             (void)gather_nd(Tensor({1.0F}), Tensor({0, 0}));
           },
           ErrorKind::kShape, "last axis of at most 1"}};
}

OP_SAMPLES(index) {
  using Items = std::vector<IndexItem>;
  Shape x{2, 3, 4};
  auto with = [](std::function<Items(const TensorList&)> items) {
    return [items](const TensorList& in) { return TensorList{index(in[0], items(in))}; };
  };
  return {
      picks("tensors apart", x, {indices({2}, {1, 0}), indices({2}, {3, 0})}, with([](const TensorList& in) {
              return Items{in[1], SliceItem{}, in[2]};
            }),
            {{2, 3}, [](const Index& i) { return (i[0] == 0 ? 15 : 0) + 4 * i[1]; }}),
      picks("tensors together", x, {indices({2, 1}, {2, 0}), indices({2}, {1, 1})},
            with([](const TensorList& in) {
              return Items{EllipsisItem{}, in[1], in[2]};
            }),
            {{2, 2, 2}, [](const Index& i) { return 12 * i[0] + (i[1] == 0 ? 8 : 0) + 1; }}),
      picks("mask", x, {Input(HostArray{{3}, {1, 0, 1}}, kBool)}, with([](const TensorList& in) {
              return Items{int64_t{1}, in[1]};
            }),
            {{2, 4}, [](const Index& i) { return 12 + 8 * i[0] + i[1]; }}),
      picks("update", x, {indices({2}, {1, 1})},
            [](const TensorList& in) {
              return TensorList{index_update(in[0], Items{SliceItem{}, in[1]}, Tensor(0.0F))};
            },
            {x, [x](const Index& i) { return i[1] == 1 ? -1 : position_of(x, i); }})};
}

Sample finds(const std::string& name, HostArray x, Call f, std::vector<HostArray> want,
             std::vector<DType> dtypes = any_type()) {
  return {.name = name,
          .inputs = {Input(std::move(x)).constant()},
          .call = std::move(f),
          .reference = [want = std::move(want)](const std::vector<HostArray>&) { return want; },
          .dtypes = std::move(dtypes),
          .gradient = false};
}

/// The references below hold for the very input: a stride of 0 changes it, so only kernels are compared then.
OP_SAMPLES(nonzero) {
  return {finds("matrix", {{2, 3}, {1, 0, 1, 0, 0, 1}}, call_of(nonzero), {{{3, 2}, {0, 0, 0, 2, 1, 2}}}),
          finds("none", {{2}, {0, 0}}, call_of(nonzero), {{{0, 1}, {}}}),
          finds("scalar", {{}, {1}}, call_of(nonzero), {{{1, 0}, {}}}),
          finds("tuple", {{2, 2}, {0, 1, 1, 0}}, [](const TensorList& in) { return nonzero_tuple(in[0]); },
                {items({0, 1}), items({1, 0})})};
}

OP_SAMPLES(masked_select) {
  Input mask(HostArray{{2, 1}, {0, 1}}, kBool);
  Input none(HostArray{{3}, {0, 0, 0}}, kBool);
  return {picks("broadcast", {2, 3}, {mask}, call_of(masked_select),
                {{3}, [](const Index& i) { return 3 + i[0]; }}),
          picks("none", {2, 3}, {none}, call_of(masked_select), {{0}, [](const Index&) { return 0; }})};
}
OP_ERRORS(masked_select) {
  return {{"dtype", [] { (void)masked_select(Tensor({1.0F}), Tensor({1})); }, ErrorKind::kDType,
           "got int32, need bool"},
          {"shape",
           [] {
             (void)masked_select(Tensor({1.0F, 2.0F}), Tensor({true, true, false}));
           },
           ErrorKind::kShape, "got (2,) and (3,)"}};
}

OP_SAMPLES(masked_fill) {
  Input mask(HostArray{{2, 1}, {0, 1}}, kBool);
  return {picks("rows", {2, 3}, {mask},
                [](const TensorList& in) { return TensorList{masked_fill(in[0], in[1], Tensor(0.0F))}; },
                {{2, 3}, [](const Index& i) { return i[0] == 1 ? -1 : i[1]; }})};
}

template <UniqueOrder kOrder = UniqueOrder::kSorted>
TensorList unique_parts(const TensorList& in) {
  UniqueResult r = unique(in[0], kOrder);
  return {r.values, r.inverse, r.counts};
}

OP_SAMPLES(unique) {
  return {finds("matrix", {{2, 3}, {3, 1, 3, 2, 1, 3}}, unique_parts<>,
                {items({1, 2, 3}), {{2, 3}, {2, 0, 2, 1, 0, 2}}, items({2, 1, 3})}, numbers()),
          finds("as they occur", items({3, 1, 3, 2, 1}), unique_parts<UniqueOrder::kFirst>,
                {items({3, 1, 2}), items({0, 1, 0, 2, 1}), items({2, 2, 1})}, numbers()),
          finds("runs", items({3, 3, 1, 3}), unique_parts<UniqueOrder::kRuns>,
                {items({3, 1, 3}), items({0, 0, 1, 2}), items({2, 1, 1})}, numbers()),
          finds("bools", {{3}, {1, 0, 1}}, unique_parts<>, {items({0, 1}), items({1, 0, 1}), items({1, 2})},
                {kBool}),
          finds("NaN", {{3}, {NAN, 1, NAN}}, unique_parts<>,
                {items({1, NAN}), items({1, 0, 1}), items({1, 2})}, floats()),
          finds("nothing", {{0}, {}}, unique_parts<>, {items({}), items({}), items({})})};
}

OP_SAMPLES(bincount) {
  auto count = [](const TensorList& in) { return TensorList{bincount(in[0], {}, 3)}; };
  Sample weighted = finds("weights", {{3}, {1, 0, 1}},
                          [](const TensorList& in) {
                            return TensorList{bincount(in[0], Tensor({0.5F, 2.0F, 1.0F}))};
                          },
                          {items({2, 1.5L})}, {DType::kInt64});
  return {finds("plain", {{4}, {1, 3, 1, 0}}, count, {items({1, 2, 0, 1})}, integer_types()),
          finds("nothing", {{0}, {}}, count, {items({0, 0, 0})}, {DType::kInt32}), weighted};
}
OP_ERRORS(bincount) {
  return {{"negative", [] { (void)bincount(Tensor({-1})); }, ErrorKind::kValue, "got -1"},
          {"rank", [] { (void)bincount(Tensor(int32_t{1})); }, ErrorKind::kShape, "got shape ()"},
          {"weights",
           [] {
             (void)bincount(Tensor({1}), Tensor({1.0F, 2.0F}));
           },
           ErrorKind::kShape, "got (1,)"}};
}

OP_SAMPLES(one_hot) {
  auto f = [](const TensorList& in) { return TensorList{one_hot(in[0], 3, Tensor(1.0F), Tensor(0.0F), -1)}; };
  auto front = [](const TensorList& in) {
    return TensorList{one_hot(in[0], 2, Tensor(5.0F), Tensor(-1.0F), 0)};
  };
  return {finds("last", items({2, 0, 7}), f, {{{3, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 0}}}, integer_types()),
          finds("first", items({1, 0}), front, {{{2, 2}, {-1, 5, 5, -1}}}, {DType::kInt32, DType::kInt64})};
}
OP_ERRORS(one_hot) {
  return {{"depth", [] { (void)one_hot(Tensor({1}), -1, Tensor(1.0F), Tensor(0.0F)); }, ErrorKind::kValue,
           "got -1"},
          {"dtype", [] { (void)one_hot(Tensor({1.0F}), 2, Tensor(1.0F), Tensor(0.0F)); }, ErrorKind::kDType,
           "got float32"}};
}

OP_SAMPLES(searchsorted) {
  Input row(HostArray{{4}, {1, 3, 3, 5}});
  Input rows(HostArray{{2, 2}, {1, 2, 3, 4}});
  auto search = [](bool right) {
    return [right](const TensorList& in) { return TensorList{searchsorted(in[0], in[1], right)}; };
  };
  auto sample = [&](const std::string& name, const Input& sorted, HostArray values, bool right,
                    HostArray want) {
    Sample s = finds(name, sorted.data, search(right), {std::move(want)}, numbers());
    s.inputs.emplace_back(std::move(values));
    return s;
  };
  return {sample("left", row, {{2, 2}, {3, 0, 9, 4}}, false, {{2, 2}, {1, 0, 4, 3}}),
          sample("right", row, items({3, 5}), true, items({3, 4})),
          sample("rows", rows, {{2, 1}, {2, 2}}, false, {{2, 1}, {1, 0}})};
}
OP_ERRORS(searchsorted) {
  return {{"shape",
           [] {
             (void)searchsorted(Tensor({1.0F}, Shape{1, 1}), Tensor({1.0F}));
           },
           ErrorKind::kShape, "got (1, 1) and values (1,)"}};
}

}  // namespace
}  // namespace sorus::samples
