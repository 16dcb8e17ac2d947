#include <algorithm>
#include <filesystem>

#include "sorus/base/thread_pool.h"
#include "sorus/data/classes.h"
#include "sorus/data/sources/detail/files.h"
#include "sorus/data/sources/image_sources.h"
#include "sorus/data/vision/vision.h"

namespace sorus::data {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSource = "ImageFolderDataset";

/// Names of what a folder holds, in order of their bytes.
std::vector<std::string> list(const fs::path& folder, bool folders) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (folders ? it->is_directory(ignored) : it->is_regular_file(ignored))
      names.push_back(it->path().filename().string());
  }
  SORUS_CHECK(!error, IOError, "{}: folder '{}' cannot be read: got '{}', need a readable folder", kSource,
              folder.string(), error.message());
  std::sort(names.begin(), names.end());
  return names;
}

struct File {
  std::string path;
  int32_t label;
};

class ImageFolder final : public RandomAccess, public HasClasses {
 public:
  explicit ImageFolder(std::vector<File> files) : files_(std::move(files)) {}
  int64_t rows() const override { return std::ssize(files_); }
  std::vector<std::string> names() const override { return {"image", "label"}; }
  Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run& run,
             std::exception_ptr& error) const override {
    constexpr int64_t kMost = 64;  // files at a time, so that a run can be stopped between them
    count = std::min(count, kMost);
    run.check();
    std::vector<Column> cells(static_cast<size_t>(count));
    std::vector<std::exception_ptr> errors(cells.size());
    parallel_ranges(count, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        try {
          cells[static_cast<size_t>(i)] = detail::read_bytes(kSource, file(ids[begin + i]).path);
        } catch (...) {
          errors[static_cast<size_t>(i)] = std::current_exception();
        }
      }
    });
    auto failed = std::find_if(errors.begin(), errors.end(), [](const auto& e) { return e != nullptr; });
    if (failed != errors.end()) error = *failed;
    int64_t good = failed - errors.begin();
    if (good == 0) return {};
    Column labels = make_numbers({ItemKind::kNumbers, DType::kInt32, Shape{}}, good);
    for (int64_t i = 0; i < good; ++i)
      reinterpret_cast<int32_t*>(labels.row(0))[i] = file(ids[begin + i]).label;
    cells.resize(static_cast<size_t>(good));
    return {{concatenate(cells), std::move(labels)}, good};
  }
  ClassRows classes(const std::string&) const override {
    ClassRows classes;
    for (int64_t i = 0; i < rows(); ++i) classes[file(i).label].push_back(i);
    return classes;
  }

 private:
  const File& file(int64_t id) const { return files_[static_cast<size_t>(id)]; }
  std::vector<File> files_;
};

std::vector<File> find_files(const std::string& folder, const ImageFolderOptions& what) {
  std::vector<File> files;
  ClassIndexing all = image_folder_classes(folder);
  for (const auto& [name, number] : all) {
    auto wanted = what.class_indexing.find(name);
    if (!what.class_indexing.empty() && wanted == what.class_indexing.end()) continue;
    int32_t label = what.class_indexing.empty() ? number : wanted->second;
    for (const std::string& file : list(fs::path(folder) / name, false)) {
      bool counts = std::any_of(what.extensions.begin(), what.extensions.end(),
                                [&](const std::string& e) { return fs::path(file).extension() == e; });
      if (what.extensions.empty() || counts)
        files.push_back({(fs::path(folder) / name / file).string(), label});
    }
  }
  return files;
}

}  // namespace

ClassIndexing image_folder_classes(const std::string& folder) {
  detail::check_folder(kSource, folder);
  ClassIndexing classes;
  int32_t number = 0;
  for (const std::string& name : list(folder, true)) classes[name] = number++;
  return classes;
}

Dataset image_folder(const std::string& folder, const ImageFolderOptions& what,
                     const SourceOptions& options) {
  std::vector<File> files = find_files(folder, what);
  std::string endings;
  for (const std::string& extension : what.extensions) endings += " " + extension;
  SORUS_CHECK(!files.empty(), IOError, "{}: folder '{}' has no images: need subfolders with files{}{}",
              kSource, folder, endings.empty() ? "" : " that end in", endings);
  Dataset rows =
      from_source(std::make_shared<ImageFolder>(std::move(files)), choose_sampler(kSource, options));
  return what.decode ? rows.map({decode()}, {"image"}) : rows;
}

}  // namespace sorus::data
