#include "sorus/data/sources/detail/row_files.h"

namespace sorus::data {
namespace {

class TextFormat final : public detail::RowFormat {
 public:
  const char* source() const override { return "TextFileDataset"; }
  std::vector<std::string> names() const override { return {"text"}; }
  std::unique_ptr<detail::RecordStream> open(const std::string& path) const override {
    return std::make_unique<detail::LineStream>(source(), path);
  }
  std::vector<detail::Cell> parse(detail::Record record, const std::string&) const override {
    std::vector<detail::Cell> row;
    row.push_back(detail::text_cell(std::move(record.bytes)));
    return row;
  }
};

}  // namespace

Dataset text_files(std::vector<std::string> files, const FileOptions& options) {
  return detail::from_row_files(std::make_shared<TextFormat>(), std::move(files), {options});
}

}  // namespace sorus::data
