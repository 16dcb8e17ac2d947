#include <gtest/gtest.h>

#include "tests/data/helpers.h"

namespace sorus::data {
namespace {

using test::error_of;

constexpr int64_t kLengths[] = {3, 1, 7, 4, 2, 9, 5, 1, 3, 6, 8, 2, 4};

/// Rows of those lengths, each filled with its number.
Dataset rows() {
  std::vector<Column> cells;
  for (size_t i = 0; i < std::size(kLengths); ++i) {
    Column cell = make_numbers({ItemKind::kNumbers, DType::kInt32, Shape{kLengths[i]}}, 1);
    std::fill_n(reinterpret_cast<int32_t*>(cell.row(0)), kLengths[i], static_cast<int32_t>(i));
    cells.push_back(std::move(cell));
  }
  Chunk chunk{{concatenate(cells)}, static_cast<int64_t>(std::size(kLengths))};
  return from_columns({"x"}, std::move(chunk));
}

/// Says that each row is as long as its first number.
class FirstNumber final : public RowLength {
 public:
  std::vector<int64_t> measure(const std::vector<Column>& columns, int64_t count,
                               std::exception_ptr&) const override {
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i < count; ++i)
      lengths.push_back(*reinterpret_cast<const int32_t*>(columns[0].cell(i).row(0)));
    return lengths;
  }
};

/// The first number of each row, and the width, of each batch.
std::vector<std::pair<std::vector<int32_t>, int64_t>> batches(const BucketOptions& options) {
  std::vector<std::pair<std::vector<int32_t>, int64_t>> made;
  for (const Row& row : rows().bucket_batch_by_length(options).iterate()) {
    const std::vector<int32_t> items = row[0].to_vector<int32_t>();
    const int64_t width = row[0].size(1);
    std::vector<int32_t> firsts;
    for (size_t i = 0; i < items.size(); i += static_cast<size_t>(width)) firsts.push_back(items[i]);
    made.emplace_back(firsts, width);
  }
  return made;
}

using Batches = std::vector<std::pair<std::vector<int32_t>, int64_t>>;

TEST(Bucket, FillsByLengthAndPadsToTheLongest) {
  BucketOptions options{.columns = {"x"}, .boundaries = {3, 6}, .batch_sizes = {2, 3, 2}, .pads = true};
  EXPECT_EQ(batches(options),
            (Batches{{{1, 4}, 2}, {{2, 5}, 9}, {{0, 3, 6}, 5}, {{9, 10}, 8}, {{7, 11}, 2}, {{8, 12}, 4}}));
  options.drop_remainder = true;
  EXPECT_EQ(batches(options).size(), 5U);
}

TEST(Bucket, PadsToTheBoundary) {
  BucketOptions options{.columns = {"x"},
                        .boundaries = {3, 6, 10},
                        .batch_sizes = {2, 3, 2, 1},
                        .pads = true,
                        .pad_to = {{"x", {{-1}, 0, ""}}},
                        .pad_to_boundary = true};
  EXPECT_EQ(batches(options),
            (Batches{{{1, 4}, 2}, {{2, 5}, 9}, {{0, 3, 6}, 5}, {{9, 10}, 9}, {{7, 11}, 2}, {{8, 12}, 5}}));
  options.boundaries = {3, 6}, options.batch_sizes = {2, 3, 2};
  EXPECT_NE(error_of<ValueError>([&] { (void)batches(options); }).find("got length 7, need less than 6"),
            std::string::npos);
}

TEST(Bucket, TakesLengthsOfTheUser) {
  const BucketOptions options{.columns = {"x"},
                              .boundaries = {4},
                              .batch_sizes = {4, 9},
                              .length = std::make_shared<FirstNumber>(),
                              .pads = true};
  EXPECT_EQ(batches(options), (Batches{{{0, 1, 2, 3}, 7}, {{4, 5, 6, 7, 8, 9, 10, 11, 12}, 9}}));
}

TEST(Bucket, RefusesWhatDoesNotFit) {
  const BucketOptions good{.columns = {"x"}, .boundaries = {3, 6}, .batch_sizes = {2, 3, 2}};
  const auto refused = [&](auto change) {
    BucketOptions options = good;
    change(options);
    EXPECT_THROW((void)rows().bucket_batch_by_length(options), ValueError);
  };
  refused([](BucketOptions& o) { o.boundaries = {}; });
  refused([](BucketOptions& o) { o.boundaries = {6, 3}; });
  refused([](BucketOptions& o) { o.boundaries = {0, 3}; });
  refused([](BucketOptions& o) { o.batch_sizes = {1, 2}; });
  refused([](BucketOptions& o) { o.batch_sizes = {1, 2, 0}; });
  refused([](BucketOptions& o) { o.columns = {}; });
  EXPECT_THROW((void)batches(good), ShapeError);  // rows differ, and nothing pads them
}

}  // namespace
}  // namespace sorus::data
