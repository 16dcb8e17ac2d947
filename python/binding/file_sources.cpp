#include "sorus/data/sources/file_sources.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "binding/dataset.h"
#include "binding/release_gil.h"
#include "sorus/data/sources/image_sources.h"

/// Sources that read rows from files, as Python sees them.
namespace sorus::python {
namespace {

using Names = std::vector<std::string>;

/// The arguments that all of them take, as a tuple: (num_samples, shuffle, num_shards, shard_id, lanes,
/// sorts_files).
data::FileOptions options_of(const nb::tuple& given) {
  data::FileOptions options;
  options.num_samples = nb::cast<int64_t>(given[0]);
  options.shuffle = static_cast<data::RowShuffle>(nb::cast<int>(given[1]));
  if (!given[2].is_none()) options.num_shards = nb::cast<int64_t>(given[2]);
  if (!given[3].is_none()) options.shard_id = nb::cast<int64_t>(given[3]);
  options.lanes = nb::cast<int64_t>(given[4]);
  options.sorts_files = nb::cast<bool>(given[5]);
  return options;
}

data::CsvOptions csv_of(const std::string& delimiter, const nb::list& defaults, Names names) {
  data::CsvOptions csv{delimiter.at(0), {}, std::move(names)};
  for (nb::handle value : defaults) {
    if (PyUnicode_Check(value.ptr()))
      csv.defaults.emplace_back(nb::cast<std::string>(value));
    else if (PyFloat_Check(value.ptr()))
      csv.defaults.emplace_back(static_cast<float>(nb::cast<double>(value)));
    else
      csv.defaults.emplace_back(nb::cast<int32_t>(nb::int_(nb::borrow(value))));
  }
  return csv;
}

void bind_schema(nb::module_& m) {
  nb::class_<data::RecordSchema>(m, "RecordSchema")
      .def(nb::init<>())
      .def("read", &data::RecordSchema::read)
      .def("add_columns", &data::RecordSchema::add_columns)
      .def("add_column", &data::RecordSchema::add_column, nb::arg("name"), nb::arg("type"),
           nb::arg("shape").none())
      .def("to_json", &data::RecordSchema::to_json)
      .def_ro("num_rows", &data::RecordSchema::num_rows);
}

/// Images with what files say about them. The sampler is one of the package.
void bind_annotated_images(nb::module_& m) {
  m.def("coco", [](const std::string& folder, const std::string& file, const std::string& task, bool decode,
                   nb::handle sampler) {
    data::SourceOptions options{.sampler = sampler_of(sampler)};
    return without_gil([&] { return data::coco(folder, file, task, decode, options); });
  });
  m.def("coco_classes", [](const std::string& file, const std::string& task) {
    return without_gil([&] { return data::coco_classes(file, task); });
  });
  m.def("celeba", [](const std::string& folder, const std::string& usage, const Names& extensions,
                     bool decode, nb::handle sampler) {
    data::SourceOptions options{.sampler = sampler_of(sampler)};
    return without_gil([&] { return data::celeba(folder, usage, extensions, decode, options); });
  });
  m.def("manifest", [](const std::string& file, const std::string& usage, const data::ClassIndexing& classes,
                       bool decode, nb::handle sampler) {
    data::SourceOptions options{.sampler = sampler_of(sampler)};
    return without_gil([&] { return data::manifest(file, usage, classes, decode, options); });
  });
  m.def("manifest_classes", &data::manifest_classes);
  m.def("voc", [](const std::string& folder, const std::string& task, const std::string& usage,
                  const data::ClassIndexing& classes, bool decode, nb::handle sampler) {
    data::SourceOptions options{.sampler = sampler_of(sampler)};
    return without_gil([&] { return data::voc(folder, task, usage, classes, decode, options); });
  });
  m.def("voc_classes", [](const std::string& folder, const std::string& usage) {
    return without_gil([&] { return data::voc_classes(folder, usage); });
  });
}

}  // namespace

void bind_file_sources(nb::module_& m) {
  bind_schema(m);
  bind_annotated_images(m);
  m.def("text_files", [](Names files, const nb::tuple& options) {
    return data::text_files(std::move(files), options_of(options));
  });
  m.def("csv_files", [](Names files, const std::string& delimiter, const nb::list& defaults, Names names,
                        const nb::tuple& options) {
    data::CsvOptions csv = csv_of(delimiter, defaults, std::move(names));
    data::FileOptions rows = options_of(options);
    return without_gil([&] { return data::csv_files(std::move(files), csv, rows); });
  });
  m.def("clue_files",
        [](Names files, const std::string& task, const std::string& usage, const nb::tuple& options) {
          return data::clue_files(std::move(files), task, usage, options_of(options));
        });
  m.def(
      "tfrecord_files",
      [](Names files, const std::optional<data::RecordSchema>& schema, Names columns, bool equal_rows,
         int compression, const nb::tuple& options) {
        data::TfRecordOptions what{schema, std::move(columns), equal_rows,
                                   static_cast<data::RecordCompression>(compression)};
        data::FileOptions rows = options_of(options);
        return without_gil([&] { return data::tfrecord_files(std::move(files), what, rows); });
      },
      nb::arg("files"), nb::arg("schema").none(), nb::arg("columns"), nb::arg("equal_rows"),
      nb::arg("compression"), nb::arg("options"));
}

}  // namespace sorus::python
