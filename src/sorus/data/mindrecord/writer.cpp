#include "sorus/data/mindrecord/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "sorus/base/error.h"
#include "sorus/data/mindrecord/detail/index.h"
#include "sorus/data/mindrecord/detail/packing.h"
#include "sorus/data/mindrecord/detail/shard.h"
#include "sorus/data/mindrecord/detail/shard_writer.h"

namespace sorus::data::mindrecord {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostFiles = 1000;

std::vector<std::string> names_of(const std::string& file, int64_t count) {
  SORUS_CHECK(count >= 1 && count <= kMostFiles, ValueError,
              "mindrecord: number of files is out of range: got {}, need 1 to {}", count, kMostFiles);
  SORUS_CHECK(!data_file_name(file).empty(), ValueError, "mindrecord: name of a file is missing: got '{}'",
              file);
  if (count == 1) return {file};
  const size_t width = std::to_string(count - 1).size();
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    names.push_back(file + std::string(width - number.size(), '0') + number);
  }
  return names;
}

std::vector<std::string> index_of(const Schema& schema, const WriterOptions& options) {
  std::vector<std::string> fields;
  if (options.index) {
    for (const std::string& name : *options.index) {
      const int64_t place = schema.find(name);
      SORUS_CHECK(place >= 0, ValueError,
                  "mindrecord: index field is not there: got '{}', need a field of the schema", name);
      const Field& field = schema.fields[static_cast<size_t>(place)];
      SORUS_CHECK(!field.is_blob(), ValueError,
                  "mindrecord: field '{}' cannot be an index field: got {}, need a number or string", name,
                  field.is_array ? "an array" : "bytes");
      SORUS_CHECK(
          name[0] < '0' || name[0] > '9', ValueError,
          "mindrecord: name of an index field is wrong: got '{}', need one that does not begin with a digit",
          name);
      SORUS_CHECK(std::count(fields.begin(), fields.end(), name) == 0, ValueError,
                  "mindrecord: an index field is named twice: got '{}'", name);
      fields.push_back(name);
    }
    return fields;
  }
  for (const Field& field : schema.fields)
    if (!field.is_blob() && (field.name[0] < '0' || field.name[0] > '9')) fields.push_back(field.name);
  return fields;
}

[[noreturn]] void refuse(const Field& field, const std::string& got) {
  raise<ValueError>("mindrecord: value of field '{}' does not fit: got {}, need {}", field.name, got,
                    field.text());
}

void put_scalar(std::string& out, const Field& field, const FieldValue& value) {
  if (field.type == FieldType::kString) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) refuse(field, "another kind");
    put_string(out, *text);
  } else if (field.type == FieldType::kInt32 || field.type == FieldType::kInt64) {
    const auto* number = std::get_if<int64_t>(&value);
    if (!number) refuse(field, "another kind");
    if (field.type == FieldType::kInt32 && *number != static_cast<int32_t>(*number))
      refuse(field, std::to_string(*number));
    put_integer(out, *number);
  } else {
    const auto* number = std::get_if<double>(&value);
    if (!number) refuse(field, "another kind");
    put_double(out, *number);
  }
}

/// Bytes of a field of bytes or of an array's elements, in C order.
std::string bytes_of(const Field& field, const FieldValue& value) {
  std::string bytes;
  if (const auto* given = std::get_if<std::string>(&value)) {
    bytes = *given;
  } else if (const auto* tensor = std::get_if<Tensor>(&value)) {
    if (!field.is_array) refuse(field, "a tensor");
    if (tensor->dtype() != dtype_of(field.type)) refuse(field, std::string(dtype_name(tensor->dtype())));
    bytes.resize(static_cast<size_t>(tensor->numel()) * dtype_size(tensor->dtype()));
    tensor->copy_to(bytes.data(), tensor->dtype());
  } else {
    refuse(field, "a number");
  }
  if (field.is_array && !field.shape_for(std::ssize(bytes)))
    refuse(field, fmt::format("{} bytes", bytes.size()));
  return bytes;
}

/// A record with its length before it.
std::string with_length(std::string_view body) {
  std::string out;
  out.reserve(body.size() + static_cast<size_t>(kLengthBytes));
  put_little(out, body.size(), kLengthBytes);
  out += body;
  return out;
}

/// Turns rows into records.
class Encoder {
 public:
  Encoder(const Schema& schema, bool packed, int64_t page_size)
      : schema_(schema), packed_(packed), page_size_(page_size) {
    blobs_ =
        std::count_if(schema.fields.begin(), schema.fields.end(), [](const Field& f) { return f.is_blob(); });
  }
  /// `saved` grows by the bytes that packing integers saves.
  [[nodiscard]] EncodedRow encode(const RowValues& row, int64_t& saved) const {
    SORUS_CHECK(row.size() == schema_.fields.size(), ValueError,
                "mindrecord: a row has the wrong number of values: got {}, need {}", row.size(),
                schema_.fields.size());
    std::string raw;
    std::string blob;
    put_map_header(raw, std::max<size_t>(row.size() - static_cast<size_t>(blobs_), 1));
    for (size_t f = 0; f < row.size(); ++f) {
      const Field& field = schema_.fields[f];
      if (field.is_blob()) {
        add_blob(blob, field, row[f], saved);
      } else {
        put_string(raw, field.name);
        put_scalar(raw, field, row[f]);
      }
    }
    // Neither record may be empty.
    if (std::ssize(row) == blobs_) {
      put_string(raw, "id");
      put_integer(raw, 0);
    }
    if (blobs_ == 0) blob.assign(4, '\0');
    return {checked(raw), checked(blob)};
  }

