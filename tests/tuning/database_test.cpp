#include "sorus/tuning/database.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "sorus/base/cpu_features.h"
#include "sorus/base/error.h"
#include "sorus/dispatch/tuned.h"
#include "sorus/formats/sealed.h"

namespace sorus::tuning {
namespace {

namespace fs = std::filesystem;

const Tunable plain({.name = "database_test.plain", .initial = 8, .least = 1, .most = 64, .doc = "of tests"});
const Tunable moves({.name = "database_test.moves",
                     .initial = 8,
                     .least = 1,
                     .most = 64,
                     .effect = BitEffect::kMovesBits,
                     .doc = "of tests"});

Entry entry(uint64_t key, int64_t value) {
  Entry e;
  e.key = {key, ~key};
  e.what = "call " + std::to_string(key);
  e.values.set(plain, value);
  e.before_ns = 100;
  e.after_ns = 50.5;
  e.time = static_cast<int64_t>(key);
  return e;
}

Section section(const std::string& build, const std::string& cpu,
                std::vector<std::pair<std::string, int64_t>> values, bool relaxed = false) {
  Section s{build, cpu, {}};
  Section::Stored stored{entry(7, 4), std::move(values)};
  stored.entry.values = {};
  stored.entry.relaxed = relaxed;
  s.entries.push_back(stored);
  return s;
}

class TuningDatabase : public testing::Test {
 protected:
  TuningDatabase() { fs::remove_all(folder_); }
  ~TuningDatabase() override {
    set_tuning_database("");
    fs::remove_all(folder_);
  }
  void write(const std::string& bytes) const {
    fs::create_directories(folder_);
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  [[nodiscard]] std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] std::vector<Section> sections() const {
    return decode(formats::unseal("SRSTUN1", bytes(), "database"));
  }
  /// What this build of the library calls itself.
  [[nodiscard]] std::string own_build() const {
    database_.store(std::vector{entry(1, 2)});
    std::string build = sections()[0].build;
    fs::remove(path_);
    return build;
  }
  void write(const std::vector<Section>& all) const { write(formats::seal("SRSTUN1", encode(all))); }
  fs::path folder_ = fs::temp_directory_path() / ("sorus_tuning_test_" + std::to_string(getpid()));
  std::string path_ = (folder_ / "deep" / ".." / "tuning.db").lexically_normal().string();
  Database database_{path_};
};

TEST_F(TuningDatabase, KeepsEntriesByPartAndKey) {
  EXPECT_TRUE(database_.read().empty());
  database_.store(std::vector{entry(1, 2), entry(2, 4)});
  Entry region = entry(1, 16);
  region.part = TunedPart::kCall;
  database_.store(std::vector{region});
  const std::vector<Entry> found = database_.read();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what, "call 2");
  EXPECT_EQ(found[0].before_ns, 100);
  EXPECT_EQ(found[0].after_ns, 50.5);
  EXPECT_EQ(found[1].values.text(), "database_test.plain=16");
  Entry none = entry(2, 1);
  none.values = {};
  database_.store(std::vector{none});
  EXPECT_EQ(database_.read().size(), 1U);
}

TEST_F(TuningDatabase, DamagedAndForeignFilesCountAsEmptyAndAreMadeAnew) {
  database_.store(std::vector{entry(1, 2)});
  const std::string good = bytes();
  std::vector<std::string> bad = {"",
                                  "no database",
                                  good.substr(0, good.size() / 2),
                                  good + "x",
                                  formats::seal("SRSTUN9", encode({})),
                                  formats::seal("SRSTUN1", "\x7f")};
  for (size_t i = 0; i < good.size(); ++i) {
    bad.push_back(good);
    bad.back()[i] = static_cast<char>(bad.back()[i] ^ 0x10);
  }
  for (const std::string& damaged : bad) {
    write(damaged);
    EXPECT_TRUE(database_.read().empty());
    database_.store(std::vector{entry(1, 2)});
    EXPECT_EQ(bytes(), good);
  }
}

TEST_F(TuningDatabase, OtherBuildsAndProcessorsAreKeptAndNotUsed) {
  const std::string build = own_build();
  const std::string cpu = describe_cpu();
  write(std::vector{section("another build", cpu, {{"long.gone", 5}}),
                    section(build, "another processor", {}),
                    section(build, cpu, {{"database_test.plain", 4}})});
  ASSERT_EQ(database_.read().size(), 1U);
  database_.store(std::vector{entry(9, 2)});
  EXPECT_EQ(database_.read().size(), 2U);
  const std::vector<Section> all = sections();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].build, build);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Section& s) {
    return s.build == "another build" && s.entries[0].values[0].first == "long.gone";
  }));
}

/// Whatever a file claims, exact mode gets no value that may move a bit.
TEST_F(TuningDatabase, LeavesOutWhatWouldNotBeTaken) {
  const std::string build = own_build();
  const auto found = [&](std::vector<std::pair<std::string, int64_t>> values, bool relaxed) {
    write(std::vector{section(build, describe_cpu(), std::move(values), relaxed)});
    return database_.read().size();
  };
  EXPECT_EQ(found({{"database_test.plain", 4}}, false), 1U);
  EXPECT_EQ(found({{"database_test.plain", 5}}, false), 0U);
  EXPECT_EQ(found({{"database_test.plain", 128}}, false), 0U);
  EXPECT_EQ(found({{"database_test.gone", 4}}, false), 0U);
  EXPECT_EQ(found({{"tile.bytes", 24 << 10}}, false), 0U);  // of regions
  EXPECT_EQ(found({{"database_test.moves", 4}}, false), 0U);
  EXPECT_EQ(found({{"database_test.moves", 4}}, true), 1U);
  EXPECT_EQ(found({}, true), 0U);
}

