#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "binding/dataset.h"
#include "binding/release_gil.h"
#include "sorus/data/mindrecord/reader.h"
#include "sorus/data/mindrecord/source.h"
#include "sorus/data/mindrecord/writer.h"

/// MindRecord files as Python sees them: `_core.mindrecord`. The package's classes are thin over these.
namespace sorus::python {

namespace mr = data::mindrecord;

namespace {

using Names = std::vector<std::string>;
using FileNames = std::variant<std::string, Names>;

nb::object bytes_object(std::string_view bytes) {
  return nb::steal(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

nb::object text_object(std::string_view text) {
  PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

nb::object item_object(const mr::Field& field, const mr::Item& item) {
  if (field.is_array) {
    Ref<Value> value = make_dense({mr::dtype_of(field.type), Device{}, item.shape});
    if (!item.bytes.empty()) std::memcpy(value->storage->data(), item.bytes.data(), item.bytes.size());
    return to_numpy(Tensor(std::move(value)));
  }
  switch (field.type) {
    case mr::FieldType::kString:
      return text_object(item.bytes);
    case mr::FieldType::kBytes:
      return bytes_object(item.bytes);
    case mr::FieldType::kFloat32:
    case mr::FieldType::kFloat64:
      return nb::float_(item.number);
    default:
      return nb::int_(item.integer);
  }
}

mr::Reader open_reader(const FileNames& files) {
  const auto* one = std::get_if<std::string>(&files);
  return one ? mr::Reader::open(*one) : mr::Reader::open_files(std::get<Names>(files));
}

/// Rows as dicts: numbers and strings first, then bytes and arrays.
class PyReader {
 public:
  PyReader(const FileNames& files, const Names& columns)
      : reader_(without_gil([&] { return open_reader(files); })) {
    for (bool blobs : {false, true})
      for (int64_t place : reader_.places_of(columns))
        if (field(place).is_blob() == blobs) fields_.push_back(place);
    std::sort(fields_.begin(),
              std::find_if(fields_.begin(), fields_.end(), [&](int64_t f) { return field(f).is_blob(); }));
  }
  [[nodiscard]] nb::dict read(int64_t row) const {
    mr::Record record;  // threads may read at once
    without_gil([&] { reader_.read(row, fields_, record); });
    nb::dict out;
    for (size_t i = 0; i < fields_.size(); ++i)
      out[field(fields_[i]).name.c_str()] = item_object(field(fields_[i]), record.items[i]);
    return out;
  }
  [[nodiscard]] const mr::Reader& reader() const { return reader_; }

 private:
  [[nodiscard]] const mr::Field& field(int64_t place) const {
    return reader_.schema().fields[static_cast<size_t>(place)];
  }
  mr::Reader reader_;
  std::vector<int64_t> fields_;
};

std::string string_of_bytes(nb::handle value) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(value.ptr(), &data, &size) != 0) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

/// A value that the package has found to fit the field's type.
mr::FieldValue value_of(const mr::Field& field, nb::handle value) {
  if (field.is_array)
    return string_of_bytes(PyBytes_Check(value.ptr()) ? nb::borrow(value) : value.attr("tobytes")());
  switch (field.type) {
    case mr::FieldType::kString:
      return nb::cast<std::string>(value);
    case mr::FieldType::kBytes:
      return string_of_bytes(value);
    case mr::FieldType::kFloat32:
    case mr::FieldType::kFloat64:
      return nb::cast<double>(nb::float_(nb::borrow(value)));
    default:
      break;
  }
  int overflow = 0;
  nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  const int64_t integer = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  SORUS_CHECK(overflow == 0, ValueError, "mindrecord: value of field '{}' does not fit: got {}, need {}",
              field.name, nb::cast<std::string>(nb::str(number)), field.text());
  return integer;
}

/// Threads that write at once wait for each other, not for the interpreter.
class PyWriter {
 public:
  explicit PyWriter(mr::Writer writer) : writer_(std::move(writer)) {}

  /// Rows as dicts that have been found to fit the schema.
  void write(const nb::list& rows) {
    std::vector<mr::RowValues> values;
    for (nb::handle row : rows) {
      values.emplace_back();
      for (const mr::Field& field : writer_.schema().fields)
        values.back().push_back(value_of(field, nb::borrow<nb::dict>(row)[field.name.c_str()]));
    }
    without_gil([&] {
      std::lock_guard lock(mutex_);
      writer_.write(values);
    });
  }
  void commit() {
    without_gil([&] {
      std::lock_guard lock(mutex_);
      writer_.commit();
    });
  }
  [[nodiscard]] std::string schema() const { return writer_.schema().text(); }

 private:
  mr::Writer writer_;
  std::mutex mutex_;
};

PyWriter* open_writer(const std::string& file, const std::string& schema, std::string description,
                      std::optional<Names> index, int64_t files, int64_t header_size, int64_t page_size,
                      bool overwrite) {
  return new PyWriter({file,
                       mr::Schema::parse(schema, std::move(description)),
                       {files, std::move(index), header_size, page_size, overwrite}});
}

/// A value of a padded row, whatever field it is for.
mr::FieldValue padded_value(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return nb::cast<std::string>(value);
  if (PyBytes_Check(value.ptr())) return string_of_bytes(value);
  if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
  const bool is_array = nb::hasattr(value, "ndim") && nb::cast<int64_t>(value.attr("ndim")) > 0;
  if (is_array) return string_of_bytes(value.attr("tobytes")());
  if (PyIndex_Check(value.ptr())) return nb::cast<int64_t>(nb::int_(nb::borrow(value)));
  return nb::cast<double>(nb::float_(nb::borrow(value)));
}

data::Dataset dataset(const FileNames& files, Names columns, std::optional<int> file_shuffle,
                      const nb::list& padded_row, int64_t num_padded, std::optional<int64_t> num_samples,
                      std::optional<bool> shuffle, nb::handle sampler, std::optional<int64_t> num_shards,
                      std::optional<int64_t> shard_id) {
  data::MindRecordOptions options;
  options.columns = std::move(columns);
  constexpr int kPartial = 2;
  options.partial_shuffle = file_shuffle == kPartial;
  if (file_shuffle && !options.partial_shuffle)
    options.file_shuffle = static_cast<data::FileShuffle>(*file_shuffle);
  for (nb::handle value : padded_row) options.padded_row.push_back(padded_value(value));
  options.num_padded = num_padded;
  options.source = {num_samples, shuffle, nullptr, num_shards, shard_id};
  if (!sampler.is_none()) options.source.sampler = sampler_of(sampler);
  return without_gil([&] { return data::from_mindrecord(files, options); });
}

}  // namespace

void bind_mindrecord(nb::module_& m) {
  nb::module_ module = m.def_submodule("mindrecord");
  nb::class_<PyReader>(module, "Reader")
      .def(nb::init<const FileNames&, const Names&>())
      .def("read", &PyReader::read)
      .def("rows", [](const PyReader& r) { return r.reader().rows(); })
      .def("schema", [](const PyReader& r) { return r.reader().schema().text(); })
      .def("index_fields", [](const PyReader& r) { return r.reader().index_fields(); })
      .def("categories",
           [](const PyReader& r, const std::string& field) {
             std::vector<std::pair<std::string, int64_t>> out;
             for (auto& [name, count] : without_gil([&] { return r.reader().categories(field); }))
               out.emplace_back(name, count);
             return out;
           })
      .def("rows_of_category", [](const PyReader& r, const std::string& field, const std::string& name) {
        return without_gil([&] { return r.reader().rows_of_category(field, name); });
      });
  nb::class_<PyWriter>(module, "Writer")
      .def_static("open", &open_writer, nb::arg("file"), nb::arg("schema"), nb::arg("description"),
                  nb::arg("index").none(), nb::arg("files"), nb::arg("header_size"), nb::arg("page_size"),
                  nb::arg("overwrite"))
      .def_static("append",
                  [](const std::string& file) {
                    return new PyWriter(without_gil([&] { return mr::Writer::append(file); }));
                  })
      .def("schema", &PyWriter::schema)
      .def("write", &PyWriter::write)
      .def("commit", &PyWriter::commit);
  module.def("check_header_size", &mr::check_header_size);
  module.def("check_page_size", &mr::check_page_size);
  module.def("check_schema", [](const std::string& schema) { return mr::Schema::parse(schema).text(); });
  module.def("dataset", &dataset, nb::arg("files"), nb::arg("columns"), nb::arg("file_shuffle").none(),
             nb::arg("padded_row"), nb::arg("num_padded"), nb::arg("num_samples").none(),
             nb::arg("shuffle").none(), nb::arg("sampler").none(), nb::arg("num_shards").none(),
             nb::arg("shard_id").none());
}

}  // namespace sorus::python
