#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "sorus/data/sources/detail/byte_source.h"
#include "sorus/data/sources/detail/row_files.h"
#include "sorus/formats/crc32c.h"
#include "sorus/formats/record_file.h"
#include "sorus/formats/wire.h"

namespace sorus::data {
namespace {

using detail::Cell;
using formats::WireField;
using formats::WireReader;
constexpr const char* kSource = "TFRecordDataset";
constexpr uint64_t kHeadBytes = 12;

/// Records of a file that is not compressed.
class PlainRecords final : public detail::RecordStream {
 public:
  explicit PlainRecords(const std::string& path) : reader_(path) {}
  bool next(detail::Record& record) override {
    record.place = reader_.offset();
    return reader_.next(record.bytes);
  }

 private:
  formats::RecordReader reader_;
};

uint64_t little_endian(std::string_view bytes) {
  uint64_t v = 0;
  for (size_t i = bytes.size(); i-- > 0;) v = v << 8 | static_cast<uint8_t>(bytes[i]);
  return v;
}

/// Records within compressed bytes; places are those of the unpacked ones.
class PackedRecords final : public detail::RecordStream {
 public:
  PackedRecords(const std::string& path, RecordCompression compression)
      : bytes_(kSource, path, compression) {}
  bool next(detail::Record& record) override {
    record.place = offset_;
    std::string head = bytes_.take(kHeadBytes);
    if (head.empty()) return false;
    std::string_view length = std::string_view(head).substr(0, sizeof(uint64_t));
    if (head.size() < kHeadBytes || !fits(length, std::string_view(head).substr(sizeof(uint64_t))))
      fail("a length whose checksum differs");
    uint64_t count = little_endian(length);
    record.bytes = bytes_.take(count);
    std::string crc = bytes_.take(sizeof(uint32_t));
    if (record.bytes.size() < count || crc.size() < sizeof(uint32_t)) fail("fewer bytes than it has");
    if (!fits(record.bytes, crc)) fail("bytes whose checksum differs");
    offset_ += count + formats::kRecordOverhead;
    return true;
  }

 private:
  static bool fits(std::string_view bytes, std::string_view stored) {
    return formats::masked_crc(formats::crc32c(bytes)) == little_endian(stored);
  }
  [[noreturn]] void fail(const char* got) const {
    raise<IOError>(
        "{}: file '{}' is damaged at unpacked byte {}: got a record with {}, need one as it was written",
        kSource, bytes_.path(), offset_, got);
  }
  detail::ByteSource bytes_;
  uint64_t offset_ = 0;
};

/// What a feature of tf.Example holds; the numbers are those of its fields.
enum class FeatureKind : uint32_t { kNone = 0, kBytes = 1, kFloats = 2, kIntegers = 3 };

const char* word_of(FeatureKind kind) {
  constexpr const char* kWords[] = {"nothing", "bytes", "floats", "integers"};
  return kWords[static_cast<size_t>(kind)];
}

struct Feature {
  FeatureKind kind = FeatureKind::kNone;
  std::vector<int64_t> integers;
  std::vector<float> floats;
  std::vector<std::string_view> bytes;

