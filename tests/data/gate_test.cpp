#include <gtest/gtest.h>

#include <thread>

#include "sorus/data/config.h"
#include "tests/data/helpers.h"

/// Gates: what passes, when, and what happens when nobody opens them.
namespace sorus::data {
namespace {

using test::error_of;
using test::numbers;
using test::rows_of_epoch;
using Rows = std::vector<int64_t>;

/// Adds what it is told, as an augmentation that training steers.
class Steered final : public Operation {
 public:
  std::atomic<int64_t> amount{0};
  mutable std::atomic<int64_t> rows{0};
  std::string name() const override { return "Steered"; }
  bool hosted() const override { return true; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr&) const override {
    Column out = make_numbers(columns[0].type, columns[0].rows);
    for (int64_t i = 0; i < out.rows; ++i)
      *reinterpret_cast<int64_t*>(out.row(i)) = *reinterpret_cast<int64_t*>(columns[0].row(i)) + amount;
    rows += out.rows;
    return {out};
  }
};

class Gates : public testing::Test {
 protected:
  ~Gates() override { set_config(before_); }
  Config before_ = config();
  std::shared_ptr<Steered> steered_ = std::make_shared<Steered>();
  GateCallback steer_ = [this](const std::any& data) { steered_->amount = std::any_cast<int64_t>(data); };
};

TEST_F(Gates, LetEachUpdateBeSeenByExactlyTheNextBatches) {
  for (const int64_t num_batch : {1, 2, 3}) {
    steered_->amount = 0;
    Dataset data = numbers(12).sync_wait("steer", num_batch, steer_).map({steered_}).batch(2);
    int64_t batches = 0;
    auto iterator = data.iterate({.epochs = 2});
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const Row& row : iterator) {
        const int64_t amount = batches / num_batch * 100;
        const int64_t first = batches % 6 * 2;
        EXPECT_EQ(row[0].to_vector<int64_t>(), (Rows{amount + first, amount + first + 1})) << batches;
        if (++batches % num_batch == 0) data.sync_update("steer", {}, int64_t{batches / num_batch * 100});
      }
    }
    EXPECT_EQ(batches, 12);
  }
}

TEST_F(Gates, AreCountedInRowsOfTheReaderBehindFilters) {
  auto odd = [](const Row& row) { return row[0].item<int64_t>() % 2 == 1; };
  Dataset data = numbers(10).sync_wait("steer", 1, steer_).filter(odd).map({steered_});
  Rows seen;
  for (const Row& row : data.iterate()) {
    seen.push_back(row[0].item<int64_t>());
    data.sync_update("steer", {}, int64_t{std::ssize(seen) * 100});
  }
  EXPECT_EQ(seen, (Rows{1, 103, 205, 307, 409}));
}

TEST_F(Gates, LetAnEarlyUpdateWaitForTheRowsThatMayPass) {
  set_config({.prefetch_size = 2});
  Dataset data = numbers(12).sync_wait("steer", 6, steer_).map({steered_});
  auto iterator = data.iterate();
  data.sync_update("steer", 6, int64_t{100});
  Rows seen;
  for (const Row& row : iterator) seen.push_back(row[0].item<int64_t>());
  EXPECT_EQ(seen, (Rows{0, 1, 2, 3, 4, 5, 106, 107, 108, 109, 110, 111}));
}

TEST_F(Gates, HoldBackWhatIsBehindThem) {
  Dataset data = numbers(100).sync_wait("steer", 2).map({steered_}).batch(5);
  auto iterator = data.iterate();
  Row row;
  ASSERT_TRUE(iterator.next(row));
  ASSERT_TRUE(iterator.next(row));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(steered_->rows, 10);
  data.disable_sync();
  int64_t batches = 2;
  while (iterator.next(row)) ++batches;
  EXPECT_EQ(batches, 20);
  EXPECT_EQ(rows_of_epoch(data).size(), 100U);
}

TEST_F(Gates, NameTheMissingCallWhenTheyStayClosed) {
  Config settings = config();
  settings.callback_timeout = 1;
  set_config(settings);
  auto iterator = numbers(5).sync_wait("policy").iterate();
  Row row;
  ASSERT_TRUE(iterator.next(row));
  const std::string text = error_of<RuntimeError>([&] { (void)iterator.next(row); });
  EXPECT_EQ(text.rfind("sync_wait: condition 'policy' did not open: got no sync_update('policy')", 0), 0U)
      << text;
  settings.opens_late_gates = true;
  set_config(settings);
  EXPECT_EQ(rows_of_epoch(numbers(5).sync_wait("policy")).size(), 5U);
}

TEST_F(Gates, CountAPartialBatchAndTheRowsThatAreDroppedOnce) {
  for (const bool drop : {false, true}) {
    Dataset data = numbers(5).sync_wait("steer", 1, steer_).map({steered_}).batch(2, drop);
    auto iterator = data.iterate({.epochs = 3});
    int64_t batches = 0;
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (const Row& row : iterator) {
        EXPECT_EQ(row[0].to_vector<int64_t>()[0] / 100, batches);
        data.sync_update("steer", {}, int64_t{++batches * 100});
      }
    }
    EXPECT_EQ(batches, drop ? 6 : 9);
    steered_->amount = 0;
  }
}

TEST_F(Gates, AreRefusedWhereTheyCannotWork) {
  Dataset gated = numbers(5).sync_wait("a");
  EXPECT_THROW((void)gated.sync_wait("a"), RuntimeError);
  EXPECT_THROW((void)gated.shuffle(3), RuntimeError);
  EXPECT_THROW((void)gated.sync_wait("b", 0), ValueError);
  EXPECT_THROW(gated.sync_update("b"), RuntimeError);
  EXPECT_THROW(gated.sync_update("a", 0), RuntimeError);
  EXPECT_EQ(gated.size(), 5);
}

TEST_F(Gates, EndWithTheirIterator) {
  auto iterator = numbers(5).sync_wait("a").iterate();
  Row row;
  ASSERT_TRUE(iterator.next(row));
  const auto start = std::chrono::steady_clock::now();
  iterator.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace sorus::data
