#include "sorus/data/sources/record_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sorus/base/error.h"

namespace sorus::data {
namespace {

using Json = nlohmann::json;

std::vector<int64_t> shape_of(const std::string& name, const Json& value) {
  SORUS_CHECK(value.is_array(), ValueError,
              "Schema: shape of column '{}' is wrong: got {}, need a list of extents", name,
              value.type_name());
  std::vector<int64_t> shape;
  for (const Json& extent : value) {
    SORUS_CHECK(extent.is_number_integer(), ValueError,
                "Schema: shape of column '{}' is wrong: got {} in it, need integers", name,
                extent.type_name());
    shape.push_back(extent.get<int64_t>());
  }
  return shape;
}

}  // namespace

void RecordSchema::add_column(const std::string& name, const std::string& type,
                              std::optional<std::vector<int64_t>> shape) {
  SORUS_CHECK(!name.empty(), ValueError, "Schema: a column has no name: got an empty one, need one");
  SchemaColumn column{.name = name};
  if (type == "string") {
    column.kind = ItemKind::kStrings;
  } else {
    try {
      column.dtype = dtype_from_name(type);
    } catch (const ValueError&) {
      raise<TypeError>("Schema: type of column '{}' is unknown: got '{}', need a dtype or 'string'", name,
                       type);
    }
  }
  int64_t known = 1;
  for (int64_t extent : shape.value_or(std::vector<int64_t>{})) {
    SORUS_CHECK(extent >= -1, ValueError, "Schema: shape of column '{}' is wrong: got {}, need -1 or more",
                name, extent);
    SORUS_CHECK(extent <= 0 || !__builtin_mul_overflow(known, extent, &known), ValueError,
                "Schema: shape of column '{}' is wrong: got more elements than 64 bits count", name);
  }
  SORUS_CHECK(!shape || shape->size() <= static_cast<size_t>(kMaxRank), ValueError,
              "Schema: shape of column '{}' is wrong: got {} extents, need at most {}", name,
              shape ? shape->size() : 0, kMaxRank);
  column.shape = std::move(shape);
  columns.push_back(std::move(column));
}

void RecordSchema::add_columns(std::string_view json) {
  const Json given = Json::parse(json, nullptr, false);
  SORUS_CHECK(given.is_object() || given.is_array(), ValueError,
              "Schema: columns have the wrong form: got {}, need a list or an object of columns",
              given.is_discarded() ? "no JSON" : given.type_name());
  for (const auto& [key, value] : given.items()) {
    SORUS_CHECK(value.is_object(), ValueError, "Schema: a column has the wrong form: got {}, need an object",
                value.type_name());
    auto name = value.find("name");
    SORUS_CHECK(given.is_object() || (name != value.end() && name->is_string()), ValueError,
                "Schema: name of a column is missing: need 'name' in each of a list");
    auto type = value.find("type");
    SORUS_CHECK(type != value.end() && type->is_string(), ValueError,
                "Schema: type of a column is missing: need 'type' in each");
    std::string called = given.is_object() ? key : name->get<std::string>();
    auto shape = value.find("shape");
    // In a file, no shape is that of one number.
    add_column(called, type->get<std::string>(),
               shape == value.end() ? std::vector<int64_t>() : shape_of(called, *shape));
  }
}

void RecordSchema::read(std::string_view json) {
  const Json given = Json::parse(json, nullptr, false);
  SORUS_CHECK(given.is_object(), ValueError, "Schema: this is no schema: got {}, need a JSON object",
              given.is_discarded() ? "no JSON" : given.type_name());
  RecordSchema made;
  bool has_columns = false;
  for (const auto& [key, value] : given.items()) {
    if (key == "datasetType") {
      SORUS_CHECK(value.is_string(), ValueError, "Schema: datasetType is wrong: got {}, need a string",
                  value.type_name());
      made.kind = value.get<std::string>();
    } else if (key == "numRows") {
      SORUS_CHECK(value.is_number_integer() && value.get<int64_t>() >= 0, ValueError,
                  "Schema: numRows is out of range: got {}, need an integer of 0 or more", value.dump());
      made.num_rows = value.get<int64_t>();
    } else {
      SORUS_CHECK(key == "columns", ValueError,
                  "Schema: a key is unknown: got '{}', need 'columns', 'datasetType' and 'numRows'", key);
      has_columns = true;
      made.add_columns(value.dump());
    }
  }
  SORUS_CHECK(has_columns, ValueError, "Schema: columns are missing: need 'columns'");
  *this = std::move(made);
}

std::string RecordSchema::to_json() const {
  Json list;
  for (const SchemaColumn& column : columns) {
    Json one{{"name", column.name}, {"rank", column.shape ? column.shape->size() : 1}};
    one["type"] = column.kind == ItemKind::kStrings ? "string" : std::string(dtype_name(column.dtype));
    if (column.shape) one["shape"] = *column.shape;
    list.push_back(std::move(one));
  }
  Json out{{"columns", std::move(list)}};
  if (!kind.empty()) out["datasetType"] = kind;
  if (num_rows > 0) out["numRows"] = num_rows;
  return out.dump(2);
}

}  // namespace sorus::data