  [[nodiscard]] int64_t items() const {
    return std::ssize(integers) + std::ssize(floats) + std::ssize(bytes);
  }
};

/// One value or, packed, many.
void read_values(const WireReader& list, const WireField& field, Feature& feature) {
  if (feature.kind == FeatureKind::kBytes) {
    if (field.type != 2) list.fail(field.offset, "bytes");
    feature.bytes.push_back(field.bytes);
  } else if (feature.kind == FeatureKind::kFloats) {
    if (field.type != 2) {
      feature.floats.push_back(list.float_of(field));
      return;
    }
    if (field.bytes.size() % sizeof(float) != 0) list.fail(field.offset, "whole floats");
    size_t before = feature.floats.size();
    feature.floats.resize(before + field.bytes.size() / sizeof(float));
    if (!field.bytes.empty()) std::memcpy(&feature.floats[before], field.bytes.data(), field.bytes.size());
  } else if (field.type != 2) {
    feature.integers.push_back(list.int_of(field));
  } else {
    WireReader packed = list.inside(field);
    while (!packed.done()) feature.integers.push_back(static_cast<int64_t>(packed.bare_varint()));
  }
}

Feature read_feature(WireReader message) {
  Feature feature;
  while (!message.done()) {
    WireField list = message.next();
    if (list.number < 1 || list.number > 3) continue;
    auto kind = static_cast<FeatureKind>(list.number);
    if (kind != feature.kind) feature = {kind, {}, {}, {}};  // of several, the last counts
    WireReader values = message.inside(list);
    while (!values.done()) {
      WireField field = values.next();
      if (field.number == 1) read_values(values, field, feature);
    }
  }
  return feature;
}

/// Calls f(name, feature's reader) for each feature of a message tf.Example.
template <class F>
void for_each_feature(const detail::Record& record, const std::string& path, F&& f) {
  WireReader example(path, record.bytes, record.place + kHeadBytes);
  while (!example.done()) {
    WireField features = example.next();
    if (features.number != 1) continue;
    WireReader map = example.inside(features);
    while (!map.done()) {
      WireField field = map.next();
      if (field.number != 1) continue;
      WireReader entry = map.inside(field);
      std::string_view name;
      WireReader value(path, {}, field.offset);
      while (!entry.done()) {
        WireField part = entry.next();
        if (part.number == 1 && part.type != 2) entry.fail(part.offset, "a name");
        if (part.number == 1) name = part.bytes;
        if (part.number == 2) value = entry.inside(part);
      }
      f(name, value);
    }
  }
}

/// A column that is read.
struct Wanted {
  SchemaColumn column;
  FeatureKind kind = FeatureKind::kNone;  ///< what it must be, where no schema says the type
  bool fills_up = false;                  ///< bytes are filled up with spaces
};

/// A cell's making, with what its errors name.
class CellMaker {
 public:
  CellMaker(const Wanted& wanted, const Feature& feature, std::string where)
      : wanted_(wanted), feature_(feature), where_(std::move(where)) {}

  [[nodiscard]] Cell make() const {
    const SchemaColumn& column = wanted_.column;
    if (feature_.kind == FeatureKind::kNone) return empty();
    if (wanted_.kind != FeatureKind::kNone && wanted_.kind != feature_.kind) refuse(word_of(wanted_.kind));
    if (column.kind == ItemKind::kStrings) return strings();
    if (feature_.kind == FeatureKind::kBytes) return bytes();
    if (feature_.kind == FeatureKind::kFloats) return floats();
    return integers();
  }

