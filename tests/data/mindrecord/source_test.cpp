#include "sorus/data/mindrecord/source.h"

#include "tests/data/mindrecord/fixtures.h"

namespace sorus::data {
namespace {

using mindrecord::test::Files;
using test::error_of;

/// The labels of the first epochs for the seed 3. The orders are those that MindSpore gave
/// (tests/fixtures/mindrecord/orders.json, which the Python tests compare as a whole).
std::vector<std::vector<int32_t>> labels(const Dataset& dataset, int64_t epochs = 1) {
  auto iterator = dataset.iterate({.epochs = epochs, .seed = 3});
  std::vector<std::vector<int32_t>> out;
  for (int64_t e = 0; e < epochs; ++e) {
    out.emplace_back();
    for (const Row& row : iterator) out.back().push_back(row[0].item<int32_t>());
  }
  return out;
}

std::vector<int32_t> first(const std::vector<int32_t>& items, size_t count) {
  return {items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count)};
}

class MindRecordSource : public testing::Test {
 protected:
  [[nodiscard]] Dataset read(MindRecordOptions options) const {
    options.columns = {"label"};
    return from_mindrecord(files_.path("shards0"), options);
  }
  Files files_{{"shards0", "shards1", "shards2", "every_type"}};
};

TEST_F(MindRecordSource, ReadsInOrder) {
  const Dataset all = read({.source = {.shuffle = false}});
  EXPECT_EQ(all.size(), 33);
  EXPECT_EQ(first(labels(all)[0], 8), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 18, 21}));
  const Dataset listed = from_mindrecord(std::vector<std::string>{files_.path("shards2")},
                                         {.columns = {"label"}, .source = {.shuffle = false}});
  EXPECT_EQ(first(labels(listed)[0], 3), (std::vector<int32_t>{12, 13, 14}));
}

TEST_F(MindRecordSource, ShufflesAsMindSporeDoes) {
  const auto rows = labels(read({}), 2);
  EXPECT_EQ(first(rows[0], 8), (std::vector<int32_t>{18, 13, 8, 31, 2, 4, 29, 11}));
  EXPECT_EQ(first(rows[1], 8), (std::vector<int32_t>{19, 30, 22, 3, 24, 27, 1, 12}));
  const auto shard = labels(read({.source = {.num_shards = 2, .shard_id = 0}}), 2);
  EXPECT_EQ(first(shard[0], 5), (std::vector<int32_t>{18, 8, 2, 29, 15}));
  EXPECT_EQ(first(shard[1], 5), (std::vector<int32_t>{30, 25, 17, 10, 29}));
  const auto drawn = labels(read({.source = {.num_samples = 5}}), 2);
  EXPECT_EQ(drawn, (std::vector<std::vector<int32_t>>{{31, 21, 29, 2, 20}, {21, 20, 31, 20, 31}}));
}

TEST_F(MindRecordSource, ShufflesFilesAndWithinFiles) {
  const auto by_file = labels(read({.file_shuffle = FileShuffle::kFiles}), 2);
  EXPECT_EQ(by_file[0][0], 12);
  EXPECT_EQ(by_file[1][0], 6);
  const auto within = labels(read({.file_shuffle = FileShuffle::kInFile}), 2);
  EXPECT_EQ(first(within[0], 5), (std::vector<int32_t>{18, 23, 3, 24, 2}));
  EXPECT_EQ(first(within[1], 5), (std::vector<int32_t>{3, 18, 5, 21, 22}));
}

TEST_F(MindRecordSource, AddsPaddedRows) {
  MindRecordOptions options{.source = {.shuffle = false, .num_shards = 4, .shard_id = 3}};
  options.padded_row = {int64_t{-1}};
  options.num_padded = 3;
  EXPECT_EQ(labels(read(options))[0], (std::vector<int32_t>{3, 21, 6, 10, 26, 13, 17, 31, -1}));
  options.num_padded = 2;
  EXPECT_NE(error_of<ValueError>([&] { (void)read(options); }).find("got 35 rows, need a multiple of 4"),
            std::string::npos);
  options.num_padded = 3;
  options.padded_row = {std::string("x")};
  EXPECT_NE(
      error_of<ValueError>([&] { (void)read(options); }).find("does not fit column 'label': need int32"),
      std::string::npos);
}

TEST_F(MindRecordSource, GivesBytesAndArraysTheirShapes) {
  const Dataset rows = from_mindrecord(files_.path("every_type"),
                                       {.columns = {"data", "ids", "matrix"}, .source = {.shuffle = false}});
  const auto types = rows.types();
  EXPECT_EQ(types[0].text(), "bytes(1,)");
  EXPECT_EQ(types[1].text(), "int32(0,)");
  EXPECT_EQ(types[2].text(), "float32(2, 1)");
  auto iterator = rows.skip(3).iterate();
  Row row;
  ASSERT_TRUE(iterator.next(row));
  EXPECT_EQ(row[0].to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 2, 0}));
  EXPECT_EQ(row[1].to_vector<int32_t>(), (std::vector<int32_t>{-200, 100, 400}));
  EXPECT_EQ(row[2].shape(), (Shape{2, 4}));
  BatchOptions batch;
  batch.size = 7;
  batch.pads = true;
  batch.pad_to["ids"].shape = {8};
  batch.pad_to["matrix"] = {};
  const Dataset padded = rows.batch(batch);
  EXPECT_EQ(padded.types()[1].text(), "int32(7, 8)");
  EXPECT_EQ(padded.types()[2].text(), "float32(7, 2, 7)");
}

TEST_F(MindRecordSource, HandsOnRowsBeforeDamage) {
  std::string bytes = mindrecord::test::read_bytes(files_.path("shards2"));
  bytes[bytes.size() - 3] = static_cast<char>(0xc1);  // the last raw record
  mindrecord::test::write_bytes(files_.path("shards2"), bytes);
  auto iterator = read({.source = {.shuffle = false}}).iterate();
  Row row;
  for (int i = 0; i < 32; ++i) ASSERT_TRUE(iterator.next(row));
  EXPECT_NE(error_of<IOError>([&] { (void)iterator.next(row); }).find("shards2': record is damaged"),
            std::string::npos);
}

}  // namespace
}  // namespace sorus::data
