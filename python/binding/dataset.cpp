#include "binding/dataset.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <random>

#include "binding/release_gil.h"
#include "sorus/data/classes.h"
#include "sorus/data/config.h"
#include "sorus/data/row_reader.h"
#include "sorus/data/sources/image_sources.h"
#include "sorus/data/vision/vision.h"

/// The data engine as Python sees it: `_core.data`. The package's classes are thin over these.
namespace sorus::python {

using data::Dataset;
using Names = std::vector<std::string>;

/// Single rows as lists of arrays.
struct RowReader {
  data::ReadRow read;

  [[nodiscard]] nb::list at(int64_t place) const {
    const data::Chunk row = without_gil([&] { return read(place); });
    nb::list out;
    for (const data::Column& column : row.columns) out.append(row_to_python(column, 0, true));
    return out;
  }
};

/// A sampler inside Python.
struct PySampler {
  data::SamplerPtr sampler;
};

data::SamplerPtr sampler_of(nb::handle sampler) { return nb::cast<PySampler&>(sampler).sampler; }

namespace {

/// A running pipeline; ended without the GIL, which its thread may need to end.
class PyIterator {
 public:
  PyIterator(const Dataset& dataset, int64_t epochs, bool as_numpy) : as_numpy_(as_numpy) {
    data::IterateOptions options;
    options.epochs = epochs;
    iterator_ = std::make_unique<data::DatasetIterator>(dataset.iterate(options));
  }
  ~PyIterator() {
    GilRelease release;
    iterator_.reset();
  }
  PyIterator(const PyIterator&) = delete;
  PyIterator& operator=(const PyIterator&) = delete;

