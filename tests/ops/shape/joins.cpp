#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/shape/moves.h"

/// Functions that join, cut, repeat and pad.
namespace sorus::samples {
namespace {

std::span<const Tensor> all_of(const TensorList& in) { return {in.data(), in.size()}; }

OP_SAMPLES(concat) {
  auto on = [](int64_t axis) {
    return [axis](const TensorList& in) { return TensorList{concat(all_of(in), axis)}; };
  };
  return {
      moves("rows", {{2, 3}, {1, 3}, {0, 3}}, on(0),
            {{{3, 3}, [](const Index& i) { return 3 * i[0] + i[1]; }}}),
      moves("columns", {{2, 2}, {2, 3}}, on(-1),
            {{{2, 5}, [](const Index& i) { return i[1] < 2 ? 2 * i[0] + i[1] : 4 + 3 * i[0] + i[1] - 2; }}}),
      moves("middle", {{2, 1, 3}, {2, 2, 3}}, on(1),
            {{{2, 3, 3},
              [](const Index& i) {
                return i[1] < 1 ? 3 * i[0] + i[2] : 6 + 6 * i[0] + 3 * (i[1] - 1) + i[2];
              }}}),
      moves("one", {{2}}, on(0), {{{2}, [](const Index& i) { return i[0]; }}}),
      moves("stack", {{2}, {2}, {2}}, [](const TensorList& in) { return TensorList{stack(all_of(in), -1)}; },
            {{{2, 3}, [](const Index& i) { return 2 * i[1] + i[0]; }}})};
}
OP_ERRORS(concat) {
  return {{"none", [] { (void)concat({}, 0); }, ErrorKind::kValue, "empty list"},
          {"shapes",
           [] {
             Tensor list[] = {Tensor({1.0F}, Shape{1, 1}), Tensor({1.0F, 2.0F}, Shape{1, 2})};
             (void)concat(list, 0);
           },
           ErrorKind::kShape, "got (1, 1) and (1, 2) (tensor 1), need equal extents but on axis 0"},
          {"scalars",
           [] {
             Tensor list[] = {Tensor(1.0F), Tensor(2.0F)};
             (void)concat(list, 0);
           },
           ErrorKind::kValue, "axis is out of range"}};
}

Result rows(int64_t from, int64_t count, int64_t columns) {
  return {{count, columns}, [=](const Index& i) { return (from + i[0]) * columns + i[1]; }};
}

OP_SAMPLES(split) {
  std::vector<Result> many;
  for (int64_t i = 0; i < 20; ++i) many.push_back(rows(i, 1, 2));
  return {moves("equal", {{5, 3}}, [](const TensorList& in) { return split(in[0], 2); },
                {rows(0, 2, 3), rows(2, 2, 3), rows(4, 1, 3)}),
          moves("sizes", {{5, 3}},
                [](const TensorList& in) {
                  const int64_t sizes[] = {1, 0, 4};
                  return split_sizes(in[0], sizes, -2);
                },
                {rows(0, 1, 3), rows(1, 0, 3), rows(1, 4, 3)}),
          moves(
              "many sizes", {{20, 2}},
              [](const TensorList& in) { return split_sizes(in[0], std::vector<int64_t>(20, 1), 0); }, many),
          moves("chunk", {{5, 3}}, [](const TensorList& in) { return chunk(in[0], 2); },
                {rows(0, 3, 3), rows(3, 2, 3)}),
          moves("unstack", {{2, 3}}, [](const TensorList& in) { return unstack(in[0], 1); },
                {{{2}, [](const Index& i) { return 3 * i[0]; }},
                 {{2}, [](const Index& i) { return 3 * i[0] + 1; }},
                 {{2}, [](const Index& i) { return 3 * i[0] + 2; }}}),
          moves("unused piece", {{4, 2}}, [](const TensorList& in) { return TensorList{split(in[0], 2)[1]}; },
                {rows(2, 2, 2)})};
}
OP_ERRORS(split) {
  return {{"size", [] { (void)split(Tensor({1.0F}), 0); }, ErrorKind::kValue, "got 0, need 1 or more"},
          {"sum",
           [] {
             const int64_t sizes[] = {1, 2};
             (void)split_sizes(Tensor({1.0F, 2.0F}), sizes);
           },
           ErrorKind::kShape, "got (1, 2) for axis 0 of shape (2,), need a sum of 2"}};
}

OP_SAMPLES(tile) {
  auto of = [](const Shape& x, const Ints& times, const Shape& out) {
    return move(x.text() + " by " + times.text(), x, [times](const Tensor& t) { return tile(t, times); },
                {out, [x](const Index& i) {
                   Index at(i.end() - x.rank(), i.end());
                   for (int k = 0; k < x.rank(); ++k) at[static_cast<size_t>(k)] %= x.size(k);
                   return position_of(x, at);
                 }});
  };
  return {of({2, 3}, {2, 1}, {4, 3}), of({2, 3}, {2}, {2, 6}),
          of({3}, {2, 2}, {2, 6}),    of({2}, {0}, {0}),
          of({}, {3}, {3}),           of({2, 1, 2, 1, 2}, {2, 2, 2, 2, 2}, {4, 2, 4, 2, 4})};
}
OP_ERRORS(tile) {
  return {
      {"negative", [] { (void)tile(Tensor({1.0F}), {-1}); }, ErrorKind::kValue, "got (-1,), need 0 or more"}};
}

OP_SAMPLES(repeat_interleave) {
  Shape wide{1, 1, 1, 1, 1, 1, 1, 2};
  return {move("same", {2, 3}, [](const Tensor& t) { return repeat_interleave(t, 2, 1); },
               {{2, 6}, [](const Index& i) { return 3 * i[0] + i[1] / 2; }}),
          move("eight axes", wide, [](const Tensor& t) { return repeat_interleave(t, 2, -1); },
               {{1, 1, 1, 1, 1, 1, 1, 4}, [](const Index& i) { return i[7] / 2; }}),
          move("each its own", {3, 2},
               [](const Tensor& t) {
                 const int64_t repeats[] = {2, 0, 1};
                 return repeat_interleave(t, repeats, 0);
               },
               {{3, 2}, [](const Index& i) { return (i[0] < 2 ? 0 : 4) + i[1]; }})};
}

OP_SAMPLES(roll) {
  Shape x{3, 4};
  return {move("axes", x,
               [](const Tensor& t) {
                 return roll(t, {1, -2}, {0, 1});
               },
               {x,
                [x](const Index& i) {
                  return position_of(x, {wrap(i[0] - 1, 3), wrap(i[1] + 2, 4)});
                }}),
          move("flat", x, [](const Tensor& t) { return roll(t, {5}); },
               {x, [x](const Index& i) { return wrap(position_of(x, i) - 5, 12); }}),
          move("empty", {0}, [](const Tensor& t) { return roll(t, {1}, {0}); },
               {{0}, [](const Index&) { return 0; }})};
}

/// One axis of a border, by mode.
int64_t continued(int64_t i, int64_t n, PadMode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case PadMode::kReflect:
      return i < 0 ? -i : 2 * (n - 1) - i;
    case PadMode::kSymmetric:
      return i < 0 ? -i - 1 : 2 * n - 1 - i;
    case PadMode::kReplicate:
      return i < 0 ? 0 : n - 1;
    case PadMode::kCircular:
      return wrap(i, n);
    default:
      return -1;
  }
}

OP_SAMPLES(pad) {
  SampleList list;
  Shape x{3, 4};
  int number = 0;
  for (PadMode mode :
       {PadMode::kConstant, PadMode::kReflect, PadMode::kSymmetric, PadMode::kReplicate, PadMode::kCircular})
    list.push_back(move("mode " + std::to_string(number++), x,
                        [mode](const Tensor& t) {
                          return pad(t, {1, 0}, {2, 3}, mode);
                        },
                        {{6, 7}, [x, mode](const Index& i) -> int64_t {
                           int64_t row = continued(i[0] - 1, 3, mode);
                           int64_t column = continued(i[1], 4, mode);
                           return row < 0 || column < 0 ? -1 : position_of(x, {row, column});
                         }}));
  for (PadMode mode : {PadMode::kConstant, PadMode::kReflect})
    list.push_back(move("cropped, mode " + std::to_string(static_cast<int>(mode)), x,
                        [mode](const Tensor& t) {
                          return pad(t, {-1, 1}, {0, -2}, mode);
                        },
                        {{2, 3}, [x, mode](const Index& i) -> int64_t {
                           int64_t column = continued(i[1] - 1, 2, mode);
                           return column < 0 ? -1 : position_of(x, {i[0] + 1, column});
                         }}));
  list.push_back(move("cropped to nothing", {2}, [](const Tensor& t) { return pad(t, {-3}, {2}); },
                      {{1}, [](const Index&) { return -1; }}));
  Sample value = move("value", {2}, [](const Tensor& t) { return pad(t, {1}, {0}, 1.0); }, {{3}, {}});
  value.reference = [](const std::vector<HostArray>& in) {
    return std::vector{items({1, in[0].values[0], in[0].values[1]})};
  };
  list.push_back(value);
  return list;
}
OP_ERRORS(pad) {
  return {{"numbers",
           [] {
             (void)pad(Tensor({1.0F}), {1, 1}, {1});
           },
           ErrorKind::kValue, "need one per axis"},
          {"cropped", [] { (void)pad(Tensor({1.0F}), {-1}, {-1}); }, ErrorKind::kShape,
           "cropped by more than it has"},
          {"reflect",
           [] {
             (void)pad(Tensor({1.0F, 2.0F}), {2}, {0}, PadMode::kReflect);
           },
           ErrorKind::kShape, "got 2 for extent 2, need at most 1"}};
}

OP_SAMPLES(tril) {
  auto of = [](bool lower, int64_t diagonal) {
    Shape x{2, 3, 4};
    return move((lower ? "lower " : "upper ") + std::to_string(diagonal), x,
                [=](const Tensor& t) { return lower ? tril(t, diagonal) : triu(t, diagonal); },
                {x, [=](const Index& i) -> int64_t {
                   int64_t d = i[2] - i[1];
                   return (lower ? d <= diagonal : d >= diagonal) ? position_of(x, i) : -1;
                 }});
  };
  return {of(true, 0), of(true, 1), of(true, -9), of(false, 0), of(false, -1), of(false, 9)};
}
OP_ERRORS(tril) {
  return {{"rank", [] { (void)tril(Tensor({1.0F})); }, ErrorKind::kShape, "need rank 2 or more"}};
}

OP_SAMPLES(diag_embed) {
  return {move("vector", {3}, [](const Tensor& t) { return diag(t, 1); },
               {{4, 4}, [](const Index& i) { return i[1] == i[0] + 1 ? i[0] : -1; }}),
          move("axes", {2, 3}, [](const Tensor& t) { return diag_embed(t, -1, 0, -1); },
               {{4, 2, 4}, [](const Index& i) { return i[0] == i[2] + 1 ? 3 * i[1] + i[2] : -1; }}),
          move("of a matrix", {2, 3}, [](const Tensor& t) { return diag(t); },
               {{2}, [](const Index& i) { return 4 * i[0]; }})};
}

OP_SAMPLES(flatten) {
  auto same = [](const Shape& s) { return Result{s, [s](const Index& i) { return position_of(s, i); }}; };
  return {move(
              "all", {2, 3, 4}, [](const Tensor& t) { return flatten(t); }, same({24})),
          move(
              "from 1", {2, 3, 4}, [](const Tensor& t) { return flatten(t, 1); }, same({2, 12})),
          move(
              "scalar", {}, [](const Tensor& t) { return flatten(t); }, same({1}))};
}

OP_SAMPLES(meshgrid) {
  auto grid = [](bool matrix) {
    return [matrix](const TensorList& in) { return meshgrid(all_of(in), matrix); };
  };
  return {moves("matrix", {{2}, {3}}, grid(true),
                {{{2, 3}, [](const Index& i) { return i[0]; }},
                 {{2, 3}, [](const Index& i) { return 2 + i[1]; }}}),
          moves("cartesian", {{2}, {3}, {2}}, grid(false),
                {{{3, 2, 2}, [](const Index& i) { return i[1]; }},
                 {{3, 2, 2}, [](const Index& i) { return 2 + i[0]; }},
                 {{3, 2, 2}, [](const Index& i) { return 5 + i[2]; }}})};
}

Sample created(const std::string& name, Tensor (*make)(), HostArray want) {
  return {.name = name,
          .inputs = {},
          .call = [make](const TensorList&) { return TensorList{make()}; },
          .reference = [want](const std::vector<HostArray>&) { return std::vector{want}; },
          .dtypes = {DType::kFloat32},
          .gradient = false};
}

OP_SAMPLES(arange) {
  return {created(
              "integers", [] { return sorus::arange(-1, 5, 2); }, items({-1, 1, 3})),
          created(
              "down", [] { return sorus::arange(3, 0, -1); }, items({3, 2, 1})),
          created(
              "nothing", [] { return sorus::arange(3, 0, 1); }, items({})),
          created(
              "floats", [] { return sorus::arange(0, 1, 0.25, DType::kFloat32); },
              items({0, 0.25L, 0.5L, 0.75L})),
          created("eye", [] { return eye(2, 3, DType::kInt32); }, {{2, 3}, {1, 0, 0, 0, 1, 0}})};
}

/// start + i * step for each pair, and stop at the end.
std::vector<HostArray> even_numbers(const std::vector<HostArray>& in) {
  HostArray out = full({5, 2}, 0);
  for (size_t i = 0; i < 5; ++i)
    for (size_t k = 0; k < 2; ++k) {
      const auto from = static_cast<double>(in[0].values[k]);
      const auto to = static_cast<double>(in[1].values[0]);
      out.values[i * 2 + k] = i == 4 ? to : static_cast<double>(i) * ((to - from) / 4) + from;
    }
  return {out};
}

Tensor number(double v) { return Tensor(v); }

OP_SAMPLES(linspace) {
  return {
      created(
          "quarters", [] { return linspace(number(0), number(1), 5); }, items({0, 0.25L, 0.5L, 0.75L, 1})),
      created(
          "without the end", [] { return linspace(number(0), number(1), 4, DType::kFloat64, false); },
          items({0, 0.25L, 0.5L, 0.75L})),
      created(
          "integers round down", [] { return linspace(number(0), number(-5), 3, DType::kInt32); },
          items({0, -3, -5})),
      created(
          "one", [] { return linspace(number(3), number(9), 1); }, items({3})),
      created(
          "none", [] { return linspace(number(3), number(9), 0); }, items({})),
      created(
          "half", [] { return linspace(number(0), number(2), 3, DType::kFloat16); }, items({0, 1, 2})),
      created(
          "powers", [] { return logspace(number(0), number(2), 3); }, items({1, 10, 100})),
      created(
          "powers of two", [] { return logspace(number(-1), number(3), 5, 2, DType::kFloat64); },
          items({0.5L, 1, 2, 4, 8})),
      {.name = "tensors",
       .inputs = {items({-1.5L, 0.25L}), items({3})},
       .call = [](const TensorList& in) { return TensorList{linspace(in[0], in[1], 5, in[0].dtype())}; },
       .reference = even_numbers}};
}
OP_ERRORS(linspace) {
  return {{"count", [] { (void)linspace(Tensor(0.0F), Tensor(1.0F), -1); }, ErrorKind::kValue, "got -1"},
          {"dtype", [] { (void)linspace(Tensor(0.0F), Tensor(1.0F), 2, DType::kBool); }, ErrorKind::kDType,
           "got bool"}};
}
OP_ERRORS(logspace) {
  return {{"count", [] { (void)logspace(Tensor(0.0F), Tensor(1.0F), -1); }, ErrorKind::kValue, "got -1"}};
}
OP_ERRORS(arange) {
  return {{"step", [] { (void)sorus::arange(0, 1, 0); }, ErrorKind::kValue, "step 0"}};
}

}  // namespace
}  // namespace sorus::samples
