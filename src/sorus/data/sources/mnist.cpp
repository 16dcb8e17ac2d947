#include <algorithm>
#include <filesystem>

#include "sorus/data/sources/detail/files.h"
#include "sorus/data/sources/idx_file.h"
#include "sorus/data/sources/image_sources.h"

/// MNIST and the data sets made after it: a file of images and one of labels for each part, in the idx
/// format.
namespace sorus::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 28;

/// A pair of files and how they are read.
struct Part {
  const char* source;  ///< in errors
  std::string prefix;  ///< of file names, such as "train"
  std::string labels_kind = "labels-idx1-ubyte";
  int64_t first_class = 0;
  int64_t last_class = 9;
  bool all_numbers = false;  ///< QMNIST: all 8 numbers of a label instead of its class
  int64_t begin = 0;         ///< rows that count
  std::optional<int64_t> end = {};
  std::string images = {};  ///< paths, once they are found
  std::string labels = {};
};

/// The file prefix-kind in any of its spellings; empty: not there.
std::string find_file(const fs::path& folder, const std::string& prefix, const std::string& kind) {
  std::string dotted = kind;
  std::replace(dotted.begin(), dotted.begin() + static_cast<std::ptrdiff_t>(kind.rfind('-')), '-', '.');
  for (const std::string& name : {kind, dotted})
    for (const char* ending : {"", ".gz"}) {
      fs::path path = folder / (prefix + "-" + name + ending);
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) return path.string();
    }
  return "";
}

constexpr const char* kImages = "images-idx3-ubyte";

/// Finds both files of a part; false when the folder has neither. Throws IOError when one is missing.
bool find_part(const fs::path& folder, Part& part) {
  part.images = find_file(folder, part.prefix, kImages);
  part.labels = find_file(folder, part.prefix, part.labels_kind);
  SORUS_CHECK(part.images.empty() == part.labels.empty(), IOError,
              "{}: a file is missing in '{}': got only '{}', need also {}-{}, raw or .gz", part.source,
              folder.string(), part.images.empty() ? part.labels : part.images, part.prefix,
              part.images.empty() ? kImages : part.labels_kind);
  return !part.images.empty();
}

Tensor read_part(const Part& part, const std::string& path, DType dtype, int rank, const char* what,
                 const char* other) {
  Tensor t = read_idx(path);
  SORUS_CHECK(t.dtype() == dtype, IOError,
              "{}: file '{}' has the wrong element type: got {}, need {} (at byte 2)", part.source, path,
              t.dtype(), dtype);
  SORUS_CHECK(t.rank() == rank, IOError,
              "{}: file '{}' holds no {}: got {} dimensions, need {} (at byte 3); it looks like a file of {}",
              part.source, path, what, t.rank(), rank, other);
  return t;
}

/// Labels as uint32, one number a row or all of them.
template <class T>
Column label_rows(const Part& part, const Tensor& labels, int64_t header) {
  int64_t numbers = labels.rank() == 1 ? 1 : labels.size(1);
  int64_t rows = labels.size(0);
  int64_t kept = part.all_numbers ? numbers : 1;
  Column out =
      make_numbers({ItemKind::kNumbers, DType::kUInt32, part.all_numbers ? Shape{numbers} : Shape{}}, rows);
  const auto* from = labels.data<T>();
  auto* to = reinterpret_cast<uint32_t*>(out.row(0));
  for (int64_t i = 0; i < rows; ++i) {
    auto label = static_cast<int64_t>(from[i * numbers]);
    SORUS_CHECK(label >= part.first_class && label <= part.last_class, IOError,
                "{}: file '{}' has a label out of range: got {}, need {} to {} (at byte {})", part.source,
                part.labels, label, part.first_class, part.last_class,
                header + i * numbers * static_cast<int64_t>(sizeof(T)));
    for (int64_t k = 0; k < kept; ++k) *to++ = static_cast<uint32_t>(from[i * numbers + k]);
  }
  return out;
}

/// One part as rows; checks all that the two files say.
Chunk load_part(const Part& part) {
  bool wide = part.labels_kind == "labels-idx2-int";
  Tensor images = read_part(part, part.images, DType::kUInt8, 3, "images", "labels");
  Tensor labels =
      read_part(part, part.labels, wide ? DType::kInt32 : DType::kUInt8, wide ? 2 : 1, "labels", "images");
  SORUS_CHECK(images.size(1) == kSide && images.size(2) == kSide, IOError,
              "{}: file '{}' has images of another size: got {} x {}, need 28 x 28 (at byte 8)", part.source,
              part.images, images.size(1), images.size(2));
  SORUS_CHECK(images.size(0) == labels.size(0), IOError,
              "{}: numbers of images and labels differ: got {} in '{}' and {} in '{}' (at byte 4)",
              part.source, images.size(0), part.images, labels.size(0), part.labels);
  SORUS_CHECK(!wide || labels.size(1) == 8, IOError,
              "{}: file '{}' has labels of another kind: got {} numbers each, need 8 (at byte 8)",
              part.source, part.labels, wide ? labels.size(1) : 1);
  Chunk rows;
  rows.rows = images.size(0);
  Column image;
  image.type = {ItemKind::kNumbers, DType::kUInt8, Shape{kSide, kSide, 1}};
  image.rows = rows.rows;
  image.numbers = images.value()->storage;
  Column label = wide ? label_rows<int32_t>(part, labels, 12) : label_rows<uint8_t>(part, labels, 8);
  rows.columns = {std::move(image), std::move(label)};
  int64_t begin = std::min(part.begin, rows.rows);
  return rows.slice(begin, std::min(part.end.value_or(rows.rows), rows.rows) - begin);
}

