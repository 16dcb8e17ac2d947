#include "sorus/formats/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sorus/base/error.h"
#include "sorus/formats/record_file.h"

namespace sorus::formats {
namespace {

const std::string kGenuine = SORUS_SOURCE_DIR "/tests/fixtures/mindspore/events/values.summary";

std::vector<std::string> records(const std::string& path) {
  std::vector<std::string> all;
  for_each_record(path, [&](std::string_view bytes, uint64_t) { all.emplace_back(bytes); });
  return all;
}

/// The values of the genuine file by kind and tag.
template <class T>
T genuine(const std::string& tag) {
  for (const SummaryEvent& event : read_events(kGenuine))
    if (const auto* values = std::get_if<std::vector<SummaryValue>>(&event.what))
      for (const SummaryValue& value : *values)
        if (value.tag == tag && std::holds_alternative<T>(value.value)) return std::get<T>(value.value);
  ADD_FAILURE() << "no " << tag;
  return {};
}

TEST(Summary, ReadsAGenuineFile) {
  const std::vector<SummaryEvent> events = read_events(kGenuine);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(std::get<std::string>(events[0].what), kSummaryVersion);
  EXPECT_FALSE(events[0].step);
  EXPECT_GT(std::get<SummaryGraph>(events[1].what).message.size(), 100U);
  EXPECT_EQ(events[2].step, 5);
  EXPECT_GT(events[2].wall_time, 1.6e9);
  EXPECT_EQ(genuine<float>("float"), 1.25F);
  const auto tensor = genuine<SummaryTensor>("int8");
  EXPECT_EQ(tensor.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensor.data_type, 2);
  EXPECT_EQ(tensor.values, (std::vector<float>{-3, -2, -1, 0, 1, 2}));
}

/// Bytes that are not those of the genuine library would be read by other programs as something else.
TEST(Summary, WritesTheBytesOfAGenuineFile) {
  const std::vector<std::string> bytes = records(kGenuine);
  const std::vector<SummaryEvent> events = read_events(kGenuine);
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(encode_event(events[i]), bytes[i]) << i;
}

TEST(Summary, MakesTheHistogramsOfAGenuineFile) {
  auto same = [](const Tensor& tensor, const std::string& tag) {
    SummaryEvent ours{0, 1, std::vector<SummaryValue>{{tag, summary_histogram(tensor)}}};
    SummaryEvent theirs{0, 1, std::vector<SummaryValue>{{tag, genuine<SummaryHistogram>(tag)}}};
    EXPECT_EQ(encode_event(ours), encode_event(theirs)) << tag;
  };
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  same(Tensor({1.5F, nan, inf, -inf, -2.F, 0.25F, nan}), "odd");
  same(Tensor({2.5F, 2.5F, 2.5F, 2.5F}), "same");
  same(Tensor({nan, inf}), "no number");
  same(Tensor(std::span<const float>(), {0}), "nothing");
  same(Tensor({int64_t{4}, int64_t{4}, int64_t{4}, int64_t{4}, int64_t{4}, int64_t{4}}, {2, 3}), "same int");
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 7; ++i) bytes.push_back(static_cast<uint8_t>(30 * i));
  same(Tensor(std::span<const uint8_t>(bytes), {7}), "uint8");
  std::vector<int32_t> numbers;
  for (int i = 0; i < 60; ++i) numbers.push_back(i * i % 37);
  same(Tensor(std::span<const int32_t>(numbers), {6, 10}), "int");
}

TEST(Summary, CountsEveryElementInOneBucket) {
  std::mt19937 random(5);
  for (int64_t n : {1, 5, 6, 10, 11, 100, 880, 881, 5000}) {
    std::vector<double> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(std::normal_distribution<double>()(random));
    const SummaryHistogram h = summary_histogram(Tensor(std::span<const double>(values), {n}));
    EXPECT_EQ(h.buckets.size(), n <= 5     ? 2U
                                : n <= 10  ? 3U
                                : n <= 880 ? static_cast<size_t>(n / 10 + 1)
                                           : 90U);
    int64_t sum = 0;
    for (const auto& bucket : h.buckets) {
      sum += bucket.count;
      const bool is_last = &bucket == &h.buckets.back();
      const auto inside = std::count_if(values.begin(), values.end(), [&](double v) {
        return v >= bucket.left && (is_last || v < (&bucket)[1].left);
      });
      EXPECT_EQ(bucket.count, inside);
    }
    EXPECT_EQ(sum, n);
  }
}

TEST(Summary, HoldsTheGreatestNumbersAndTheLeast) {
  const double most = std::numeric_limits<double>::max();
  const SummaryHistogram h = summary_histogram(Tensor({-most, most}));
  EXPECT_EQ(h.buckets.size(), 2U);
  EXPECT_EQ(h.buckets[0].count + h.buckets[1].count, 2);
  const double tiny = std::numeric_limits<double>::denorm_min();
  const SummaryHistogram t = summary_histogram(Tensor({0.0, tiny}));
  EXPECT_EQ(t.buckets[0].count + t.buckets[1].count, 2);
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(summary_histogram(Tensor({least, -(least + 1)})).count, 2);
  EXPECT_EQ(summary_histogram(Tensor({uint8_t{0}})).buckets[0].left, 0);
}

TEST(Summary, RefusesWhatIsNoImageOrScalar) {
  EXPECT_THROW(static_cast<void>(summary_scalar(Tensor({1.F, 2.F}))), ValueError);
  EXPECT_THROW(static_cast<void>(summary_tensor(Tensor(1.F))), ValueError);
  EXPECT_THROW(static_cast<void>(summary_histogram(Tensor(1.F))), ValueError);
  const std::vector<float> numbers(12);
  for (const Shape& shape : {Shape{3, 4}, Shape{1, 2, 3, 2}, Shape{12}})
    EXPECT_THROW(static_cast<void>(summary_image(Tensor(std::span<const float>(numbers), shape))),
                 ValueError);
  EXPECT_THROW(static_cast<void>(summary_image(Tensor(std::span<const float>(), {1, 3, 0, 4}))), ValueError);
  EXPECT_EQ(summary_image(Tensor(std::span<const float>(numbers), {4, 3, 1, 1})).width, 4);
}

/// Whatever the bytes are, an error names the file and the place.
TEST(Summary, NeverTrustsDamagedBytes) {
  std::mt19937 random(11);
  for (const std::string& good : records(kGenuine))
    for (int round = 0; round < 500; ++round) {
      std::string bad = good.substr(0, round % 2 == 0 ? good.size() : random() % (good.size() + 1));
      for (int k = 0; k < 4 && !bad.empty(); ++k) bad[random() % bad.size()] = static_cast<char>(random());
      try {
        static_cast<void>(encode_event(decode_event("a.file", bad, 100)));
      } catch (const IOError& e) {
        EXPECT_TRUE(std::string(e.what()).starts_with("a.file: ")) << e.what();
      }
    }
}

TEST(Summary, TakesTheGraphOutOfAModel) {
  EXPECT_EQ(graph_of_model(std::string("\x08\x01\x22\x03") + "abc").message, "abc");
  EXPECT_THROW(static_cast<void>(graph_of_model("\x08\x01")), IOError);
}

}  // namespace
}  // namespace sorus::formats
