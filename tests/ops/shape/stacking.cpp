#include "sorus/ops/shape/stacking.h"

#include "tests/ops/shape/moves.h"

namespace sorus::samples {
namespace {

std::span<const Tensor> all_of(const TensorList& in) { return {in.data(), in.size()}; }
Call joining(Tensor (*f)(std::span<const Tensor>)) {
  return [f](const TensorList& in) { return TensorList{f(all_of(in))}; };
}
Source same(const Shape& s) {
  return [s](const Index& i) { return position_of(s, i); };
}

OP_SAMPLES(atleast_3d) {
  return {move("scalar to 1", {}, atleast_1d, {{1}, same({1})}),
          move("vector to 2", {3}, atleast_2d, {{1, 3}, same({1, 3})}),
          move("vector to 3", {3}, atleast_3d, {{1, 3, 1}, same({1, 3, 1})}),
          move("matrix to 3", {2, 3}, atleast_3d, {{2, 3, 1}, same({2, 3, 1})}),
          move("enough", {2, 1, 1, 2}, atleast_3d, {{2, 1, 1, 2}, same({2, 1, 1, 2})})};
}

OP_SAMPLES(hstack) {
  return {moves("vectors", {{2}, {1}}, joining(hstack), {{{3}, same({3})}}),
          moves("columns", {{2, 1}, {2, 2}}, joining(hstack),
                {{{2, 3}, [](const Index& i) { return i[1] == 0 ? i[0] : 2 + 2 * i[0] + i[1] - 1; }}}),
          moves("vstack", {{2}, {2}}, joining(vstack), {{{2, 2}, same({2, 2})}}),
          moves("dstack", {{2}, {2}}, joining(dstack),
                {{{1, 2, 2}, [](const Index& i) { return 2 * i[2] + i[1]; }}}),
          moves("column_stack", {{2}, {2, 2}}, joining(column_stack),
                {{{2, 3}, [](const Index& i) { return i[1] == 0 ? i[0] : 2 + 2 * i[0] + i[1] - 1; }}})};
}
OP_ERRORS(hstack) {
  return {{"none", [] { (void)hstack({}); }, ErrorKind::kValue, "empty list"}};
}

OP_SAMPLES(block_diag) {
  return {moves("blocks", {{2, 1}, {2}}, joining(block_diag), {{{3, 3}, [](const Index& i) -> int64_t {
                                                                  if (i[0] < 2) return i[1] == 0 ? i[0] : -1;
                                                                  return i[1] == 0 ? -1 : 1 + i[1];
                                                                }}})};
}
OP_ERRORS(block_diag) {
  return {{"rank",
           [] {
             Tensor list[] = {Tensor({1.0F}, Shape{1, 1, 1})};
             (void)block_diag(list);
           },
           ErrorKind::kShape, "got shape (1, 1, 1)"}};
}

Result part(int64_t from, int64_t count) {
  return {{count}, [from](const Index& i) { return from + i[0]; }};
}

OP_SAMPLES(tensor_split) {
  return {
      moves("sections", {{5}}, [](const TensorList& in) { return tensor_split(in[0], 3); },
            {part(0, 2), part(2, 2), part(4, 1)}),
      moves("more sections than elements", {{1}}, [](const TensorList& in) { return tensor_split(in[0], 3); },
            {part(0, 1), part(0, 0), part(0, 0)}),
      moves("positions", {{5}},
            [](const TensorList& in) {
              const int64_t at[] = {1, -1, 9};
              return tensor_split_at(in[0], at);
            },
            {part(0, 1), part(1, 3), part(4, 1), part(0, 0)})};
}
OP_ERRORS(tensor_split) {
  return {
      {"none", [] { (void)tensor_split(Tensor({1.0F}), 0); }, ErrorKind::kValue, "got 0, need 1 to 65536"},
      {"too many", [] { (void)tensor_split(Tensor({1.0F}), 65537); }, ErrorKind::kValue, "got 65537"}};
}

OP_SAMPLES(rot90) {
  auto turn = [](int64_t n) { return [n](const Tensor& x) { return rot90(x, n); }; };
  return {move("once", {2, 3}, turn(1), {{3, 2}, [](const Index& i) { return 3 * i[1] + 2 - i[0]; }}),
          move("twice", {2, 3}, turn(-2), {{2, 3}, [](const Index& i) { return 5 - (3 * i[0] + i[1]); }}),
          move("back", {2, 3}, turn(3), {{3, 2}, [](const Index& i) { return 3 * (1 - i[1]) + i[0]; }}),
          move("around", {2, 3}, turn(4), {{2, 3}, same({2, 3})})};
}
OP_ERRORS(rot90) {
  return {{"axes",
           [] {
             (void)rot90(Tensor({1.0F}, Shape{1, 1}), 1, 0, -2);
           },
           ErrorKind::kValue, "the same"}};
}

OP_SAMPLES(unfold) {
  return {move("overlapping", {7, 2}, [](const Tensor& x) { return unfold_axis(x, 0, 3, 2); },
               {{3, 2, 3}, [](const Index& i) { return 2 * (2 * i[0] + i[2]) + i[1]; }}),
          move("last", {2, 4}, [](const Tensor& x) { return unfold_axis(x, -1, 2, 2); },
               {{2, 2, 2}, [](const Index& i) { return 4 * i[0] + 2 * i[1] + i[2]; }})};
}
OP_ERRORS(unfold) {
  return {{"size", [] { (void)unfold_axis(Tensor({1.0F}), 0, 2, 1); }, ErrorKind::kValue,
           "got size 2 and step 1"}};
}

Sample lists(const std::string& name, Tensor (*make)(), HostArray want) {
  return {.name = name,
          .inputs = {},
          .call = [make](const TensorList&) { return TensorList{make()}; },
          .reference = [want](const std::vector<HostArray>&) { return std::vector{want}; },
          .dtypes = {DType::kFloat32},
          .gradient = false};
}

OP_SAMPLES(tril_indices) {
  return {lists("lower", [] { return tril_indices(2, 3); }, {{2, 3}, {0, 1, 1, 0, 0, 1}}),
          lists("upper", [] { return triu_indices(2, 3, 1, DType::kInt32); }, {{2, 3}, {0, 0, 1, 1, 2, 2}}),
          lists("nothing", [] { return tril_indices(0, 3); }, {{2, 0}, {}})};
}
OP_ERRORS(tril_indices) {
  return {{"negative", [] { (void)tril_indices(-1, 3); }, ErrorKind::kValue, "got (-1, 3)"}};
}

OP_SAMPLES(cartesian_prod) {
  return {moves("two", {{2}, {3}}, joining(cartesian_prod),
                {{{6, 2}, [](const Index& i) { return i[1] == 0 ? i[0] / 3 : 2 + i[0] % 3; }}}),
          moves("one", {{2}}, joining(cartesian_prod), {{{2}, same({2})}})};
}

OP_SAMPLES(combinations) {
  auto at = [](std::vector<int64_t> places) {
    return [places](const Index& i) { return places[static_cast<size_t>(2 * i[0] + i[1])]; };
  };
  return {
      move("pairs", {3}, [](const Tensor& x) { return combinations(x); }, {{3, 2}, at({0, 1, 0, 2, 1, 2})}),
      move("with repetition", {2}, [](const Tensor& x) { return combinations(x, 2, true); },
           {{3, 2}, at({0, 0, 0, 1, 1, 1})}),
      move("too many", {1}, [](const Tensor& x) { return combinations(x); }, {{0, 2}, at({})})};
}
OP_ERRORS(combinations) {
  return {{"rank", [] { (void)combinations(Tensor(1.0F)); }, ErrorKind::kShape, "got shape ()"}};
}

}  // namespace
}  // namespace sorus::samples
