#include "sorus/data/mindrecord/source.h"

#include <algorithm>
#include <cstring>

#include "sorus/data/classes.h"
#include "sorus/data/detail/derived.h"
#include "sorus/data/mindrecord/reader.h"
#include "sorus/data/partial_sampler.h"

namespace sorus::data {

using mindrecord::Field;
using mindrecord::FieldType;
using mindrecord::Item;
using mindrecord::Reader;
using mindrecord::Record;

namespace {

/// Gathers the items of one field into a column.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(const Field& field) : field_(field) {}

  void add(const Item& item) {
    switch (field_.type) {
      case FieldType::kString:
      case FieldType::kBytes:
        texts_.emplace_back(item.bytes);
        return;
      default:
        break;
    }
    if (field_.is_array)
      bytes_ += item.bytes;
    else
      add_number(item);
    shapes_.push_back(item.shape);
  }
  [[nodiscard]] Column finish(int64_t rows) {
    if (field_.type == FieldType::kString) return make_strings(Shape{}, std::move(texts_), rows);
    if (field_.type == FieldType::kBytes)
      return make_strings(Shape{1}, std::move(texts_), rows, ItemKind::kBytes);
    const RowType first{ItemKind::kNumbers, mindrecord::dtype_of(field_.type),
                        shapes_.empty() ? Shape{} : shapes_[0]};
    if (std::all_of(shapes_.begin(), shapes_.end(), [&](const Shape& s) { return s == first.shape; })) {
      Column out = make_numbers(first, rows);
      if (!bytes_.empty()) std::memcpy(out.row(0), bytes_.data(), bytes_.size());
      return out;
    }
    std::vector<Column> cells;
    size_t at = 0;
    for (const Shape& shape : shapes_) {
      Column cell = make_numbers({ItemKind::kNumbers, first.dtype, shape}, 1);
      if (cell.type.bytes() > 0) std::memcpy(cell.row(0), bytes_.data() + at, cell.type.bytes());
      at += cell.type.bytes();
      cells.push_back(std::move(cell));
    }
    return concatenate(std::span<const Column>(cells));
  }

 private:
  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add_number(const Item& item) {
    if (field_.type == FieldType::kInt32) put(static_cast<int32_t>(item.integer));
    if (field_.type == FieldType::kInt64) put(item.integer);
    if (field_.type == FieldType::kFloat32) put(static_cast<float>(item.number));
    if (field_.type == FieldType::kFloat64) put(item.number);
  }

  const Field& field_;
  std::string bytes_;
  std::vector<Shape> shapes_;
  std::vector<std::string> texts_;
};

/// The value that a padded row has for a field; `bytes` keeps what it points to.
Item padded_item(const Field& field, const mindrecord::FieldValue& value, std::string& bytes) {
  const auto refuse = [&] {
    raise<ValueError>("MindDataset: padded row does not fit column '{}': need {}", field.name, field.text());
  };
  Item item;
  if (!field.is_blob() && field.type != FieldType::kString) {
    const auto* integer = std::get_if<int64_t>(&value);
    const auto* number = std::get_if<double>(&value);
    const bool whole = field.type == FieldType::kInt32 || field.type == FieldType::kInt64;
    if (whole ? !integer : !integer && !number) refuse();
    item.integer = integer ? *integer : 0;
    item.number = number ? *number : static_cast<double>(item.integer);
    return item;
  }
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    if (!field.is_array || tensor->dtype() != mindrecord::dtype_of(field.type)) refuse();
    bytes.resize(static_cast<size_t>(tensor->numel()) * dtype_size(tensor->dtype()));
    tensor->copy_to(bytes.data(), tensor->dtype());
  } else if (const auto* given = std::get_if<std::string>(&value)) {
    bytes = *given;
  } else {
    refuse();
  }
  item.bytes = bytes;
  if (!field.is_array) return item;
  const auto shape = field.shape_for(std::ssize(bytes));
  if (!shape) refuse();
  item.shape = *shape;
  return item;
}

