#include "sorus/data/statistics.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/data/helpers.h"

/// Where the time of a pipeline goes.
namespace sorus::data {
namespace {

using test::numbers;

class Slow final : public Operation {
 public:
  std::string name() const override { return "Slow"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr&) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(columns.front().rows));
    return columns;
  }
};

double share_of(const PipelineStatistics& statistics, const std::string& step) {
  double all = 0;
  double own = 0;
  for (const StepStatistics& s : statistics.steps) {
    all += s.seconds;
    if (s.step.starts_with(step)) own += s.seconds;
  }
  return own / all;
}

TEST(Statistics, NameTheSlowStepAndCountTheRowsOfEach) {
  Dataset data = numbers(100).shuffle(10).map({std::make_shared<Slow>()}).batch(8);
  auto iterator = data.iterate({.epochs = 2});
  Row row;
  for (int epoch = 0; epoch < 2; ++epoch)
    while (iterator.next(row)) {
    }
  const PipelineStatistics statistics = iterator.statistics();
  ASSERT_EQ(statistics.steps.size(), 4U);
  EXPECT_TRUE(statistics.steps[0].step.starts_with("source(")) << statistics.steps[0].step;
  EXPECT_EQ(statistics.steps[1].step, "shuffle(10)");
  EXPECT_EQ(statistics.steps[3].step, "batch(8)");
  EXPECT_EQ(statistics.steps[0].rows, 200);
  EXPECT_EQ(statistics.steps[2].rows, 200);
  EXPECT_EQ(statistics.steps[3].rows, 26);
  EXPECT_GT(share_of(statistics, "map("), 0.5);
  EXPECT_GT(statistics.reader_waited, 0.1);
  EXPECT_LE(statistics.reader_waited, statistics.seconds);
  EXPECT_NE(statistics.verdict().find("Its slowest step is map(Slow; x) with "), std::string::npos)
      << statistics.verdict();
}

TEST(Statistics, TellWhenThePipelineKeepsUp) {
  auto iterator = numbers(100000).batch(10).iterate();
  Row row;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(iterator.next(row));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const PipelineStatistics statistics = iterator.statistics();
  EXPECT_GT(statistics.pipeline_waited, 0.0);
  EXPECT_LT(statistics.reader_waited, statistics.pipeline_waited);
  PipelineStatistics quick{.steps = {{"batch(2)", 3, 0.5}}, .seconds = 10, .reader_waited = 0.4};
  EXPECT_EQ(quick.verdict(), "The pipeline keeps up: the reader waited for rows in 4 % of 10.00 s.");
  PipelineStatistics slow{
      .steps = {{"a", 3, 0.5}, {"b", 3, 7}, {"c", 3, 2.4}, {"d", 1, 0.1}}, .seconds = 10, .reader_waited = 9};
  EXPECT_EQ(
      slow.verdict(),
      "The pipeline is too slow: the reader waited for rows in 90 % of 10.00 s. Its slowest step is b with "
      "70 % of the pipeline's time, then c with 24 % of the pipeline's time, then a with 5 % of the "
      "pipeline's time.");
}

}  // namespace
}  // namespace sorus::data
