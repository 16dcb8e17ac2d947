#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "binding/bridge.h"
#include "sorus/data/dataset.h"

/// Python objects inside data pipelines. A pipeline runs on a thread of its own, which takes the GIL for each
/// call into Python: the one Python lane. Objects kept by a pipeline are let go with the GIL held, whichever
/// thread ends it.
namespace sorus::python {

/// An operation inside Python.
struct PyOperation {
  data::OperationPtr operation;
};
/// Those on strings, into `_core.data`.
void bind_text_operations(nb::module_& m);
/// Those on sound.
void bind_audio_operations(nb::module_& m);

/// A Python object that any thread may destroy.
class Held final : public data::Object {
 public:
  explicit Held(nb::object object) : object_(std::move(object)) {}
  ~Held() override;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  [[nodiscard]] const nb::object& get() const { return object_; }

 private:
  nb::object object_;
};

/// Row i as users see it: a Tensor or an array; arrays of str for strings, the object itself for objects.
/// Needs the GIL, as all here does.
[[nodiscard]] nb::object row_to_python(const data::Column& column, int64_t i, bool as_numpy);
/// One row from an array, a Tensor, a number, a string, a dict, or lists of them. Throws TypeError naming
/// `op`.
[[nodiscard]] data::Column row_from_python(const char* op, nb::handle value);
/// Rows that arrive one by one, each with as many columns.
class RowBuilder {
 public:
  /// `columns` -1: as many as the first row has.
  RowBuilder(const char* op, int64_t columns) : op_(op), wanted_(columns) {}
  /// A tuple (with `lists`, also a list) has a value for each column; anything else is the only column.
  void add(nb::handle row, bool lists);
  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] std::vector<data::Column> finish();

 private:
  const char* op_;
  int64_t wanted_;
  int64_t rows_ = 0;
  std::vector<std::vector<data::Column>> cells_;
};

/// A callable as an operation of map(): arrays in, an array or a tuple of arrays out.
[[nodiscard]] data::OperationPtr python_operation(nb::object callable);
/// A callable as per_batch_map: a list of arrays for each column and the BatchInfo in, as many lists out.
[[nodiscard]] std::shared_ptr<const data::BatchOperation> python_batch_operation(nb::object callable);
[[nodiscard]] std::shared_ptr<const data::Predicate> python_predicate(nb::object callable);
[[nodiscard]] std::shared_ptr<const data::RowLength> python_row_length(nb::object callable);
/// An object with __getitem__ and __len__ as a source; `reader`: its __getitem__ in processes, or None.
[[nodiscard]] std::shared_ptr<const data::RandomAccess> python_source(nb::object source,
                                                                      std::vector<std::string> names,
                                                                      nb::object reader);
/// A callable that gives an iterable, or an iterable, as a source.
[[nodiscard]] data::Dataset python_iterable(nb::object source, std::vector<std::string> names);
/// Adds the sources that read rows from files.
void bind_file_sources(nb::module_& m);
/// Where an iterator stands, as a dict of numbers, strings, lists and what sources gave, and back. Throws
/// KeyError, TypeError or ValueError for what is no such dict.
[[nodiscard]] nb::dict state_to_python(const data::IteratorState& state);
[[nodiscard]] data::IteratorState state_from_python(const nb::dict& given);
/// The sampler in an object of the package.
[[nodiscard]] data::SamplerPtr sampler_of(nb::handle sampler);
/// An iterable of row numbers as a sampler.
[[nodiscard]] data::SamplerPtr python_sampler(nb::object sampler);

/// Files of images and their bytes.
void bind_image_files(nb::module_& m);

}  // namespace sorus::python
