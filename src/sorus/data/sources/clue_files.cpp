#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sorus/data/sources/detail/row_files.h"

namespace sorus::data {
namespace {

using Json = nlohmann::json;
constexpr const char* kSource = "CLUEDataset";

/// A column, and the object's key that it has in a nested object when it is one of those of the task WSC.
struct Key {
  const char* name;
  bool in_target = false;
};

struct Task {
  const char* name;
  const char* usage;  ///< "" : train and eval
  std::vector<Key> keys;
};

/// In order of the names.
const std::vector<Task>& tasks() {
  static const std::vector<Task> kTasks = {
      {"AFQMC", "", {{"label"}, {"sentence1"}, {"sentence2"}}},
      {"AFQMC", "test", {{"id"}, {"sentence1"}, {"sentence2"}}},
      {"CMNLI", "", {{"label"}, {"sentence1"}, {"sentence2"}}},
      {"CMNLI", "test", {{"id"}, {"sentence1"}, {"sentence2"}}},
      {"CSL", "", {{"abst"}, {"id"}, {"keyword"}, {"label"}}},
      {"CSL", "test", {{"abst"}, {"id"}, {"keyword"}}},
      {"IFLYTEK", "", {{"label"}, {"label_des"}, {"sentence"}}},
      {"IFLYTEK", "test", {{"id"}, {"sentence"}}},
      {"TNEWS", "", {{"keywords"}, {"label"}, {"label_desc"}, {"sentence"}}},
      {"TNEWS", "test", {{"id"}, {"keywords"}, {"sentence"}}},
      {"WSC",
       "",
       {{"idx"},
        {"label"},
        {"span1_index", true},
        {"span1_text", true},
        {"span2_index", true},
        {"span2_text", true},
        {"text"}}},
      {"WSC",
       "test",
       {{"idx"},
        {"span1_index", true},
        {"span1_text", true},
        {"span2_index", true},
        {"span2_text", true},
        {"text"}}},
  };
  return kTasks;
}

/// A value as MindSpore types it, or nothing for one that no row can have.
std::optional<detail::Cell> cell_of(const Json& value) {
  if (value.is_string()) return detail::text_cell(value.get<std::string>());
  if (value.is_number_unsigned() && value.get<uint64_t>() <= UINT32_MAX)
    return detail::number_cell(DType::kUInt32, value.get<uint32_t>());
  if (value.is_number_integer() && !value.is_number_unsigned() && value.get<int64_t>() >= INT32_MIN)
    return detail::number_cell(DType::kInt32, value.get<int32_t>());
  if (value.is_number_float()) return detail::number_cell(DType::kFloat32, value.get<float>());
  if (!value.is_array() || value.empty()) return std::nullopt;
  detail::Cell cell{{ItemKind::kStrings, DType::kFloat32, Shape{static_cast<int64_t>(value.size())}}, {}, {}};
  for (const Json& item : value) {
    if (!item.is_string()) return std::nullopt;
    cell.texts.push_back(item.get<std::string>());
  }
  return cell;
}

class ClueFormat final : public detail::RowFormat {
 public:
  explicit ClueFormat(std::vector<Key> keys) : keys_(std::move(keys)) {}
  const char* source() const override { return kSource; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const Key& key : keys_) names.emplace_back(key.name);
    return names;
  }
  std::unique_ptr<detail::RecordStream> open(const std::string& path) const override {
    return std::make_unique<detail::LineStream>(kSource, path);
  }
  std::vector<detail::Cell> parse(detail::Record record, const std::string& path) const override {
    const Json line = Json::parse(record.bytes, nullptr, false);
    SORUS_CHECK(line.is_object(), IOError,
                "{}: file '{}' has no JSON object at line {}: need one in each line", kSource, path,
                record.place);
    std::vector<detail::Cell> row;
    for (const Key& key : keys_) {
      auto target = key.in_target ? line.find("target") : line.end();
      const Json& from = target != line.end() && target->is_object() ? *target : line;
      auto value = from.find(key.name);
      SORUS_CHECK(value != from.end(), IOError,
                  "{}: file '{}' lacks the key '{}' at line {}: need those of the task", kSource, path,
                  key.name, record.place);
      std::optional<detail::Cell> cell = cell_of(*value);
      SORUS_CHECK(
          cell, IOError,
          "{}: file '{}' has a wrong value of '{}' at line {}: got {}, need a string, a number of 32 bits or "
          "a list of strings",
          kSource, path, key.name, record.place, value->type_name());
      row.push_back(std::move(*cell));
    }
    return row;
  }

 private:
  std::vector<Key> keys_;
};

}  // namespace

Dataset clue_files(std::vector<std::string> files, const std::string& task, const std::string& usage,
                   const FileOptions& options) {
  SORUS_CHECK(usage == "train" || usage == "test" || usage == "eval", ValueError,
              "{}: usage is unknown: got '{}', need 'train', 'test' or 'eval'", kSource, usage);
  for (const Task& known : tasks())
    if (task == known.name && (usage == "test") == (std::string_view(known.usage) == "test"))
      return detail::from_row_files(std::make_shared<ClueFormat>(known.keys), std::move(files), {options});
  raise<ValueError>(
      "{}: task is unknown: got '{}', need 'AFQMC', 'TNEWS', 'IFLYTEK', 'CMNLI', 'WSC' or 'CSL'", kSource,
      task);
}

}  // namespace sorus::data
