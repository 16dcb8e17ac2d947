#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "binding/dataset.h"
#include "binding/release_gil.h"

/// Python callables and sources as parts of a data pipeline.
namespace sorus::python {

using data::Chunk;
using data::Column;
using data::ItemKind;
using data::RowType;

Held::~Held() {
  drop_with_lock(object_.release().ptr(), [](void* object) { Py_XDECREF(static_cast<PyObject*>(object)); });
}

namespace {

nb::object numpy(const char* name) { return nb::module_::import_("numpy").attr(name); }
/// As an array; looked up once, since rows come by the thousand.
nb::object as_array(nb::handle value) {
  static PyObject* asarray = numpy("asarray").release().ptr();
  return nb::handle(asarray)(value);
}

nb::object bytes_object(std::string_view bytes) {
  return nb::steal(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

/// An array of NumPy's bytes, wide enough for the longest; NumPy has none of width 0.
nb::object bytes_to_numpy(const Column& column, int64_t i) {
  nb::list items;
  size_t width = 1;
  for (const std::string& item : column.row_strings(i)) {
    items.append(bytes_object(item));
    width = std::max(width, item.size());
  }
  nb::object array = numpy("array")(items, nb::arg("dtype") = nb::str(("S" + std::to_string(width)).c_str()));
  return array.attr("reshape")(shape_tuple(column.type.shape));
}

/// Throws ValueError for bytes that are no text.
nb::object text_of(const std::string& item) {
  PyObject* text = PyUnicode_DecodeUTF8(item.data(), static_cast<Py_ssize_t>(item.size()), nullptr);
  if (text) return nb::steal(text);
  PyErr_Clear();
  raise<ValueError>(
      "dataset: a string is no text: got bytes that are not UTF-8, need UTF-8; bytes without a "
      "text come as uint8");
}

nb::object strings_to_numpy(const Column& column, int64_t i) {
  nb::list items;
  for (const std::string& item : column.row_strings(i)) items.append(text_of(item));
  nb::object array = numpy("array")(items, nb::arg("dtype") = nb::str("str"));
  return array.attr("reshape")(shape_tuple(column.type.shape));
}

std::string string_of_bytes(nb::handle bytes) {
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

Shape shape_of_array(nb::handle array) {
  Shape shape;
  for (nb::handle extent : array.attr("shape")) shape.push_back(nb::cast<int64_t>(extent));
  return shape;
}

Column strings_from_numpy(nb::handle array) {
  std::vector<std::string> items;
  for (nb::handle item : array.attr("ravel")().attr("tolist")()) items.push_back(nb::cast<std::string>(item));
  return data::make_strings(shape_of_array(array), std::move(items), 1);
}

/// NumPy drops zeros at the end of each item; a single one fills its width and keeps them.
Column bytes_from_numpy(nb::handle array) {
  std::vector<std::string> items;
  if (nb::cast<int64_t>(array.attr("size")) == 1)
    items.push_back(string_of_bytes(array.attr("tobytes")()));
  else
    for (nb::handle item : array.attr("ravel")().attr("tolist")()) items.push_back(string_of_bytes(item));
  return data::make_strings(shape_of_array(array), std::move(items), 1, ItemKind::kBytes);
}

/// The element type of a buffer in the machine's own byte order; nothing for others.
std::optional<DType> dtype_of_buffer(const Py_buffer& buffer) {
  if (!buffer.format || buffer.format[0] == 0 || buffer.format[1] != 0) return std::nullopt;
  const bool is_signed = std::strchr("bhilq", buffer.format[0]) != nullptr;
  if (is_signed || std::strchr("BHILQ", buffer.format[0])) {
    switch (buffer.itemsize) {
      case 1:
        return is_signed ? DType::kInt8 : DType::kUInt8;
      case 2:
        return is_signed ? DType::kInt16 : DType::kUInt16;
      case 4:
        return is_signed ? DType::kInt32 : DType::kUInt32;
      default:
        return is_signed ? DType::kInt64 : DType::kUInt64;
    }
  }
  switch (buffer.format[0]) {
    case '?':
      return DType::kBool;
    case 'e':
      return DType::kFloat16;
    case 'f':
      return DType::kFloat32;
    case 'd':
      return DType::kFloat64;
    default:
      return std::nullopt;
  }
}

Column row_of_bytes(DType dtype, const Shape& shape, const void* bytes) {
  Column column = data::make_numbers({ItemKind::kNumbers, dtype, shape}, 1);
  std::memcpy(column.numbers->data(), bytes, column.type.bytes());
  return column;
}

/// Contiguous arrays and numbers, without a call of NumPy; false for anything else.
bool plain_row(PyObject* value, Column& out) {
  static auto* ndarray = reinterpret_cast<PyTypeObject*>(numpy("ndarray").release().ptr());
  static auto* scalar = reinterpret_cast<PyTypeObject*>(numpy("number").release().ptr());
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AS_DOUBLE(value);
    out = row_of_bytes(DType::kFloat64, {}, &number);
    return true;
  }
  if (PyLong_CheckExact(value)) {
    int overflow = 0;
    int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) out = row_of_bytes(DType::kInt64, {}, &number);
    return overflow == 0;
  }
  if (!PyObject_TypeCheck(value, ndarray) && !PyObject_TypeCheck(value, scalar)) return false;
  Py_buffer buffer;
  if (PyObject_GetBuffer(value, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  std::optional<DType> dtype = dtype_of_buffer(buffer);
  if (dtype && buffer.ndim <= kMaxRank) {
    Shape shape;
    for (int i = 0; i < buffer.ndim; ++i) shape.push_back(static_cast<int64_t>(buffer.shape[i]));
    out = row_of_bytes(*dtype, shape, buffer.buf);
  }
  PyBuffer_Release(&buffer);
  return dtype && buffer.ndim <= kMaxRank;
}

Column row_of_tensor(const Tensor& t) {
  Column column = data::make_numbers({ItemKind::kNumbers, t.dtype(), t.shape()}, 1);
  t.copy_to(column.numbers->data(), t.dtype());
  return column;
}

}  // namespace

nb::object row_to_python(const Column& column, int64_t i, bool as_numpy) {
  Column row = column.cell(i);
  switch (row.type.kind) {
    case ItemKind::kStrings:
      return strings_to_numpy(row, 0);
    case ItemKind::kBytes:
      return bytes_to_numpy(row, 0);
    case ItemKind::kObjects:
      return static_cast<const Held&>(*row.object(0)).get();
    case ItemKind::kNumbers:
      break;
  }
  return as_numpy ? to_numpy(row.tensor(0)) : wrap_object(row.tensor(0));
}

Column row_from_python(const char* op, nb::handle value) {
  Column plain;
  if (plain_row(value.ptr(), plain)) return plain;
  if (is_tensor(value.ptr())) return row_of_tensor(tensor_of(value.ptr()));
  if (PyBytes_Check(value.ptr()))
    return data::make_strings(Shape{}, {string_of_bytes(value)}, 1, ItemKind::kBytes);
  if (PyDict_Check(value.ptr())) return data::make_objects({std::make_shared<Held>(nb::borrow(value))});
  nb::object array = as_array(value);
  auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "U") return strings_from_numpy(array);
  if (kind == "S") return bytes_from_numpy(array);
  SORUS_CHECK(kind.find_first_of("biufV") == 0, TypeError,
              "{}: a value has the wrong type: got {} (NumPy kind '{}'), need numbers, strings or a dict", op,
              type_text(value.ptr()), kind);
  return row_of_tensor(tensor_from_object(array.ptr(), nullptr));
}

void RowBuilder::add(nb::handle row, bool lists) {
  bool several = PyTuple_Check(row.ptr()) || (lists && PyList_Check(row.ptr()));
  int64_t count = several ? static_cast<int64_t>(nb::len(row)) : 1;
  if (wanted_ < 0) wanted_ = count;
  SORUS_CHECK(count == wanted_, ValueError, "{}: number of columns does not fit: got {} in a row, need {}",
              op_, count, wanted_);
  cells_.resize(static_cast<size_t>(wanted_));
  std::vector<Column> made;
  if (several)
    for (nb::handle item : row) made.push_back(row_from_python(op_, item));
  else
    made.push_back(row_from_python(op_, row));
  for (size_t c = 0; c < made.size(); ++c) cells_[c].push_back(std::move(made[c]));
  ++rows_;
}

std::vector<Column> RowBuilder::finish() {
  std::vector<Column> columns;
  if (rows_ > 0)
    for (const auto& cells : cells_) columns.push_back(concatenate(std::span<const Column>(cells)));
  return columns;
}

namespace {

/// Rows of some columns as the arguments of calls. Rows of one shape are views of one copy, apart from each
/// other.
class Arguments {
 public:
  explicit Arguments(const std::vector<Column>& columns) : columns_(columns) {
    for (const Column& column : columns) {
      bool together = !column.is_ragged() && column.type.kind == ItemKind::kNumbers && column.rows > 0;
      arrays_.push_back(together ? to_numpy(column.batched(column.rows, "").tensor(0)) : nb::object());
    }
  }
  [[nodiscard]] nb::tuple row(int64_t i) const {
    nb::list arguments;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (arrays_[c].is_valid())
        arguments.append(arrays_[c][nb::make_tuple(i, nb::ellipsis())]);
      else
        arguments.append(row_to_python(columns_[c], i, true));
    }
    return nb::tuple(arguments);
  }

 private:
  const std::vector<Column>& columns_;
  std::vector<nb::object> arrays_;
};

/// The name of a function or of the class of an object, to tell pipelines apart.
std::string name_of(const Held& callable) {
  GilAcquire gil;
  nb::object object = callable.get();
  nb::object name = nb::getattr(object, "__qualname__", nb::none());
  return nb::cast<std::string>(nb::str(name.is_none() ? nb::type_name(object.type()) : name));
}

/// Processes in which a callable runs, 0: none; it is sorus.dataset._processes.InProcesses then.
int64_t processes_of(const nb::object& callable) {
  nb::object count = nb::getattr(callable, "sorus_processes", nb::none());
  return count.is_none() ? 0 : nb::cast<int64_t>(count);
}

/// Calls in those processes; the results before the first that fails, with `error` set.
nb::list call_in_processes(const nb::object& callable, const nb::list& calls, const nb::list& rows,
                           std::exception_ptr& error) {
  nb::tuple answer(callable.attr("run")(calls, rows));
  nb::object failure = answer[1];
  if (!failure.is_none()) {
    PyErr_SetObject(failure.type().ptr(), failure.ptr());
    error = std::make_exception_ptr(nb::python_error());
  }
  return nb::list(nb::object(answer[0]));
}

class PythonOperation final : public data::Operation {
 public:
  explicit PythonOperation(nb::object callable)
      : callable_(std::move(callable)),
        processes_(processes_of(callable_.get())),
        keyed_(nb::cast<bool>(nb::getattr(callable_.get(), "draws_by_row", nb::bool_(false)))) {}
  std::string name() const override { return "map"; }
  std::string text() const override { return name_of(callable_); }
  bool hosted() const override { return true; }
  int64_t processes() const override { return processes_; }
  std::vector<Column> apply(std::vector<Column> columns, const data::RowContext& context,
                            std::exception_ptr& error) const override {
    GilAcquire gil;
    RowBuilder rows("map", -1);
    int64_t count = columns.empty() ? 0 : columns.front().rows;
    try {
      Arguments arguments(columns);
      if (processes_ > 0) {
        nb::list calls, numbers;
        for (int64_t i = 0; i < count; ++i) {
          calls.append(arguments_of(arguments, i, context));
          numbers.append(context.first_row + i);
        }
        for (nb::handle row : call_in_processes(callable_.get(), calls, numbers, error)) rows.add(row, false);
      } else {
        nb::object function = keyed_ ? callable_.get().attr("at_row") : callable_.get();
        for (int64_t i = 0; i < count; ++i) rows.add(function(*arguments_of(arguments, i, context)), false);
      }
    } catch (...) {
      error = std::current_exception();
    }
    auto made = rows.finish();
    if (!made.empty()) return made;
    for (Column& column : columns) column = column.slice(0, 0);
    return columns;
  }

 private:
  /// A key for the row's random numbers comes first when the callable draws.
  nb::tuple arguments_of(const Arguments& arguments, int64_t i, const data::RowContext& context) const {
    nb::tuple row = arguments.row(i);
    if (!keyed_) return row;
    const auto words = context.draw(i);
    const uint64_t key = uint64_t{words[0]} << 32 | words[1];
    return nb::steal<nb::tuple>(PySequence_Concat(nb::make_tuple(key).ptr(), row.ptr()));
  }

  Held callable_;
  int64_t processes_;
  bool keyed_;  ///< draws random numbers, those of a row
};

class PythonBatchOperation final : public data::BatchOperation {
 public:
  explicit PythonBatchOperation(nb::object callable)
      : callable_(std::move(callable)), processes_(processes_of(callable_.get())) {}
  std::string text() const override { return name_of(callable_); }
  int64_t processes() const override { return processes_; }
  std::vector<Column> apply(std::vector<Column> columns, const data::BatchInfo& info) const override {
    GilAcquire gil;
    return columns_of(callable_.get()(*arguments_of(columns, info)));
  }
  std::vector<std::vector<Column>> apply_all(std::vector<std::vector<Column>> batches,
                                             const data::BatchInfo& first,
                                             std::exception_ptr& error) const override {
    if (processes_ == 0) return data::BatchOperation::apply_all(std::move(batches), first, error);
    GilAcquire gil;
    std::vector<std::vector<Column>> done;
    try {
      nb::list calls, numbers;
      data::BatchInfo info = first;
      for (const auto& batch : batches) {
        calls.append(arguments_of(batch, info));
        numbers.append(info.batch++);
      }
      for (nb::handle result : call_in_processes(callable_.get(), calls, numbers, error))
        done.push_back(columns_of(nb::borrow(result)));
    } catch (...) {
      error = std::current_exception();
    }
    return done;
  }

 private:
  static nb::tuple arguments_of(const std::vector<Column>& columns, const data::BatchInfo& info) {
    nb::list arguments;
    for (const Column& column : columns) {
      nb::list rows;
      for (int64_t i = 0; i < column.rows; ++i) rows.append(row_to_python(column, i, true));
      arguments.append(rows);
    }
    arguments.append(nb::cast(info));
    return nb::tuple(arguments);
  }
  static std::vector<Column> columns_of(nb::object result) {
    std::vector<Column> made;
    if (!PyTuple_Check(result.ptr())) result = nb::make_tuple(result);
    for (nb::handle column : result) {
      RowBuilder rows("per_batch_map", 1);
      for (nb::handle row : column) {
        // A row that is itself a tuple is an array, not several columns.
        rows.add(PyTuple_Check(row.ptr()) ? as_array(row) : nb::borrow(row), false);
      }
      SORUS_CHECK(rows.rows() > 0, ValueError, "per_batch_map: a column has no rows: need one or more");
      made.push_back(rows.finish().front());
    }
    return made;
  }

  Held callable_;
  int64_t processes_;
};

class PythonPredicate final : public data::Predicate {
 public:
  explicit PythonPredicate(nb::object callable) : callable_(std::move(callable)) {}
  std::string text() const override { return name_of(callable_); }
  bool hosted() const override { return true; }
  std::vector<bool> test(const std::vector<Column>& columns, int64_t rows,
                         std::exception_ptr& error) const override {
    GilAcquire gil;
    std::vector<bool> answers;
    try {
      Arguments arguments(columns);
      for (int64_t i = 0; i < rows; ++i) {
        nb::object answer = callable_.get()(*arguments.row(i));
        int truth = PyObject_IsTrue(answer.ptr());
        if (truth < 0) throw nb::python_error();
        answers.push_back(truth == 1);
      }
    } catch (...) {
      error = std::current_exception();
    }
    return answers;
  }

 private:
  Held callable_;
};

class PythonRowLength final : public data::RowLength {
 public:
  explicit PythonRowLength(nb::object callable) : callable_(std::move(callable)) {}
  std::string text() const override { return name_of(callable_); }
  bool hosted() const override { return true; }
  std::vector<int64_t> measure(const std::vector<Column>& columns, int64_t rows,
                               std::exception_ptr& error) const override {
    GilAcquire gil;
    std::vector<int64_t> lengths;
    try {
      Arguments arguments(columns);
      for (int64_t i = 0; i < rows; ++i) {
        nb::object given = callable_.get()(*arguments.row(i));
        nb::object whole = nb::steal(PyNumber_Index(given.ptr()));
        if (!whole.is_valid()) {
          PyErr_Clear();
          raise<TypeError>(
              "bucket_batch_by_length: element_length_function gives no length: got {}, need an int",
              type_text(given.ptr()));
        }
        lengths.push_back(nb::cast<int64_t>(whole));
      }
    } catch (...) {
      error = std::current_exception();
    }
    return lengths;
  }

 private:
  Held callable_;
};

class PythonSource final : public data::RandomAccess {
 public:
  /// `reader`: source.__getitem__ in processes, or None.
  PythonSource(nb::object source, std::vector<std::string> names, nb::object reader)
      : source_(std::move(source)),
        names_(std::move(names)),
        reader_(std::move(reader)),
        processes_(processes_of(reader_.get())) {}
  int64_t rows() const override {
    GilAcquire gil;
    return static_cast<int64_t>(nb::len(source_.get()));
  }
  std::vector<std::string> names() const override { return names_; }
  bool hosted() const override { return true; }
  Chunk read(const data::RowIds& ids, int64_t begin, int64_t count, const data::Run& run,
             std::exception_ptr& error) const override {
    GilAcquire gil;
    RowBuilder rows("GeneratorDataset", static_cast<int64_t>(names_.size()));
    try {
      if (processes_ > 0)
        read_in_processes(ids, begin, count, rows, error);
      else
        read_here(ids, begin, count, rows, run);
    } catch (const data::Cancelled&) {
      throw;
    } catch (...) {
      error = std::current_exception();
    }
    return {rows.finish(), rows.rows()};
  }

  int64_t processes() const override { return processes_; }

 private:
  void read_here(const data::RowIds& ids, int64_t begin, int64_t count, RowBuilder& rows,
                 const data::Run& run) const {
    data::Patience patience;
    for (int64_t i = 0; i < count && (i == 0 || !patience.ended()); ++i) {
      run.check();
      rows.add(source_.get()[nb::int_(ids[begin + i])], true);
    }
  }
  void read_in_processes(const data::RowIds& ids, int64_t begin, int64_t count, RowBuilder& rows,
                         std::exception_ptr& error) const {
    nb::list calls, numbers;
    for (int64_t i = 0; i < count; ++i) {
      calls.append(nb::make_tuple(ids[begin + i]));
      numbers.append(ids[begin + i]);
    }
    for (nb::handle row : call_in_processes(reader_.get(), calls, numbers, error)) rows.add(row, true);
  }

  Held source_;
  std::vector<std::string> names_;
  Held reader_;
  int64_t processes_;
};

class PythonSampler final : public data::Sampler {
 public:
  explicit PythonSampler(nb::object sampler) : sampler_(std::make_shared<const Held>(std::move(sampler))) {}
  data::SamplerRun start(int64_t rows, uint32_t) const override {
    return [sampler = sampler_, rows] {
      GilAcquire gil;
      data::RowIds ids;
      for (nb::handle item : sampler->get()) {
        auto id = nb::cast<int64_t>(nb::int_(nb::borrow(item)));
        SORUS_CHECK(id >= 0 && id < rows, IndexError, "sampler: index is out of range: got {}, need 0 to {}",
                    id, rows - 1);
        ids.list.push_back(id);
      }
      ids.count = std::ssize(ids.list);
      return ids;
    };
  }
  bool hosted() const override { return true; }
  std::optional<int64_t> count(int64_t) const override {
    GilAcquire gil;
    if (PyObject_HasAttrString(sampler_->get().ptr(), "__len__") == 0) return std::nullopt;
    return static_cast<int64_t>(nb::len(sampler_->get()));
  }

 private:
  std::shared_ptr<const Held> sampler_;
};

}  // namespace

data::OperationPtr python_operation(nb::object callable) {
  return std::make_shared<PythonOperation>(std::move(callable));
}
std::shared_ptr<const data::BatchOperation> python_batch_operation(nb::object callable) {
  return std::make_shared<PythonBatchOperation>(std::move(callable));
}
std::shared_ptr<const data::Predicate> python_predicate(nb::object callable) {
  return std::make_shared<PythonPredicate>(std::move(callable));
}
std::shared_ptr<const data::RowLength> python_row_length(nb::object callable) {
  return std::make_shared<PythonRowLength>(std::move(callable));
}
std::shared_ptr<const data::RandomAccess> python_source(nb::object source, std::vector<std::string> names,
                                                        nb::object reader) {
  return std::make_shared<PythonSource>(std::move(source), std::move(names), std::move(reader));
}
data::SamplerPtr python_sampler(nb::object sampler) {
  return std::make_shared<PythonSampler>(std::move(sampler));
}

}  // namespace sorus::python