TEST_F(TuningDatabase, IsBounded) {
  std::vector<Section> others;
  for (int i = 0; i < 40; ++i) {
    others.push_back(section("build " + std::to_string(i), "processor", {}));
    others.back().entries[0].entry.time = i;
  }
  write(others);
  std::vector<Entry> many;
  for (uint64_t i = 0; i < 5000; ++i) many.push_back(entry(i, 2));
  database_.store(many);
  const std::vector<Section> kept = sections();
  EXPECT_EQ(kept.size(), 16U);
  EXPECT_EQ(kept[0].entries.size(), 4096U);
  EXPECT_EQ(kept[0].entries[0].entry.time, 4999);
  EXPECT_EQ(kept[1].build, "build 39");
}

TEST_F(TuningDatabase, AFileThatCannotBeWrittenIsAnError) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "no folder";
  EXPECT_THROW(Database((folder_ / "file" / "tuning.db").string()).store(std::vector{entry(1, 2)}), IOError);
  EXPECT_THROW(Database(folder_.string()).store(std::vector{entry(1, 2)}), IOError);
  EXPECT_THROW(Database(folder_.string()).check_access(), IOError);
  Database(path_).check_access();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(TuningDatabase, AFileOfOthersIsNotReplaced) {
  write("secret");
  fs::permissions(path_, fs::perms::none);
  if (::access(path_.c_str(), R_OK) == 0) GTEST_SKIP() << "this user may read everything";
  EXPECT_THROW(Database(path_).store(std::vector{entry(1, 2)}), IOError);
  fs::permissions(path_, fs::perms::owner_read);
  EXPECT_EQ(fs::file_size(path_), 6);
}

/// None of what several processes and threads store at once is lost.
TEST_F(TuningDatabase, ManyMayStoreAtOnce) {
  constexpr uint64_t kEach = 20;
  const auto store = [&](uint64_t writer) {
    for (uint64_t i = 0; i < kEach; ++i) Database(path_).store(std::vector{entry(writer * 1000 + i, 2)});
  };
  std::vector<pid_t> children;
  for (uint64_t writer = 1; writer <= 3; ++writer) {
    const pid_t child = fork();
    if (child == 0) {
      store(writer);
      _exit(0);
    }
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  for (uint64_t writer = 4; writer <= 6; ++writer) threads.emplace_back(store, writer);
  for (std::thread& t : threads) t.join();
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(database_.read().size(), 6 * kEach);
  size_t files = 0;
  for ([[maybe_unused]] const auto& e : fs::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 2U);  // the database and its lock
}

TEST_F(TuningDatabase, IsTakenFromTheFileThatIsNamed) {
  database_.store(std::vector{entry(1, 2)});
  set_tuning_database(path_);
  EXPECT_EQ(tuning_database(), path_);
  ASSERT_EQ(entries_in_use().size(), 1U);
  EXPECT_TRUE(tuning_in_use());
  const Digest::Words key{1, ~uint64_t{1}};
  EXPECT_EQ(tuned_for(TunedPart::kCall, [&] { return key; })->text(), "database_test.plain=2");
  EXPECT_EQ(tuned_for(TunedPart::kRegion, [&] { return key; }), nullptr);
  set_tuning_database("");
  EXPECT_EQ(tuning_database(), "");
  EXPECT_FALSE(tuning_in_use());
  EXPECT_EQ(tuned_for(TunedPart::kCall, [&] { return key; }), nullptr);
}

std::string sample_bytes() {
  Section s = section("build", "processor", {{"database_test.plain", 4}, {"other", -3}});
  s.entries.push_back({entry(1, 2), {{"x", 1}}});
  s.entries.back().entry.values = {};
  return encode(std::vector{s, section("build 2", "", {})});
}

TEST(TuningBytes, AreLossless) {
  const std::string good = sample_bytes();
  EXPECT_EQ(encode(decode(good)), good);
  EXPECT_TRUE(decode(encode({})).empty());
}

TEST(TuningBytes, EveryCutIsRefused) {
  const std::string good = sample_bytes();
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_THROW(static_cast<void>(decode(good.substr(0, n))), ValueError) << n;
  EXPECT_THROW(static_cast<void>(decode(good + '\0')), ValueError);
}

TEST(TuningBytes, RandomDamageNeverCrashes) {
  std::mt19937 random(7);
  const std::string good = sample_bytes();
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 1 + i % 4; ++k)
      bad[random() % bad.size()] = static_cast<char>(i % 5 == 0 ? 0xff : random());
    if (i % 3 == 0) bad.resize(random() % (bad.size() + 1));
    try {
      const std::vector<Section> back = decode(bad);
      EXPECT_EQ(encode(decode(encode(back))), encode(back));
    } catch (const ValueError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace sorus::tuning
