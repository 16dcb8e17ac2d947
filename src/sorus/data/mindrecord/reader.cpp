#include "sorus/data/mindrecord/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "sorus/base/error.h"
#include "sorus/data/mindrecord/detail/data_file.h"
#include "sorus/data/mindrecord/detail/index.h"
#include "sorus/data/mindrecord/detail/shard.h"

namespace sorus::data::mindrecord {

namespace fs = std::filesystem;

std::string data_file_name(const std::string& path) { return fs::path(path).filename().string(); }

std::string beside(const std::string& path, const std::string& name) {
  return (fs::path(path).parent_path() / name).string();
}

Header read_header(const DataFile& file) {
  constexpr std::string_view kEncrypted = "ENCRYPT";
  const auto tail = std::ssize(kEncrypted);
  SORUS_CHECK(
      file.size() < tail || file.read(file.size() - tail, tail) != kEncrypted, NotSupportedError,
      "mindrecord: '{}' is encrypted: need a file that was written without a key; MindSpore writes one "
      "after set_enc_key(None)",
      file.path());
  SORUS_CHECK(file.size() >= kLengthBytes, IOError,
              "mindrecord: '{}' is cut or of another kind: got {} bytes, need a header (at byte 0)",
              file.path(), file.size());
  const uint64_t length = get_little(file.read(0, kLengthBytes));
  const int64_t most = std::min(file.size(), kLargestHeader) - kLengthBytes;
  SORUS_CHECK(
      length > 0 && length <= static_cast<uint64_t>(most), IOError,
      "mindrecord: '{}' is cut or of another kind: got a header of {} bytes, need 1 to {} (at byte 0)",
      file.path(), length, most);
  return parse_header(file.read(kLengthBytes, static_cast<int64_t>(length)), file.path());
}

namespace {

struct Shard {
  DataFile file;
  Header header;
  std::vector<RowPlace> rows;
  int64_t first_row = 0;  ///< of the set
};

/// A record without its length, which must be what the index says.
std::string_view record_body(const Shard& shard, std::string& buffer, int64_t begin, int64_t size) {
  buffer.resize(static_cast<size_t>(size));
  shard.file.read(begin, buffer.data(), size);
  const uint64_t length = get_little(std::string_view(buffer).substr(0, kLengthBytes));
  SORUS_CHECK(length == static_cast<uint64_t>(size - kLengthBytes), IOError,
              "mindrecord: '{}' and its index differ: got a record of {} bytes, need {} (at byte {})",
              shard.file.path(), length, size - kLengthBytes, begin);
  return std::string_view(buffer).substr(kLengthBytes);
}

void set_scalar(const Field& field, const Scalar& value, const Place& place, Item& item) {
  const auto* integer = std::get_if<int64_t>(&value);
  const auto* number = std::get_if<double>(&value);
  const auto* text = std::get_if<std::string_view>(&value);
  switch (field.type) {
    case FieldType::kString:
      if (!text) place.fail(0, fmt::format("field '{}' holds another kind, need a string", field.name));
      item.bytes = *text;
      return;
    case FieldType::kFloat32:
    case FieldType::kFloat64:
      if (!number && !integer)
        place.fail(0, fmt::format("field '{}' holds another kind, need a number", field.name));
      item.number = number ? *number : static_cast<double>(*integer);
      return;
    default:
      if (!integer) place.fail(0, fmt::format("field '{}' holds another kind, need an int", field.name));
      if (field.type == FieldType::kInt32 && *integer != static_cast<int32_t>(*integer))
        place.fail(0, fmt::format("field '{}' is out of range: got {}, need an int32", field.name, *integer));
      item.integer = *integer;
  }
}

Shape shape_of(const Field& field, int64_t bytes, const Place& place) {
  auto shape = field.shape_for(bytes);
  if (!shape)
    place.fail(0, fmt::format("array '{}' has {} bytes, need those of {}", field.name, bytes, field.text()));
  return *shape;
}

/// The bytes of each blob field in a blob record, by place in the schema.
std::vector<std::string_view> split_blob(const Schema& schema, std::string_view record, const Place& place) {
  std::vector<std::string_view> parts(schema.fields.size());
  const auto is_blob = [](const Field& f) { return f.is_blob(); };
  if (std::count_if(schema.fields.begin(), schema.fields.end(), is_blob) == 1) {
    parts[static_cast<size_t>(std::find_if(schema.fields.begin(), schema.fields.end(), is_blob) -
                              schema.fields.begin())] = record;
    return parts;
  }
  size_t at = 0;
  for (size_t f = 0; f < parts.size(); ++f) {
    if (!schema.fields[f].is_blob()) continue;
    const auto need = static_cast<size_t>(kLengthBytes);
    const bool has_length = record.size() - at >= need;
    const uint64_t length = has_length ? get_big(record.substr(at, need)) : 0;
    if (!has_length || length > record.size() - at - need)
      place.fail(static_cast<int64_t>(at),
                 fmt::format("field '{}' goes beyond its record", schema.fields[f].name));
    parts[f] = record.substr(at + need, length);
    at += need + length;
  }
  if (at != record.size()) place.fail(static_cast<int64_t>(at), "got bytes after its end");
  return parts;
}

/// The fields of a row that lie in its raw record.
void read_raw(const Shard& shard, const RowPlace& at, std::span<const int64_t> fields, Record& record) {
  const auto& all = shard.header.schema.fields;
  const int64_t begin = shard.header.page_begin(at.raw_page) + at.raw_begin;
  const Place place{shard.file.path(), begin + kLengthBytes};
  const auto body = record_body(shard, record.raw, begin, int64_t{at.raw_end} - at.raw_begin);
  std::vector<bool> found(fields.size());
  read_scalars(body, place, [&](std::string_view name, const Scalar& value) {
    for (size_t i = 0; i < fields.size(); ++i) {
      const Field& field = all[static_cast<size_t>(fields[i])];
      if (field.is_blob() || field.name != name) continue;
      set_scalar(field, value, place, record.items[i]);
      found[i] = true;
    }
  });
  for (size_t i = 0; i < fields.size(); ++i) {
    const Field& field = all[static_cast<size_t>(fields[i])];
    if (!found[i] && !field.is_blob()) place.fail(0, fmt::format("field '{}' is missing", field.name));
  }
}

/// The fields of a row that lie in its blob record.
void read_blob(const Shard& shard, const RowPlace& at, std::span<const int64_t> fields, Record& record) {
  const Schema& schema = shard.header.schema;
  const int64_t begin = shard.header.page_begin(at.blob_page) + at.blob_begin;
  const Place place{shard.file.path(), begin + kLengthBytes};
  const auto body = record_body(shard, record.blob, begin, int64_t{at.blob_end} - at.blob_begin);
  const auto parts = split_blob(schema, body, place);
  const bool packed = shard.header.packed();
  for (size_t i = 0; i < fields.size(); ++i) {
    const Field& field = schema.fields[static_cast<size_t>(fields[i])];
    if (!field.is_blob()) continue;
    Item& item = record.items[i];
    item.bytes = parts[static_cast<size_t>(fields[i])];
    if (!field.is_array) continue;
    if (packed && (field.type == FieldType::kInt32 || field.type == FieldType::kInt64)) {
      const Place inside{place.file, place.offset + (item.bytes.data() - body.data())};
      record.unpacked[i] = unpack_integers(item.bytes, field.type, inside);
      item.bytes = record.unpacked[i];
    }
    item.shape = shape_of(field, std::ssize(item.bytes), place);
  }
}

}  // namespace

struct Reader::State {
  std::vector<Shard> shards;
  int64_t rows = 0;

