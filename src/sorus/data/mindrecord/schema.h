#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/core/dtype.h"
#include "sorus/core/shape.h"

/// MindRecord: rows of named fields in data files, each with an index beside it (a SQLite database named as
/// the data file with ".db" after it). Numbers and strings of a row lie in raw pages, bytes and arrays in
/// blob pages. Several files may make one set.
namespace sorus::data::mindrecord {

enum class FieldType : uint8_t { kInt32, kInt64, kFloat32, kFloat64, kString, kBytes };

/// "int32", "bytes" ...
[[nodiscard]] SORUS_API const char* field_type_name(FieldType type);
/// Of the four types that are numbers.
[[nodiscard]] SORUS_API DType dtype_of(FieldType type);

struct SORUS_API Field {
  std::string name;
  FieldType type = FieldType::kInt32;
  bool is_array = false;
  std::vector<int64_t> shape;  ///< of an array; at most one extent is -1, which each row chooses

  /// Lies in blob pages, and cannot be an index field.
  [[nodiscard]] bool is_blob() const { return is_array || type == FieldType::kBytes; }
  /// "string", "int32[-1, 3]".
  [[nodiscard]] std::string text() const;
  /// The shape of an array whose elements take that many bytes; nothing where none fits.
  [[nodiscard]] std::optional<Shape> shape_for(int64_t bytes) const;
};

/// What the rows of a set have in common. Fields are in the order of their names' bytes.
struct SORUS_API Schema {
  std::string description;
  std::vector<Field> fields;

  /// Sorts the fields. Throws ValueError for no fields, a name that repeats or has other characters than
  /// letters, digits and "_", a shape of strings or bytes, and a shape that no array can have.
  [[nodiscard]] static Schema make(std::vector<Field> fields, std::string description = "");
  /// From JSON: {"name": {"type": "int32", "shape": [-1, 3]}, ...}.
  [[nodiscard]] static Schema parse(std::string_view json, std::string description = "");
  /// The same JSON, names in order.
  [[nodiscard]] std::string text() const;
  /// Place of a field; -1: there is none.
  [[nodiscard]] int64_t find(std::string_view name) const;
};

}  // namespace sorus::data::mindrecord
