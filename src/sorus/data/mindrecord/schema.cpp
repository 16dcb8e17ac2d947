#include "sorus/data/mindrecord/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sorus/base/error.h"
#include "sorus/data/mindrecord/detail/header.h"

namespace sorus::data::mindrecord {
namespace {

constexpr const char* kNames[] = {"int32", "int64", "float32", "float64", "string", "bytes"};
constexpr const char* kKnownTypes = "int32, int64, float32, float64, string or bytes";

FieldType type_of(const std::string& name, const std::string& field) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<FieldType>(i);
  // Names of the first releases.
  if (name == "integer") return FieldType::kInt64;
  if (name == "number") return FieldType::kFloat64;
  raise<ValueError>("mindrecord: type of field '{}' is unknown: got '{}', need {}", field, name, kKnownTypes);
}

void check_name(const std::string& name) {
  const bool valid = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
  SORUS_CHECK(valid, ValueError,
              "mindrecord: name of a field is wrong: got '{}', need letters, digits and underscores", name);
}

void check_shape(const Field& field) {
  if (!field.is_array) return;
  SORUS_CHECK(field.type != FieldType::kString && field.type != FieldType::kBytes, ValueError,
              "mindrecord: field '{}' cannot have a shape: got type {}, need a type of numbers", field.name,
              field_type_name(field.type));
  SORUS_CHECK(!field.shape.empty() && field.shape.size() <= static_cast<size_t>(kMaxRank), ValueError,
              "mindrecord: shape of field '{}' is wrong: got {} extents, need 1 to {}", field.name,
              field.shape.size(), kMaxRank);
  int64_t elements = 1;
  bool free = false;
  for (int64_t extent : field.shape) {
    SORUS_CHECK(extent > 0 || (extent == -1 && !free), ValueError,
                "mindrecord: shape of field '{}' is wrong: got an extent {}, need extents above 0, of which "
                "one may be -1",
                field.name, extent);
    free = free || extent == -1;
    SORUS_CHECK(extent == -1 || !__builtin_mul_overflow(elements, extent, &elements), ValueError,
                "mindrecord: shape of field '{}' is wrong: got more elements than 64 bits count", field.name);
  }
}

Field field_of(const std::string& name, const nlohmann::json& content) {
  SORUS_CHECK(content.is_object() && content.contains("type") && content["type"].is_string(), ValueError,
              "mindrecord: field '{}' has no type: need {{\"type\": one of {}}}", name, kKnownTypes);
  Field field{name, type_of(content["type"].get<std::string>(), name), content.contains("shape"), {}};
  for (const auto& [key, value] : content.items())
    SORUS_CHECK(key == "type" || key == "shape", ValueError,
                "mindrecord: field '{}' says too much: got '{}', need 'type' and for arrays 'shape'", name,
                key);
  if (!field.is_array) return field;
  SORUS_CHECK(content["shape"].is_array(), ValueError,
              "mindrecord: shape of field '{}' is wrong: got {}, need a list of ints", name,
              content["shape"].type_name());
  for (const auto& extent : content["shape"]) {
    SORUS_CHECK(extent.is_number_integer(), ValueError,
                "mindrecord: shape of field '{}' is wrong: got {} as an extent, need ints", name,
                extent.type_name());
    field.shape.push_back(extent.get<int64_t>());
  }
  return field;
}

}  // namespace

const char* field_type_name(FieldType type) { return kNames[static_cast<size_t>(type)]; }

DType dtype_of(FieldType type) {
  switch (type) {
    case FieldType::kInt32:
      return DType::kInt32;
    case FieldType::kInt64:
      return DType::kInt64;
    case FieldType::kFloat32:
      return DType::kFloat32;
    case FieldType::kFloat64:
      return DType::kFloat64;
    default:
      raise<InternalError>("mindrecord: {} is no type of numbers", field_type_name(type));
  }
}

std::optional<Shape> Field::shape_for(int64_t bytes) const {
  const auto size = static_cast<int64_t>(dtype_size(dtype_of(type)));
  int64_t fixed = 1;
  bool free = false;
  for (int64_t extent : shape) {
    free = free || extent == -1;
    if (extent != -1) fixed *= extent;
  }
  const int64_t elements = bytes / size;
  if (bytes % size != 0 || (free ? elements % fixed != 0 : elements != fixed)) return std::nullopt;
  Shape out;
  for (int64_t extent : shape) out.push_back(extent == -1 ? elements / fixed : extent);
  return out;
}

std::string Field::text() const {
  return fmt::format("{}{}", field_type_name(type),
                     is_array ? fmt::format("[{}]", fmt::join(shape, ", ")) : "");
}

Schema Schema::make(std::vector<Field> fields, std::string description) {
  SORUS_CHECK(!fields.empty(), ValueError, "mindrecord: schema has no fields: need one or more");
  std::sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
  for (size_t i = 0; i < fields.size(); ++i) {
    check_name(fields[i].name);
    check_shape(fields[i]);
    SORUS_CHECK(i == 0 || fields[i].name != fields[i - 1].name, ValueError,
                "mindrecord: two fields have one name: got '{}' twice", fields[i].name);
  }
  return {std::move(description), std::move(fields)};
}

Schema Schema::parse(std::string_view json, std::string description) {
  nlohmann::json content(nlohmann::json::value_t::discarded);
  if (json_nesting(json) <= kDeepestJson) content = nlohmann::json::parse(json, nullptr, false);
  SORUS_CHECK(content.is_object(), ValueError, "mindrecord: schema is no JSON object: got {}",
              content.is_discarded() ? "something unreadable" : content.type_name());
  std::vector<Field> fields;
  for (const auto& [name, field] : content.items()) fields.push_back(field_of(name, field));
  return make(std::move(fields), std::move(description));
}

std::string Schema::text() const {
  auto content = nlohmann::json::object();
  for (const Field& field : fields) {
    content[field.name]["type"] = field_type_name(field.type);
    if (field.is_array) content[field.name]["shape"] = field.shape;
  }
  return content.dump();
}

int64_t Schema::find(std::string_view name) const {
  auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  return found == fields.end() ? -1 : found - fields.begin();
}

}  // namespace sorus::data::mindrecord
