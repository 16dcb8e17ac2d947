#include "sorus/data/vision/image_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sorus/data/vision/vision.h"
#include "tests/data/helpers.h"
#include "tests/data/vision/jpeg_writer.h"

/// Decoding, against the pixels that the genuine MindSpore gave (bench/peers/facts_images.py), and parts of
/// images against the whole.
namespace sorus::data {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::file_bytes;
using test::JpegKind;
using test::write_jpeg;
using Bytes = std::vector<std::byte>;

const std::string kFolder = SORUS_SOURCE_DIR "/tests/fixtures/images";

std::vector<uint8_t> decode_part(const Bytes& bytes, const Window& window) {
  std::vector<uint8_t> pixels(static_cast<size_t>(window.height * window.width) * 3);
  decode_image(bytes, read_image_header(bytes, "it"), window, pixels.data(), "it");
  return pixels;
}
Window whole(const ImageHeader& header) { return {0, 0, header.height, header.width}; }

TEST(ImageFile, HasTheRecordedPixels) {
  std::ifstream file(SORUS_SOURCE_DIR "/tests/fixtures/mindspore/facts.json");
  auto record = nlohmann::json::parse(file)["decoded"];
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    std::string name = entry.path().filename().string();
    Bytes bytes = file_bytes(entry.path().string());
    ImageHeader header = read_image_header(bytes, name);
    EXPECT_EQ((std::vector<int64_t>{header.height, header.width, 3}),
              record[name][0].get<std::vector<int64_t>>())
        << name;
    EXPECT_EQ(header.format == ImageFormat::kJpeg, entry.path().extension() == ".jpg") << name;
    auto pixels = decode_part(bytes, whole(header));
    EXPECT_EQ(crc32(0, pixels.data(), static_cast<uInt>(pixels.size())), record[name][1].get<uint64_t>())
        << name;
    ++compared;
  }
  EXPECT_EQ(compared, std::ssize(record) - 1);
}

std::vector<uint8_t> cut(const std::vector<uint8_t>& pixels, int64_t width, const Window& w) {
  std::vector<uint8_t> part;
  for (int64_t y = w.top; y < w.top + w.height; ++y) {
    auto begin = pixels.begin() + (y * width + w.left) * 3;
    part.insert(part.end(), begin, begin + w.width * 3);
  }
  return part;
}

/// Random parts, small and large ones, and those at all borders.
void expect_parts_of_the_whole(const Bytes& bytes, const std::string& name, int count) {
  ImageHeader header = read_image_header(bytes, name);
  auto pixels = decode_part(bytes, whole(header));
  std::mt19937 random(3);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int i = 0; i < count; ++i) {
    Window w{0, 0, 1 + below(header.height), 1 + below(header.width)};
    if (i % 4 > 0) w.top = below(header.height - w.height + 1);
    if (i % 3 > 0) w.left = below(header.width - w.width + 1);
    ASSERT_EQ(decode_part(bytes, w), cut(pixels, header.width, w))
        << name << ": " << w.height << " x " << w.width << " at " << w.top << ", " << w.left;
  }
}

TEST(ImageFile, PartsAreThoseOfTheWholeImage) {
  for (const auto& entry : fs::directory_iterator(kFolder))
    expect_parts_of_the_whole(file_bytes(entry.path().string()), entry.path().filename().string(), 60);
  for (auto [across, down] : {std::pair(1, 1), {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}})
    for (bool progressive : {false, true})
      for (unsigned restart : {0U, 3U}) {
        JpegKind kind{across, down, progressive, false, restart};
        expect_parts_of_the_whole(write_jpeg(151, 203, kind), fmt::format("{}x{}", across, down), 40);
      }
  expect_parts_of_the_whole(write_jpeg(60, 77, {2, 2, false, true}), "arithmetic", 20);
}