 private:
  [[noreturn]] void refuse(std::string_view need) const {
    raise<IOError>("{}: got {}, need {}", where_, word_of(feature_.kind), need);
  }
  [[nodiscard]] Shape shape_for(int64_t count) const {
    const auto& wanted = wanted_.column.shape;
    if (!wanted) return Shape{count};
    std::vector<int64_t> shape = *wanted;
    int64_t known = 1;
    int64_t free = 0;
    for (int64_t extent : shape) extent == -1 ? void(++free) : void(known *= extent);
    bool fits = free == 0 ? known == count : free == 1 && known > 0 && count % known == 0;
    SORUS_CHECK(fits, IOError, "{}: got {} values, need as many as the shape ({}) has", where_, count,
                fmt::join(*wanted, ", "));
    for (int64_t& extent : shape)
      if (extent == -1) extent = count / known;
    return Shape(std::span<const int64_t>(shape));
  }
  [[nodiscard]] RowType type_for(int64_t count) const {
    return {wanted_.column.kind, wanted_.column.dtype, shape_for(count)};
  }
  [[nodiscard]] Cell empty() const { return {type_for(0), {}, {}}; }
  [[nodiscard]] Cell strings() const {
    if (feature_.kind != FeatureKind::kBytes) refuse("bytes for strings");
    Cell cell{type_for(feature_.items()), {}, {}};
    for (std::string_view text : feature_.bytes) cell.texts.emplace_back(text);
    return cell;
  }
  [[nodiscard]] Cell bytes() const {
    if (wanted_.column.dtype != DType::kUInt8) refuse(fmt::format("numbers for {}", wanted_.column.dtype));
    size_t longest = 0;
    for (std::string_view part : feature_.bytes) longest = std::max(longest, part.size());
    Cell cell;
    for (std::string_view part : feature_.bytes) {
      cell.numbers += part;
      if (wanted_.fills_up) cell.numbers.append(longest - part.size(), ' ');
    }
    cell.type = type_for(std::ssize(cell.numbers));
    return cell;
  }
  template <class T, class From>
  [[nodiscard]] Cell converted(const std::vector<From>& values) const {
    Cell cell{type_for(std::ssize(values)), {}, {}};
    cell.numbers.resize(values.size() * sizeof(T));
    for (size_t i = 0; i < values.size(); ++i) {
      T value = static_cast<T>(static_cast<ComputeType<T>>(values[i]));
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) < sizeof(From))
        SORUS_CHECK(static_cast<From>(value) == values[i], IOError, "{}: got {}, need a number that {} holds",
                    where_, values[i], wanted_.column.dtype);
      std::memcpy(&cell.numbers[i * sizeof(T)], &value, sizeof(T));
    }
    return cell;
  }
  [[nodiscard]] Cell floats() const {
    switch (wanted_.column.dtype) {
      case DType::kFloat16:
        return converted<Float16>(feature_.floats);
      case DType::kBFloat16:
        return converted<BFloat16>(feature_.floats);
      case DType::kFloat32:
        return converted<float>(feature_.floats);
      case DType::kFloat64:
        return converted<double>(feature_.floats);
      default:
        refuse(fmt::format("integers for {}", wanted_.column.dtype));
    }
  }
  [[nodiscard]] Cell integers() const {
    switch (wanted_.column.dtype) {
      case DType::kBool:
        return converted<bool>(feature_.integers);
      case DType::kInt8:
        return converted<int8_t>(feature_.integers);
      case DType::kInt16:
        return converted<int16_t>(feature_.integers);
      case DType::kInt32:
        return converted<int32_t>(feature_.integers);
      case DType::kInt64:
        return converted<int64_t>(feature_.integers);
      case DType::kUInt8:
        return converted<uint8_t>(feature_.integers);
      case DType::kUInt16:
        return converted<uint16_t>(feature_.integers);
      case DType::kUInt32:
        return converted<uint32_t>(feature_.integers);
      case DType::kUInt64:
        return converted<uint64_t>(feature_.integers);
      default:
        refuse(fmt::format("floats for {}", wanted_.column.dtype));
    }
  }

  const Wanted& wanted_;
  const Feature& feature_;
  std::string where_;
};

std::unique_ptr<detail::RecordStream> open_records(const std::string& path, RecordCompression compression) {
  if (compression == RecordCompression::kNone) return std::make_unique<PlainRecords>(path);
  return std::make_unique<PackedRecords>(path, compression);
}

/// The columns of a file's first row, in order of their names.
std::vector<Wanted> columns_of(const std::string& path, RecordCompression compression) {
  detail::Record first;
  SORUS_CHECK(open_records(path, compression)->next(first), IOError,
              "{}: file '{}' has no rows: need one that tells the columns", kSource, path);
  std::map<std::string, Wanted, std::less<>> found;
  for_each_feature(first, path, [&](std::string_view name, WireReader value) {
    FeatureKind kind = read_feature(value).kind;
    DType dtype = kind == FeatureKind::kIntegers ? DType::kInt64
                  : kind == FeatureKind::kFloats ? DType::kFloat32
                                                 : DType::kUInt8;
    if (kind == FeatureKind::kNone) return;
    found[std::string(name)] = {{std::string(name), ItemKind::kNumbers, dtype, {}}, kind, false};
  });
  std::vector<Wanted> columns;
  for (auto& [name, column] : found) columns.push_back(std::move(column));
  SORUS_CHECK(!columns.empty(), IOError,
              "{}: file '{}' has no columns: got a first row without features, need some", kSource, path);
  return columns;
}

