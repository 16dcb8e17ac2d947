#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "sorus/data/sources/detail/annotated.h"
#include "sorus/data/sources/detail/files.h"
#include "sorus/data/sources/image_sources.h"

namespace sorus::data {
namespace {

using Json = nlohmann::json;
constexpr const char* kSource = "CocoDataset";

/// Looks into the annotations; its errors name the file and where in it.
class Annotations {
 public:
  explicit Annotations(std::string path)
      : path_(std::move(path)), root_(Json::parse(detail::read_text(kSource, path_), nullptr, false)) {
    SORUS_CHECK(root_.is_object(), IOError, "{}: file '{}' is no JSON object: need annotations of COCO",
                kSource, path_);
  }
  [[nodiscard]] const Json& list(const char* name) const { return list(root_, name, "the file"); }
  [[nodiscard]] const Json& list(const Json& from, const char* name, const std::string& where) const {
    const Json& found = member(from, name, where);
    if (!found.is_array()) refuse(name, where, found, "a list");
    return found;
  }
  [[nodiscard]] const Json& member(const Json& from, const char* name, const std::string& where) const {
    SORUS_CHECK(from.is_object() && from.contains(name), IOError, "{}: file '{}' lacks '{}' in {}: need one",
                kSource, path_, name, where);
    return from[name];
  }
  [[nodiscard]] int64_t integer(const Json& from, const char* name, const std::string& where) const {
    const Json& found = member(from, name, where);
    if (!found.is_number_integer()) refuse(name, where, found, "an integer");
    return found.get<int64_t>();
  }
  [[nodiscard]] uint32_t natural(const Json& from, const char* name, const std::string& where) const {
    const Json& found = member(from, name, where);
    // Areas are fractions in some files.
    const double value = found.is_number() ? found.get<double>() : -1;
    if (!(value >= 0 && value <= UINT32_MAX)) refuse(name, where, found, "a number that uint32 holds");
    return static_cast<uint32_t>(value);
  }
  [[nodiscard]] std::string text(const Json& from, const char* name, const std::string& where) const {
    const Json& found = member(from, name, where);
    if (!found.is_string()) refuse(name, where, found, "a string");
    return found.get<std::string>();
  }
  [[nodiscard]] std::vector<float> floats(const Json& found, const char* name,
                                          const std::string& where) const {
    if (!found.is_array()) refuse(name, where, found, "a list of numbers");
    std::vector<float> out;
    for (const Json& item : found) {
      if (!item.is_number()) refuse(name, where, item, "a list of numbers");
      out.push_back(item.get<float>());
    }
    return out;
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[noreturn]] void refuse(const char* name, const std::string& where, const Json& got,
                           const char* need) const {
    raise<IOError>("{}: file '{}' has a wrong '{}' in {}: got {}, need {}", kSource, path_, name, where,
                   got.is_number() ? got.dump() : got.type_name(), need);
  }

