#include "sorus/data/mindrecord/detail/header.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sorus/base/error.h"

namespace sorus::data::mindrecord {
namespace {

using Json = nlohmann::json;

/// Reads members of JSON objects and says which one is wrong.
class Members {
 public:
  Members(const Json& object, const std::string& file, std::string where)
      : object_(object), file_(file), where_(std::move(where)) {
    if (!object.is_object()) fail("", "an object");
  }
  [[nodiscard]] const Json& at(const char* key) const {
    if (!object_.contains(key)) fail(key, "it to be there");
    return object_[key];
  }
  [[nodiscard]] int64_t integer(const char* key, int64_t low, int64_t high) const {
    const Json& value = at(key);
    const bool fits =
        value.is_number_integer() &&
        !(value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
    if (!fits || value.get<int64_t>() < low || value.get<int64_t>() > high)
      fail(key, fmt::format("an int from {} to {}", low, high).c_str());
    return value.get<int64_t>();
  }
  [[nodiscard]] std::string text(const char* key) const {
    if (!at(key).is_string()) fail(key, "a string");
    return at(key).get<std::string>();
  }
  /// An array; none for null.
  [[nodiscard]] const Json& list(const char* key) const {
    static const Json kNone = Json::array();
    const Json& value = at(key);
    if (value.is_null()) return kNone;
    if (!value.is_array()) fail(key, "a list");
    return value;
  }
  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  [[noreturn]] void fail(const char* key, const char* need) const {
    std::string got = *key && object_.is_object() && object_.contains(key)
                          ? object_[key].dump(-1, ' ', false, Json::error_handler_t::replace)
                          : "nothing";
    if (got.size() > kShown) got = got.substr(0, kShown) + "...";
    raise<IOError>("mindrecord: '{}': header is wrong at '{}{}': got {}, need {} (at byte {})", file_, where_,
                   key, got, need, kLengthBytes);
  }

 private:
  static constexpr size_t kShown = 60;
  const Json& object_;
  const std::string& file_;
  std::string where_;
};

Page page_of(const Json& json, int64_t place, const Header& header, const std::string& file) {
  Members m(json, file, fmt::format("page[{}].", place));
  Page page;
  page.id = m.integer("page_id", place, place);
  page.shard_id = m.integer("shard_id", 0, INT32_MAX);
  const std::string type = m.text("page_type");
  if (type != "RAW_DATA" && type != "BLOB_DATA") m.fail("page_type", "RAW_DATA or BLOB_DATA");
  page.is_blob = type == "BLOB_DATA";
  page.type_id = m.integer("page_type_id", 0, INT32_MAX);
  page.start_row = m.integer("start_row_id", 0, INT64_MAX);
  page.end_row = m.integer("end_row_id", page.start_row, INT64_MAX);
  page.used = m.integer("page_size", 0, header.page_size);
  for (const Json& entry : m.list("row_group_ids")) {
    Members group(entry, file, fmt::format("page[{}].row_group_ids.", place));
    page.groups.emplace_back(group.integer("id", 0, INT32_MAX), group.integer("offset", 0, page.used));
  }
  return page;
}

Schema schema_of(const Members& m, const std::string& file) {
  const Json& list = m.list("schema");
  if (list.size() != 1) m.fail("schema", "a list of one schema");
  Members one(list[0], file, "schema.");
  try {
    return Schema::parse(one.at("schema").dump(), one.has("desc") ? one.text("desc") : "");
  } catch (const ValueError& error) {
    raise<IOError>("mindrecord: '{}': header has a wrong schema: {} (at byte {})", file, error.what(),
                   kLengthBytes);
  }
}

Json page_json(const Page& page) {
  Json json{{"page_id", page.id},
            {"shard_id", page.shard_id},
            {"page_type_id", page.type_id},
            {"page_type", page.is_blob ? "BLOB_DATA" : "RAW_DATA"},
            {"start_row_id", page.start_row},
            {"end_row_id", page.end_row},
            {"page_size", page.used},
            {"row_group_ids", Json::array()}};
  for (const auto& [id, offset] : page.groups)
    json["row_group_ids"].push_back({{"id", id}, {"offset", offset}});
  return json;
}

/// null for an empty list, as MindSpore has it.
std::string list_text(const Json& list) { return list.empty() ? "null" : list.dump(); }

}  // namespace

bool Header::packed() const {
  return packs_integers && std::any_of(schema.fields.begin(), schema.fields.end(), [](const Field& f) {
           return f.is_array && (f.type == FieldType::kInt32 || f.type == FieldType::kInt64);
         });
}

int64_t json_nesting(std::string_view json) {
  int64_t depth = 0;
  int64_t deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

Header parse_header(std::string_view text, const std::string& file) {
  const bool flat = json_nesting(text) <= kDeepestJson;
  const Json json = flat ? Json::parse(text, nullptr, false) : Json(Json::value_t::discarded);
  SORUS_CHECK(!json.is_discarded(), IOError,
              "mindrecord: '{}': header is no JSON: the file is damaged or of another kind (at byte {})",
              file, kLengthBytes);
  Members m(json, file, "");
  Header header;
  header.header_size = m.integer("header_size", kSmallestHeader, kLargestHeader);
  header.page_size = m.integer("page_size", kSmallestPage, kLargestPage);
  const std::string version = m.text("version");
  if (version != "2.0" && version != "3.0") m.fail("version", "2.0 or 3.0");
  header.packs_integers = version == "3.0";
  header.schema = schema_of(m, file);
  for (const Json& entry : m.list("index_fields")) {
    const Members member(entry, file, "index_fields.");
    const std::string field = member.text("index_field");
    const int64_t place = header.schema.find(field);
    if (place < 0 || header.schema.fields[static_cast<size_t>(place)].is_blob())
      member.fail("index_field", "a field of numbers or strings");
    header.index_fields.push_back(field);
  }
  for (const Json& entry : m.list("page"))
    header.pages.push_back(page_of(entry, std::ssize(header.pages), header, file));
  if (m.has("compression_size")) header.compression_size = m.integer("compression_size", 0, INT64_MAX);
  for (const Json& entry : m.list("shard_addresses")) {
    const bool is_name = entry.is_string() && entry.get<std::string>().find('/') == std::string::npos &&
                         !entry.get<std::string>().empty();
    if (!is_name) m.fail("shard_addresses", "names of files in the same folder");
    header.shard_addresses.push_back(entry.get<std::string>());
  }
  header.shard_id = m.integer("shard_id", 0, INT32_MAX);
  if (m.has("statistics")) header.statistics = m.at("statistics").dump();
  return header;
}

std::string header_text(const Header& header) {
  Json index = Json::array();
  for (const std::string& field : header.index_fields)
    index.push_back({{"index_field", field}, {"schema_id", 0}});
  Json pages = Json::array();
  for (const Page& page : header.pages) pages.push_back(page_json(page));
  Json blobs = Json::array();
  for (const Field& field : header.schema.fields)
    if (field.is_blob()) blobs.push_back(field.name);
  try {
    return fmt::format(
        R"({{"header_size":{},"index_fields":{},"page":{},"page_size":{},"compression_size":{},)"
        R"("schema":[{{"blob_fields":{},"desc":{},"schema":{}}}],"shard_addresses":{},"shard_id":{},)"
        R"("statistics":{},"version":"{}"}})",
        header.header_size, list_text(index), list_text(pages), header.page_size, header.compression_size,
        blobs.dump(), Json(header.schema.description).dump(), header.schema.text(),
        Json(header.shard_addresses).dump(), header.shard_id, header.statistics,
        header.packs_integers ? "3.0" : "2.0");
  } catch (const Json::exception&) {
    raise<ValueError>("mindrecord: a text of the header cannot be written: need UTF-8");
  }
}

void check_same_set(const Header& a, const std::string& file_a, const Header& b, const std::string& file_b) {
  const char* differs = nullptr;
  if (a.header_size != b.header_size) differs = "header_size";
  if (a.page_size != b.page_size) differs = "page_size";
  if (a.packs_integers != b.packs_integers) differs = "version";
  if (a.index_fields != b.index_fields) differs = "index_fields";
  if (a.schema.text() != b.schema.text()) differs = "schema";
  SORUS_CHECK(!differs, IOError,
              "mindrecord: '{}' and '{}' do not belong together: {} differs, need files that were written as "
              "one set or alike",
              file_a, file_b, differs);
}

}  // namespace sorus::data::mindrecord
