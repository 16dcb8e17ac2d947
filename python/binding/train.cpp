#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "binding/bridge.h"
#include "binding/release_gil.h"
#include "sorus/formats/checkpoint.h"
#include "sorus/train/callbacks.h"
#include "sorus/train/checkpoint.h"
#include "sorus/train/metrics.h"

/// Metrics, checkpoint files and what else of the train room Python uses.
namespace sorus::python {
namespace {

using train::LabelKind;
using train::Metric;

void update(Metric& metric, nb::args inputs) {
  std::vector<Tensor> in;
  for (nb::handle item : inputs) {
    SORUS_CHECK(is_tensor(item.ptr()), TypeError, "metric: input has the wrong type: got {}, need a Tensor",
                type_text(item.ptr()));
    in.push_back(tensor_of(item.ptr()));
  }
  metric.update(in);
}

/// A float for rank 0, else a float64 array.
nb::object eval(const Metric& metric) {
  Tensor value = metric.eval();
  if (value.rank() == 0) return nb::float_(value.item<double>());
  return to_numpy(value);
}

LabelKind kind_of(bool multilabel) {
  return multilabel ? LabelKind::kMultilabel : LabelKind::kClassification;
}

void bind_metrics(nb::module_& m) {
  nb::class_<Metric>(m, "Metric").def("clear", &Metric::clear).def("update", &update).def("eval", &eval);
  m.def("accuracy", [](bool multilabel) { return train::accuracy(kind_of(multilabel)); });
  m.def("top_k_accuracy", &train::top_k_accuracy);
  m.def("loss_metric", &train::loss);
  m.def("mean_absolute_error", &train::mean_absolute_error);
  m.def("mean_squared_error", &train::mean_squared_error);
  m.def("precision",
        [](bool multilabel, bool average) { return train::precision(kind_of(multilabel), average); });
  m.def("recall", [](bool multilabel, bool average) { return train::recall(kind_of(multilabel), average); });
  m.def("f_beta", &train::f_beta);
  m.def("confusion_matrix", &train::confusion_matrix);
  m.def("perplexity", &train::perplexity);
  m.def("dice", &train::dice);
}

/// Pairs (name, Tensor or str) of a file.
nb::list read_checkpoint(const std::string& path, bool check_crc, nb::object choose) {
  formats::CheckpointReadOptions options{.check_crc = check_crc, .choose = {}};
  if (!choose.is_none())
    options.choose = [&](const std::string& name) { return nb::cast<bool>(nb::bool_(choose(name))); };
  nb::list out;
  for (formats::CheckpointEntry& entry : formats::read_checkpoint(path, options)) {
    nb::object value;
    if (auto* tensor = std::get_if<Tensor>(&entry.value))
      value = wrap_object(std::move(*tensor));
    else
      value = nb::str(std::get<std::string>(entry.value).c_str());
    out.append(nb::make_tuple(entry.name, value));
  }
  return out;
}

void write_checkpoint(const std::string& path, nb::handle pairs, bool add_crc) {
  std::vector<formats::CheckpointEntry> entries;
  for (nb::handle pair : nb::iter(pairs)) {
    auto name = nb::cast<std::string>(pair[0]);
    nb::object value = pair[1];
    if (is_tensor(value.ptr()))
      entries.push_back({name, tensor_of(value.ptr())});
    else
      entries.push_back({name, nb::cast<std::string>(value)});
  }
  GilRelease release;
  formats::write_checkpoint(path, entries, add_crc);
}

}  // namespace

void bind_train(nb::module_& m) {
  bind_metrics(m);
  m.def("read_checkpoint", &read_checkpoint, nb::arg("path"), nb::arg("check_crc"), nb::arg("choose").none());
  m.def("write_checkpoint", &write_checkpoint);
  m.def("near_names", [](const std::string& name, const std::vector<std::string>& candidates) {
    return train::near_names(name, candidates);
  });
  m.def("checksum", [](nb::handle parameters) {
    std::vector<Parameter> list;
    for (nb::handle item : nb::iter(parameters)) list.emplace_back(tensor_of(item.ptr()));
    return train::checksum(list);
  });
  m.def("progress_line", &train::progress_line);
  m.def("output_is_terminal", &train::output_is_terminal);
}

}  // namespace sorus::python
