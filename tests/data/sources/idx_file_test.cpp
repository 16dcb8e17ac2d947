#include "sorus/data/sources/idx_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "sorus/data/sources/image_sources.h"
#include "tests/data/helpers.h"

namespace sorus::data {
namespace {

using test::bytes_of;
using test::error_of;
using test::idx_bytes;
using test::TemporaryFolder;

std::vector<std::byte> gzip(const std::vector<std::byte>& plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<std::byte> packed(deflateBound(&stream, plain.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::vector<std::byte> sample() { return idx_bytes({2, 3}, {1, 2, 3, 4, 5, 6}); }

TEST(IdxFile, ReadsRawAndCompressedBytes) {
  for (const auto& bytes : {sample(), gzip(sample())}) {
    Tensor t = parse_idx(bytes, "f");
    EXPECT_EQ(t.shape(), (Shape{2, 3}));
    EXPECT_EQ(t.to_vector<uint8_t>(), (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(IdxFile, ReadsOtherElementTypesAsBigEndian) {
  Tensor t = parse_idx(bytes_of({0, 0, 0x0C, 1, 0, 0, 0, 2, 0, 0, 1, 2, 255, 255, 255, 254}), "f");
  EXPECT_EQ(t.to_vector<int32_t>(), (std::vector<int32_t>{258, -2}));
}

TEST(IdxFile, NamesFileAndOffsetOfWhatIsWrong) {
  auto text = [](std::vector<std::byte> bytes) {
    return error_of<IOError>([&] { (void)parse_idx(bytes, "some-file"); });
  };
  auto shortened = sample();
  shortened.pop_back();
  EXPECT_EQ(
      text(shortened),
      "idx file 'some-file': the header promises more than the file holds: got dimensions (2, 3), need at "
      "most 5 bytes (at byte 8)");
  auto longer = sample();
  longer.push_back(std::byte{0});
  EXPECT_EQ(text(longer), "idx file 'some-file': bytes after the data: got 19 bytes, need 18 (at byte 18)");
  EXPECT_EQ(text({}), "idx file 'some-file': truncated: got 0 bytes, need 4 (at byte 0)");
  EXPECT_NE(text(bytes_of({0x89, 'P', 'N', 'G'})).find("wrong magic number: got 0x89504e47"),
            std::string::npos);
  EXPECT_NE(text(bytes_of({0, 0, 8, 9})).find("wrong number of dimensions: got 9"), std::string::npos);
  EXPECT_NE(
      text(bytes_of({0, 0, 8, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})).find("promises more"),
      std::string::npos);
}

TEST(IdxFile, AFolderIsNoFile) {
  EXPECT_EQ(error_of<IOError>([] { (void)read_idx("/"); }),
            "idx file '/': cannot be opened: got a folder, need a file");
}

TEST(IdxFile, NamesCompressedOffsetOfDamage) {
  auto packed = gzip(sample());
  auto text = [](std::vector<std::byte> bytes) {
    return error_of<IOError>([&] { (void)parse_idx(bytes, "f.gz"); });
  };
  auto truncated = packed;
  truncated.resize(packed.size() - 9);
  EXPECT_NE(text(truncated).find("truncated gzip data (at compressed byte"), std::string::npos)
      << text(truncated);
  auto wrong_checksum = packed;
  wrong_checksum[packed.size() - 6] ^= std::byte{1};
  EXPECT_NE(text(wrong_checksum).find("corrupt gzip data"), std::string::npos) << text(wrong_checksum);
  auto longer = sample();
  longer.push_back(std::byte{7});
  EXPECT_NE(text(gzip(longer)).find("bytes after the data"), std::string::npos);
  auto followed = gzip(sample());
  followed.push_back(std::byte{7});
  EXPECT_NE(text(followed).find("bytes after the gzip data: got 1 more"), std::string::npos)
      << text(followed);
}

/// Damaged bytes give a tensor or an IOError, never anything else.
TEST(IdxFile, SurvivesMutations) {
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    auto bytes = round % 2 == 0 ? sample() : gzip(sample());
    for (unsigned n = random() % 4 + 1; n > 0; --n) {
      size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<std::byte>(random());
          break;
        case 1:
          bytes[at] ^= static_cast<std::byte>(1U << random() % 8);
          break;
        case 2:
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random()));
          break;
        default:
          bytes.resize(at + 1);
      }
    }
    try {
      Tensor t = parse_idx(bytes, "f");
      EXPECT_LE(static_cast<size_t>(t.numel()), bytes.size() * 1032);
    } catch (const IOError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 2000);
}

const std::string kMnist = SORUS_SOURCE_DIR "/examples/data/mnist";

TEST(Mnist, ReadsTheEmbeddedSubset) {
  Dataset train = mnist(kMnist + "/train", "train");
  EXPECT_EQ(train.names(), (std::vector<std::string>{"image", "label"}));
  EXPECT_EQ(train.size(), 5000);
  std::vector<RowType> types = train.types();
  EXPECT_EQ(types[0].text(), "uint8(28, 28, 1)");
  EXPECT_EQ(types[1].text(), "uint32()");
  EXPECT_EQ(mnist(kMnist + "/test", "all").size(), 1000);
}

class MnistFolder : public testing::Test {
 protected:
  void write(const std::string& name, const std::vector<std::byte>& bytes) { folder_.write(name, bytes); }
  std::string error(const std::string& usage = "train") {
    return error_of<IOError>([&] { (void)mnist(folder_.path(), usage).size(); });
  }
  static std::vector<std::byte> images(uint32_t count) {
    return idx_bytes({count, 28, 28}, std::vector<uint8_t>(count * 784, 9));
  }
  static std::vector<std::byte> labels(std::vector<uint8_t> items) {
    return idx_bytes({static_cast<uint32_t>(items.size())}, items);
  }
  TemporaryFolder folder_;
};

TEST_F(MnistFolder, AcceptsDottedNamesAndCompressedContentUnderAnyName) {
  write("train-images.idx3-ubyte", gzip(images(2)));
  write("train-labels-idx1-ubyte", labels({3, 4}));
  EXPECT_EQ(mnist(folder_.path(), "train").size(), 2);
  EXPECT_NE(error("test").find("has no files for usage 'test': need t10k-images-idx3-ubyte"),
            std::string::npos);
}

TEST_F(MnistFolder, ReadsTestImagesBeforeTrainingImagesForAll) {
  write("train-images-idx3-ubyte", images(1));
  write("train-labels-idx1-ubyte", labels({1}));
  write("t10k-images-idx3-ubyte", images(1));
  write("t10k-labels-idx1-ubyte", labels({2}));
  auto rows = mnist(folder_.path(), "all").iterate();
  Row row;
  ASSERT_TRUE(rows.next(row));
  EXPECT_EQ(row[1].item<int>(), 2);
  ASSERT_TRUE(rows.next(row));
  EXPECT_EQ(row[1].item<int>(), 1);
}

TEST_F(MnistFolder, SaysWhatIsWrong) {
  EXPECT_NE(error().find("has no files"), std::string::npos);
  write("train-images-idx3-ubyte", images(2));
  EXPECT_NE(error().find("a file is missing"), std::string::npos);
  write("train-labels-idx1-ubyte", images(2));
  EXPECT_NE(
      error().find("holds no labels: got 3 dimensions, need 1 (at byte 3); it looks like a file of images"),
      std::string::npos);
  write("train-labels-idx1-ubyte", labels({1}));
  EXPECT_NE(error().find("numbers of images and labels differ: got 2 in"), std::string::npos);
  write("train-labels-idx1-ubyte", labels({1, 10}));
  EXPECT_NE(error().find("label out of range: got 10, need 0 to 9 (at byte 9)"), std::string::npos);
  write("train-images-idx3-ubyte", idx_bytes({2, 5, 28}, std::vector<uint8_t>(280)));
  EXPECT_NE(error().find("images of another size: got 5 x 28"), std::string::npos);
}

TEST(Mnist, RefusesWrongArguments) {
  EXPECT_NE(error_of<IOError>([] { (void)mnist("no-such-folder"); }).find("'no-such-folder' does not exist"),
            std::string::npos);
  EXPECT_THROW((void)mnist(kMnist + "/train", "valid"), ValueError);
  EXPECT_THROW((void)mnist(kMnist + "/train", "train", {.num_shards = 2}), ValueError);
}

}  // namespace
}  // namespace sorus::data
