#include <algorithm>
#include <filesystem>

#include "sorus/data/sources/detail/files.h"
#include "sorus/data/sources/image_sources.h"

/// CIFAR's binary files: rows of one label byte or two and an image, plane by plane.
namespace sorus::data {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kSide = 32;
constexpr int64_t kChannels = 3;
constexpr int64_t kPlane = kSide * kSide;

/// What the two kinds differ in.
struct Kind {
  const char* source;
  std::vector<const char*> labels;  ///< names of columns
  std::vector<int64_t> classes;     ///< of each
  std::vector<std::string> train;   ///< files
  std::string test;

  [[nodiscard]] int64_t row_bytes() const { return std::ssize(labels) + kChannels * kPlane; }
};

Kind kind_of(int classes) {
  if (classes == 100)
    return {"Cifar100Dataset", {"coarse_label", "fine_label"}, {20, 100}, {"train.bin"}, "test.bin"};
  Kind kind{"Cifar10Dataset", {"label"}, {10}, {}, "test_batch.bin"};
  for (int i = 1; i <= 5; ++i) kind.train.push_back("data_batch_" + std::to_string(i) + ".bin");
  return kind;
}

void copy_image(const uint8_t* planes, uint8_t* to) {
  for (int64_t i = 0; i < kPlane; ++i)
    for (int64_t c = 0; c < kChannels; ++c) *to++ = planes[c * kPlane + i];
}

/// One file as rows; checks its size and labels.
Chunk load(const Kind& kind, const std::string& path) {
  Column file = detail::read_bytes(kind.source, path);
  int64_t size = file.type.items();
  int64_t row = kind.row_bytes();
  SORUS_CHECK(size > 0 && size % row == 0, IOError,
              "{}: file '{}' has the wrong size: got {} bytes, need one or more rows of {}", kind.source,
              path, size, row);
  Chunk rows;
  rows.rows = size / row;
  rows.columns.push_back(
      make_numbers({ItemKind::kNumbers, DType::kUInt8, Shape{kSide, kSide, kChannels}}, rows.rows));
  for (size_t c = 0; c < kind.labels.size(); ++c)
    rows.columns.push_back(make_numbers({ItemKind::kNumbers, DType::kUInt32, Shape{}}, rows.rows));
  const auto* from = reinterpret_cast<const uint8_t*>(file.row(0));
  for (int64_t i = 0; i < rows.rows; ++i, from += row) {
    for (size_t c = 0; c < kind.labels.size(); ++c) {
      SORUS_CHECK(from[c] < kind.classes[c], IOError,
                  "{}: file '{}' has a label out of range: got {}, need 0 to {} (at byte {})", kind.source,
                  path, from[c], kind.classes[c] - 1, i * row + static_cast<int64_t>(c));
      reinterpret_cast<uint32_t*>(rows.columns[c + 1].row(0))[i] = from[c];
    }
    copy_image(from + kind.labels.size(), reinterpret_cast<uint8_t*>(rows.columns[0].row(i)));
  }
  return rows;
}

Dataset cifar(int classes, const std::string& folder, const std::string& usage,
              const SourceOptions& options) {
  Kind kind = kind_of(classes);
  detail::check_usage(kind.source, usage, {"train", "test", "all"});
  detail::check_folder(kind.source, folder);
  std::vector<std::string> files = usage == "test" ? std::vector<std::string>{} : kind.train;
  if (usage != "train") files.push_back(kind.test);
  std::sort(files.begin(), files.end());
  std::vector<detail::LoadPart> parts;
  for (const std::string& file : files) {
    std::string path = (fs::path(folder) / file).string();
    std::error_code ignored;
    SORUS_CHECK(fs::is_regular_file(path, ignored), IOError,
                "{}: folder '{}' lacks a file for usage '{}': need '{}', of the binary version", kind.source,
                folder, usage, file);
    parts.push_back([kind, path] { return load(kind, path); });
  }
  std::vector<std::string> names{"image"};
  names.insert(names.end(), kind.labels.begin(), kind.labels.end());
  return from_source(detail::loaded_source(std::move(names), std::move(parts)),
                     choose_sampler(kind.source, options));
}

}  // namespace

Dataset cifar10(const std::string& folder, const std::string& usage, const SourceOptions& options) {
  return cifar(10, folder, usage, options);
}
Dataset cifar100(const std::string& folder, const std::string& usage, const SourceOptions& options) {
  return cifar(100, folder, usage, options);
}

}  // namespace sorus::data