class MindRecords final : public RandomAccess, public HasClasses {
 public:
  MindRecords(Reader reader, const MindRecordOptions& options)
      : reader_(std::move(reader)),
        fields_(reader_.places_of(options.columns)),
        num_padded_(options.num_padded) {
    if (num_padded_ == 0) return;
    SORUS_CHECK(
        options.padded_row.size() == fields_.size(), ValueError,
        "MindDataset: padded row has the wrong number of values: got {}, need {}, one for each column",
        options.padded_row.size(), fields_.size());
    padded_.unpacked.resize(fields_.size());
    for (size_t c = 0; c < fields_.size(); ++c)
      padded_.items.push_back(padded_item(field(c), options.padded_row[c], padded_.unpacked[c]));
  }
  int64_t rows() const override { return reader_.rows() + num_padded_; }
  bool has_record_order() const override { return true; }
  /// The values of an index field, numbered in the order of their texts, which is that of
  /// Reader::categories().
  ClassRows classes(const std::string& column) const override {
    ClassRows classes;
    for (const mindrecord::Category& category : reader_.categories(column))
      classes[std::ssize(classes)] = reader_.rows_of_category(column, category.name);
    return classes;
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (size_t c = 0; c < fields_.size(); ++c) names.push_back(field(c).name);
    return names;
  }
  Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run& run,
             std::exception_ptr& error) const override {
    std::vector<ColumnBuilder> columns;
    for (size_t c = 0; c < fields_.size(); ++c) columns.emplace_back(field(c));
    Record record;
    Chunk chunk;
    Patience patience;
    try {
      for (; chunk.rows < count && (chunk.rows == 0 || !patience.ended()); ++chunk.rows) {
        run.check();
        const int64_t row = ids[begin + chunk.rows];
        const bool is_padded = row >= reader_.rows();
        if (!is_padded) reader_.read(row, fields_, record);
        for (size_t c = 0; c < columns.size(); ++c)
          columns[c].add(is_padded ? padded_.items[c] : record.items[c]);
      }
    } catch (const Cancelled&) {
      throw;
    } catch (...) {
      error = std::current_exception();
    }
    for (ColumnBuilder& column : columns) chunk.columns.push_back(column.finish(chunk.rows));
    return chunk;
  }
  [[nodiscard]] const Reader& reader() const { return reader_; }

 private:
  [[nodiscard]] const Field& field(size_t column) const {
    return reader_.schema().fields[static_cast<size_t>(fields_[column])];
  }

  Reader reader_;
  std::vector<int64_t> fields_;
  Record padded_;  ///< its items point to its `unpacked`
  int64_t num_padded_;
};

SamplerPtr sampler_of(const MindRecordOptions& options, const MindRecords& records) {
  SourceOptions source = options.source;
  const bool limited = source.num_samples.value_or(0) != 0;
  SORUS_CHECK(!options.file_shuffle || !options.partial_shuffle, ValueError,
              "MindDataset: shuffling by files excludes doing it in part: got both, need one of them");
  SORUS_CHECK(!(options.file_shuffle || options.partial_shuffle) || !source.sampler, ValueError,
              "MindDataset: shuffling by files excludes a sampler: got both, need one of them");
  if (options.file_shuffle) {
    SORUS_CHECK(!limited, ValueError,
                "MindDataset: shuffling by files excludes num_samples: got both, need one of them");
    SORUS_CHECK(options.num_padded == 0, ValueError,
                "MindDataset: shuffling by files excludes padded rows: got both, need one of them");
    return file_sampler(records.reader().rows_by_file(), *options.file_shuffle, source.num_shards,
                        source.shard_id);
  }
  SORUS_CHECK(
      options.num_padded == 0 || !source.num_shards || records.rows() % *source.num_shards == 0, ValueError,
      "MindDataset: rows with the padded ones do not divide among the shards: got {} rows, need a multiple "
      "of {}",
      records.rows(), source.num_shards.value_or(1));
  if (options.partial_shuffle) {
    source.shuffle = false;
    return partial_sampler(records.reader().rows_by_file(), choose_sampler("MindDataset", source));
  }
  // MindSpore draws a limited number of shuffled rows with repetition.
  const bool repeats = limited && source.shuffle.value_or(true) && !source.num_shards && !source.sampler;
  if (!repeats) return choose_sampler("MindDataset", source);
  source.shuffle = {};
  source.sampler = random_sampler(true, source.num_samples);
  source.num_samples = {};
  return choose_sampler("MindDataset", source);
}

}  // namespace

Dataset from_mindrecord(const std::variant<std::string, std::vector<std::string>>& files,
                        const MindRecordOptions& options) {
  SORUS_CHECK(options.num_padded >= 0, ValueError,
              "MindDataset: num_padded is out of range: got {}, need 0 or more", options.num_padded);
  const auto* one = std::get_if<std::string>(&files);
  Reader reader = one ? Reader::open(*one) : Reader::open_files(std::get<std::vector<std::string>>(files));
  auto records = std::make_shared<MindRecords>(std::move(reader), options);
  SamplerPtr sampler = sampler_of(options, *records);
  return from_source(std::move(records), std::move(sampler));
}

}  // namespace sorus::data
