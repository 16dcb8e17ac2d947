#include <nlohmann/json.hpp>
#include <random>

#include "sorus/data/sources/image_sources.h"
#include "tests/data/helpers.h"

/// Images with annotations. What each task gives was recorded from the genuine MindSpore;
/// tests/python/test_file_sources.py compares it.
namespace sorus::data {
namespace {

using Json = nlohmann::json;
using test::error_of;

class AnnotatedImages : public testing::Test {
 protected:
  AnnotatedImages() {
    for (const char* name : {"1.jpg", "2.jpg", "3.jpg"}) write(name, std::string("bytes of ") + name);
    annotations_ = Json::parse(R"({
      "images": [{"id": 2, "file_name": "2.jpg"}, {"id": 1, "file_name": "1.jpg"}, {"id": 3, "file_name": "3.jpg"}],
      "categories": [{"id": 7, "name": "dog"}],
      "annotations": [
        {"image_id": 1, "category_id": 7, "bbox": [1, 2, 3, 4], "iscrowd": 0, "segmentation": [[1, 2], [3, 4, 5]]},
        {"image_id": 2, "category_id": 7, "bbox": [5, 6, 7, 8], "iscrowd": 1, "segmentation": {"counts": [9]}},
        {"image_id": 1, "category_id": 7, "bbox": [9, 10, 11, 12], "segmentation": [[6]]}]})");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << text;
  }
  [[nodiscard]] Dataset read(const std::string& task = "Detection") const {
    write("a.json", annotations_.dump());
    return coco(folder_.path(), folder_.path() + "/a.json", task, false, {.shuffle = false});
  }
  static std::vector<Row> rows_of(const Dataset& dataset) {
    std::vector<Row> rows;
    for (const Row& row : dataset.iterate({.epochs = 1, .seed = 0})) rows.push_back(row);
    return rows;
  }

  test::TemporaryFolder folder_;
  Json annotations_;
};

TEST_F(AnnotatedImages, CocoGivesBoxesInOrderOfImages) {
  std::vector<Row> rows = rows_of(read());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][1].to_vector<float>(), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(rows[1][1].shape(), (Shape{2, 4}));
  EXPECT_EQ(rows[1][2].to_vector<uint32_t>(), (std::vector<uint32_t>{7, 7}));
  EXPECT_EQ(rows[1][3].to_vector<uint32_t>(), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(rows[0][0].numel(), 14);
}

TEST_F(AnnotatedImages, CocoFillsPolygonsUp) {
  std::vector<Row> rows = rows_of(read("Stuff"));
  EXPECT_EQ(rows[1][1].to_vector<float>(), (std::vector<float>{1, 2, -1, 3, 4, 5, 6, -1, -1}));
  EXPECT_EQ(rows[1][1].shape(), (Shape{3, 3}));
}

TEST_F(AnnotatedImages, CocoNamesWhatIsWrong) {
  EXPECT_THROW((void)read("Dance"), ValueError);
  annotations_["annotations"][1]["category_id"] = 8;
  EXPECT_NE(error_of<IOError>([&] { (void)read(); }).find("unknown category in annotation 1: got 8"),
            std::string::npos);
  annotations_["annotations"] = Json::array();
  EXPECT_NE(error_of<IOError>([&] { (void)read(); }).find("names no images"), std::string::npos);
}

TEST_F(AnnotatedImages, DamagedAnnotationsNeverCrash) {
  std::mt19937 random(3);
  const std::string whole = annotations_.dump();
  for (int i = 0; i < 300; ++i) {
    std::string text = whole;
    for (uint32_t flips = 1 + random() % 3; flips > 0; --flips)
      text[random() % text.size()] = static_cast<char>(32 + random() % 95);
    write("b.json", text);
    for (const char* task : {"Detection", "Stuff", "Keypoint", "Panoptic", "Captioning"}) try {
        (void)rows_of(coco(folder_.path(), folder_.path() + "/b.json", task));
      } catch (const Error&) {
      }
  }
}

TEST_F(AnnotatedImages, CelebaHasAttributesAndParts) {
  write("list_attr_celeba.txt", "3\nA B\n1.jpg 1 -1\n2.jpg  -1 1\n3.jpg 1 1\n");
  write("list_eval_partition.txt", "1.jpg 0\n2.jpg 1\n3.jpg 0\n");
  auto rows = rows_of(celeba(folder_.path(), "train", {}, false, {.shuffle = false}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][1].to_vector<uint32_t>(), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(rows[1][1].to_vector<uint32_t>(), (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(celeba(folder_.path()).size(), 3);
  EXPECT_THROW((void)celeba(folder_.path(), "some"), ValueError);
}

TEST_F(AnnotatedImages, ManifestsNumberTheirNames) {
  auto line = [&](const char* file, const char* names) {
    return R"({"source": ")" + folder_.path() + "/" + file + R"(", "usage": "train", "annotation": [)" +
           names + "]}\n";
  };
  write("m", line("1.jpg", R"({"name": "dog"})") + line("2.jpg", R"({"name": "cat"}, {"name": "dog"})"));
  auto rows = rows_of(manifest(folder_.path() + "/m", "train", {}, false, {.shuffle = false}));
  EXPECT_EQ(rows[0][1].to_vector<int32_t>(), std::vector<int32_t>{1});
  EXPECT_EQ(rows[1][1].to_vector<int32_t>(), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(manifest(folder_.path() + "/m", "train", {{"cat", 4}}).size(), 1);
  EXPECT_THROW((void)manifest(folder_.path() + "/m", "eval"), IOError);
}

}  // namespace
}  // namespace sorus::data