  /// A list with a value for each column; None at the end of an epoch.
  nb::object next() {
    using Event = data::DatasetIterator::Event;
    Event event = iterator_->poll(std::chrono::milliseconds(0));
    while (event == Event::kNotYet) {
      constexpr std::chrono::milliseconds kBetweenSignals{100};
      event = without_gil([&] { return iterator_->poll(kBetweenSignals); });
      if (event == Event::kNotYet && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    SORUS_CHECK(event != Event::kFinished, RuntimeError,
                "dataset iterator: no epoch is left: all that num_epochs asked for have been read");
    if (event == Event::kEndOfEpoch) return nb::none();
    nb::list row;
    for (const data::Column& column : iterator_->current().columns)
      row.append(row_to_python(column, iterator_->row(), as_numpy_));
    return row;
  }
  void stop() {
    GilRelease release;
    iterator_->stop();
  }
  nb::dict state() const {
    const data::IteratorState state = without_gil([this] { return iterator_->state(); });
    return state_to_python(state);
  }
  nb::dict statistics() const {
    const data::PipelineStatistics of = iterator_->statistics();
    nb::list steps;
    for (const data::StepStatistics& s : of.steps) {
      nb::dict step;
      step["step"] = s.step;
      step["rows"] = s.rows;
      step["seconds"] = s.seconds;
      steps.append(step);
    }
    nb::dict out;
    out["steps"] = steps;
    out["seconds"] = of.seconds;
    out["reader_waited"] = of.reader_waited;
    out["pipeline_waited"] = of.pipeline_waited;
    out["verdict"] = of.verdict();
    return out;
  }
  void load(const nb::dict& given) {
    const data::IteratorState state = state_from_python(given);
    GilRelease release;
    iterator_->load(state);
  }

 private:
  std::unique_ptr<data::DatasetIterator> iterator_;
  bool as_numpy_;
};

/// A name of a dtype, "string" or "object"; None for a shape that has none.
nb::tuple type_to_python(const data::RowType& type) {
  std::string name = type.kind == data::ItemKind::kStrings   ? "string"
                     : type.kind == data::ItemKind::kBytes   ? "bytes"
                     : type.kind == data::ItemKind::kObjects ? "object"
                                                             : std::string(dtype_name(type.dtype));
  nb::list shape;
  for (int i = 0; i < type.shape.rank(); ++i) shape.append(type.shape.size(i));
  return nb::make_tuple(name, shape);
}

data::OperationPtr operation_of(nb::handle value) {
  if (nb::isinstance<PyOperation>(value)) return nb::cast<PyOperation&>(value).operation;
  return python_operation(nb::borrow(value));
}
std::vector<data::OperationPtr> operations_of(const nb::list& values) {
  std::vector<data::OperationPtr> operations;
  for (nb::handle value : values) operations.push_back(operation_of(value));
  return operations;
}

/// {column: (shape or None, value)} as padded_batch has it.
std::map<std::string, data::PadTo> padding_of(const nb::dict& pad_info) {
  std::map<std::string, data::PadTo> pads;
  for (auto [name, info] : pad_info) {
    data::PadTo pad;
    nb::object shape = nb::borrow(info)[0];
    nb::object value = nb::borrow(info)[1];
    if (!shape.is_none())
      for (nb::handle extent : shape)
        pad.shape.push_back(extent.is_none() ? -1 : nb::cast<int64_t>(nb::int_(nb::borrow(extent))));
    if (PyUnicode_Check(value.ptr()))
      pad.text = nb::cast<std::string>(value);
    else if (!value.is_none())
      pad.value = nb::cast<double>(nb::float_(value));
    pads.emplace(nb::cast<std::string>(name), std::move(pad));
  }
  return pads;
}

Dataset batch(const Dataset& self, nb::handle size, bool drop_remainder, nb::object per_batch_map,
              Names inputs, Names outputs, nb::object pad_info) {
  data::BatchOptions options;
  options.drop_remainder = drop_remainder;
  if (PyCallable_Check(size.ptr())) {
    auto callable = std::make_shared<Held>(nb::borrow(size));
    options.size_of = [callable](const data::BatchInfo& info) {
      GilAcquire gil;
      nb::object given = callable->get()(nb::cast(info));
      int64_t rows = PyLong_AsLongLong(given.ptr());
      if (rows == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        raise<TypeError>("batch: batch_size gives no size: got {} of its function, need an int",
                         type_text(given.ptr()));
      }
      return rows;
    };
  } else {
    options.size = nb::cast<int64_t>(size);
  }
  if (!per_batch_map.is_none()) options.operation = python_batch_operation(std::move(per_batch_map));
  options.inputs = std::move(inputs);
  options.outputs = std::move(outputs);
  if (!pad_info.is_none()) {
    options.pads = true;
    options.pad_to = padding_of(nb::cast<nb::dict>(pad_info));
  }
  return self.batch(std::move(options));
}

Dataset sync_wait(const Dataset& self, const std::string& condition, int64_t num_batch, nb::object callback) {
  data::GateCallback call;
  if (!callback.is_none()) {
    call = [held = std::make_shared<Held>(std::move(callback))](const std::any& data) {
      GilAcquire gil;
      held->get()(std::any_cast<const std::shared_ptr<Held>&>(data)->get());
    };
  }
  return self.sync_wait(condition, num_batch, std::move(call));
}

void sync_update(const Dataset& self, const std::string& condition, std::optional<int64_t> num_batch,
                 nb::object data) {
  const std::shared_ptr<data::Gate> gate = self.gate(condition);
  constexpr std::chrono::milliseconds kBetweenSignals{100};
  while (!without_gil([&] { return gate->settle(kBetweenSignals); }))
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  const std::any held = std::make_shared<Held>(std::move(data));
  gate->open(num_batch, held);
}

Dataset bucket(const Dataset& self, Names columns, std::vector<int64_t> boundaries,
               std::vector<int64_t> batch_sizes, nb::object length, nb::object pad_info, bool to_boundary,
               bool drop_remainder) {
  data::BucketOptions options{.columns = std::move(columns),
                              .boundaries = std::move(boundaries),
                              .batch_sizes = std::move(batch_sizes),
                              .length = length.is_none() ? nullptr : python_row_length(std::move(length)),
                              .pads = !pad_info.is_none(),
                              .pad_to = {},
                              .pad_to_boundary = to_boundary,
                              .drop_remainder = drop_remainder};
  if (options.pads) options.pad_to = padding_of(nb::cast<nb::dict>(pad_info));
  return self.bucket_batch_by_length(std::move(options));
}

/// Columns as arrays or lists whose first axis are the rows.
Dataset from_arrays(Names names, const nb::list& values, const PySampler& sampler) {
  data::Chunk rows;
  for (nb::handle value : values) {
    nb::object array = nb::module_::import_("numpy").attr("asarray")(value);
    auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (kind != "U" && kind != "S" && kind != "O") {
      rows.columns.push_back(data::rows_of(tensor_from_object(array.ptr(), nullptr)));
      continue;
    }
    RowBuilder builder("NumpySlicesDataset", 1);
    for (nb::handle row : value)
      builder.add(
          PyTuple_Check(row.ptr()) ? nb::module_::import_("numpy").attr("asarray")(row) : nb::borrow(row),
          false);
    rows.columns.push_back(builder.finish().at(0));
  }
  rows.rows = rows.columns.empty() ? 0 : rows.columns.front().rows;
  return data::from_columns(std::move(names), std::move(rows), sampler.sampler);
}

PySampler choose(const std::string& source, std::optional<int64_t> num_samples, std::optional<bool> shuffle,
                 nb::handle sampler, std::optional<int64_t> num_shards, std::optional<int64_t> shard_id) {
  data::SourceOptions options{num_samples, shuffle, nullptr, num_shards, shard_id};
  if (!sampler.is_none()) options.sampler = nb::cast<PySampler&>(sampler).sampler;
  return {data::choose_sampler(source.c_str(), options)};
}

void bind_image_sources(nb::module_& m) {
  auto labelled = [&m](const char* name,
                       Dataset (*make)(const std::string&, const std::string&, const data::SourceOptions&)) {
    m.def(name, [make](const std::string& folder, const std::string& usage, const PySampler& sampler) {
      return make(folder, usage, {.sampler = sampler.sampler});
    });
  };
  labelled("mnist", &data::mnist);
  labelled("fashion_mnist", &data::fashion_mnist);
  labelled("kmnist", &data::kmnist);
  labelled("cifar10", &data::cifar10);
  labelled("cifar100", &data::cifar100);
  m.def("emnist", [](const std::string& folder, const std::string& name, const std::string& usage,
                     const PySampler& sampler) {
    return data::emnist(folder, name, usage, {.sampler = sampler.sampler});
  });
  m.def("qmnist",
        [](const std::string& folder, const std::string& usage, bool compat, const PySampler& sampler) {
          return data::qmnist(folder, usage, compat, {.sampler = sampler.sampler});
        });
  m.def("image_folder_classes", &data::image_folder_classes);
  m.def("image_folder", [](const std::string& folder, std::vector<std::string> extensions,
                           data::ClassIndexing classes, bool decode, const PySampler& sampler) {
    data::ImageFolderOptions what{std::move(extensions), std::move(classes), decode};
    return without_gil([&] { return data::image_folder(folder, what, {.sampler = sampler.sampler}); });
  });
}

void bind_datasets(nb::module_& m) {
  nb::class_<data::BatchInfo>(m, "BatchInfo", "Which batch is being made, counted from 0.")
      .def("__getstate__", [](const data::BatchInfo& i) { return std::make_pair(i.epoch, i.batch); })
      .def("__setstate__",
           [](data::BatchInfo& i, std::pair<int64_t, int64_t> numbers) {
             new (&i) data::BatchInfo{numbers.first, numbers.second};
           })
      .def("get_batch_num", [](const data::BatchInfo& i) { return i.batch; })
      .def("get_epoch_num", [](const data::BatchInfo& i) { return i.epoch; });
  nb::class_<PyIterator>(m, "Iterator")
      .def("next", &PyIterator::next)
      .def("stop", &PyIterator::stop)
      .def("state", &PyIterator::state)
      .def("statistics", &PyIterator::statistics)
      .def("load", &PyIterator::load);
  nb::class_<RowReader>(m, "RowReader").def("at", &RowReader::at);
  nb::class_<Dataset>(m, "Pipeline")
      .def("map",
           [](const Dataset& d, const nb::list& operations, Names inputs, Names outputs) {
             return d.map(operations_of(operations), std::move(inputs), std::move(outputs));
           })
      .def("batch", &batch, nb::arg("size"), nb::arg("drop_remainder"), nb::arg("per_batch_map").none(),
           nb::arg("inputs"), nb::arg("outputs"), nb::arg("pad_info").none())
      .def("bucket", &bucket, nb::arg("columns"), nb::arg("boundaries"), nb::arg("batch_sizes"),
           nb::arg("length").none(), nb::arg("pad_info").none(), nb::arg("to_boundary"),
           nb::arg("drop_remainder"))
      .def("shuffle", &Dataset::shuffle)
      .def("sync_wait", &sync_wait, nb::arg("condition"), nb::arg("num_batch"), nb::arg("callback").none())
      .def("sync_update", &sync_update, nb::arg("condition"), nb::arg("num_batch").none(),
           nb::arg("data").none())
      .def("disable_sync", &Dataset::disable_sync)
      .def("is_sync", [](const Dataset& d) { return !data::gates_of(d.node()).empty(); })
      .def("fix_order", &Dataset::fix_order)
      .def("repeat", &Dataset::repeat)
      .def("take", &Dataset::take)
      .def("skip", &Dataset::skip)
      .def("project", &Dataset::project)
      .def("rename", &Dataset::rename)
      .def("filter",
           [](const Dataset& d, nb::object predicate, Names inputs) {
             return d.filter(python_predicate(std::move(predicate)), std::move(inputs));
           })
      .def("concat", &Dataset::concat)
      .def("names", &Dataset::names)
      .def("row_reader",
           [](const Dataset& d) { return without_gil([&] { return RowReader{data::row_reader(d)}; }); })
      .def("size", [](const Dataset& d) { return without_gil([&] { return d.size(); }); })
      .def("known_size", [](const Dataset& d) { return d.node()->size(); })
      .def("types",
           [](const Dataset& d) {
             nb::list types;
             for (const data::RowType& type : without_gil([&] { return d.types(); }))
               types.append(type_to_python(type));
             return types;
           })
      .def("iterate", [](const Dataset& d, int64_t epochs, bool as_numpy) {
        return new PyIterator(d, epochs, as_numpy);  // owned by the Python object
      });
  m.def("zip", &data::zip);
  m.def("from_arrays", &from_arrays);
  bind_image_sources(m);
  m.def(
      "from_random_access",
      [](nb::object source, Names names, nb::object reader, const PySampler& sampler) {
        return data::from_source(python_source(std::move(source), std::move(names), std::move(reader)),
                                 sampler.sampler);
      },
      nb::arg("source"), nb::arg("names"), nb::arg("reader").none(), nb::arg("sampler"));
  m.def("from_iterable",
        [](nb::object source, Names names) { return python_iterable(std::move(source), std::move(names)); });
}

void bind_samplers(nb::module_& m) {
  using Count = std::optional<int64_t>;
  nb::class_<PySampler>(m, "Sampler").def("count", [](const PySampler& s, int64_t rows) {
    return s.sampler->count(rows);
  });
  m.def("choose_sampler", &choose, nb::arg("source"), nb::arg("num_samples").none(),
        nb::arg("shuffle").none(), nb::arg("sampler").none(), nb::arg("num_shards").none(),
        nb::arg("shard_id").none());
  m.def(
      "sequential_sampler",
      [](int64_t start, Count n) { return PySampler{data::sequential_sampler(start, n)}; }, nb::arg("start"),
      nb::arg("num_samples").none());
  m.def(
      "random_sampler",
      [](bool replacement, Count n) { return PySampler{data::random_sampler(replacement, n)}; },
      nb::arg("replacement"), nb::arg("num_samples").none());
  m.def(
      "distributed_sampler",
      [](int64_t shards, int64_t shard, bool shuffle, Count n, int64_t offset) {
        return PySampler{data::distributed_sampler(shards, shard, shuffle, n, offset)};
      },
      nb::arg("num_shards"), nb::arg("shard_id"), nb::arg("shuffle"), nb::arg("num_samples").none(),
      nb::arg("offset"));
  m.def(
      "subset_sampler",
      [](std::vector<int64_t> ids, Count n) { return PySampler{data::subset_sampler(std::move(ids), n)}; },
      nb::arg("indices"), nb::arg("num_samples").none());
  m.def(
      "subset_random_sampler",
      [](std::vector<int64_t> ids, Count n) {
        return PySampler{data::subset_random_sampler(std::move(ids), n)};
      },
      nb::arg("indices"), nb::arg("num_samples").none());
  m.def(
      "weighted_sampler",
      [](std::vector<double> weights, Count n, bool replacement) {
        return PySampler{data::weighted_sampler(std::move(weights), n, replacement)};
      },
      nb::arg("weights"), nb::arg("num_samples").none(), nb::arg("replacement"));
  m.def(
      "class_sampler",
      [](int64_t per_class, bool shuffle, Count n, std::string column) {
        return PySampler{data::class_sampler(per_class, shuffle, n, std::move(column))};
      },
      nb::arg("per_class"), nb::arg("shuffle"), nb::arg("num_samples").none(), nb::arg("column"));
  m.def("chained_sampler", [](const PySampler& parent, const PySampler& child) {
    return PySampler{data::chained_sampler(parent.sampler, child.sampler)};
  });
  m.def("python_sampler", [](nb::object sampler) { return PySampler{python_sampler(std::move(sampler))}; });
}

/// Seeds of operations called on their own: the settings' seed and a counter, or chance.
data::RowContext eager_context() {
  static std::atomic<uint64_t> calls{0};
  uint32_t seed = data::config().seed;
  if (seed == data::kNoSeed) seed = std::random_device{}();
  return data::RowContext::make(seed, UINT64_MAX, calls++, 0);
}

/// One value for one, as transforms have them; a tuple when there are several.
nb::object call_operation(const PyOperation& self, const nb::args& values) {
  std::exception_ptr error;
  std::vector<data::Column> columns;
  for (nb::handle value : values) columns.push_back(row_from_python(self.operation->name().c_str(), value));
  columns = self.operation->apply(std::move(columns), eager_context(), error);
  if (error) std::rethrow_exception(error);
  if (columns.size() == 1) return row_to_python(columns.front(), 0, true);
  nb::list results;
  for (const data::Column& column : columns) results.append(row_to_python(column, 0, true));
  return nb::tuple(results);
}

/// A range as Python has it: (low, high).
using Range = std::pair<double, double>;

void bind_color_operations(nb::module_& m) {
  auto made = [](data::OperationPtr operation) { return PyOperation{std::move(operation)}; };
  m.def("adjust_hue", [made](double factor) { return made(data::adjust_hue(factor)); });
  m.def("adjust_sharpness", [made](double factor) { return made(data::adjust_sharpness(factor)); });
  m.def("random_color_adjust", [made](Range brightness, Range contrast, Range saturation, Range hue) {
    return made(data::random_color_adjust({brightness, contrast, saturation, hue}));
  });
  m.def("random_color", [made](Range degrees) { return made(data::random_color(degrees)); });
  m.def("random_sharpness", [made](Range degrees) { return made(data::random_sharpness(degrees)); });
  m.def("random_posterize",
        [made](int64_t low, int64_t high) { return made(data::random_posterize(low, high)); });
  m.def("random_solarize",
        [made](int64_t low, int64_t high) { return made(data::random_solarize(low, high)); });
  m.def("with_probability",
        [made](const std::string& name, const PyOperation& transform, double probability) {
          auto inner = std::dynamic_pointer_cast<const data::Transform>(transform.operation);
          return made(data::with_probability(name, std::move(inner), probability));
        });
}

void bind_warps(nb::module_& m) {
  auto made = [](data::OperationPtr operation) { return PyOperation{std::move(operation)}; };
  nb::class_<data::WarpOptions>(m, "WarpOptions")
      .def(
          "__init__",
          [](data::WarpOptions* o, std::vector<double> fill, bool linear, std::optional<Range> center) {
            new (o) data::WarpOptions{std::move(fill), linear, center};
          },
          nb::arg("fill"), nb::arg("linear"), nb::arg("center").none());
  m.def("rotate", [made](double degrees, const data::WarpOptions& options) {
    return made(data::rotate(degrees, options));
  });
  m.def(
      "affine",
      [made](double degrees, Range translate, double scale, Range shear, const data::WarpOptions& options,
             Range pixels) {
        return made(data::affine({degrees, translate, scale, shear, pixels}, options));
      },
      nb::arg("degrees"), nb::arg("translate"), nb::arg("scale"), nb::arg("shear"), nb::arg("options"),
      nb::arg("pixels") = Range{0, 0});
  m.def("random_rotation", [made](Range degrees, const data::WarpOptions& options) {
    return made(data::random_rotation(degrees, options));
  });
  m.def("random_affine", [made](Range degrees, Range translate_x, Range translate_y, Range scale,
                                Range shear_x, Range shear_y, const data::WarpOptions& options) {
    return made(data::random_affine({degrees, translate_x, translate_y, scale, shear_x, shear_y}, options));
  });
  m.def("random_erasing",
        [made](double probability, Range scale, Range ratio, std::vector<double> value, int64_t attempts) {
          return made(data::random_erasing({probability, scale, ratio, std::move(value), attempts}));
        });
  m.def("cut_out", [made](int64_t length, int64_t patches, bool is_hwc) {
    return made(data::cut_out(length, patches, is_hwc));
  });
}

/// A slice, a list of places, one place, or an ellipsis for the whole axis.
data::SliceAxis slice_axis(nb::handle value) {
  data::SliceAxis axis;
  if (value.is(nb::ellipsis()) || value.is_none()) return axis;
  if (PySlice_Check(value.ptr())) {
    auto part = [&](const char* name) -> std::optional<int64_t> {
      nb::object given = value.attr(name);
      return given.is_none() ? std::nullopt : std::optional(nb::cast<int64_t>(given));
    };
    axis.start = part("start");
    axis.stop = part("stop");
    axis.step = part("step").value_or(1);
    return axis;
  }
  if (nb::isinstance<nb::int_>(value))
    axis.list = {nb::cast<int64_t>(value)};
  else
    axis.list = nb::cast<std::vector<int64_t>>(value);
  return axis;
}

void bind_array_operations(nb::module_& m) {
  auto made = [](data::OperationPtr operation) { return PyOperation{std::move(operation)}; };
  m.def("pad_end", [made](std::vector<int64_t> shape, double value) {
    return made(data::pad_end(std::move(shape), value));
  });
  m.def("fill", [made](double value) { return made(data::fill(value)); });
  m.def("mask", [made](int comparison, double constant, nb::handle dtype) {
    DType t{};
    SORUS_CHECK(to_dtype(dtype.ptr(), &t), TypeError, "Mask: dtype is no dtype: got {}",
                type_text(dtype.ptr()));
    return made(data::mask(static_cast<data::Comparison>(comparison), constant, t));
  });
  m.def("slice", [made](const nb::list& slices) {
    std::vector<data::SliceAxis> axes;
    for (nb::handle value : slices) axes.push_back(slice_axis(value));
    return made(data::slice(std::move(axes)));
  });
  m.def(
      "concatenate",
      [made](nb::object prepend, nb::object append) {
        auto tensor = [](const nb::object& value) {
          return value.is_none() ? std::nullopt : std::optional(tensor_from_object(value.ptr(), nullptr));
        };
        return made(data::concatenate_arrays(tensor(prepend), tensor(append)));
      },
      nb::arg("prepend").none(), nb::arg("append").none());
  m.def("duplicate", [made] { return made(data::duplicate()); });
  m.def("unique", [made] { return made(data::unique()); });
  m.def("random_apply", [made](const nb::list& operations, double probability) {
    return made(data::random_apply(operations_of(operations), probability));
  });
  m.def("random_choice",
        [made](const nb::list& operations) { return made(data::random_choice(operations_of(operations))); });
  m.def("random_order",
        [made](const nb::list& operations) { return made(data::random_order(operations_of(operations))); });
  m.def("random_subpolicy", [made](const nb::list& policy) {
    std::vector<data::Subpolicy> subpolicies;
    for (nb::handle steps : policy) {
      subpolicies.emplace_back();
      for (nb::handle step : steps)
        subpolicies.back().emplace_back(operation_of(step[0]), nb::cast<double>(nb::float_(step[1])));
    }
    return made(data::random_subpolicy(subpolicies));
  });
}

data::Padding padding(const std::vector<int64_t>& p) { return {p.at(0), p.at(1), p.at(2), p.at(3)}; }

void bind_operations(nb::module_& m) {
  auto made = [](data::OperationPtr operation) { return PyOperation{std::move(operation)}; };
  nb::class_<PyOperation>(m, "Operation").def("__call__", &call_operation);
  m.def("compose",
        [](const nb::list& operations) { return PyOperation{data::compose(operations_of(operations))}; });
  m.def("type_cast", [made](nb::handle dtype) {
    DType t{};
    SORUS_CHECK(to_dtype(dtype.ptr(), &t), TypeError, "TypeCast: output_type is no dtype: got {}",
                type_text(dtype.ptr()));
    return made(data::type_cast(t));
  });
  m.def("one_hot",
        [made](int64_t classes, double smoothing) { return made(data::one_hot(classes, smoothing)); });
  m.def("resize", [made](const std::vector<int64_t>& size, int interpolation) {
    auto kind = static_cast<data::Interpolation>(interpolation);
    return made(size.size() == 1 ? data::resize_shorter(size[0], kind)
                                 : data::resize(size.at(0), size.at(1), kind));
  });
  m.def("rescale", [made](double factor, double shift) { return made(data::rescale(factor, shift)); });
  m.def("normalize", [made](std::vector<float> mean, std::vector<float> std, bool is_hwc) {
    return made(data::normalize(std::move(mean), std::move(std), is_hwc));
  });
  m.def("hwc_to_chw", [made] { return made(data::hwc_to_chw()); });
  m.def("invert", [made] { return made(data::invert()); });
  m.def("to_tensor", [made](nb::handle dtype) {
    DType t{};
    SORUS_CHECK(to_dtype(dtype.ptr(), &t), TypeError, "ToTensor: output_type is no dtype: got {}",
                type_text(dtype.ptr()));
    return made(data::to_tensor(t));
  });
  m.def("posterize", [made](int64_t bits) { return made(data::posterize(bits)); });
  m.def("solarize", [made](int64_t low, int64_t high) { return made(data::solarize(low, high)); });
  m.def("adjust_brightness", [made](double factor) { return made(data::adjust_brightness(factor)); });
  m.def("adjust_contrast", [made](double factor) { return made(data::adjust_contrast(factor)); });
  m.def("adjust_saturation", [made](double factor) { return made(data::adjust_saturation(factor)); });
  m.def("equalize", [made] { return made(data::equalize()); });
  m.def("auto_contrast", [made](double cutoff, std::vector<int64_t> ignore) {
    return made(data::auto_contrast(cutoff, std::move(ignore)));
  });
  m.def("reverse_channels", [made] { return made(data::reverse_channels()); });
  m.def("to_gray", [made](bool bgr, int64_t channels) { return made(data::to_gray(bgr, channels)); });
  m.def("gaussian_blur", [made](int64_t width, int64_t height, double sigma_x, double sigma_y) {
    return made(data::gaussian_blur(width, height, sigma_x, sigma_y));
  });
  m.def("flip", [made](bool horizontal) { return made(data::flip(horizontal)); });
  m.def("random_flip", [made](bool horizontal, double probability) {
    return made(data::random_flip(horizontal, probability));
  });
  m.def("decode", [made] { return made(data::decode()); });
  auto resized = [&m, made](const char* name, auto make) {
    m.def(name, [made, make](int64_t height, int64_t width, std::pair<double, double> scale,
                             std::pair<double, double> ratio, int64_t attempts, int interpolation) {
      return made(
          make(height, width, {scale, ratio, attempts}, static_cast<data::Interpolation>(interpolation)));
    });
  };
  resized("random_resized_crop", &data::random_resized_crop);
  resized("random_crop_decode_resize", &data::random_crop_decode_resize);
  m.def("crop", [made](int64_t top, int64_t left, int64_t height, int64_t width) {
    return made(data::crop(top, left, height, width));
  });
  m.def("center_crop",
        [made](int64_t height, int64_t width) { return made(data::center_crop(height, width)); });
  m.def("pad", [made](const std::vector<int64_t>& p, std::vector<double> fill, int border) {
    return made(data::pad(padding(p), std::move(fill), static_cast<data::Border>(border)));
  });
  m.def("random_crop", [made](int64_t height, int64_t width, const std::vector<int64_t>& p,
                              bool pad_if_needed, std::vector<double> fill, int border) {
    return made(data::random_crop(height, width, padding(p), pad_if_needed, std::move(fill),
                                  static_cast<data::Border>(border)));
  });
}

void bind_config(nb::module_& m) {
  m.def("seed", [] { return data::config().seed; });
  m.def("set_seed", [](uint32_t seed) {
    data::Config c = data::config();
    c.seed = seed;
    data::set_config(c);
  });
  m.def("prefetch_size", [] { return data::config().prefetch_size; });
  m.def("set_prefetch_size", [](int64_t size) {
    data::Config c = data::config();
    c.prefetch_size = size;
    data::set_config(c);
  });
  m.def("set_gate_timeout", [](int64_t seconds, bool opens) {
    data::Config c = data::config();
    c.callback_timeout = seconds;
    c.opens_late_gates = opens;
    data::set_config(c);
  });
}

}  // namespace

void bind_dataset(nb::module_& m) {
  nb::module_ data = m.def_submodule("data");
  bind_samplers(data);
  bind_operations(data);
  bind_color_operations(data);
  bind_warps(data);
  bind_array_operations(data);
  bind_text_operations(data);
  bind_audio_operations(data);
  bind_datasets(data);
  bind_file_sources(data);
  bind_image_files(data);
  bind_config(data);
}

}  // namespace sorus::python
