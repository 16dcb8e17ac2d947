#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/data/column.h"

namespace sorus::data {

/// A column as a schema describes it.
struct SchemaColumn {
  std::string name;
  ItemKind kind = ItemKind::kNumbers;  ///< or kStrings
  DType dtype = DType::kFloat32;
  std::optional<std::vector<int64_t>> shape = {};  ///< absent: rank 1 of any length; -1: any extent
};

/// What columns rows have, as schema files of MindSpore say it. Throws ValueError for what is wrong and
/// TypeError for an unknown type.
struct SORUS_API RecordSchema {
  std::vector<SchemaColumn> columns;
  std::string kind;      ///< "datasetType" of the file
  int64_t num_rows = 0;  ///< 0: not said

  /// The whole of a schema file, instead of what is here.
  void read(std::string_view json);
  /// Columns from a list of {"name", "type", "shape"} or an object of {"type", "shape"} by name, behind those
  /// here.
  void add_columns(std::string_view json);
  /// `type`: a name such as "int32", "float16", "bool" or "string".
  void add_column(const std::string& name, const std::string& type,
                  std::optional<std::vector<int64_t>> shape);
  [[nodiscard]] std::string to_json() const;
};

}  // namespace sorus::data
