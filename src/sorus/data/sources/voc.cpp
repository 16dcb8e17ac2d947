#include <algorithm>
#include <charconv>
#include <filesystem>

#include "sorus/data/sources/detail/annotated.h"
#include "sorus/data/sources/detail/files.h"
#include "sorus/data/sources/detail/xml.h"
#include "sorus/data/sources/image_sources.h"

namespace sorus::data {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSource = "VOCDataset";

std::string path_in(const std::string& folder, const char* part, const std::string& file) {
  return (fs::path(folder) / part / file).string();
}

/// The images that a part names, without endings.
std::vector<std::string> images_of(const std::string& folder, const std::string& task,
                                   const std::string& usage) {
  const std::string list =
      path_in(folder, task == "Detection" ? "ImageSets/Main" : "ImageSets/Segmentation", usage + ".txt");
  std::vector<std::string> names;
  detail::LineStream lines(kSource, list);
  for (detail::Record line; lines.next(line);) {
    const size_t end = line.bytes.find_last_not_of(" \t\r");
    if (end != std::string::npos) names.push_back(line.bytes.substr(0, end + 1));
  }
  SORUS_CHECK(!names.empty(), IOError, "{}: file '{}' names no images: need one or more", kSource, list);
  return names;
}

/// An object in an image.
struct Thing {
  std::string name;
  float box[4];  ///< left, top, width and height
  uint32_t difficult;
  uint32_t truncated;
};

float number_in(const detail::XmlNode& from, const char* name, const std::string& path) {
  const detail::XmlNode* node = from.child(name);
  SORUS_CHECK(node, IOError, "{}: file '{}' lacks '{}' in '{}': need one", kSource, path, name, from.name);
  std::string_view text = node->text;
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text = text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
  float value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  SORUS_CHECK(error == std::errc() && end == text.data() + text.size(), IOError,
              "{}: file '{}' has a wrong '{}': got '{}', need a number", kSource, path, name, text);
  return value;
}

uint32_t flag_in(const detail::XmlNode& from, const char* name, const std::string& path) {
  const detail::XmlNode* node = from.child(name);
  if (!node || node->text.empty()) return 0;
  const float value = number_in(from, name, path);
  SORUS_CHECK(value >= 0 && value <= 1, IOError, "{}: file '{}' has a wrong '{}': got {}, need 0 or 1",
              kSource, path, name, value);
  return static_cast<uint32_t>(value);
}

std::vector<Thing> things_of(const std::string& path) {
  const detail::XmlNode root = detail::parse_xml(kSource, path, detail::read_text(kSource, path));
  std::vector<Thing> things;
  for (const detail::XmlNode& object : root.children) {
    if (object.name != "object") continue;
    const detail::XmlNode* name = object.child("name");
    const detail::XmlNode* box = object.child("bndbox");
    SORUS_CHECK(name && !name->text.empty() && box, IOError,
                "{}: file '{}' has an object without name or box: need 'name' and 'bndbox'", kSource, path);
    const float left = number_in(*box, "xmin", path);
    const float top = number_in(*box, "ymin", path);
    const float right = number_in(*box, "xmax", path);
    const float bottom = number_in(*box, "ymax", path);
    SORUS_CHECK(left > 0 && top > 0 && right > left && bottom > top, IOError,
                "{}: file '{}' has a wrong box: got ({}, {}, {}, {}), need corners above 0, the second "
                "behind the first",
                kSource, path, left, top, right, bottom);
    things.push_back({name->text,
                      {left, top, right - left, bottom - top},
                      flag_in(object, "difficult", path),
                      flag_in(object, "truncated", path)});
  }
  SORUS_CHECK(!things.empty(), IOError, "{}: file '{}' has no 'object': need one or more", kSource, path);
  return things;
}

using Objects = std::vector<std::vector<Thing>>;  ///< of each image

Objects objects_of(const std::string& folder, const std::vector<std::string>& images) {
  Objects objects;
  for (const std::string& image : images)
    objects.push_back(things_of(path_in(folder, "Annotations", image + ".xml")));
  return objects;
}

ClassIndexing number(const Objects& objects) {
  ClassIndexing classes;
  for (const auto& things : objects)
    for (const Thing& thing : things) classes[thing.name] = 0;
  int32_t next = 0;
  for (auto& [name, label] : classes) label = next++;
  return classes;
}

/// Nothing when no object of the image is of a class.
std::vector<detail::Cell> cells_of(const std::vector<Thing>& things, const ClassIndexing& classes) {
  detail::TableCell<float> boxes;
  detail::TableCell<uint32_t> labels;
  detail::TableCell<uint32_t> difficult;
  detail::TableCell<uint32_t> truncated;
  bool any = false;
  for (const Thing& thing : things) {
    auto found = classes.find(thing.name);
    if (found == classes.end()) continue;
    any = true;
    for (float value : thing.box) boxes.add(value);
    labels.add(static_cast<uint32_t>(found->second));
    difficult.add(thing.difficult);
    truncated.add(thing.truncated);
  }
  if (!any) return {};
  return {boxes.finish(4), labels.finish(1), difficult.finish(1), truncated.finish(1)};
}

}  // namespace

ClassIndexing voc_classes(const std::string& folder, const std::string& usage) {
  return number(objects_of(folder, images_of(folder, "Detection", usage)));
}

Dataset voc(const std::string& folder, const std::string& task, const std::string& usage,
            const ClassIndexing& class_indexing, bool decode, const SourceOptions& options) {
  SORUS_CHECK(task == "Detection" || task == "Segmentation", ValueError,
              "{}: task is unknown: got '{}', need 'Segmentation' or 'Detection'", kSource, task);
  SORUS_CHECK(task == "Detection" || class_indexing.empty(), ValueError,
              "{}: class_indexing is for the task 'Detection': got it for '{}', need none", kSource, task);
  detail::check_folder(kSource, folder);
  const std::vector<std::string> images = images_of(folder, task, usage);
  std::vector<detail::AnnotatedRow> rows;
  if (task == "Segmentation") {
    for (const std::string& image : images)
      rows.push_back({{path_in(folder, "JPEGImages", image + ".jpg"),
                       path_in(folder, "SegmentationClass", image + ".png")},
                      {}});
    return detail::from_annotated(kSource, folder, {"image", "target"}, std::move(rows), decode, options);
  }
  const Objects objects = objects_of(folder, images);
  const ClassIndexing classes = class_indexing.empty() ? number(objects) : class_indexing;
  for (size_t i = 0; i < images.size(); ++i)
    if (auto cells = cells_of(objects[i], classes); !cells.empty())
      rows.push_back({{path_in(folder, "JPEGImages", images[i] + ".jpg")}, std::move(cells)});
  return detail::from_annotated(kSource, folder, {"image", "bbox", "label", "difficult", "truncate"},
                                std::move(rows), decode, options);
}

}  // namespace sorus::data
