#include <gtest/gtest.h>

#include <numeric>

#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

using Items = std::vector<IndexItem>;

Tensor iota(const Shape& shape, int32_t start = 0, int32_t step = 1) {
  std::vector<int32_t> items(static_cast<size_t>(shape.numel()));
  for (int32_t& item : items) {
    item = start;
    start += step;
  }
  return Tensor(std::span<const int32_t>(items), shape);
}

template <class F>
std::string error_of(F f) {
  try {
    (void)f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

/// What NumPy gives for x = arange(24).reshape(2, 3, 4): x[items], and x after
/// x[items] = -1 - arange(size).
struct Case {
  const char* name;
  Items items;
  Shape shape;
  std::vector<int32_t> selected;
  std::vector<int32_t> updated;
};

const std::vector<Case>& basic_cases() {
  static const std::vector<Case> list{
      {"integers", {int64_t{1}, int64_t{-1}, int64_t{0}}, Shape{}, {20}, {0,  1,  2,  3,  4,  5,  6,  7,
                                                                          8,  9,  10, 11, 12, 13, 14, 15,
                                                                          16, 17, 18, 19, -1, 21, 22, 23}},
      {"one integer",
       {int64_t{0}},
       Shape{3, 4},
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
       {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {"slices",
       {SliceItem{}, SliceItem{{}, {}, -1}, SliceItem{1, {}, 2}},
       Shape{2, 3, 2},
       {9, 11, 5, 7, 1, 3, 21, 23, 17, 19, 13, 15},
       {0, -5, 2, -6, 4, -3, 6, -4, 8, -1, 10, -2, 12, -11, 14, -12, 16, -9, 18, -10, 20, -7, 22, -8}},
      {"ellipsis",
       {EllipsisItem{}, int64_t{1}},
       Shape{2, 3},
       {1, 5, 9, 13, 17, 21},
       {0, -1, 2, 3, 4, -2, 6, 7, 8, -3, 10, 11, 12, -4, 14, 15, 16, -5, 18, 19, 20, -6, 22, 23}},
      {"new axes",
       {NewAxisItem{}, int64_t{0}, EllipsisItem{}, NewAxisItem{}},
       Shape{1, 3, 4, 1},
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
       {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {"empty slice", {SliceItem{5, 9, {}}}, Shape{0, 3, 4}, {}, {0,  1,  2,  3,  4,  5,  6,  7,
                                                                  8,  9,  10, 11, 12, 13, 14, 15,
                                                                  16, 17, 18, 19, 20, 21, 22, 23}},
  };
  return list;
}

/// The same with index tensors.
const std::vector<Case>& tensor_cases() {
  static const std::vector<Case> list{
      {"vector of indices",
       {Tensor(std::initializer_list<int64_t>{1, 0, -1}, Shape{3})},
       Shape{3, 3, 4},
       {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 0,  1,  2,  3,  4,  5,
        6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23},
       {-13, -14, -15, -16, -17, -18, -19, -20, -21, -22, -23, -24,
        -25, -26, -27, -28, -29, -30, -31, -32, -33, -34, -35, -36}},
      {"vector on a later axis",
       {SliceItem{}, Tensor(std::initializer_list<int64_t>{2, 0}, Shape{2})},
       Shape{2, 2, 4},
       {8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15},
       {-5, -6, -7, -8, 4, 5, 6, 7, -1, -2, -3, -4, -13, -14, -15, -16, 16, 17, 18, 19, -9, -10, -11, -12}},
      {"matrix of indices",
       {SliceItem{}, SliceItem{}, Tensor(std::initializer_list<int64_t>{0, 3, 1, 1}, Shape{2, 2})},
       Shape{2, 3, 2, 2},
       {0, 3, 1, 1, 4, 7, 5, 5, 8, 11, 9, 9, 12, 15, 13, 13, 16, 19, 17, 17, 20, 23, 21, 21},
       {-1,  -4,  2,  -2,  -5,  -8,  6,  -6,  -9,  -12, 10, -10,
        -13, -16, 14, -14, -17, -20, 18, -18, -21, -24, 22, -22}},
      {"two tensors side by side",
       {SliceItem{}, Tensor(std::initializer_list<int64_t>{0, 2}, Shape{2}),
        Tensor(std::initializer_list<int64_t>{3, 1}, Shape{2})},
       Shape{2, 2},
       {3, 9, 15, 21},
       {0, 1, 2, -1, 4, 5, 6, 7, 8, -2, 10, 11, 12, 13, 14, -3, 16, 17, 18, 19, 20, -4, 22, 23}},
      {"two tensors that broadcast",
       {Tensor(std::initializer_list<int64_t>{0, 1}, Shape{2, 1}),
        Tensor(std::initializer_list<int64_t>{0, 2, 1}, Shape{3})},
       Shape{2, 3, 4},
       {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 16, 17, 18, 19},
       {-1,  -2,  -3,  -4,  -9,  -10, -11, -12, -5,  -6,  -7,  -8,
        -13, -14, -15, -16, -21, -22, -23, -24, -17, -18, -19, -20}},
      {"two tensors apart",
       {Tensor(std::initializer_list<int64_t>{0, 1, 1}, Shape{3}), SliceItem{},
        Tensor(std::initializer_list<int64_t>{3, 0, 2}, Shape{3})},
       Shape{3, 3},
       {3, 7, 11, 12, 16, 20, 14, 18, 22},
       {0, 1, 2, -1, 4, 5, 6, -2, 8, 9, 10, -3, -4, 13, -7, 15, -5, 17, -8, 19, -6, 21, -9, 23}},
      {"integer and tensor apart",
       {int64_t{0}, SliceItem{}, Tensor(std::initializer_list<int64_t>{1, 2}, Shape{2})},
       Shape{2, 3},
       {1, 5, 9, 2, 6, 10},
       {0, -1, -4, 3, 4, -2, -5, 7, 8, -3, -6, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {"integer and tensor together",
       {SliceItem{}, int64_t{1}, Tensor(std::initializer_list<int64_t>{1, 2}, Shape{2})},
       Shape{2, 2},
       {5, 6, 17, 18},
       {0, 1, 2, 3, 4, -1, -2, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, -3, -4, 19, 20, 21, 22, 23}},
  };
  return list;
}

/// The same with index tensors beside new axes, steps and masks.
const std::vector<Case>& mixed_cases() {
  static const std::vector<Case> list{
      {"new axis between tensors",
       {Tensor(std::initializer_list<int64_t>{0, 1}, Shape{2}), NewAxisItem{},
        Tensor(std::initializer_list<int64_t>{1, 2}, Shape{2})},
       Shape{2, 1, 4},
       {4, 5, 6, 7, 20, 21, 22, 23},
       {0, 1, 2, 3, -1, -2, -3, -4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, -5, -6, -7, -8}},
      {"tensor and step",
       {Tensor(std::initializer_list<int64_t>{1, 0}, Shape{2}), SliceItem{{}, {}, 2}, SliceItem{3, 0, -1}},
       Shape{2, 2, 3},
       {15, 14, 13, 23, 22, 21, 3, 2, 1, 11, 10, 9},
       {0, -9, -8, -7, 4, 5, 6, 7, 8, -12, -11, -10, 12, -3, -2, -1, 16, 17, 18, 19, 20, -6, -5, -4}},
      {"mask of the leading axes",
       {Tensor(std::initializer_list<bool>{true, false, true, false, true, false}, Shape{2, 3})},
       Shape{3, 4},
       {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19},
       {-1, -2, -3, -4, 4, 5, 6, 7, -5, -6, -7, -8, 12, 13, 14, 15, -9, -10, -11, -12, 20, 21, 22, 23}},
      {"mask in the middle",
       {SliceItem{}, Tensor(std::initializer_list<bool>{true, false, true}, Shape{3})},
       Shape{2, 2, 4},
       {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23},
       {-1, -2, -3, -4, 4, 5, 6, 7, -5, -6, -7, -8, -9, -10, -11, -12, 16, 17, 18, 19, -13, -14, -15, -16}},
      {"mask and integer apart",
       {int64_t{1}, Tensor(std::initializer_list<bool>{true, false, true}, Shape{3}), SliceItem{}},
       Shape{2, 4},
       {12, 13, 14, 15, 20, 21, 22, 23},
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1, -2, -3, -4, 16, 17, 18, 19, -5, -6, -7, -8}},
      {"mask and tensor",
       {Tensor(std::initializer_list<int64_t>{1, 0}, Shape{2}),
        Tensor(std::initializer_list<bool>{true, false, true}, Shape{3})},
       Shape{2, 4},
       {12, 13, 14, 15, 8, 9, 10, 11},
       {0, 1, 2, 3, 4, 5, 6, 7, -5, -6, -7, -8, -1, -2, -3, -4, 16, 17, 18, 19, 20, 21, 22, 23}},
      {"scalar tensor",
       {Tensor(std::initializer_list<int64_t>{1}, Shape{}), SliceItem{1, {}, {}}},
       Shape{2, 4},
       {16, 17, 18, 19, 20, 21, 22, 23},
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -1, -2, -3, -4, -5, -6, -7, -8}},
      {"all true",
       {Tensor(std::initializer_list<bool>{true}, Shape{})},
       Shape{1, 2, 3, 4},
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23},
       {-1,  -2,  -3,  -4,  -5,  -6,  -7,  -8,  -9,  -10, -11, -12,
        -13, -14, -15, -16, -17, -18, -19, -20, -21, -22, -23, -24}},
      {"mask apart",
       {Tensor(std::initializer_list<int64_t>{0, 1}, Shape{2}), SliceItem{0, 2, {}},
        Tensor(std::initializer_list<bool>{true, false, false, true}, Shape{4})},
       Shape{2, 2},
       {0, 4, 15, 19},
       {-1, 1, 2, 3, -2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -3, 16, 17, 18, -4, 20, 21, 22, 23}},
  };
  return list;
}

std::vector<Case> all_cases() {
  std::vector<Case> all = basic_cases();
  for (const auto* more : {&tensor_cases(), &mixed_cases()})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

TEST(Index, SelectsWhatNumpySelects) {
  Tensor x = iota({2, 3, 4});
  Tensor strided = transpose(contiguous(transpose(x, {2, 0, 1})), {1, 2, 0});
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    for (const Tensor& t : {x, strided}) {
      Tensor got = index(t, c.items);
      EXPECT_EQ(got.shape(), c.shape);
      EXPECT_EQ(got.to_vector<int32_t>(), c.selected);
    }
  }
}

TEST(IndexUpdate, ReplacesWhatNumpyReplaces) {
  Tensor x = iota({2, 3, 4});
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(index_update(x, c.items, iota(c.shape, -1, -1)).to_vector<int32_t>(), c.updated);
  }
  EXPECT_EQ(x.to_vector<int32_t>(), iota({2, 3, 4}).to_vector<int32_t>());
}

TEST(IndexUpdate, BroadcastsAndConvertsTheValue) {
  Tensor x = iota({2, 2});
  using V = std::vector<int32_t>;
  EXPECT_EQ(index_update(x, Items{int64_t{0}}, Tensor(7.9F)).to_vector<int32_t>(), (V{7, 7, 2, 3}));
  EXPECT_EQ(index_update(x, Items{SliceItem{}, int64_t{1}}, iota({1, 1, 2}, 5)).to_vector<int32_t>(),
            (V{0, 5, 2, 6}));
  Tensor mask(std::initializer_list<bool>{true, false}, Shape{2});
  EXPECT_EQ(index_update(x, Items{mask}, Tensor(int32_t{9})).to_vector<int32_t>(), (V{9, 9, 2, 3}));
  EXPECT_EQ(index_update(x, Items{SliceItem{}, mask}, Tensor(int32_t{9})).to_vector<int32_t>(),
            (V{9, 1, 9, 3}));
  EXPECT_EQ(error_of([&] { return index_update(x, Items{int64_t{0}}, iota({3})); }),
            "index_update: value does not fit: got shape (3,), need one that broadcasts to (2,)");
}

TEST(IndexPut, AddsDuplicatesInOrder) {
  Tensor x = iota({3}, 0, 0);
  Tensor at({int64_t{1}, int64_t{1}, int64_t{-1}});
  Tensor list[] = {at};
  EXPECT_EQ(index_put(x, list, iota({3}, 1), true).to_vector<int32_t>(), (std::vector<int32_t>{0, 3, 3}));
  EXPECT_EQ(index_put(x, list, iota({3}, 1)).to_vector<int32_t>(), (std::vector<int32_t>{0, 2, 3}));
}

TEST(Index, SaysWhatIsOutOfRange) {
  Tensor x = iota({2, 3});
  EXPECT_EQ(error_of([&] {
              return index(x, Items{int64_t{0}, int64_t{3}});
            }),
            "index: index out of range on axis 1: got 3, need -3 <= index < 3");
  EXPECT_EQ(error_of([&] {
              return index(x, Items{Tensor({int64_t{0}, int64_t{-3}})});
            }),
            "gather: index out of range on axis 0: got -3, need -2 <= index < 2");
  EXPECT_EQ(error_of([&] { return index(x, Items(3, int64_t{0})); }),
            "index: too many indices: got 3 for shape (2, 3), need at most 2");
  EXPECT_EQ(error_of([&] { return index(x, Items(2, EllipsisItem{})); }),
            "index: more than one ellipsis: got 2, need at most 1");
  EXPECT_EQ(error_of([&] {
              return index(x, Items{Tensor({true, false, true})});
            }),
            "index: mask does not fit: got mask (3,) for shape (2, 3) at axis 0, need equal extents");
  EXPECT_EQ(error_of([&] { return index(x, Items{Tensor({0.5F})}); }),
            "index: indices are not integers: got float32, need int32 or int64");
  EXPECT_EQ(error_of([&] {
              return index(x, Items{SliceItem{0, 1, 0}});
            }),
            "slice: step is zero: got 0, need another number");
}

}  // namespace
}  // namespace sorus