 private:
  void add_blob(std::string& blob, const Field& field, const FieldValue& value, int64_t& saved) const {
    std::string bytes = bytes_of(field, value);
    if (packed_ && field.is_array && (field.type == FieldType::kInt32 || field.type == FieldType::kInt64)) {
      std::string packed = pack_integers(bytes, field.type);
      saved += std::ssize(bytes) - std::ssize(packed);
      bytes = std::move(packed);
    }
    if (blobs_ > 1) put_big(blob, bytes.size(), kLengthBytes);
    blob += bytes;
  }
  [[nodiscard]] std::string checked(std::string_view body) const {
    SORUS_CHECK(
        std::ssize(body) + kLengthBytes <= page_size_, ValueError,
        "mindrecord: a row is larger than a page: got {} bytes, need at most {}; set_page_size makes room",
        body.size(), page_size_ - kLengthBytes);
    return with_length(body);
  }
  const Schema& schema_;
  bool packed_;
  int64_t page_size_;
  int64_t blobs_ = 0;
};

void check_size(const char* what, int64_t bytes, int64_t low, int64_t high) {
  SORUS_CHECK(bytes >= low && bytes <= high && bytes % 4 == 0, ValueError,
              "mindrecord: {} size is out of range: got {}, need a multiple of 4 from {} to {}", what, bytes,
              low, high);
}

/// Waits until the disk has the names in a file's folder.
void sync_folder(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace

void check_header_size(int64_t bytes) { check_size("header", bytes, kSmallestHeader, kLargestHeader); }
void check_page_size(int64_t bytes) { check_size("page", bytes, kSmallestPage, kLargestPage); }

struct Writer::State {
  std::vector<ShardWriter> shards;
  int64_t saved = 0;  ///< bytes that packing integers has saved
  bool is_open = true;
};

Writer::Writer(const std::string& file, Schema schema, const WriterOptions& options)
    : state_(std::make_unique<State>()) {
  check_header_size(options.header_size);
  check_page_size(options.page_size);
  const auto names = names_of(file, options.files);
  Header header;
  header.header_size = options.header_size;
  header.page_size = options.page_size;
  header.index_fields = index_of(schema, options);
  header.schema = std::move(schema);
  for (const std::string& name : names) header.shard_addresses.push_back(data_file_name(name));
  for (const std::string& name : names) {
    std::error_code ignored;
    for (const std::string& path : {name, index_name(name)}) {
      const auto status = fs::status(path, ignored);
      SORUS_CHECK(!fs::exists(status) || (options.overwrite && fs::is_regular_file(status)), IOError,
                  "mindrecord: '{}' is there already: need another name, or overwrite=true for a file", path);
    }
    state_->shards.emplace_back(name, header);
    ++header.shard_id;
  }
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;

Writer Writer::append(const std::string& file) {
  auto state = std::make_unique<State>();
  const Header first = read_header(DataFile(file, DataFile::Mode::kRead));
  SORUS_CHECK(!first.shard_addresses.empty(), IOError, "mindrecord: '{}': header names no files (at byte {})",
              file, kLengthBytes);
  for (const std::string& name : first.shard_addresses) {
    const std::string path = beside(file, name);
    Header header = read_header(DataFile(path, DataFile::Mode::kRead));
    check_same_set(first, file, header, path);
    state->saved = header.compression_size;
    state->shards.push_back(ShardWriter::append(path, std::move(header)));
  }
  return Writer(std::move(state));
}

const Schema& Writer::schema() const { return state_->shards[0].header().schema; }

void Writer::write(std::span<const RowValues> rows) {
  SORUS_CHECK(state_->is_open, ValueError,
              "mindrecord: the files are committed: need Writer::append() to write more rows");
  const Header& header = state_->shards[0].header();
  const Encoder encoder(header.schema, header.packed(), header.page_size);
  std::vector<EncodedRow> encoded;
  encoded.reserve(rows.size());
  int64_t saved = state_->saved;
  for (const RowValues& row : rows) encoded.push_back(encoder.encode(row, saved));
  state_->saved = saved;
  auto& shards = state_->shards;
  std::vector<size_t> share(shards.size(), rows.size() / shards.size());
  // The rows left over go where the fewest are.
  std::vector<size_t> order(shards.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return shards[a].rows() < shards[b].rows(); });
  for (size_t i = 0; i < rows.size() % shards.size(); ++i) ++share[order[i]];
  size_t begin = 0;
  for (size_t s = 0; s < shards.size(); ++s) {
    shards[s].add(std::span(encoded).subspan(begin, share[s]));
    begin += share[s];
  }
}

void Writer::commit() {
  SORUS_CHECK(state_->is_open, ValueError, "mindrecord: the files are committed already");
  state_->is_open = false;
  for (ShardWriter& shard : state_->shards) shard.finish(std::max<int64_t>(state_->saved, 0));
  // An old index must not be found beside new data.
  std::error_code ignored;
  for (const ShardWriter& shard : state_->shards) fs::remove(index_name(shard.path()), ignored);
  for (ShardWriter& shard : state_->shards) shard.take_data_name();
  sync_folder(state_->shards[0].path());
  for (ShardWriter& shard : state_->shards) shard.take_index_name();
  sync_folder(state_->shards[0].path());
}

std::vector<std::string> Writer::files() const {
  std::vector<std::string> names;
  for (const ShardWriter& shard : state_->shards) names.push_back(shard.path());
  return names;
}

}  // namespace sorus::data::mindrecord