std::vector<Wanted> choose_columns(const std::vector<std::string>& files, const TfRecordOptions& what) {
  std::vector<Wanted> all;
  if (what.schema)
    for (const SchemaColumn& column : what.schema->columns)
      all.push_back({column, FeatureKind::kNone, false});
  else
    all = columns_of(files.front(), what.compression);
  if (what.columns.empty()) {
    for (Wanted& column : all) column.fills_up = !what.schema;
    return all;
  }
  std::vector<std::string> names;
  for (const Wanted& column : all) names.push_back(column.column.name);
  std::vector<Wanted> chosen;
  for (const std::string& name : what.columns) chosen.push_back(all[find_column(kSource, names, name)]);
  return chosen;
}

class TfRecordFormat final : public detail::RowFormat {
 public:
  TfRecordFormat(std::vector<Wanted> columns, RecordCompression compression)
      : columns_(std::move(columns)), compression_(compression) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string& name = columns_[c].column.name;
      SORUS_CHECK(places_.emplace(name, c).second, ValueError,
                  "{}: two columns have one name: got '{}' twice, need names that differ", kSource, name);
    }
    SORUS_CHECK(!columns_.empty(), ValueError, "{}: schema has no columns: need one or more", kSource);
  }
  const char* source() const override { return kSource; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const Wanted& wanted : columns_) names.push_back(wanted.column.name);
    return names;
  }
  std::unique_ptr<detail::RecordStream> open(const std::string& path) const override {
    return open_records(path, compression_);
  }
  std::vector<Cell> parse(detail::Record record, const std::string& path) const override {
    std::vector<Cell> row(columns_.size());
    std::vector<bool> found(columns_.size());
    for_each_feature(record, path, [&](std::string_view name, WireReader value) {
      auto place = places_.find(name);
      if (place == places_.end()) return;
      const Wanted& wanted = columns_[place->second];
      row[place->second] = CellMaker(wanted, read_feature(value), where(wanted, record, path)).make();
      found[place->second] = true;
    });
    for (size_t c = 0; c < found.size(); ++c)
      SORUS_CHECK(found[c], IOError, "{}: got no feature of this name, need one in each row",
                  where(columns_[c], record, path));
    return row;
  }

 private:
  static std::string where(const Wanted& wanted, const detail::Record& record, const std::string& path) {
    return fmt::format("{}: file '{}' has a wrong value in column '{}' of the record at byte {}", kSource,
                       path, wanted.column.name, record.place);
  }
  std::vector<Wanted> columns_;
  std::map<std::string, size_t, std::less<>> places_;
  RecordCompression compression_;
};

}  // namespace

Dataset tfrecord_files(std::vector<std::string> files, const TfRecordOptions& what,
                       const FileOptions& options) {
  SORUS_CHECK(!files.empty(), ValueError, "{}: files are missing: got none, need one or more", kSource);
  if (options.sorts_files) std::sort(files.begin(), files.end());
  detail::RowFilesOptions rows{options};
  rows.whole_files = !what.shard_equal_rows && options.num_shards.value_or(1) > 1;
  if (what.schema && rows.num_samples == 0) rows.num_samples = what.schema->num_rows;
  auto format = std::make_shared<TfRecordFormat>(choose_columns(files, what), what.compression);
  return detail::from_row_files(std::move(format), std::move(files), rows);
}

}  // namespace sorus::data
