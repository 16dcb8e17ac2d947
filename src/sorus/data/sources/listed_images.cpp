#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sorus/data/sources/detail/annotated.h"
#include "sorus/data/sources/detail/files.h"
#include "sorus/data/sources/image_sources.h"

/// Images that a text file lists with what is said about them: CelebA and manifests.
namespace sorus::data {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
constexpr const char* kCeleba = "CelebADataset";
constexpr const char* kManifest = "ManifestDataset";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The files of a part of CelebA.
std::set<std::string> partition(const std::string& folder, const std::string& usage) {
  const std::string path = (fs::path(folder) / "list_eval_partition.txt").string();
  const std::string wanted = usage == "train" ? "0" : usage == "valid" ? "1" : "2";
  std::set<std::string> files;
  detail::LineStream lines(kCeleba, path);
  for (detail::Record line; lines.next(line);) {
    const std::vector<std::string> words = words_of(line.bytes);
    if (words.empty()) continue;
    SORUS_CHECK(words.size() == 2, IOError,
                "{}: file '{}' has a wrong line {}: got {} words, need a file and its part", kCeleba, path,
                line.place, words.size());
    if (words[1] == wanted) files.insert(words[0]);
  }
  return files;
}

detail::Cell attributes_of(const std::vector<std::string>& words, const std::string& path, uint64_t line) {
  detail::Cell cell{{ItemKind::kNumbers, DType::kUInt32, Shape{std::ssize(words) - 1}}, {}, {}};
  for (size_t i = 1; i < words.size(); ++i) {
    SORUS_CHECK(words[i] == "1" || words[i] == "-1", IOError,
                "{}: file '{}' has a wrong attribute in line {}: got '{}', need 1 or -1", kCeleba, path, line,
                words[i]);
    const uint32_t value = words[i] == "1";
    cell.numbers.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return cell;
}

/// A line of a manifest.
struct Listed {
  std::string file;
  std::vector<std::string> labels;
};

[[noreturn]] void refuse(const std::string& path, uint64_t line, const char* what) {
  raise<IOError>("{}: file '{}' has a wrong line {}: need {}", kManifest, path, line, what);
}

/// The lines of a manifest with that usage.
std::vector<Listed> read_manifest(const std::string& path, const std::string& usage) {
  detail::check_usage(kManifest, usage, {"train", "eval", "inference"});
  std::vector<Listed> listed;
  detail::LineStream lines(kManifest, path);
  for (detail::Record line; lines.next(line);) {
    const Json content = Json::parse(line.bytes, nullptr, false);
    if (!content.is_object() || !content.contains("source") || !content["source"].is_string())
      refuse(path, line.place, "a JSON object with a string 'source'");
    std::string used = content.value("usage", Json()).is_string() ? content["usage"].get<std::string>() : "";
    std::transform(used.begin(), used.end(), used.begin(), [](unsigned char c) { return std::tolower(c); });
    if (used != usage) continue;
    Listed one{content["source"].get<std::string>(), {}};
    const Json& annotations = content.contains("annotation") ? content["annotation"] : Json::array();
    if (!annotations.is_array()) refuse(path, line.place, "a list 'annotation'");
    for (const Json& annotation : annotations) {
      if (!annotation.is_object() || !annotation.value("name", Json()).is_string())
        refuse(path, line.place, "a string 'name' in each annotation");
      one.labels.push_back(annotation["name"].get<std::string>());
    }
    if (!one.labels.empty()) listed.push_back(std::move(one));
  }
  return listed;
}

ClassIndexing number(const std::vector<Listed>& listed) {
  ClassIndexing classes;
  for (const Listed& one : listed)
    for (const std::string& label : one.labels) classes[label] = 0;
  int32_t next = 0;
  for (auto& [name, label] : classes) label = next++;
  return classes;
}

}  // namespace

Dataset celeba(const std::string& folder, const std::string& usage,
               const std::vector<std::string>& extensions, bool decode, const SourceOptions& options) {
  detail::check_usage(kCeleba, usage, {"train", "valid", "test", "all"});
  detail::check_folder(kCeleba, folder);
  const std::string path = (fs::path(folder) / "list_attr_celeba.txt").string();
  const std::set<std::string> part = usage == "all" ? std::set<std::string>() : partition(folder, usage);
  detail::LineStream lines(kCeleba, path);
  detail::Record line;
  const bool has_names = lines.next(line) && lines.next(line);
  const std::vector<std::string> names = words_of(has_names ? line.bytes : "");
  SORUS_CHECK(!names.empty(), IOError,
              "{}: file '{}' ends too early: need a count, the names of attributes and lines", kCeleba, path);
  std::vector<detail::AnnotatedRow> rows;
  while (lines.next(line)) {
    const std::vector<std::string> words = words_of(line.bytes);
    if (words.empty()) continue;
    SORUS_CHECK(words.size() == names.size() + 1, IOError,
                "{}: file '{}' has a wrong line {}: got {} words, need a file and {} attributes", kCeleba,
                path, line.place, words.size(), names.size());
    const bool ends =
        extensions.empty() || std::find(extensions.begin(), extensions.end(),
                                        fs::path(words[0]).extension().string()) != extensions.end();
    if (!ends || (usage != "all" && part.count(words[0]) == 0)) continue;
    rows.push_back({{(fs::path(folder) / words[0]).string()}, {attributes_of(words, path, line.place)}});
  }
  return detail::from_annotated(kCeleba, path, {"image", "attr"}, std::move(rows), decode, options);
}

ClassIndexing manifest_classes(const std::string& file, const std::string& usage) {
  return number(read_manifest(file, usage));
}

Dataset manifest(const std::string& file, const std::string& usage, const ClassIndexing& class_indexing,
                 bool decode, const SourceOptions& options) {
  const std::vector<Listed> listed = read_manifest(file, usage);
  const ClassIndexing classes = class_indexing.empty() ? number(listed) : class_indexing;
  std::vector<detail::AnnotatedRow> rows;
  for (const Listed& one : listed) {
    std::vector<int32_t> labels;
    for (const std::string& label : one.labels)
      if (auto found = classes.find(label); found != classes.end()) labels.push_back(found->second);
    if (labels.empty()) continue;
    const Shape shape = labels.size() == 1 ? Shape{} : Shape{std::ssize(labels)};
    std::string numbers(reinterpret_cast<const char*>(labels.data()), labels.size() * sizeof(int32_t));
    rows.push_back({{one.file}, {{{ItemKind::kNumbers, DType::kInt32, shape}, std::move(numbers), {}}}});
  }
  return detail::from_annotated(kManifest, file, {"image", "label"}, std::move(rows), decode, options);
}

}  // namespace sorus::data
