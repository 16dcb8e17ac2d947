#include <algorithm>
#include <filesystem>
#include <mutex>

#include "sorus/base/fork_mutex.h"
#include "sorus/data/detail/derived.h"
#include "sorus/data/idx_file.h"

namespace sorus::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 28;
constexpr int64_t kClasses = 10;

/// The file of one part ("train" or "t10k") and kind ("images-idx3" or "labels-idx1"); empty: not there.
std::string find_file(const fs::path& folder, const std::string& part, const std::string& kind) {
  std::string dotted = kind;
  std::replace(dotted.begin() + 1, dotted.end(), '-', '.');
  for (const std::string& name : {kind, dotted})
    for (const char* ending : {"-ubyte", "-ubyte.gz"}) {
      fs::path path = folder / (part + "-" + name + ending);
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) return path.string();
    }
  return "";
}

struct Files {
  std::string images;
  std::string labels;
};

/// Both files of a part; empty names when the folder has neither. Throws IOError when one is missing.
Files find_part(const fs::path& folder, const std::string& part) {
  Files files{find_file(folder, part, "images-idx3"), find_file(folder, part, "labels-idx1")};
  SORUS_CHECK(files.images.empty() == files.labels.empty(), IOError,
              "MnistDataset: a file is missing in '{}': got only '{}', need also {}-{}-ubyte, raw or .gz",
              folder.string(), files.images.empty() ? files.labels : files.images, part,
              files.images.empty() ? "images-idx3" : "labels-idx1");
  return files;
}

Tensor read_part(const std::string& path, int rank, const char* what, const char* other) {
  Tensor t = read_idx(path);
  SORUS_CHECK(t.dtype() == DType::kUInt8, IOError,
              "MnistDataset: file '{}' has the wrong element type: got {}, need uint8 (at byte 2)", path,
              t.dtype());
  SORUS_CHECK(
      t.rank() == rank, IOError,
      "MnistDataset: file '{}' holds no {}: got {} dimensions, need {} (at byte 3); it looks like a file of "
      "{}",
      path, what, t.rank(), rank, other);
  return t;
}

/// One part as rows; checks all that the two files say.
Chunk load_part(const Files& files) {
  Tensor images = read_part(files.images, 3, "images", "labels");
  Tensor labels = read_part(files.labels, 1, "labels", "images");
  SORUS_CHECK(images.size(1) == kSide && images.size(2) == kSide, IOError,
              "MnistDataset: file '{}' has images of another size: got {} x {}, need 28 x 28 (at byte 8)",
              files.images, images.size(1), images.size(2));
  SORUS_CHECK(images.size(0) == labels.size(0), IOError,
              "MnistDataset: numbers of images and labels differ: got {} in '{}' and {} in '{}' (at byte 4)",
              images.size(0), files.images, labels.size(0), files.labels);
  Chunk rows;
  rows.rows = images.size(0);
  Column image{{ItemKind::kNumbers, DType::kUInt8, Shape{kSide, kSide, 1}}, rows.rows, 0, {}, {}, {}, {}};
  image.numbers = images.value()->storage;
  Column label = make_numbers({ItemKind::kNumbers, DType::kUInt32, Shape{}}, rows.rows);
  const auto* from = labels.data<uint8_t>();
  auto* to = reinterpret_cast<uint32_t*>(label.row(0));
  constexpr int64_t kHeader = 8;
  for (int64_t i = 0; i < rows.rows; ++i) {
    SORUS_CHECK(from[i] < kClasses, IOError,
                "MnistDataset: file '{}' has a label out of range: got {}, need 0 to 9 (at byte {})",
                files.labels, from[i], kHeader + i);
    to[i] = from[i];
  }
  rows.columns = {std::move(image), std::move(label)};
  return rows;
}

/// Reads its files at the first use and keeps the rows.
class Mnist final : public RandomAccess {
 public:
  explicit Mnist(std::vector<Files> parts) : parts_(std::move(parts)) {}
  int64_t rows() const override { return load().rows; }
  std::vector<std::string> names() const override { return {"image", "label"}; }
  Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run&,
             std::exception_ptr&) const override {
    return pick(load(), ids, begin, count);
  }

 private:
  /// The rows, read at the first call. Two threads that come at once both read, and one's rows are kept: no
  /// lock is held so long.
  const Chunk& load() const {
    {
      std::lock_guard lock(fork_mutex_of(this));
      if (!rows_.columns.empty()) return rows_;
    }
    std::vector<Chunk> chunks;
    for (const Files& files : parts_) chunks.push_back(load_part(files));
    Chunk rows = concatenate(chunks);
    std::lock_guard lock(fork_mutex_of(this));
    if (rows_.columns.empty()) std::swap(rows_, rows);
    return rows_;
  }
  std::vector<Files> parts_;
  mutable Chunk rows_;
};

}  // namespace

Dataset mnist(const std::string& folder, const std::string& usage, const SourceOptions& options) {
  SORUS_CHECK(usage == "train" || usage == "test" || usage == "all", ValueError,
              "MnistDataset: usage is unknown: got '{}', need 'train', 'test' or 'all'", usage);
  std::error_code ignored;
  SORUS_CHECK(fs::exists(folder, ignored), IOError,
              "MnistDataset: folder '{}' does not exist: need a folder with MNIST's files", folder);
  SORUS_CHECK(fs::is_directory(folder, ignored), IOError,
              "MnistDataset: '{}' is not a folder: got a file, need a folder with MNIST's files", folder);
  SamplerPtr sampler = choose_sampler("MnistDataset", options);
  std::vector<Files> parts;
  for (const char* part : {"t10k", "train"}) {
    bool wanted = usage == "all" || (usage == "test") == (std::string(part) == "t10k");
    Files files = wanted ? find_part(folder, part) : Files{};
    if (!files.images.empty()) parts.push_back(std::move(files));
  }
  SORUS_CHECK(!parts.empty(), IOError,
              "MnistDataset: folder '{}' has no files for usage '{}': need {}-images-idx3-ubyte and "
              "{}-labels-idx1-ubyte, raw or .gz",
              folder, usage, usage == "test" ? "t10k" : "train", usage == "test" ? "t10k" : "train");
  return from_source(std::make_shared<Mnist>(std::move(parts)), std::move(sampler));
}

}  // namespace sorus::data
