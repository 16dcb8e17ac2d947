#include "sorus/formats/record_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "sorus/base/error.h"

namespace sorus::formats {
namespace {

namespace fs = std::filesystem;

class RecordFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name = "a.records") const { return (folder_ / name).string(); }
  static void put(const std::string& p, const std::string& bytes) {
    std::ofstream(p, std::ios::binary) << bytes;
  }
  static std::string bytes_of(const std::string& p) {
    std::ifstream in(p, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Records until the end or the first that is damaged.
  static std::vector<std::string> read(const std::string& p, std::string* error = nullptr) {
    RecordReader in(p);
    std::vector<std::string> all;
    std::string record;
    try {
      while (in.next(record)) all.push_back(record);
    } catch (const IOError& e) {
      if (error) *error = e.what();
    }
    return all;
  }
  fs::path folder_ = fs::temp_directory_path() / ("sorus_records_" + std::to_string(::getpid()));
};

std::vector<std::string> samples() {
  return {"first", "", std::string(100000, 'x'), std::string("\0\1\2", 3), std::string(70000, 'y'), "last"};
}

std::string written(const std::string& path, const std::vector<std::string>& records) {
  RecordWriter out(path);
  for (const std::string& record : records) out.append(record);
  out.flush();
  return path;
}

TEST_F(RecordFile, ReadsWhatItWrote) {
  EXPECT_EQ(read(written(path(), samples())), samples());
  EXPECT_TRUE(read(written(path(), {})).empty());
}

/// Checksums computed bit by bit elsewhere.
TEST_F(RecordFile, HasTheBytesOfTheFormat) {
  written(path(), {"abc"});
  EXPECT_EQ(bytes_of(path()), std::string("\x03\0\0\0\0\0\0\0"
                                          "\xb0\x99\x49\x0e"
                                          "abc"
                                          "\x6e\x57\xf1\x21",
                                          19));
}

TEST_F(RecordFile, IsForItsOwnerAlone) {
  written(path(), {"abc"});
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(RecordFile, GoesOnWhenTheFileGrows) {
  RecordWriter out(path());
  RecordReader in(path());
  std::string record;
  for (const std::string& sample : samples()) {
    EXPECT_FALSE(in.next(record));
    out.append(sample);
    ASSERT_TRUE(in.next(record));
    EXPECT_EQ(record, sample);
    EXPECT_EQ(in.offset(), out.size());
  }
}

TEST_F(RecordFile, TellsWhereItIsCut) {
  const std::string whole = bytes_of(written(path(), {"first", "second"}));
  const size_t first = 5 + kRecordOverhead;
  for (size_t n = 0; n < whole.size(); ++n) {
    put(path(), whole.substr(0, n));
    std::string error;
    EXPECT_EQ(read(path(), &error).size(), n < first ? 0U : 1U) << n;
    if (n == 0 || n == first) {
      EXPECT_EQ(error, "");
    } else {
      const std::string begin = path() + ": record at byte " + (n < first ? "0" : "21") + " is damaged: got ";
      EXPECT_TRUE(error.starts_with(begin)) << error;
    }
  }
}

TEST_F(RecordFile, FindsAnyChange) {
  const std::string whole = bytes_of(written(path(), {"first", "second"}));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    put(path(), bad);
    EXPECT_LT(read(path()).size(), 2U) << i;
  }
}

TEST_F(RecordFile, NeverTrustsBytesAtRandom) {
  std::mt19937 random(7);
  const std::string whole = bytes_of(written(path(), {"first", std::string(300, 'z')}));
  for (int round = 0; round < 300; ++round) {
    std::string bad = whole;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    put(path(), bad.substr(0, random() % (bad.size() + 1)));
    EXPECT_LE(read(path()).size(), 2U);
  }
}

/// A length with a checksum that fits, larger than any file.
TEST_F(RecordFile, AllocatesNothingForALengthThatCannotBe) {
  put(path(),
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) + std::string("\xa6\x7b\x11\x3a", 4) + "abcdef");
  std::string error;
  EXPECT_TRUE(read(path(), &error).empty());
  EXPECT_EQ(error,
            path() +
                ": record at byte 0 is damaged: got 6 bytes for a record of 18446744073709551615, need "
                "all of them: the file may be cut");
}

TEST_F(RecordFile, RefusesWhatIsNoFile) {
  for (const std::string& p : {folder_.string(), path("missing"), std::string("/dev/null")})
    EXPECT_THROW(RecordReader{p}, IOError) << p;
  EXPECT_THROW(RecordWriter{path("no/folder")}, IOError);
}

/// A disk that is full, as a limit of the process: whole records stay, and reading ends after them.
TEST_F(RecordFile, LeavesWholeRecordsOnAFullDisk) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    RecordWriter out(path());
    out.append(std::string(50, 'a'));
    try {
      out.append(std::string(200, 'b'));
      ::_exit(1);
    } catch (const IOError& e) {
      if (!std::string(e.what()).starts_with(path() +
                                             ": cannot write the file at byte 66: got 'File too large'"))
        ::_exit(2);
    }
    out.append("c");
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(path()), (std::vector<std::string>{std::string(50, 'a'), "c"}));
}

}  // namespace
}  // namespace sorus::formats
