#include <gtest/gtest.h>

#include <thread>

#include "sorus/base/thread_pool.h"
#include "sorus/data/config.h"
#include "sorus/data/vision/vision.h"
#include "tests/data/helpers.h"

namespace sorus::data {
namespace {

using test::epochs_of;
using test::error_of;
using test::numbers;
using test::rows_of_epoch;
using Rows = std::vector<int64_t>;

/// Adds to each int64 and fails at one row.
class Adder final : public Operation {
 public:
  explicit Adder(int64_t amount, int64_t fails_at = -1) : amount_(amount), fails_at_(fails_at) {}
  std::string name() const override { return "Adder"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                            std::exception_ptr& error) const override {
    Column out = make_numbers(columns[0].type, columns[0].rows);
    for (int64_t i = 0; i < out.rows; ++i) {
      if (context.first_row + i == fails_at_) {
        error = std::make_exception_ptr(std::logic_error("row fails"));
        return {out.slice(0, i)};
      }
      *reinterpret_cast<int64_t*>(out.row(i)) = *reinterpret_cast<int64_t*>(columns[0].row(i)) + amount_;
    }
    return {out};
  }

 private:
  int64_t amount_;
  int64_t fails_at_;
};

TEST(Pipeline, HandsOnTheRowsBeforeAnError) {
  Dataset failing = numbers(100).map({std::make_shared<Adder>(1, 25)});
  for (int64_t batch : {1, 4, 10}) {
    auto iterator = failing.batch(batch).iterate();
    Row row;
    int64_t rows = 0;
    EXPECT_EQ(error_of<std::logic_error>([&] {
                while (iterator.next(row)) rows += row[0].numel();
              }),
              "row fails");
    EXPECT_EQ(rows, 25 / batch * batch);
    EXPECT_THROW((void)iterator.next(row), RuntimeError);
  }
}

TEST(Pipeline, HandsOnTheRowsBeforeARowThatATransformRefuses) {
  Dataset labels = numbers(100).map({one_hot(70), type_cast(DType::kInt64)});
  auto iterator = labels.iterate();
  Row row;
  int64_t rows = 0;
  EXPECT_EQ(error_of<ValueError>([&] {
              while (iterator.next(row))
                EXPECT_EQ(row[0].to_vector<int64_t>()[static_cast<size_t>(rows++)], 1);
            }),
            "OneHot: label is out of range: got 70, need 0 to 69");
  EXPECT_EQ(rows, 70);
}

TEST(Pipeline, MapsNamedColumnsAndWiresOutputs) {
  Tensor a({int64_t{1}, int64_t{2}});
  Tensor b({10, 20});
  Dataset two = from_tensors({"a", "b"}, {a, b});
  auto renamed = two.map({std::make_shared<Adder>(5)}, {"a"}, {"c"});
  EXPECT_EQ(renamed.names(), (std::vector<std::string>{"c", "b"}));
  EXPECT_EQ(rows_of_epoch(renamed), (Rows{6, 7}));
  auto both = compose({type_cast(DType::kInt64), std::make_shared<Adder>(1), type_cast(DType::kInt64)});
  EXPECT_EQ(rows_of_epoch(two.map({both}, {"b"}).project({"b"})), (Rows{11, 21}));
  auto merged = two.map({std::make_shared<Adder>(5)}, {"a", "b"}, {"sum"});
  EXPECT_EQ(merged.names(), (std::vector<std::string>{"sum"}));
  EXPECT_EQ(rows_of_epoch(merged), (Rows{6, 7}));
  EXPECT_NE(error_of<KeyError>([&] {
              (void)two.map({type_cast(DType::kInt8)}, {"z"});
            }).find("map: column is not there: got 'z', need one of a, b"),
            std::string::npos);
}

TEST(Pipeline, BatchesAreViewsOfOneStore) {
  auto iterator =
      from_tensors({"x"}, {Tensor(std::span<const float>(std::vector<float>(64 * 1024)), Shape{64, 1024})})
          .batch(8)
          .iterate();
  Row first;
  Row second;
  ASSERT_TRUE(iterator.next(first));
  ASSERT_TRUE(iterator.next(second));
  EXPECT_EQ(first[0].value()->storage, second[0].value()->storage);
  EXPECT_FALSE(first[0].value()->storage->may_be_donated());
}

TEST(Pipeline, ZipsRenamesAndProjects) {
  Dataset zipped =
      zip({numbers(5), numbers(3).rename({"x"}, {"y"}).map({std::make_shared<Adder>(100)}, {"y"})});
  EXPECT_EQ(zipped.size(), 3);
  EXPECT_EQ(rows_of_epoch(zipped.project({"y"})), (Rows{100, 101, 102}));
  EXPECT_THROW((void)zip({numbers(2), numbers(2)}), ValueError);
  EXPECT_THROW((void)numbers(2).rename({"q"}, {"r"}), KeyError);
  EXPECT_THROW((void)numbers(2).concat({numbers(2).rename({"x"}, {"y"})}), ValueError);
}

TEST(Pipeline, RepeatsWithoutEndUntilItIsTaken) {
  EXPECT_EQ(rows_of_epoch(numbers(3).repeat().take(7)), (Rows{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(rows_of_epoch(numbers(5).take(2).repeat(2)), (Rows{0, 1, 0, 1}));
  EXPECT_EQ(rows_of_epoch(numbers(5).skip(9).repeat()), Rows{});
  EXPECT_EQ(epochs_of(numbers(4).skip(2).repeat(2), 2), (std::vector<Rows>{{2, 3, 2, 3}, {2, 3, 2, 3}}));
}

TEST(Pipeline, ShufflesRowsOfAnyType) {
  std::vector<std::string> words;
  for (int i = 0; i < 30; ++i) words.push_back("w" + std::to_string(i));
  Chunk rows;
  rows.rows = 30;
  rows.columns = {make_strings(Shape{}, words, 30)};
  auto iterator = from_columns({"w"}, rows).shuffle(8).iterate({.seed = 2});
  std::vector<std::string> got;
  while (true) {
    auto event = iterator.poll(std::chrono::seconds(5));
    if (event != DatasetIterator::Event::kRow) break;
    got.push_back(iterator.current().columns[0].row_strings(iterator.row())[0]);
  }
  EXPECT_NE(got, words);
  std::sort(got.begin(), got.end());
  std::sort(words.begin(), words.end());
  EXPECT_EQ(got, words);
}

/// Row i has i % 3 + 1 numbers.
Dataset ragged(int64_t rows) {
  std::vector<Column> cells;
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<int64_t> items(static_cast<size_t>(i % 3 + 1), i);
    cells.push_back(rows_of(Tensor(std::span<const int64_t>(items), Shape{1, i % 3 + 1})));
  }
  return from_columns({"x"}, {{concatenate(cells)}, rows});
}

TEST(Pipeline, PadsAndRefusesRaggedRows) {
  EXPECT_EQ(error_of<ShapeError>([] { (void)rows_of_epoch(ragged(3).batch(2)); }),
            "batch: rows of column 'x' differ: got int64(1,) and int64(2,), need equal types and shapes; "
            "padded_batch pads them");
  BatchOptions options;
  options.size = 2;
  options.pads = true;
  EXPECT_EQ(rows_of_epoch(ragged(3).batch(options)), (Rows{0, 0, 1, 1, 2, 2, 2}));
  options.pad_to["x"] = {{4}, -1, ""};
  EXPECT_EQ(rows_of_epoch(ragged(3).batch(options)), (Rows{0, -1, -1, -1, 1, 1, -1, -1, 2, 2, 2, -1}));
  options.pad_to["x"] = {{2}, -1, ""};
  EXPECT_THROW((void)rows_of_epoch(ragged(3).batch(options)), ShapeError);
  EXPECT_EQ(rows_of_epoch(ragged(4).shuffle(2), 1).size(), 7U);
  // Rows that differ from batch to batch alone are fine.
  EXPECT_EQ(rows_of_epoch(ragged(3).batch(1)), (Rows{0, 1, 1, 2, 2, 2}));
}

TEST(Pipeline, BatchSizesMayFollowAFunction) {
  BatchOptions options;
  options.size_of = [](const BatchInfo& info) { return info.batch + 1; };
  auto iterator = numbers(10).batch(options).iterate();
  Rows sizes;
  for (const Row& row : iterator) sizes.push_back(row[0].numel());
  EXPECT_EQ(sizes, (Rows{1, 2, 3, 4}));
  EXPECT_EQ(numbers(10).batch(options).size(), 4);
}

TEST(Pipeline, SharesItsBeginning) {
  Dataset base = numbers(10, random_sampler());
  Dataset train = base.take(7);
  Dataset valid = base.skip(7);
  Rows all = rows_of_epoch(train, 4);
  Rows rest = rows_of_epoch(valid, 4);
  all.insert(all.end(), rest.begin(), rest.end());
  EXPECT_EQ(all, rows_of_epoch(base, 4));
}

TEST(Pipeline, FixesTheOrderButNotTheDraws) {
  Dataset fixed = numbers(10, random_sampler()).shuffle(4).fix_order(5);
  auto epochs = epochs_of(fixed, 2, 1);
  EXPECT_EQ(epochs[0], epochs[1]);
  EXPECT_EQ(epochs[0], rows_of_epoch(fixed.repeat(2).take(10), 2));
  EXPECT_NE(epochs[0], rows_of_epoch(numbers(10, random_sampler()).shuffle(4).fix_order(6)));
  std::vector<uint8_t> items;
  for (int i = 0; i < 100; ++i) items.insert(items.end(), {0, 1});
  auto images = from_tensors({"x"}, {Tensor(std::span<const uint8_t>(items), Shape{100, 1, 2})});
  auto iterator = images.map({random_flip(true)}).fix_order(5).batch(100).repeat(2).iterate({.seed = 1});
  Row first;
  Row second;
  ASSERT_TRUE(iterator.next(first) && iterator.next(second));
  EXPECT_NE(first[0].to_vector<uint8_t>(), second[0].to_vector<uint8_t>());
}

TEST(Pipeline, DoesNotDependOnTheNumberOfThreads) {
  int threads = num_threads();
  std::vector<Rows> runs;
  for (int n : {1, 3, 8}) {
    set_num_threads(n);
    runs.push_back(
        rows_of_epoch(numbers(1000, random_sampler()).shuffle(100).map({type_cast(DType::kInt64)}).batch(9)));
  }
  set_num_threads(threads);
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(runs[0], runs[2]);
}

/// Counts how often it is alive and how far it has read.
class Endless final : public RandomAccess {
 public:
  int64_t rows() const override { return int64_t{1} << 40; }
  std::vector<std::string> names() const override { return {"x"}; }
  Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run&,
             std::exception_ptr&) const override {
    Column column = make_numbers({ItemKind::kNumbers, DType::kInt64, Shape{}}, count);
    for (int64_t i = 0; i < count; ++i) *reinterpret_cast<int64_t*>(column.row(i)) = ids[begin + i];
    read_ += count;
    return {{column}, count};
  }
  mutable std::atomic<int64_t> read_{0};
};

TEST(Iterator, IsBoundedAndStopsWithItsObject) {
  auto source = std::make_shared<Endless>();
  {
    auto iterator = from_source(source, sequential_sampler()).iterate();
    Row row;
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(iterator.next(row));
    EXPECT_EQ(row[0].item<int64_t>(), 9);
    EXPECT_LT(source->read_, 10000);
  }
  int64_t read = source->read_;
  EXPECT_EQ(source.use_count(), 1);  // the thread and its stages are gone
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(source->read_, read);
}

TEST(Iterator, StopsInTheMiddleOfAFilterThatKeepsNothing) {
  auto source = std::make_shared<Endless>();
  auto iterator =
      from_source(source, sequential_sampler()).filter([](const Row&) { return false; }).iterate();
  EXPECT_EQ(iterator.poll(std::chrono::milliseconds(20)), DatasetIterator::Event::kNotYet);
  iterator.stop();
  EXPECT_EQ(iterator.poll(std::chrono::milliseconds(1)), DatasetIterator::Event::kFinished);
}

TEST(Iterator, EndsAfterItsEpochs) {
  auto iterator = numbers(3).iterate({.epochs = 2});
  Row row;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(iterator.next(row));
    EXPECT_FALSE(iterator.next(row));
  }
  EXPECT_THROW((void)iterator.next(row), RuntimeError);
  EXPECT_THROW((void)numbers(3).iterate({.epochs = 0}), ValueError);
}

TEST(Iterator, TakesItsSeedFromTheSettings) {
  Config before = config();
  Dataset shuffled = numbers(20, random_sampler());
  Config seeded = before;
  seeded.seed = 11;
  set_config(seeded);
  auto order = [&] {
    Rows rows;
    auto iterator = shuffled.iterate();
    for (const Row& row : iterator) rows.push_back(row[0].item<int64_t>());
    return rows;
  };
  EXPECT_EQ(order(), rows_of_epoch(shuffled, 11));
  seeded.prefetch_size = 0;
  EXPECT_THROW(set_config(seeded), ValueError);
  set_config(before);
}

TEST(Iterator, GivesErrorsOfTheSourceToTheReader) {
  auto iterator = numbers(10, subset_sampler({12})).iterate();
  Row row;
  EXPECT_THROW((void)iterator.next(row), IndexError);
}

}  // namespace
}  // namespace sorus::data
