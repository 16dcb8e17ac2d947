#include "sorus/data/sources/detail/annotated.h"

#include <algorithm>
#include <cstring>

#include "sorus/base/thread_pool.h"
#include "sorus/data/classes.h"
#include "sorus/data/sources/detail/byte_source.h"
#include "sorus/data/sources/detail/files.h"
#include "sorus/data/vision/vision.h"

namespace sorus::data::detail {
namespace {

class Annotated final : public RandomAccess, public HasClasses {
 public:
  Annotated(const char* source, std::vector<std::string> names, std::vector<AnnotatedRow> rows)
      : source_(source), names_(std::move(names)), rows_(std::move(rows)) {}
  int64_t rows() const override { return std::ssize(rows_); }
  std::vector<std::string> names() const override { return names_; }
  Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run& run,
             std::exception_ptr& error) const override {
    constexpr int64_t kMost = 64;  // rows at a time, so that a run can be stopped between them
    count = std::min(count, kMost);
    run.check();
    const size_t files = rows_.front().files.size();
    std::vector<std::vector<Column>> read(files, std::vector<Column>(static_cast<size_t>(count)));
    std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
    parallel_ranges(count, 1, [&](int64_t first, int64_t last) {
      for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) try {
          const AnnotatedRow& from = row(ids[begin + static_cast<int64_t>(i)]);
          for (size_t f = 0; f < files; ++f) read[f][i] = read_bytes(source_, from.files[f]);
        } catch (...) {
          errors[i] = std::current_exception();
        }
    });
    auto failed = std::find_if(errors.begin(), errors.end(), [](const auto& e) { return e != nullptr; });
    if (failed != errors.end()) error = *failed;
    Chunk chunk;
    chunk.rows = failed - errors.begin();
    if (chunk.rows == 0) return {};
    for (std::vector<Column>& column : read) {
      column.resize(static_cast<size_t>(chunk.rows));
      chunk.columns.push_back(concatenate(column));
    }
    for (size_t c = 0; c < rows_.front().cells.size(); ++c) {
      std::vector<Cell> cells;
      for (int64_t i = 0; i < chunk.rows; ++i) cells.push_back(row(ids[begin + i]).cells[c]);
      chunk.columns.push_back(column_of(std::move(cells)));
    }
    return chunk;
  }
  /// Those of the column label; an image with several labels is in the class of each.
  ClassRows classes(const std::string&) const override {
    const auto label = std::find(names_.begin(), names_.end(), "label");
    SORUS_CHECK(label != names_.end(), ValueError,
                "{}: this source has no classes: need one whose images have labels", source_);
    const size_t place = static_cast<size_t>(label - names_.begin()) - rows_.front().files.size();
    ClassRows classes;
    for (int64_t i = 0; i < rows(); ++i) {
      const Cell& cell = row(i).cells[place];
      SORUS_INTERNAL(cell.type.kind == ItemKind::kNumbers && dtype_size(cell.type.dtype) == sizeof(int32_t),
                     "labels of {} are no numbers of 32 bits", source_);
      for (size_t at = 0; at < cell.numbers.size(); at += sizeof(int32_t)) {
        int32_t value = 0;
        std::memcpy(&value, cell.numbers.data() + at, sizeof value);
        classes[value].push_back(i);
      }
    }
    return classes;
  }

 private:
  const AnnotatedRow& row(int64_t id) const { return rows_[static_cast<size_t>(id)]; }
  const char* source_;
  std::vector<std::string> names_;
  std::vector<AnnotatedRow> rows_;
};

}  // namespace

Dataset from_annotated(const char* source, const std::string& from, std::vector<std::string> names,
                       std::vector<AnnotatedRow> rows, bool decodes, const SourceOptions& options) {
  SORUS_CHECK(!rows.empty(), IOError, "{}: '{}' names no images: need one or more", source, from);
  std::vector<std::string> images(names.begin(), names.begin() + std::ssize(rows.front().files));
  Dataset dataset = from_source(std::make_shared<Annotated>(source, std::move(names), std::move(rows)),
                                choose_sampler(source, options));
  for (const std::string& image : decodes ? images : std::vector<std::string>())
    dataset = dataset.map({decode()}, {image});
  return dataset;
}

std::string read_text(const char* source, const std::string& path) {
  ByteSource bytes(source, path);
  return bytes.take(UINT64_MAX);
}

}  // namespace sorus::data::detail