 private:
  std::string path_;
  Json root_;
};

/// What annotations say about an image.
struct Said {
  std::vector<std::vector<float>> boxes;  ///< or polygons, or points
  std::vector<uint32_t> categories;       ///< or numbers of points
  std::vector<uint32_t> crowds;
  std::vector<uint32_t> areas;
  std::vector<std::string> captions;
};

detail::Cell table_of(const std::vector<std::vector<float>>& lines) {
  size_t width = 1;
  for (const auto& line : lines) width = std::max(width, line.size());
  detail::TableCell<float> table;
  for (const auto& line : lines)
    for (size_t i = 0; i < width; ++i) table.add(i < line.size() ? line[i] : -1.F);
  return table.finish(static_cast<int64_t>(width));
}

detail::Cell column_of(const std::vector<uint32_t>& values) {
  detail::TableCell<uint32_t> table;
  for (uint32_t value : values) table.add(value);
  return table.finish(1);
}

/// A task: its columns behind the image, and how an annotation adds to them.
struct Task {
  std::vector<std::string> columns;
  void (*add)(const Annotations&, const Json&, const std::string& where,
              const std::vector<int64_t>& categories, Said&);
  std::vector<detail::Cell> (*cells)(const Said&);
};

uint32_t category(const Annotations& in, const Json& from, const std::string& where,
                  const std::vector<int64_t>& known) {
  const int64_t id = in.integer(from, "category_id", where);
  SORUS_CHECK(std::find(known.begin(), known.end(), id) != known.end(), IOError,
              "{}: file '{}' has an unknown category in {}: got {}, need one of 'categories'", kSource,
              in.path(), where, id);
  return in.natural(from, "category_id", where);
}
uint32_t crowd(const Annotations& in, const Json& from, const std::string& where) {
  return from.is_object() && from.contains("iscrowd") ? in.natural(from, "iscrowd", where) : 0;
}

void add_box(const Annotations& in, const Json& from, const std::string& where,
             const std::vector<int64_t>& known, Said& to) {
  to.boxes.push_back(in.floats(in.member(from, "bbox", where), "bbox", where));
  to.categories.push_back(category(in, from, where, known));
  to.crowds.push_back(crowd(in, from, where));
}
void add_segments(const Annotations& in, const Json& from, const std::string& where,
                  const std::vector<int64_t>& known, Said& to) {
  for (const Json& segment : in.list(from, "segments_info", where)) {
    add_box(in, segment, where, known, to);
    to.areas.push_back(in.natural(segment, "area", where));
  }
}
void add_polygons(const Annotations& in, const Json& from, const std::string& where,
                  const std::vector<int64_t>&, Said& to) {
  const Json& shapes = in.member(from, "segmentation", where);
  to.crowds.push_back(crowd(in, from, where));
  if (to.crowds.back() != 0) {
    to.boxes.push_back(in.floats(in.member(shapes, "counts", where), "counts", where));
    return;
  }
  if (!shapes.is_array()) in.refuse("segmentation", where, shapes, "a list of polygons");
  for (const Json& polygon : shapes) to.boxes.push_back(in.floats(polygon, "segmentation", where));
}
void add_points(const Annotations& in, const Json& from, const std::string& where,
                const std::vector<int64_t>&, Said& to) {
  to.boxes.push_back(in.floats(in.member(from, "keypoints", where), "keypoints", where));
  to.categories.push_back(in.natural(from, "num_keypoints", where));
}
void add_caption(const Annotations& in, const Json& from, const std::string& where,
                 const std::vector<int64_t>&, Said& to) {
  to.captions.push_back(in.text(from, "caption", where));
}

std::vector<detail::Cell> box_cells(const Said& said) {
  return {table_of(said.boxes), column_of(said.categories), column_of(said.crowds)};
}
std::vector<detail::Cell> segment_cells(const Said& said) {
  return {table_of(said.boxes), column_of(said.categories), column_of(said.crowds), column_of(said.areas)};
}
std::vector<detail::Cell> polygon_cells(const Said& said) {
  return {table_of(said.boxes), column_of(said.crowds)};
}
std::vector<detail::Cell> point_cells(const Said& said) {
  return {table_of(said.boxes), column_of(said.categories)};
}
std::vector<detail::Cell> caption_cells(const Said& said) {
  detail::Cell cell;
  cell.type = {ItemKind::kStrings, DType::kFloat32, Shape{std::ssize(said.captions), 1}};
  cell.texts = said.captions;
  return {cell};
}

Task task_of(const std::string& name) {
  if (name == "Detection") return {{"bbox", "category_id", "iscrowd"}, &add_box, &box_cells};
  if (name == "Stuff") return {{"segmentation", "iscrowd"}, &add_polygons, &polygon_cells};
  if (name == "Keypoint") return {{"keypoints", "num_keypoints"}, &add_points, &point_cells};
  if (name == "Panoptic") return {{"bbox", "category_id", "iscrowd", "area"}, &add_segments, &segment_cells};
  if (name == "Captioning") return {{"captions"}, &add_caption, &caption_cells};
  raise<ValueError>(
      "{}: task is unknown: got '{}', need 'Detection', 'Stuff', 'Keypoint', 'Panoptic' or 'Captioning'",
      kSource, name);
}

bool has_categories(const std::string& task) { return task == "Detection" || task == "Panoptic"; }

std::vector<int64_t> categories_of(const Annotations& in) {
  std::vector<int64_t> ids;
  for (const Json& one : in.list("categories")) ids.push_back(in.integer(one, "id", "'categories'"));
  return ids;
}

}  // namespace

CocoClasses coco_classes(const std::string& annotation_file, const std::string& task) {
  SORUS_CHECK(has_categories(task), ValueError,
              "{}: task has no classes: got '{}', need 'Detection' or 'Panoptic'", kSource, task);
  Annotations in(annotation_file);
  CocoClasses classes;
  for (const Json& one : in.list("categories")) {
    std::vector<int64_t> numbers{in.integer(one, "id", "'categories'")};
    if (task == "Panoptic") numbers.push_back(in.integer(one, "isthing", "'categories'"));
    classes.emplace_back(in.text(one, "name", "'categories'"), std::move(numbers));
  }
  return classes;
}

Dataset coco(const std::string& folder, const std::string& annotation_file, const std::string& task,
             bool decode, const SourceOptions& options) {
  detail::check_folder(kSource, folder);
  const Task kind = task_of(task);
  Annotations in(annotation_file);
  const std::vector<int64_t> known = has_categories(task) ? categories_of(in) : std::vector<int64_t>();
  const Json& images = in.list("images");
  std::unordered_map<int64_t, Said> said;
  std::vector<std::pair<int64_t, std::string>> order;
  for (const Json& image : images) {
    order.emplace_back(in.integer(image, "id", "'images'"), in.text(image, "file_name", "'images'"));
    said.emplace(order.back().first, Said());
  }
  std::unordered_map<int64_t, bool> has;
  int64_t place = 0;
  for (const Json& annotation : in.list("annotations")) {
    const std::string where = fmt::format("annotation {}", place++);
    const int64_t id = in.integer(annotation, "image_id", where);
    auto to = said.find(id);
    SORUS_CHECK(to != said.end(), IOError,
                "{}: file '{}' has an unknown image in {}: got {}, need one of 'images'", kSource,
                annotation_file, where, id);
    kind.add(in, annotation, where, known, to->second);
    has[id] = true;
  }
  std::vector<detail::AnnotatedRow> rows;
  for (const auto& [id, file] : order)
    if (has.count(id) != 0)
      rows.push_back({{(std::filesystem::path(folder) / file).string()}, kind.cells(said[id])});
  std::vector<std::string> names{"image"};
  names.insert(names.end(), kind.columns.begin(), kind.columns.end());
  return detail::from_annotated(kSource, annotation_file, std::move(names), std::move(rows), decode, options);
}

}  // namespace sorus::data