TEST(ImageFile, DecodeAndCropAreDoneInOne) {
  Bytes bytes = write_jpeg(120, 150, {});
  Tensor row(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()),
             Shape{1, static_cast<int64_t>(bytes.size())});
  Dataset rows = from_tensors({"x"}, {row}).repeat(12);
  const TransformPtr crops[] = {crop(7, 90, 50, 40),
                                center_crop(31, 77),
                                center_crop(200, 20),
                                random_crop(64, 50),
                                random_crop(64, 50, {20, 20, 20, 20}),
                                random_resized_crop(32, 48),
                                random_resized_crop(32, 48, {}, Interpolation::kArea)};
  for (const TransformPtr& transform : crops) {
    auto fused = rows.map({decode(), transform}).iterate({.seed = 5});
    auto single = rows.map({decode()}).map({transform}).iterate({.seed = 5});
    Row a;
    Row b;
    int count = 0;
    for (; fused.next(a) && single.next(b); ++count)
      ASSERT_EQ(a[0].to_vector<uint8_t>(), b[0].to_vector<uint8_t>()) << transform->name();
    EXPECT_EQ(count, 12);
  }
}

TEST(ImageFile, DecodesBytesAsWellAsNumbers) {
  Bytes bytes = write_jpeg(9, 11, {});
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Column rows = make_strings(Shape{}, {text, text}, 2, ItemKind::kBytes);
  std::exception_ptr error;
  Column images = decode()->apply({rows}, {}, error).front();
  ASSERT_FALSE(error);
  EXPECT_EQ(images.type.shape, (Shape{9, 11, 3}));
  EXPECT_EQ(images.tensor(1).to_vector<uint8_t>(), decode_part(bytes, {0, 0, 9, 11}));
}

TEST(ImageFile, LargeBatchesAreDecodedInPortions) {
  Bytes bytes = write_jpeg(9, 11, {});
  Tensor row(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()),
             Shape{1, static_cast<int64_t>(bytes.size())});
  EXPECT_LT(decode()->rows_at_once(), 150);
  auto iterator = from_tensors({"x"}, {row}).repeat(300).map({decode(), flip(true)}).batch(150).iterate();
  Row batch;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(iterator.next(batch));
    EXPECT_EQ(batch[0].shape(), (Shape{150, 9, 11, 3}));
  }
  EXPECT_FALSE(iterator.next(batch));
}

TEST(ImageFile, RandomCropDecodeResizeIsItsTwoSteps) {
  Bytes bytes = write_jpeg(90, 130, {2, 1});
  Tensor row(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()),
             Shape{1, static_cast<int64_t>(bytes.size())});
  Column encoded = rows_of(row);
  std::exception_ptr error;
  for (int64_t i = 0; i < 40; ++i) {
    RowContext context = RowContext::make(1, 2, 3, i);
    CropDraw draw;
    draw.scale = {0.05, 0.6};
    Column one = random_crop_decode_resize(20, 24, draw)->apply({encoded}, context, error).front();
    Column image = decode()->apply({encoded}, context, error).front();
    Column two = random_resized_crop(20, 24, draw)->apply({image}, context, error).front();
    ASSERT_EQ(one.tensor(0).to_vector<uint8_t>(), two.tensor(0).to_vector<uint8_t>());
  }
  ASSERT_FALSE(error);
}

TEST(ImageFile, CropsDrawTheAreaAndAspectAskedFor) {
  std::vector<uint8_t> pixels(100 * 80, 1);
  RowType type{ItemKind::kNumbers, DType::kUInt8, Shape{100, 80, 1}};
  CropDraw draw{{0.25, 0.5}, {0.5, 2}};
  auto transform = random_resized_crop(8, 8, draw);
  double least = 1;
  double most = 0;
  for (int64_t i = 0; i < 500; ++i) {
    auto w = transform->window(type, i, RowContext::make(0, 0, 0, 0));
    ASSERT_TRUE(w && w->top >= 0 && w->left >= 0 && w->top + w->height <= 100 && w->left + w->width <= 80);
    double share = static_cast<double>(w->height * w->width) / (100. * 80);
    double ratio = static_cast<double>(w->width) / static_cast<double>(w->height);
    EXPECT_GT(ratio, 0.48);
    EXPECT_LT(ratio, 2.1);
    least = std::min(least, share);
    most = std::max(most, share);
  }
  EXPECT_NEAR(least, 0.25, 0.02);
  EXPECT_NEAR(most, 0.5, 0.02);
  // No part of that aspect fits: the middle, as much as the aspects allow.
  auto none = random_resized_crop(8, 8, {{1, 1}, {0.1, 0.1}})->window(type, 0, {});
  EXPECT_EQ(none, (Window{0, 35, 100, 10}));
}