  explicit State(const std::vector<std::string>& files) {
    SORUS_CHECK(!files.empty(), ValueError, "mindrecord: no files: need one or more");
    for (const std::string& path : files) {
      DataFile file(path, DataFile::Mode::kRead);
      Header header = read_header(file);
      if (!shards.empty()) check_same_set(shards[0].header, files[0], header, path);
      auto places = read_places(index_name(path), data_file_name(path), header, file.size());
      const auto count = std::ssize(places);
      shards.push_back({std::move(file), std::move(header), std::move(places), rows});
      rows += count;
    }
  }
  [[nodiscard]] const Shard& shard_of(int64_t row) const {
    auto after = std::upper_bound(shards.begin(), shards.end(), row,
                                  [](int64_t r, const Shard& shard) { return r < shard.first_row; });
    return *std::prev(after);
  }
};

Reader Reader::open(const std::string& file) {
  const Header header = read_header(DataFile(file, DataFile::Mode::kRead));
  std::vector<std::string> files;
  for (const std::string& name : header.shard_addresses) files.push_back(beside(file, name));
  SORUS_CHECK(!files.empty(), IOError,
              "mindrecord: '{}': header names no files: need shard_addresses of one or more (at byte {})",
              file, kLengthBytes);
  for (const std::string& path : files) {
    std::error_code ignored;
    SORUS_CHECK(
        fs::is_regular_file(path, ignored), IOError,
        "mindrecord: '{}' is one of {} files and '{}' is missing: need all in one folder under the names "
        "they were written with; a list of files reads just those",
        file, files.size(), path);
  }
  return Reader(std::make_shared<const State>(files));
}

Reader Reader::open_files(const std::vector<std::string>& files) {
  return Reader(std::make_shared<const State>(files));
}

const Schema& Reader::schema() const { return state_->shards[0].header.schema; }
const std::vector<std::string>& Reader::index_fields() const { return state_->shards[0].header.index_fields; }
int64_t Reader::rows() const { return state_->rows; }

std::vector<int64_t> Reader::rows_by_file() const {
  std::vector<int64_t> counts;
  for (const Shard& shard : state_->shards) counts.push_back(std::ssize(shard.rows));
  return counts;
}

std::vector<std::string> Reader::files() const {
  std::vector<std::string> names;
  for (const Shard& shard : state_->shards) names.push_back(shard.file.path());
  return names;
}

std::vector<int64_t> Reader::places_of(std::span<const std::string> names) const {
  std::vector<int64_t> places;
  for (const std::string& name : names) {
    places.push_back(schema().find(name));
    if (places.back() >= 0) continue;
    std::string known;
    for (const Field& field : schema().fields) known += (known.empty() ? "" : ", ") + field.name;
    raise<KeyError>("mindrecord: column is not there: got '{}', need one of {}", name, known);
  }
  if (names.empty())
    for (int64_t f = 0; f < std::ssize(schema().fields); ++f) places.push_back(f);
  return places;
}

void Reader::read(int64_t row, std::span<const int64_t> fields, Record& record) const {
  SORUS_CHECK(row >= 0 && row < rows(), IndexError, "mindrecord: row is out of range: got {}, need 0 to {}",
              row, rows() - 1);
  const Shard& shard = state_->shard_of(row);
  const RowPlace& at = shard.rows[static_cast<size_t>(row - shard.first_row)];
  const auto is_blob = [&](int64_t f) {
    return shard.header.schema.fields[static_cast<size_t>(f)].is_blob();
  };
  record.items.assign(fields.size(), Item{});
  record.unpacked.resize(fields.size());
  if (!std::all_of(fields.begin(), fields.end(), is_blob)) read_raw(shard, at, fields, record);
  if (std::any_of(fields.begin(), fields.end(), is_blob)) read_blob(shard, at, fields, record);
}

std::vector<std::string> Reader::index_texts(const std::string& index_field) const {
  const auto& known = index_fields();
  SORUS_CHECK(std::find(known.begin(), known.end(), index_field) != known.end(), KeyError,
              "mindrecord: field is no index field: got '{}', need one of {}", index_field,
              fmt::join(known, ", "));
  std::vector<std::string> all;
  for (const Shard& shard : state_->shards) {
    auto texts = read_index_texts(index_name(shard.file.path()), index_field, std::ssize(shard.rows));
    std::move(texts.begin(), texts.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<Category> Reader::categories(const std::string& index_field) const {
  std::map<std::string, int64_t> counts;
  for (std::string& text : index_texts(index_field)) ++counts[std::move(text)];
  std::vector<Category> out;
  for (const auto& [name, count] : counts) out.push_back({name, count});
  return out;
}

std::vector<int64_t> Reader::rows_of_category(const std::string& index_field, const std::string& name) const {
  const auto texts = index_texts(index_field);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < std::ssize(texts); ++row)
    if (texts[static_cast<size_t>(row)] == name) rows.push_back(row);
  return rows;
}

}  // namespace sorus::data::mindrecord
