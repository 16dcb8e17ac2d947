#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/shape/moves.h"

/// Functions whose results are views when strides allow it.
namespace sorus::samples {
namespace {

Source same_position(const Shape& out) {
  return [out](const Index& i) { return position_of(out, i); };
}

OP_SAMPLES(reshape) {
  auto to = [](const Shape& from, const Ints& wanted, const Shape& out) {
    return move(from.text() + " to " + wanted.text(), from,
                [wanted](const Tensor& x) { return reshape(x, wanted); }, {out, same_position(out)});
  };
  return {to({2, 3, 4}, {4, -1}, {4, 6}),
          to({2, 3, 4}, {24}, {24}),
          to({6}, {1, 2, 1, 3}, {1, 2, 1, 3}),
          to({}, {1, 1}, {1, 1}),
          to({1, 1}, {}, Shape{}),
          to({0, 3}, {3, 0, 2}, {3, 0, 2}),
          to({4, 1, 3}, {2, 2, 3}, {2, 2, 3})};
}

OP_SAMPLES(contiguous) {
  return {move("cube", {2, 3, 4}, contiguous, {{2, 3, 4}, same_position({2, 3, 4})}),
          move("scalar", {}, contiguous, {Shape{}, same_position({})}),
          move("empty", {2, 0}, contiguous, {{2, 0}, same_position({2, 0})}),
          // Long enough for tiles, blocks and their rests.
          move("tiles", {37, 45}, [](const Tensor& x) { return contiguous(swap_last(x)); },
               {{45, 37}, [](const Index& i) { return 45 * i[1] + i[0]; }}),
          move("channels", {2, 5, 6, 7},
               [](const Tensor& x) {
                 return contiguous(transpose(x, {0, 2, 3, 1}));
               },
               {{2, 6, 7, 5}, [](const Index& i) {
                  return position_of({2, 5, 6, 7}, {i[0], i[3], i[1], i[2]});
                }})};
}

OP_SAMPLES(transpose) {
  Shape x{2, 3, 4};
  return {move("rotated", x,
               [](const Tensor& t) {
                 return transpose(t, {2, 0, 1});
               },
               {{4, 2, 3},
                [x](const Index& i) {
                  return position_of(x, {i[1], i[2], i[0]});
                }}),
          move("negative axes", x,
               [](const Tensor& t) {
                 return transpose(t, {-1, -2, -3});
               },
               {{4, 3, 2},
                [x](const Index& i) {
                  return position_of(x, {i[2], i[1], i[0]});
                }}),
          move("scalar", {}, [](const Tensor& t) { return transpose(t, {}); }, {Shape{}, same_position({})}),
          move("swapaxes", x, [](const Tensor& t) { return swapaxes(t, 0, -1); },
               {{4, 3, 2},
                [x](const Index& i) {
                  return position_of(x, {i[2], i[1], i[0]});
                }}),
          move("movedim", x, [](const Tensor& t) { return movedim(t, {0}, {-1}); },
               {{3, 4, 2}, [x](const Index& i) {
                  return position_of(x, {i[2], i[0], i[1]});
                }})};
}

OP_SAMPLES(expand_dims) {
  return {move("front", {2, 3}, [](const Tensor& t) { return expand_dims(t, 0); },
               {{1, 2, 3}, same_position({1, 2, 3})}),
          move("several", {2, 3},
               [](const Tensor& t) {
                 return expand_dims(t, Ints{1, -1});
               },
               {{2, 1, 3, 1}, same_position({2, 1, 3, 1})}),
          move("scalar", {}, [](const Tensor& t) { return expand_dims(t, -1); }, {{1}, same_position({1})})};
}
OP_ERRORS(expand_dims) {
  return {
      {"axis", [] { (void)expand_dims(Tensor({1.0F}), 2); }, ErrorKind::kValue, "got 2, need -2 <= axis < 2"},
      {"rank",
       [] {
         (void)expand_dims(Tensor({1.0F}, Shape{1, 1, 1, 1, 1, 1, 1, 1}), 0);
       },
       ErrorKind::kShape, "got 9, need at most 8"}};
}

OP_SAMPLES(squeeze) {
  return {move("all", {1, 2, 1}, [](const Tensor& t) { return squeeze(t); }, {{2}, same_position({2})}),
          move("one", {1, 2, 1}, [](const Tensor& t) { return squeeze(t, {-1}); },
               {{1, 2}, same_position({1, 2})}),
          move("none", {2, 3}, [](const Tensor& t) { return squeeze(t); }, {{2, 3}, same_position({2, 3})})};
}

OP_SAMPLES(broadcast_to) {
  auto to = [](const Shape& from, const Shape& out) {
    return move(from.text() + " to " + out.text(), from,
                [out](const Tensor& t) { return broadcast_to(t, out); },
                {out, [from, out](const Index& i) {
                   Index at(i.end() - from.rank(), i.end());
                   for (int k = 0; k < from.rank(); ++k)
                     if (from.size(k) == 1) at[static_cast<size_t>(k)] = 0;
                   return position_of(from, at);
                 }});
  };
  return {to({}, {2, 3}),     to({3}, {2, 3}), to({2, 1}, {4, 2, 3}),
          to({2, 3}, {2, 3}), to({1}, {0}),    to({1, 3}, {0, 3})};
}

OP_SAMPLES(flip) {
  Shape x{2, 3, 4};
  return {
      move("one", x, [](const Tensor& t) { return flip(t, {-1}); },
           {x,
            [x](const Index& i) {
              return position_of(x, {i[0], i[1], 3 - i[2]});
            }}),
      move("all", x, [](const Tensor& t) { return flip(t, {}); },
           {x, [x](const Index& i) { return 23 - position_of(x, i); }}),
      move("empty", {0, 2}, [](const Tensor& t) { return flip(t, {0}); }, {{0, 2}, same_position({0, 2})}),
      move("twice", x,
           [](const Tensor& t) {
             return flip(flip(t, {0, 1}), {0});
           },
           {x, [x](const Index& i) {
              return position_of(x, {i[0], 2 - i[1], i[2]});
            }})};
}
OP_ERRORS(flip) {
  return {{"axis", [] { (void)flip(Tensor({1.0F}), {1}); }, ErrorKind::kValue, "out of range: got 1"},
          {"axis twice",
           [] {
             (void)flip(Tensor({1.0F}), {0, -1});
           },
           ErrorKind::kValue, "given twice"}};
}

OP_SAMPLES(slice) {
  Shape x{5, 6};
  return {move("steps", x,
               [](const Tensor& t) {
                 return slice(t, {4, 1}, {3, 2}, {-2, 3});
               },
               {{3, 2},
                [x](const Index& i) {
                  return position_of(x, {4 - 2 * i[0], 1 + 3 * i[1]});
                }}),
          move("strided_slice", x, [](const Tensor& t) { return strided_slice(t, {-4}, {100}, {2}, {1}); },
               {{5, 2},
                [x](const Index& i) {
                  return position_of(x, {i[0], 2 + 2 * i[1]});
                }}),
          move("empty", x, [](const Tensor& t) { return strided_slice(t, {3}, {1}); },
               {{0, 6}, same_position({0, 6})}),
          move("narrow", x, [](const Tensor& t) { return narrow(t, 0, -2, 2); },
               {{2, 6},
                [x](const Index& i) {
                  return position_of(x, {3 + i[0], i[1]});
                }}),
          move("slice of a slice", x,
               [](const Tensor& t) {
                 return slice(slice(t, {0, 5}, {5, 6}, {1, -1}), {3, 0}, {2, 3}, {-3, 2});
               },
               {{2, 3}, [x](const Index& i) {
                  return position_of(x, {3 - 3 * i[0], 5 - 2 * i[1]});
                }})};
}
OP_ERRORS(slice) {
  return {{"leaves",
           [] {
             (void)slice(Tensor({1.0F, 2.0F}), {1}, {2}, {1});
           },
           ErrorKind::kValue, "axis 0: got begin 1, size 2, step 1, need 0 to 1"},
          {"numbers",
           [] {
             (void)slice(Tensor({1.0F, 2.0F}), {}, {}, {});
           },
           ErrorKind::kValue, "one of each per axis"},
          {"zero step",
           [] {
             (void)slice(Tensor({1.0F, 2.0F}), {0}, {2}, {0});
           },
           ErrorKind::kValue, "step 0"}};
}
OP_ERRORS(narrow) {
  return {{"leaves",
           [] {
             (void)narrow(Tensor({1.0F, 2.0F}), 0, 1, 2);
           },
           ErrorKind::kIndex, "got start 1 and length 2, need a range within extent 2"}};
}

OP_SAMPLES(slice_update) {
  Sample s =
      moves("steps", {{5, 4}, {2, 2}},
            [](const TensorList& in) {
              return TensorList{slice_update(in[0], in[1], {4, 1}, {-2, 2})};
            },
            {{{5, 4}, [](const Index& i) -> int64_t {
                bool hit = (i[0] == 4 || i[0] == 2) && i[1] % 2 == 1;
                return hit ? 20 + position_of({2, 2}, {(4 - i[0]) / 2, i[1] / 2}) : position_of({5, 4}, i);
              }}});
  return {s};
}

OP_SAMPLES(diagonal) {
  auto of = [](const std::string& name, const Shape& x, int64_t offset, int64_t length) {
    return move(
        name, x, [offset](const Tensor& t) { return diagonal(t, offset); },
        {{length}, [=](const Index& i) {
           return position_of(x, {i[0] - std::min<int64_t>(offset, 0), i[0] + std::max<int64_t>(offset, 0)});
         }});
  };
  Shape cube{2, 3, 4};
  return {of("main", {3, 4}, 0, 3), of("above", {3, 4}, 2, 2), of("below", {3, 4}, -1, 2),
          of("outside", {2, 2}, 5, 0),
          move("axes", cube, [](const Tensor& t) { return diagonal(t, 1, -1, 0); },
               {{3, 1}, [cube](const Index& i) {
                  return position_of(cube, {i[1] + 1, i[0], i[1]});
                }})};
}
OP_ERRORS(diagonal) {
  return {{"rank", [] { (void)diagonal(Tensor({1.0F})); }, ErrorKind::kShape,
           "got shape (1,), need rank 2 or more"},
          {"axes",
           [] {
             (void)diagonal(Tensor({1.0F}, Shape{1, 1}), 0, 1, -1);
           },
           ErrorKind::kValue, "the same"}};
}

}  // namespace
}  // namespace sorus::samples