TEST(ImageFile, DamagedBytesNeverCrash) {
  int refused = 0;
  int decoded = 0;
  auto attempt = [&](const Bytes& bytes) {
    try {
      ImageHeader header = read_image_header(bytes, "it");
      if (header.height * header.width > 1 << 20) return;  // a header that was made larger
      (void)decode_part(bytes, whole(header));
      ++decoded;
    } catch (const IOError&) {
      ++refused;
    }
  };
  std::mt19937 random(11);
  std::vector<Bytes> files;
  for (const auto& entry : fs::directory_iterator(kFolder))
    files.push_back(file_bytes(entry.path().string()));
  files.push_back(write_jpeg(33, 40, {2, 2, false, true}));
  for (const Bytes& file : files) {
    for (size_t length = 0; length < file.size(); length += 1 + file.size() / 60)
      attempt(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)));
    for (int i = 0; i < 250; ++i) {
      Bytes damaged = file;
      for (int k = 0; k < 1 + i % 5; ++k)
        damaged[random() % (i % 2 == 0 ? damaged.size() : std::min<size_t>(damaged.size(), 700))] =
            static_cast<std::byte>(random());
      attempt(damaged);
    }
  }
  EXPECT_GT(refused, 1500);
  EXPECT_GT(decoded, 500);
}

TEST(ImageFile, RefusesTruncatedFiles) {
  for (const char* name :
       {"color420.jpg", "progressive.jpg", "restarts.jpg", "color.png", "interlaced.png"}) {
    Bytes bytes = file_bytes(kFolder + "/" + name);
    for (size_t part : {bytes.size() / 2, bytes.size() - 60, bytes.size() * 3 / 4}) {
      Bytes cut_off(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
      std::string text = error_of<IOError>([&] {
        ImageHeader header = read_image_header(cut_off, "file 'it'");
        std::vector<uint8_t> pixels(static_cast<size_t>(header.height * header.width) * 3);
        decode_image(cut_off, header, whole(header), pixels.data(), "file 'it'");
      });
      EXPECT_NE(text.find("Decode: file 'it' holds a damaged"), std::string::npos) << text;
      EXPECT_NE(text.find("data that end "), std::string::npos) << name << part << text;
    }
  }
}

std::string refusal(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return error_of<IOError>([&] { (void)read_image_header(bytes, "a row"); });
}

TEST(ImageFile, SaysWhatBytesAre) {
  EXPECT_EQ(refusal("GIF89a..."),
            "Decode: a row holds no image that can be decoded: got a GIF image, need a JPEG or PNG image");
  EXPECT_EQ(
      refusal("abcdef"),
      "Decode: a row holds no image that can be decoded: got 6 bytes that begin with 61 62 63 64, need a "
      "JPEG or PNG image");
  EXPECT_NE(refusal("").find("got no bytes"), std::string::npos);
  EXPECT_NE(refusal("BM6..").find("a BMP image"), std::string::npos);
  EXPECT_NE(refusal(std::string("RIFF\0\0\0\0WEBPVP8 ", 16)).find("a WebP image"), std::string::npos);
}

TEST(ImageFile, NeverTrustsAHeader) {
  Bytes jpeg = file_bytes(kFolder + "/color420.jpg");
  for (size_t i = 0; i + 9 < jpeg.size(); ++i)
    if (jpeg[i] == std::byte{0xff} && jpeg[i + 1] == std::byte{0xc0})
      for (size_t k = 5; k < 9; ++k) jpeg[i + k] = std::byte{0xfd};
  EXPECT_NE(
      error_of<IOError>([&] { (void)read_image_header(jpeg, "it"); }).find("more pixels than its bytes"),
      std::string::npos);
}

}  // namespace
}  // namespace sorus::data