/// The rows of those parts that the folder has.
Dataset dataset_of(const std::string& folder, const std::string& usage, std::vector<Part> parts,
                   const SourceOptions& options) {
  Part named = parts.back();
  detail::check_folder(named.source, folder);
  SamplerPtr sampler = choose_sampler(named.source, options);
  std::vector<detail::LoadPart> found;
  for (Part& part : parts)
    if (find_part(folder, part)) found.push_back([part] { return load_part(part); });
  SORUS_CHECK(!found.empty(), IOError,
              "{}: folder '{}' has no files for usage '{}': need {}-{} and {}-{}, raw or .gz", named.source,
              folder, usage, named.prefix, kImages, named.prefix, named.labels_kind);
  return from_source(detail::loaded_source({"image", "label"}, std::move(found)), std::move(sampler));
}

/// Parts with MNIST's own names, or those behind `prefix`; test images first.
std::vector<Part> test_and_train(const char* source, const std::string& usage, const std::string& test,
                                 const std::string& train) {
  detail::check_usage(source, usage, {"train", "test", "all"});
  std::vector<Part> parts;
  if (usage != "train") parts.push_back({source, test});
  if (usage != "test") parts.push_back({source, train});
  return parts;
}

}  // namespace

Dataset mnist(const std::string& folder, const std::string& usage, const SourceOptions& options) {
  return dataset_of(folder, usage, test_and_train("MnistDataset", usage, "t10k", "train"), options);
}
Dataset fashion_mnist(const std::string& folder, const std::string& usage, const SourceOptions& options) {
  return dataset_of(folder, usage, test_and_train("FashionMnistDataset", usage, "t10k", "train"), options);
}
Dataset kmnist(const std::string& folder, const std::string& usage, const SourceOptions& options) {
  return dataset_of(folder, usage, test_and_train("KMnistDataset", usage, "t10k", "train"), options);
}

Dataset emnist(const std::string& folder, const std::string& name, const std::string& usage,
               const SourceOptions& options) {
  struct Named {
    const char* name;
    int64_t first, last;  ///< classes
  };
  constexpr Named kNamed[] = {{"byclass", 0, 61}, {"bymerge", 0, 46}, {"balanced", 0, 46},
                              {"letters", 1, 26}, {"digits", 0, 9},   {"mnist", 0, 9}};
  const auto* found =
      std::find_if(std::begin(kNamed), std::end(kNamed), [&](const Named& n) { return name == n.name; });
  SORUS_CHECK(found != std::end(kNamed), ValueError,
              "EMnistDataset: name is unknown: got '{}', need 'byclass', 'bymerge', 'balanced', 'letters', "
              "'digits' or 'mnist'",
              name);
  auto parts =
      test_and_train("EMnistDataset", usage, "emnist-" + name + "-test", "emnist-" + name + "-train");
  for (Part& part : parts) {
    part.first_class = found->first;
    part.last_class = found->last;
  }
  return dataset_of(folder, usage, std::move(parts), options);
}

Dataset qmnist(const std::string& folder, const std::string& usage, bool compat,
               const SourceOptions& options) {
  constexpr const char* kSource = "QMnistDataset";
  constexpr int64_t kFirstTests = 10000;
  detail::check_usage(kSource, usage, {"train", "test", "test10k", "test50k", "nist", "all"});
  Part part{kSource, "", "labels-idx2-int", 0, 9, !compat};
  std::vector<Part> parts;
  auto add = [&](const char* prefix) -> Part& {
    part.prefix = prefix;
    return parts.emplace_back(part);
  };
  if (usage == "train" || usage == "all") add("qmnist-train");
  if (usage == "test" || usage == "all") add("qmnist-test");
  if (usage == "test10k") add("qmnist-test").end = kFirstTests;
  if (usage == "test50k") add("qmnist-test").begin = kFirstTests;
  if (usage == "nist" || usage == "all") add("xnist");
  return dataset_of(folder, usage, std::move(parts), options);
}

}  // namespace sorus::data
