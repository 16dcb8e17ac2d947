#include <gtest/gtest.h>

#include <random>

#include "sorus/base/thread_pool.h"
#include "tests/data/helpers.h"

/// Iterators that go on where others stood.
namespace sorus::data {
namespace {

using test::error_of;
using test::numbers;

std::vector<int64_t> values(const Row& row) {
  std::vector<int64_t> out;
  for (const Tensor& tensor : row) {
    auto items = tensor.to_vector<int64_t>();
    out.insert(out.end(), items.begin(), items.end());
  }
  return out;
}

/// Fills int64 rows with numbers drawn for them.
class Drawn final : public Operation {
 public:
  std::string name() const override { return "Drawn"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                            std::exception_ptr&) const override {
    for (Column& column : columns) {
      Column out = make_numbers(column.type, column.rows);
      for (int64_t i = 0; i < out.rows; ++i)
        *reinterpret_cast<int64_t*>(out.row(i)) =
            *reinterpret_cast<int64_t*>(column.row(i)) + 1000 * (context.draw(i)[0] % 1000);
      column = std::move(out);
    }
    return columns;
  }
};

/// A pipeline of steps chosen by chance, over rows of one int64.
Dataset random_pipeline(std::mt19937& random) {
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const std::vector<SamplerPtr> samplers = {sequential_sampler(), random_sampler(), random_sampler(true, 9),
                                            distributed_sampler(2, 1), subset_random_sampler({5, 3, 1, 7})};
  Dataset data = numbers(10 + below(30), samplers[static_cast<size_t>(below(5))]);
  for (int64_t steps = 1 + below(5); steps > 0; --steps) {
    switch (below(9)) {
      case 0:
        data = data.shuffle(2 + below(12));
        break;
      case 1:
        data = data.map({std::make_shared<Drawn>()});
        break;
      case 2:
        data = data.filter([](const Row& row) { return row[0].item<int64_t>() % 3 != 0; });
        break;
      case 3:
        data = data.repeat(1 + below(3));
        break;
      case 4:
        data = data.skip(below(4)).take(5 + below(20));
        break;
      case 5:
        data = data.concat({numbers(6, random_sampler())});
        break;
      case 6:
        data = data.fix_order(static_cast<uint32_t>(below(100)));
        break;
      case 7:
        data = zip({data, numbers(12, random_sampler()).rename({"x"}, {"y"})}).project({"x"});
        break;
      default:
        data = data.shuffle(3).map({std::make_shared<Drawn>()});
    }
  }
  if (below(2) == 0) data = data.batch(1 + below(4), below(2) == 0);
  return data;
}

using Epochs = std::vector<std::vector<std::vector<int64_t>>>;

/// All rows from where the iterator stands to the end of `epochs`.
Epochs rest(DatasetIterator& iterator, int64_t epochs) {
  Epochs out;
  Row row;
  for (int64_t e = 0; e < epochs; ++e) {
    out.emplace_back();
    while (iterator.next(row)) out.back().push_back(values(row));
  }
  return out;
}

TEST(Resume, GoesOnExactlyAfterEveryRow) {
  constexpr int64_t kEpochs = 2;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("pipeline " + std::to_string(seed));
    std::mt19937 random(seed);
    const Dataset data = random_pipeline(random);
    auto whole_run = data.iterate({.epochs = kEpochs, .seed = seed});
    const Epochs whole = rest(whole_run, kEpochs);
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
      const auto& rows = whole[static_cast<size_t>(epoch)];
      for (size_t stop = 0; stop <= rows.size(); stop += 1 + rows.size() / 5) {
        SCOPED_TRACE("epoch " + std::to_string(epoch) + " row " + std::to_string(stop));
        auto first = data.iterate({.epochs = kEpochs, .seed = seed});
        (void)rest(first, epoch);
        Row row;
        for (size_t i = 0; i < stop; ++i) ASSERT_TRUE(first.next(row));
        const IteratorState state = first.state();
        first.stop();
        set_num_threads(1 + static_cast<int>(stop % 3));
        auto second = data.iterate({.epochs = kEpochs, .seed = seed + 1});
        second.load(state);
        Epochs expected(whole.begin() + epoch, whole.end());
        expected[0].erase(expected[0].begin(), expected[0].begin() + static_cast<std::ptrdiff_t>(stop));
        ASSERT_EQ(rest(second, kEpochs - epoch), expected);
      }
    }
  }
  set_num_threads(2);
}

/// Counts the rows that are read.
class Counted final : public RandomAccess {
 public:
  mutable std::atomic<int64_t> rows_read{0};
  int64_t rows() const override { return 100000; }
  std::vector<std::string> names() const override { return {"x"}; }
  Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run&,
             std::exception_ptr&) const override {
    Column out = make_numbers({ItemKind::kNumbers, DType::kInt64, Shape{}}, count);
    for (int64_t i = 0; i < count; ++i) *reinterpret_cast<int64_t*>(out.row(i)) = ids[begin + i];
    rows_read += count;
    return {{out}, count};
  }
};

TEST(Resume, ReadsOnlyTheBufferOfAShuffleAgain) {
  auto source = std::make_shared<Counted>();
  Dataset data = from_source(source, random_sampler()).shuffle(50).batch(10);
  auto first = data.iterate({.seed = 5});
  Row row;
  for (int i = 0; i < 9000; ++i) ASSERT_TRUE(first.next(row));
  const IteratorState state = first.state();
  ASSERT_TRUE(first.next(row));
  const auto expected = values(row);
  first.stop();
  EXPECT_TRUE(state.stages.objects.empty());
  EXPECT_LT(state.stages.numbers.size(), 10U);
  auto second = data.iterate({.seed = 6});
  second.stop();
  source->rows_read = 0;
  second.load(state);
  ASSERT_TRUE(second.next(row));
  second.stop();
  EXPECT_EQ(values(row), expected);
  EXPECT_LT(source->rows_read, 9000);
}

TEST(Resume, RefusesAnotherPipeline) {
  Dataset data = numbers(10).shuffle(4).batch(2);
  auto iterator = data.iterate();
  const IteratorState state = iterator.state();
  auto other = numbers(10).shuffle(5).batch(2).iterate();
  EXPECT_EQ(error_of<ValueError>([&] { other.load(state); }),
            "dataset iterator: state is of another pipeline: got step 2 'shuffle(4)', need 'shuffle(5)'");
  auto shorter = numbers(10).shuffle(4).iterate();
  EXPECT_EQ(error_of<ValueError>([&] { shorter.load(state); }),
            "dataset iterator: state is of another pipeline: got 3 steps, need 2, the next being 'batch(2)'");
  Row row;
  EXPECT_TRUE(other.next(row));  // a refused state changes nothing
}

TEST(Resume, IsAnErrorWhenTheRowsAreNotThere) {
  auto odd = [](const Row& row) { return row[0].item<int64_t>() > 7; };
  auto iterator = numbers(10).filter(odd).iterate();
  IteratorState state = iterator.state();
  state.row = 5;
  iterator.load(state);
  Row row;
  EXPECT_EQ(error_of<RuntimeError>([&] { (void)iterator.next(row); }),
            "dataset iterator: cannot go on after row 5 of an epoch: the pipeline gave 2 rows");
}

}  // namespace
}  // namespace sorus::data
