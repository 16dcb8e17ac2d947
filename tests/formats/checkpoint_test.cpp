#include "sorus/formats/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "sorus/formats/file.h"

namespace sorus::formats {
namespace {

namespace fs = std::filesystem;

class Checkpoint : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name = "a.ckpt") const { return (folder_ / name).string(); }
  static std::string bytes_of(const std::string& p) {
    std::ifstream in(p, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const std::string& p, const std::string& bytes) {
    std::ofstream(p, std::ios::binary) << bytes;
  }
  fs::path folder_ = fs::temp_directory_path() / ("sorus_checkpoint_" + std::to_string(::getpid()));
};

std::vector<CheckpointEntry> samples() {
  Tensor scalar(3.5F);
  Tensor matrix({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}, {2, 3});
  Tensor numbers({int64_t{-1}, int64_t{1} << 40}, {2});
  Tensor flags({true, false, true}, {3});
  Tensor empty(std::span<const float>(), {0, 4});
  Tensor half({BFloat16(1.5F), BFloat16(-2.F)}, {2});
  return {{"scalar", scalar}, {"conv1.weight", matrix}, {"numbers", numbers},
          {"flags", flags},   {"empty", empty},         {"note", std::string("epoch äß€😀")},
          {"half", half}};
}

TEST_F(Checkpoint, ReadsWhatItWrote) {
  for (bool crc : {false, true}) {
    auto entries = samples();
    write_checkpoint(path(), entries, crc);
    auto read = read_checkpoint(path(), {.check_crc = true, .choose = {}});
    ASSERT_EQ(read.size(), entries.size());
    for (size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].name, entries[i].name);
      if (std::holds_alternative<std::string>(entries[i].value)) {
        EXPECT_EQ(std::get<std::string>(read[i].value), std::get<std::string>(entries[i].value));
        continue;
      }
      const Tensor& a = std::get<Tensor>(entries[i].value);
      const Tensor& b = std::get<Tensor>(read[i].value);
      ASSERT_EQ(a.type(), b.type());
      std::vector<std::byte> x(static_cast<size_t>(a.numel()) * dtype_size(a.dtype())), y(x.size());
      a.copy_to(x.data(), a.dtype());
      b.copy_to(y.data(), b.dtype());
      EXPECT_EQ(x, y);
    }
  }
}

/// Bytes laid out by hand after the published schema, not by our writer.
TEST_F(Checkpoint, ReadsTheSchemaLaidOutByHand) {
  std::string floats("\0\0\x80\x3f\0\0\0\xc0", 8);
  std::string tensor = std::string("\x08\x02\x12\x07", 4) + "Float32" + std::string("\x1a\x08", 2) + floats;
  std::string value = std::string("\x0a\x06", 2) + "w.bias" + std::string("\x12", 1) +
                      static_cast<char>(tensor.size()) + tensor;
  put(path(), std::string("\x0a", 1) + static_cast<char>(value.size()) + value);
  auto read = read_checkpoint(path());
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].name, "w.bias");
  EXPECT_EQ(std::get<Tensor>(read[0].value).to_vector<float>(), (std::vector<float>{1.F, -2.F}));
}

TEST_F(Checkpoint, JoinsAdjacentPiecesOfOneName) {
  auto piece = [](const std::string& content) {
    std::string tensor =
        std::string("\x08\x02\x12\x07", 4) + "Float32" + std::string("\x1a\x04", 2) + content;
    std::string value = std::string("\x0a\x01w\x12", 4) + static_cast<char>(tensor.size()) + tensor;
    return std::string("\x0a", 1) + static_cast<char>(value.size()) + value;
  };
  put(path(), piece(std::string("\0\0\x80\x3f", 4)) + piece(std::string("\0\0\0\xc0", 4)));
  auto read = read_checkpoint(path());
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(std::get<Tensor>(read[0].value).to_vector<float>(), (std::vector<float>{1.F, -2.F}));
}

TEST_F(Checkpoint, ReadsOnlyChosenNames) {
  write_checkpoint(path(), samples());
  auto read = read_checkpoint(
      path(), {.check_crc = false, .choose = [](const std::string& n) { return n == "numbers"; }});
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].name, "numbers");
}

void expect_refused(const std::string& path, const std::string& need) {
  try {
    static_cast<void>(read_checkpoint(path, {.check_crc = true, .choose = {}}));
    FAIL() << "no error for " << need;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(need), std::string::npos) << e.what();
  }
}

