#include "sorus/data/sources/image_sources.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sorus/data/vision/vision.h"
#include "tests/data/helpers.h"

/// Sources of images in files, against the rows that the genuine MindSpore gave
/// (bench/peers/facts_images.py).
namespace sorus::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::error_of;
using test::idx_bytes;
using test::TemporaryFolder;

const json& facts() {
  static const json record = [] {
    std::ifstream file(SORUS_SOURCE_DIR "/tests/fixtures/mindspore/facts.json");
    return json::parse(file);
  }();
  return record;
}

std::vector<std::byte> bytes_of_text(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// The files of facts_images.py's image_tree(): each is its own name.
void fill(const TemporaryFolder& folder) {
  for (const std::string name :
       {"b/x10.png", "b/x9.png", "b/X.PNG", "b/z.jpeg", "a/1.jpg", "a/2.JPEG", "a/3.bmp", "a/note.txt",
        "c10/q.png", "c9/q.png", ".hidden/q.png", "A/.dot.png"}) {
    fs::create_directories(fs::path(folder.path()) / fs::path(name).parent_path());
    folder.write(name, bytes_of_text(name));
  }
  fs::create_directories(fs::path(folder.path()) / "empty");
  fs::create_directories(fs::path(folder.path()) / "b" / "deeper.png");
}

/// [name of the file, label] of each row.
json rows_of(const Dataset& dataset, uint32_t seed = 0) {
  json out = json::array();
  for (const Row& row : dataset.iterate({.seed = seed})) {
    auto bytes = row[0].to_vector<uint8_t>();
    out.push_back({std::string(bytes.begin(), bytes.end()), row[1].item<int>()});
  }
  return out;
}

TEST(ImageFolder, HasTheRecordedRows) {
  const json& record = facts()["image_folders"];
  TemporaryFolder folder;
  fill(folder);
  std::vector<std::string> some{".png", ".jpg", ".JPEG"};
  SourceOptions in_order{.shuffle = false};
  auto of = [&](const ImageFolderOptions& what, const SourceOptions& options) {
    return image_folder(folder.path(), what, options);
  };
  EXPECT_EQ(rows_of(of({}, in_order)), record["all"]);
  EXPECT_EQ(rows_of(of({some, {}}, in_order)), record["extensions"]);
  EXPECT_EQ(rows_of(of({some, {{"b", 5}, {"a", -1}}}, in_order)), record["extensions, class_indexing"]);
  EXPECT_EQ(rows_of(of({{}, {{"b", 5}, {"nothing", 1}}}, in_order)),
            record["class_indexing without a folder"]);
  EXPECT_EQ(rows_of(of({}, {.num_samples = 3, .shuffle = false})), record["num_samples"]);
  SourceOptions shard{.shuffle = false, .num_shards = 3, .shard_id = 1};
  EXPECT_EQ(rows_of(of({}, shard)), record["num_shards"]);
  shard.shuffle = true;
  for (uint32_t seed : {0U, 1U}) {
    std::string key = "seed " + std::to_string(seed);
    EXPECT_EQ(rows_of(of({}, {}), seed), record[key]);
    EXPECT_EQ(rows_of(of({}, shard), seed), record[key + ", num_shards"]);
    EXPECT_EQ(rows_of(of({}, {.num_samples = 7}), seed), record[key + ", num_samples"]);
  }
  EXPECT_EQ(json(image_folder_classes(folder.path())), record["classes"]);
}

TEST(ImageFolder, NamesTheFileThatCannotBeDecoded) {
  TemporaryFolder folder;
  fs::create_directories(fs::path(folder.path()) / "cat");
  std::string image = SORUS_SOURCE_DIR "/tests/fixtures/images/color420.jpg";
  fs::copy(image, folder.path() + "/cat/1.jpg");
  fs::copy(image, folder.path() + "/cat/2.jpg");
  folder.write("cat/3.jpg", bytes_of_text("no image"));
  for (bool at_once : {true, false}) {
    Dataset rows = image_folder(folder.path(), {.decode = at_once}, {.shuffle = false});
    if (!at_once) rows = rows.map({decode(), resize(4, 4)}, {"image"});
    auto iterator = rows.iterate();
    Row row;
    EXPECT_TRUE(iterator.next(row));
    EXPECT_EQ(row[0].shape(), at_once ? Shape({37, 45, 3}) : Shape({4, 4, 3}));
    EXPECT_TRUE(iterator.next(row));
    EXPECT_EQ(error_of<IOError>([&] { (void)iterator.next(row); }),
              "Decode: file '" + folder.path() +
                  "/cat/3.jpg' holds no image that can be decoded: got 8 bytes that begin with 6e 6f 20 69, "
                  "need a JPEG or PNG image");
  }
  Dataset rows = image_folder(folder.path(), {}, {.shuffle = false});
  fs::remove(folder.path() + "/cat/2.jpg");
  auto iterator = rows.iterate();
  Row row;
  EXPECT_TRUE(iterator.next(row));
  EXPECT_NE(error_of<IOError>([&] { (void)iterator.next(row); }).find("/cat/2.jpg' cannot be opened"),
            std::string::npos);
}

TEST(ImageFolder, RefusesFoldersWithoutImages) {
  TemporaryFolder folder;
  EXPECT_NE(error_of<IOError>([&] { (void)image_folder(folder.path()); }).find("has no images"),
            std::string::npos);
  EXPECT_NE(error_of<IOError>([&] { (void)image_folder(folder.path() + "/no"); }).find("does not exist"),
            std::string::npos);
}

/// The files of facts_images.py's write_cifar().
void write_cifar(const TemporaryFolder& folder, int64_t rows) {
  const char* names[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                         "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
  for (int number = 0; number < 6; ++number) {
    std::vector<std::byte> bytes;
    for (int64_t i = 0; i < rows; ++i) {
      bytes.push_back(static_cast<std::byte>(number));
      for (int64_t plane = 0; plane < 3; ++plane)
        bytes.insert(bytes.end(), 1024, static_cast<std::byte>(i + plane));
    }
    folder.write(names[number], bytes);
  }
}

json cifar_rows(const Dataset& dataset, uint32_t seed, size_t most) {
  json out = json::array();
  for (const Row& row : dataset.iterate({.seed = seed})) {
    if (out.size() == most) break;
    auto pixels = row[0].to_vector<uint8_t>();
    out.push_back({row[1].item<int>(), std::vector<int>(pixels.begin(), pixels.begin() + 3)});
  }
  return out;
}

TEST(Cifar, HasTheRecordedRows) {
  TemporaryFolder folder;
  constexpr int64_t kRows = 3;  // of the 10000 that the record's files have
  write_cifar(folder, kRows);
  const json& record = facts()["cifar"];
  for (const char* usage : {"train", "test", "all"}) {
    Dataset rows = cifar10(folder.path(), usage);
    EXPECT_EQ(rows.size() * 10000, record[usage][0].get<int64_t>() * kRows);
    EXPECT_EQ(cifar_rows(rows, 0, 2), record[usage][1]) << usage;
  }
}

/// The first 20 rows that the record's files would give in the order of a sampler: row i of file f has label
/// f and pixels that begin with i.
json rows_in_order(int64_t first_file, int64_t rows, const SamplerPtr& sampler, uint32_t seed) {
  json out = json::array();
  for (int64_t id : test::rows_of_epoch(test::numbers(rows, sampler).take(20), seed)) {
    int64_t pixel = id % 10000;
    out.push_back({first_file + id / 10000, {pixel % 256, (pixel + 1) % 256, (pixel + 2) % 256}});
  }
  return out;
}

TEST(Cifar, OrdersOfManyRowsAreTheRecordedOnes) {
  const json& record = facts()["cifar"];
  for (uint32_t seed : {0U, 1U}) {
    std::string key = "seed " + std::to_string(seed);
    SamplerPtr some = choose_sampler("it", {.num_samples = 20});
    EXPECT_EQ(rows_in_order(0, 60000, some, seed), record[key + ", num_samples=20"]);
    EXPECT_EQ(rows_in_order(0, 60000, random_sampler(), seed), record[key + ", first 20 rows"]);
    EXPECT_EQ(rows_in_order(5, 10000, random_sampler(), seed), record[key + ", test, first 20 rows"]);
  }
}

TEST(Cifar, ReadsBothLabelsOfAHundredClasses) {
  TemporaryFolder folder;
  for (int part : {0, 1}) {
    std::vector<std::byte> bytes(2 * 3074, static_cast<std::byte>(part));
    bytes[0] = std::byte{19};
    bytes[1] = std::byte{99};
    folder.write(part == 0 ? "train.bin" : "test.bin", bytes);
  }
  Dataset all = cifar100(folder.path());
  EXPECT_EQ(all.names(), (std::vector<std::string>{"image", "coarse_label", "fine_label"}));
  std::vector<int> seen;
  for (const Row& row : all.iterate()) seen.insert(seen.end(), {row[1].item<int>(), row[2].item<int>()});
  EXPECT_EQ(seen, (std::vector<int>{19, 99, 1, 1, 19, 99, 0, 0}));  // test comes first
  folder.write("train.bin", std::vector<std::byte>(3073));
  Row row;
  auto iterator = cifar100(folder.path(), "train").iterate();
  EXPECT_EQ(error_of<IOError>([&] { (void)iterator.next(row); }),
            "Cifar100Dataset: file '" + folder.path() +
                "/train.bin' has the wrong size: got 3073 bytes, need one or more rows of 3074");
  folder.write("train.bin", std::vector<std::byte>(3074, std::byte{20}));
  auto wrong = cifar100(folder.path(), "train").iterate();
  EXPECT_NE(
      error_of<IOError>([&] { (void)wrong.next(row); }).find("label out of range: got 20, need 0 to 19"),
      std::string::npos);
  fs::remove(folder.path() + "/test.bin");
  EXPECT_NE(error_of<IOError>([&] { (void)cifar100(folder.path(), "all"); }).find("need 'test.bin'"),
            std::string::npos);
  EXPECT_NE(error_of<ValueError>([&] {
              (void)cifar100(folder.path(), "some");
            }).find("got 'some', need 'train', 'test' or 'all'"),
            std::string::npos);
}

void write_pair(const TemporaryFolder& folder, const std::string& prefix, uint8_t label) {
  folder.write(prefix + "-images-idx3-ubyte", idx_bytes({1, 28, 28}, std::vector<uint8_t>(784, label)));
  folder.write(prefix + "-labels-idx1-ubyte", idx_bytes({1}, {label}));
}

std::vector<int> labels_of(const Dataset& dataset) {
  std::vector<int> labels;
  for (const Row& row : dataset.iterate()) labels.push_back(row[1].item<int>());
  return labels;
}

TEST(MnistFamily, ReadsTheFilesOfItsMembers) {
  TemporaryFolder folder;
  write_pair(folder, "train", 3);
  write_pair(folder, "t10k", 4);
  EXPECT_EQ(labels_of(fashion_mnist(folder.path())), (std::vector<int>{4, 3}));
  EXPECT_EQ(labels_of(kmnist(folder.path(), "train")), (std::vector<int>{3}));
  write_pair(folder, "emnist-letters-train", 26);
  write_pair(folder, "emnist-letters-test", 1);
  EXPECT_EQ(labels_of(emnist(folder.path(), "letters")), (std::vector<int>{1, 26}));
  EXPECT_THROW((void)emnist(folder.path(), "numbers"), ValueError);
  EXPECT_NE(
      error_of<IOError>([&] { (void)emnist(folder.path(), "digits"); }).find("emnist-digits-train-images"),
      std::string::npos);
  write_pair(folder, "emnist-digits-test", 11);
  auto iterator = emnist(folder.path(), "digits", "test").iterate();
  Row row;
  EXPECT_NE(error_of<IOError>([&] { (void)iterator.next(row); }).find("got 11, need 0 to 9 (at byte 8)"),
            std::string::npos);
}

/// An idx file of int32, 8 numbers a row that begin with `first`.
std::vector<std::byte> wide_labels(int rows, int first) {
  std::vector<uint8_t> items;
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < 8; ++k)
      items.insert(items.end(), {0, 0, static_cast<uint8_t>(k), static_cast<uint8_t>(first)});
  auto bytes = idx_bytes({static_cast<uint32_t>(rows), 8}, items);
  bytes[2] = std::byte{0xc};
  return bytes;
}

TEST(MnistFamily, ReadsWideLabels) {
  TemporaryFolder folder;
  const std::pair<const char*, int> parts[] = {{"qmnist-train", 1}, {"qmnist-test", 2}, {"xnist", 3}};
  for (auto [prefix, label] : parts) {
    folder.write(std::string(prefix) + "-images-idx3-ubyte",
                 idx_bytes({1, 28, 28}, std::vector<uint8_t>(784)));
    folder.write(std::string(prefix) + "-labels-idx2-int", wide_labels(1, label));
  }
  EXPECT_EQ(labels_of(qmnist(folder.path())), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(labels_of(qmnist(folder.path(), "nist")), (std::vector<int>{3}));
  EXPECT_EQ(labels_of(qmnist(folder.path(), "test10k")), (std::vector<int>{2}));
  EXPECT_EQ(labels_of(qmnist(folder.path(), "test50k")), (std::vector<int>{}));
  auto iterator = qmnist(folder.path(), "train", false).iterate();
  Row row;
  ASSERT_TRUE(iterator.next(row));
  EXPECT_EQ(row[1].to_vector<uint32_t>(), (std::vector<uint32_t>{1, 257, 513, 769, 1025, 1281, 1537, 1793}));
}

}  // namespace
}  // namespace sorus::data
