#include "sorus/formats/event_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "sorus/base/error.h"
#include "sorus/formats/summary.h"

namespace sorus::formats {
namespace {

namespace fs = std::filesystem;

class EventFiles : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return (folder_ / "events").string(); }
  [[nodiscard]] mode_t mode() const {
    struct stat info {};
    return ::stat(path().c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }
  fs::path folder_ = fs::temp_directory_path() / ("sorus_events_" + std::to_string(::getpid()));
};

std::string event(int64_t step) {
  return encode_event({1.5, step, std::vector<SummaryValue>{{"x", float(step)}}});
}

TEST_F(EventFiles, BeginWithTheVersionAtTheFirstEvent) {
  EventFile out(path(), EventFile::Kind::kSummary);
  out.flush();
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_TRUE(out.append(event(3)));
  EXPECT_TRUE(out.append(event(4)));
  out.flush();
  EXPECT_EQ(mode(), 0600U);
  const auto events = read_events(path());
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(std::get<std::string>(events[0].what), kSummaryVersion);
  EXPECT_EQ(events[1].step, 3);
  EXPECT_EQ(events[2].step, 4);
  out.close();
  EXPECT_EQ(mode(), 0400U);
}

TEST_F(EventFiles, OfLineageHaveNoVersion) {
  EventFile out(path(), EventFile::Kind::kLineage);
  EXPECT_TRUE(out.append("abc"));
  RecordReader in(path());
  std::string record;
  ASSERT_TRUE(in.next(record));
  EXPECT_EQ(record, "abc");
}

TEST_F(EventFiles, StayWithinTheirLimit) {
  const size_t one = event(1).size() + kRecordOverhead;
  EventFile out(path(), EventFile::Kind::kLineage, 2 * one);
  EXPECT_TRUE(out.append(event(1)));
  EXPECT_TRUE(out.append(event(2)));
  EXPECT_FALSE(out.append(event(3)));
  EXPECT_FALSE(out.append(""));
  EXPECT_EQ(fs::file_size(path()), 2 * one);
}

TEST_F(EventFiles, SayWhereTheyCannotBe) {
  EventFile out(path() + "/none", EventFile::Kind::kSummary);
  try {
    static_cast<void>(out.append(event(1)));
    FAIL() << "no error";
  } catch (const IOError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with(path() + "/none: cannot create the file")) << e.what();
  }
}

}  // namespace
}  // namespace sorus::formats
