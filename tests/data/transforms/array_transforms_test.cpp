#include <gtest/gtest.h>

#include <set>

#include "sorus/data/vision/vision.h"
#include "tests/data/helpers.h"

/// Transforms of arrays of any shape, and choices among operations.
namespace sorus::data {
namespace {

using test::error_of;

Column rows(std::vector<int64_t> items, const Shape& shape) {
  return rows_of(Tensor(std::span<const int64_t>(items), shape));
}
std::vector<Column> apply(const OperationPtr& operation, std::vector<Column> columns,
                          const RowContext& context = {}) {
  std::exception_ptr error;
  auto out = operation->apply(std::move(columns), context, error);
  if (error) std::rethrow_exception(error);
  return out;
}
std::vector<int64_t> numbers_of(const Column& column, int64_t i = 0) {
  return column.tensor(i).to_vector<int64_t>();
}

TEST(ArrayTransforms, PadAndCutEnds) {
  Column in = rows({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Shape{2, 2, 3});
  Column out = apply(pad_end({3, 2}, -1), {in}).front();
  EXPECT_EQ(out.type.shape, (Shape{3, 2}));
  EXPECT_EQ(numbers_of(out, 1), (std::vector<int64_t>{7, 8, 10, 11, -1, -1}));
  EXPECT_EQ(numbers_of(apply(pad_end({-1, 4}), {in}).front()),
            (std::vector<int64_t>{1, 2, 3, 0, 4, 5, 6, 0}));
  EXPECT_THROW((void)apply(pad_end({4}), {in}), ShapeError);
}

TEST(ArrayTransforms, FillAndMask) {
  Column in = rows({1, 2, 3}, Shape{1, 3});
  EXPECT_EQ(numbers_of(apply(fill(7), {in}).front()), (std::vector<int64_t>{7, 7, 7}));
  auto masked = [&](Comparison c) { return numbers_of(apply(mask(c, 2, DType::kInt64), {in}).front()); };
  EXPECT_EQ(masked(Comparison::kEqual), (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(masked(Comparison::kNotEqual), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(masked(Comparison::kLess), (std::vector<int64_t>{1, 0, 0}));
  EXPECT_EQ(masked(Comparison::kLessEqual), (std::vector<int64_t>{1, 1, 0}));
  EXPECT_EQ(masked(Comparison::kGreater), (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(masked(Comparison::kGreaterEqual), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(apply(mask(Comparison::kLess, 2), {in}).front().type.dtype, DType::kBool);
}

TEST(ArrayTransforms, SliceAsPythonDoes) {
  Column in = rows({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, Shape{1, 3, 4});
  auto sliced = [&](std::vector<SliceAxis> axes) {
    return numbers_of(apply(slice(std::move(axes)), {in}).front());
  };
  EXPECT_EQ(sliced({{1, {}, 1, {}}}), (std::vector<int64_t>{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(sliced({{}, {{}, {}, -2, {}}}), (std::vector<int64_t>{3, 1, 7, 5, 11, 9}));
  EXPECT_EQ(sliced({{-2, -1, 1, {}}, {0, 99, 3, {}}}), (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(sliced({{{}, {}, 1, {2, 0}}, {{}, {}, 1, {-1}}}), (std::vector<int64_t>{11, 3}));
  EXPECT_THROW((void)sliced({{{}, {}, 1, {3}}}), IndexError);
  EXPECT_THROW((void)sliced({{2, 1, 1, {}}}), ShapeError);
  EXPECT_THROW((void)sliced({{}, {}, {}}), ShapeError);
  EXPECT_THROW((void)slice({{{}, {}, 0, {}}}), ValueError);
}

TEST(ArrayTransforms, ConcatenateDuplicateUnique) {
  Column in = rows({3, 1, 3, 2}, Shape{1, 4});
  Tensor before({int64_t{8}, int64_t{9}});
  auto joined = apply(concatenate_arrays(before, {}), {in, in});
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(numbers_of(joined[0]), (std::vector<int64_t>{8, 9, 3, 1, 3, 2, 3, 1, 3, 2}));
  EXPECT_THROW((void)apply(concatenate_arrays(Tensor({1.F, 2.F}), {}), {in}), DTypeError);
  EXPECT_THROW((void)concatenate_arrays(Tensor({int64_t{1}, int64_t{2}}, Shape{1, 2}), {}), ShapeError);
  EXPECT_EQ(apply(duplicate(), {in}).size(), 2U);
  auto different = apply(unique(), {in});
  ASSERT_EQ(different.size(), 3U);
  EXPECT_EQ(numbers_of(different[0]), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(different[1].tensor(0).to_vector<int32_t>(), (std::vector<int32_t>{2, 0, 2, 1}));
  EXPECT_EQ(different[2].tensor(0).to_vector<int32_t>(), (std::vector<int32_t>{1, 1, 2}));
}

/// How often each result comes among 400 rows that hold `start`.
std::map<int64_t, int> results(const OperationPtr& operation, int64_t start) {
  Column in = rows(std::vector<int64_t>(400, start), Shape{400});
  Column out = apply(operation, {in}, RowContext::make(1, 2, 3, 0)).front();
  std::map<int64_t, int> counts;
  for (int64_t i = 0; i < out.rows; ++i) ++counts[numbers_of(out, i).front()];
  return counts;
}
OperationPtr becomes(int64_t value) { return fill(static_cast<double>(value)); }

TEST(Choices, DrawForEachRow) {
  auto applied = results(random_apply({becomes(1), becomes(2)}, 0.25), 0);
  EXPECT_EQ(applied.size(), 2U);
  EXPECT_NEAR(applied[2], 100, 40);
  auto chosen = results(random_choice({becomes(1), becomes(2), becomes(3)}), 0);
  EXPECT_EQ(chosen.size(), 3U);
  for (auto [value, count] : chosen) EXPECT_NEAR(count, 133, 45) << value;
  auto last = results(random_order({becomes(1), becomes(2), becomes(3)}), 0);
  EXPECT_EQ(last.size(), 3U);
  for (auto [value, count] : last) EXPECT_NEAR(count, 133, 45) << value;
  auto policy = results(random_subpolicy({{{becomes(1), 1.0}, {becomes(2), 0.5}}, {{becomes(3), 0.0}}}), 0);
  EXPECT_NEAR(policy[0], 200, 50);
  EXPECT_NEAR(policy[1], 100, 45);
  EXPECT_NEAR(policy[2], 100, 45);
}

TEST(Choices, DependOnTheRowAlone) {
  Dataset base = test::numbers(300).map(
      {random_choice({becomes(1), becomes(2)}), random_order({becomes(3), becomes(4)})});
  auto one = test::epochs_of(base, 2, 7);
  auto other = test::epochs_of(base.batch(7), 2, 7);
  EXPECT_EQ(one, other);
  EXPECT_NE(one[0], one[1]);
}

TEST(Choices, GiveRowsOfDifferentShapesAndErrors) {
  std::vector<uint8_t> ones(40 * 12, 1);
  Column images = rows_of(Tensor(std::span<const uint8_t>(ones), Shape{40, 3, 4, 1}));
  Column out = apply(random_choice({crop(0, 0, 2, 2), crop(0, 0, 3, 3)}), {images}).front();
  EXPECT_TRUE(out.is_ragged());
  std::exception_ptr error;
  auto some = random_choice({crop(0, 0, 2, 2), crop(0, 0, 5, 5)})->apply({images}, {}, error);
  ASSERT_TRUE(error);
  EXPECT_LT(some.front().rows, 40);
  EXPECT_THROW(std::rethrow_exception(error), ShapeError);
  EXPECT_THROW((void)random_apply({becomes(1)}, 1.5), ValueError);
  EXPECT_THROW((void)random_choice({}), ValueError);
  EXPECT_THROW((void)random_subpolicy({{}}), ValueError);
}

}  // namespace
}  // namespace sorus::data