TEST_F(Checkpoint, NamesFileAndByteOfWhatItCannotRead) {
  expect_refused(path("missing.ckpt"), "No such file");
  expect_refused(folder_.string(), "not a file");
  write_checkpoint(path(), samples(), true);
  std::string good = bytes_of(path());
  put(path("cut.ckpt"), good.substr(0, 40));
  expect_refused(path("cut.ckpt"), "at byte");
  put(path("foreign.ckpt"), "PK\x03\x04 this is a zip archive");
  expect_refused(path("foreign.ckpt"), "at byte 0");
  std::string flipped = good;
  flipped[60] = static_cast<char>(flipped[60] ^ 1);
  put(path("flipped.ckpt"), flipped);
  expect_refused(path("flipped.ckpt"), "");
  put(path("secret.ckpt"), std::string("\xd8\x5e\x3a\x7f", 4) + "xxxxxxxxxxxxxxxxxxxxxxxx");
  expect_refused(path("secret.ckpt"), "encrypted");
}

TEST_F(Checkpoint, AnEmptyFileIsNoCheckpoint) {
  put(path("empty.ckpt"), "");
  expect_refused(path("empty.ckpt"), "file is empty");
}

TEST_F(Checkpoint, RefusesBytesThatAreNoText) {
  write_checkpoint(path(), {{CheckpointEntry{"note", std::string("abc")}, {"w", Tensor(1.F)}}});
  const std::string good = bytes_of(path());
  std::string surrogate = good;
  const size_t text = surrogate.find(std::string("b\0\0\0", 4));
  ASSERT_NE(text, std::string::npos);
  surrogate[text + 1] = '\xd8';
  put(path("surrogate.ckpt"), surrogate);
  expect_refused(path("surrogate.ckpt"), "damaged: got code point 0xd862");
  std::string type = good;
  type[type.find("Float32")] = '\xff';
  put(path("type.ckpt"), type);
  expect_refused(path("type.ckpt"), "at byte");
}

TEST_F(Checkpoint, ClearsWhatKilledWritersLeft) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  const std::string left = path() + ".tmp." + std::to_string(gone) + ".0";
  const std::string living = path() + ".tmp." + std::to_string(::getppid()) + ".0";
  const std::string foreign = path() + ".tmp.notes";
  for (const std::string& p : {left, living, foreign}) put(p, "part");
  write_checkpoint(path(), samples());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(living));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(Checkpoint, WritesWhatALinkNames) {
  fs::create_directory(folder_ / "store");
  fs::create_symlink("store/real.ckpt", path("link.ckpt"));
  for (int round = 0; round < 2; ++round) {
    write_checkpoint(path("link.ckpt"), samples());
    EXPECT_TRUE(fs::is_symlink(path("link.ckpt")));
    EXPECT_EQ(read_checkpoint((folder_ / "store" / "real.ckpt").string()).size(), samples().size());
  }
}

TEST_F(Checkpoint, WritesNothingInThePlaceOfWhatIsNoFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", path("link.ckpt"));
  fs::create_directory(folder_ / "folder");
  for (const char* name : {"pipe", "link.ckpt", "folder"})
    EXPECT_THROW(write_checkpoint(path(name), samples()), IOError);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  for (const char* name : {"pipe", "link.ckpt", "folder", "none"})
    EXPECT_THROW(static_cast<void>(read_file(path(name))), IOError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
}

TEST_F(Checkpoint, AFailedWriteLeavesTheOldFileAndNothingElse) {
  write_checkpoint(path(), samples());
  std::string before = bytes_of(path());
  auto twice = samples();
  twice.push_back(twice[0]);
  EXPECT_THROW(write_checkpoint(path(), twice), ValueError);
  EXPECT_THROW(write_checkpoint((folder_ / "no" / "folder.ckpt").string(), samples()), IOError);
  EXPECT_EQ(bytes_of(path()), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Checkpoint, RandomDamageNeverCrashes) {
  write_checkpoint(path(), samples(), false);
  std::string good = bytes_of(path());
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    std::string bad = good;
    for (int k = 0, n = 1 + static_cast<int>(random() % 4); k < n; ++k)
      bad[random() % bad.size()] = static_cast<char>(random());
    if (random() % 3 == 0) bad.resize(random() % bad.size());
    put(path("fuzz.ckpt"), bad);
    try {
      static_cast<void>(read_checkpoint(path("fuzz.ckpt")));
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace sorus::formats
