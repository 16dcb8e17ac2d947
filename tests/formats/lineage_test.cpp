#include "sorus/formats/lineage.h"

#include <gtest/gtest.h>

#include <random>

#include "sorus/base/error.h"
#include "sorus/formats/record_file.h"

namespace sorus::formats {
namespace {

const std::string kGenuine = SORUS_SOURCE_DIR "/tests/fixtures/mindspore/events/training.lineage";

std::string encode(const LineageEvent& event) {
  constexpr LineageKind kKinds[] = {LineageKind::kTrain, LineageKind::kEvaluation, LineageKind::kDatasetGraph,
                                    LineageKind::kUser};
  return std::visit(
      [&]<class T>(const T& message) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>)
          return "";
        else
          return lineage_event(event.wall_time, kKinds[event.what.index() - 1], encode_lineage(message));
      },
      event.what);
}

TEST(Lineage, ReadsAGenuineFile) {
  bool trained = false, evaluated = false, told = false;
  for (const LineageEvent& event : read_lineage(kGenuine)) {
    if (const auto* train = std::get_if<TrainLineage>(&event.what)) {
      trained = true;
      EXPECT_EQ(train->optimizer, "Momentum");
      EXPECT_EQ(train->learning_rate, 0.1F);
      EXPECT_EQ(train->loss_function, "SoftmaxCrossEntropyWithLogits");
      EXPECT_EQ(train->epoch, 2);
      EXPECT_EQ(train->batch_size, 2);
      EXPECT_EQ(train->dataset.size, 6);
      EXPECT_EQ(train->network, "SequentialCell");
      EXPECT_EQ(train->model_path, R"({"ckpt": null})");
    }
    if (const auto* evaluation = std::get_if<EvaluationLineage>(&event.what)) {
      evaluated = true;
      EXPECT_TRUE(evaluation->metrics->starts_with(R"({"accuracy": )"));
      EXPECT_EQ(evaluation->dataset.size, 6);
    }
    if (const auto* user = std::get_if<UserLineage>(&event.what)) {
      told = true;
      ASSERT_EQ(user->items.size(), 3U);
      EXPECT_EQ(user->items[0].first, "people");
      EXPECT_EQ(std::get<int32_t>(user->items[0].second), 3);
      EXPECT_EQ(std::get<double>(user->items[1].second), 0.5);
      EXPECT_EQ(std::get<std::string>(user->items[2].second), "here");
    }
  }
  EXPECT_TRUE(trained && evaluated && told);
}

TEST(Lineage, WritesTheBytesOfAGenuineFile) {
  std::vector<std::string> bytes;
  for_each_record(kGenuine, [&](std::string_view record, uint64_t) { bytes.emplace_back(record); });
  const std::vector<LineageEvent> events = read_lineage(kGenuine);
  int compared = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    // Of a pipeline not all is kept that the genuine library says.
    if (std::holds_alternative<DatasetGraph>(events[i].what)) continue;
    EXPECT_EQ(encode(events[i]), bytes[i]) << i;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

TEST(Lineage, KeepsAPipeline) {
  DatasetGraph source{{{"op_type", std::string("Numbers")}, {"shuffle", false}}, {}};
  DatasetGraph graph{{{"op_type", std::string("Batch")}, {"size", 32}, {"rate", -0.5}}, {source, source}};
  const std::string bytes = lineage_event(2.5, LineageKind::kDatasetGraph, encode_lineage(graph));
  const LineageEvent event = decode_lineage_event("file", bytes);
  EXPECT_EQ(event.wall_time, 2.5);
  EXPECT_EQ(encode(event), bytes);
  const auto& read = std::get<DatasetGraph>(event.what);
  EXPECT_EQ(read.children.size(), 2U);
  EXPECT_EQ(read.parameters.size(), 3U);
}

TEST(Lineage, NeverTrustsDamagedBytes) {
  std::mt19937 random(13);
  for_each_record(kGenuine, [&](std::string_view record, uint64_t) {
    for (int round = 0; round < 500; ++round) {
      std::string bad(record.substr(0, round % 2 == 0 ? record.size() : random() % (record.size() + 1)));
      for (int k = 0; k < 3 && !bad.empty(); ++k) bad[random() % bad.size()] = static_cast<char>(random());
      try {
        static_cast<void>(encode(decode_lineage_event("a.file", bad, 100)));
      } catch (const IOError& e) {
        EXPECT_TRUE(std::string(e.what()).starts_with("a.file: ")) << e.what();
      }
    }
  });
}

/// Messages within messages, which would take the stack if they were followed to the last.
TEST(Lineage, RefusesWhatIsTooDeep) {
  for (uint32_t field :
       {static_cast<uint32_t>(LineageKind::kDatasetGraph), static_cast<uint32_t>(LineageKind::kUser)}) {
    std::string bytes;
    for (int i = 0; i < 200; ++i) {
      std::string outer;
      put_bytes(outer, 1, bytes);
      bytes = outer;
    }
    std::string event;
    put_bytes(event, field, bytes);
    EXPECT_THROW(static_cast<void>(decode_lineage_event("file", event)), IOError);
  }
}

}  // namespace
}  // namespace sorus::formats
