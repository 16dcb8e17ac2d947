#pragma once

#include "sorus/data/sources/detail/byte_source.h"
#include "sorus/data/sources/detail/row_files.h"

namespace sorus::data::detail {

/// The records of a CSV file, quotes and all.
[[nodiscard]] std::unique_ptr<RecordStream> open_csv(const char* source, const std::string& path,
                                                     char delimiter);
/// The fields of a record that open_csv gave, without their quotes.
[[nodiscard]] std::vector<std::string> split_csv(std::string_view record, char delimiter);

}  // namespace sorus::data::detail
