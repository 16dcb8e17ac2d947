#include "sorus/formats/summary.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "binding/bridge.h"
#include "binding/release_gil.h"
#include "sorus/compiler/boundary.h"
#include "sorus/formats/event_file.h"
#include "sorus/formats/graph_message.h"
#include "sorus/formats/lineage.h"

/// Summary and lineage files.
namespace sorus::python {
namespace {

using namespace formats;

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
nb::bytes to_bytes(const std::string& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

/// One value that is to be recorded. A landscape is a message, all others are tensors.
struct Given {
  std::string plugin, tag;
  Tensor tensor;
  std::string message;
};

SummaryValue value_of(const Given& given) {
  if (given.plugin == "scalar") return {given.tag, summary_scalar(given.tensor)};
  if (given.plugin == "image") return {given.tag, summary_image(given.tensor)};
  if (given.plugin == "tensor") return {given.tag, summary_tensor(given.tensor)};
  if (given.plugin == "histogram") return {given.tag, summary_histogram(given.tensor)};
  SORUS_INTERNAL(given.plugin == "landscape", "unknown plugin {}", given.plugin);
  return {given.tag, SummaryLandscape{given.message}};
}

/// `values` are triples (plugin, tag, Tensor or bytes).
nb::bytes summary_event(double wall_time, int64_t step, nb::handle values) {
  std::vector<Given> given;
  for (nb::handle item : nb::iter(values)) {
    Given g{nb::cast<std::string>(item[0]), nb::cast<std::string>(item[1]), {}, {}};
    nb::object value = item[2];
    if (is_tensor(value.ptr()))
      g.tensor = tensor_of(value.ptr());
    else
      g.message = std::string(view(nb::cast<nb::bytes>(value)));
    given.push_back(std::move(g));
  }
  return to_bytes(without_gil([&] {
    std::vector<SummaryValue> made;
    for (const Given& g : given) made.push_back(value_of(g));
    return encode_event({wall_time, step, std::move(made)});
  }));
}

nb::bytes graph_event(double wall_time, const nb::bytes& model) {
  return to_bytes(encode_event({wall_time, std::nullopt, graph_of_model(view(model))}));
}

/// The largest graph recorded of a boundary that was given these tensors, as a message; None without one.
nb::object recorded_graph(uint64_t boundary, nb::handle tensors) {
  BoundaryKey key(boundary);
  for (nb::handle t : nb::iter(tensors)) key.add(tensor_of(t.ptr()).type());
  const std::vector<Graph> graphs = recorded_graphs(key.exact);
  if (graphs.empty()) return nb::none();
  return to_bytes(
      graph_message(*std::max_element(graphs.begin(), graphs.end(), [](const Graph& a, const Graph& b) {
        return a.nodes.size() < b.nodes.size();
      })));
}

LineageKind lineage_kind(std::string_view plugin) {
  if (plugin == "train_lineage") return LineageKind::kTrain;
  if (plugin == "eval_lineage") return LineageKind::kEvaluation;
  if (plugin == "dataset_graph") return LineageKind::kDatasetGraph;
  SORUS_INTERNAL(plugin == "custom_lineage_data", "unknown plugin {}", plugin);
  return LineageKind::kUser;
}

template <class T>
std::optional<T> item_of(nb::dict from, const char* name) {
  nb::object value = from.attr("get")(name);
  return value.is_none() ? std::nullopt : std::optional<T>(nb::cast<T>(value));
}

nb::bytes train_lineage(nb::dict from) {
  return to_bytes(encode_lineage(TrainLineage{
      .optimizer = item_of<std::string>(from, "optimizer"),
      .learning_rate = item_of<float>(from, "learning_rate"),
      .loss_function = item_of<std::string>(from, "loss_function"),
      .epoch = item_of<int32_t>(from, "epoch"),
      .parallel_mode = item_of<std::string>(from, "parallel_mode"),
      .device_num = item_of<int32_t>(from, "device_num"),
      .batch_size = item_of<int32_t>(from, "batch_size"),
      .dataset = {item_of<std::string>(from, "dataset_path"), item_of<int32_t>(from, "dataset_size")},
      .network = item_of<std::string>(from, "network"),
      .loss = item_of<float>(from, "loss"),
      .model_path = item_of<std::string>(from, "model_path"),
      .model_size = item_of<int64_t>(from, "model_size"),
  }));
}

nb::bytes evaluation_lineage(nb::dict from) {
  return to_bytes(encode_lineage(EvaluationLineage{
      .metrics = item_of<std::string>(from, "metrics"),
      .dataset = {item_of<std::string>(from, "dataset_path"), item_of<int32_t>(from, "dataset_size")},
  }));
}

/// A number, or text, of a dictionary.
template <class V>
V plain(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  return nb::cast<int32_t>(value);
}

nb::bytes user_lineage(nb::dict from) {
  UserLineage lineage;
  for (auto [name, value] : from)
    lineage.items.emplace_back(nb::cast<std::string>(name),
                               plain<std::variant<int32_t, std::string, double>>(value));
  return to_bytes(encode_lineage(lineage));
}

/// `stage` is a pair: a dictionary of what is said of it, and a list of the stages before it.
DatasetGraph graph_of(nb::handle stage) {
  DatasetGraph graph;
  for (auto [name, value] : nb::cast<nb::dict>(stage[0])) {
    std::variant<std::string, bool, int32_t, double> v;
    if (nb::isinstance<nb::bool_>(value))
      v = nb::cast<bool>(value);
    else
      v = plain<decltype(v)>(value);
    graph.parameters.emplace_back(nb::cast<std::string>(name), std::move(v));
  }
  for (nb::handle child : nb::iter(stage[1])) graph.children.push_back(graph_of(child));
  return graph;
}

nb::object told(const SummaryValue& value) {
  if (const auto* scalar = std::get_if<float>(&value.value))
    return nb::make_tuple("scalar", value.tag, *scalar);
  if (const auto* image = std::get_if<SummaryImage>(&value.value))
    return nb::make_tuple("image", value.tag,
                          nb::make_tuple(image->height, image->width, image->colours, to_bytes(image->png)));
  if (const auto* tensor = std::get_if<SummaryTensor>(&value.value))
    return nb::make_tuple(
        "tensor", value.tag,
        nb::make_tuple(nb::cast(tensor->dims), tensor->data_type, nb::cast(tensor->values)));
  if (const auto* h = std::get_if<SummaryHistogram>(&value.value)) {
    nb::list buckets;
    for (const auto& b : h->buckets) buckets.append(nb::make_tuple(b.left, b.width, b.count));
    nb::object range = nb::none();
    if (h->range) range = nb::make_tuple(h->range->min, h->range->max, h->range->sum);
    return nb::make_tuple(
        "histogram", value.tag,
        nb::make_tuple(buckets, range, nb::make_tuple(h->nans, h->infinities, h->negative_infinities),
                       h->count));
  }
  if (const auto* landscape = std::get_if<SummaryLandscape>(&value.value))
    return nb::make_tuple("landscape", value.tag, to_bytes(landscape->message));
  return nb::make_tuple("unknown", value.tag, nb::none());
}

/// Tuples (wall time, step or None, kind, what): a version, a graph's bytes, or tuples (plugin, tag, value).
nb::list read_summary(const std::string& path) {
  nb::list out;
  for (const SummaryEvent& event : read_events(path)) {
    nb::object kind = nb::str("unknown"), what = nb::none();
    if (const auto* version = std::get_if<std::string>(&event.what)) {
      kind = nb::str("version");
      what = nb::cast(*version);
    } else if (const auto* graph = std::get_if<SummaryGraph>(&event.what)) {
      kind = nb::str("graph");
      what = to_bytes(graph->message);
    } else if (const auto* values = std::get_if<std::vector<SummaryValue>>(&event.what)) {
      nb::list items;
      for (const SummaryValue& value : *values) items.append(told(value));
      kind = nb::str("summary");
      what = items;
    }
    out.append(nb::make_tuple(event.wall_time, event.step, kind, what));
  }
  return out;
}

}  // namespace

void bind_summary(nb::module_& m) {
  nb::class_<EventFile>(m, "EventFile")
      .def(
          "__init__",
          [](EventFile* self, const std::string& path, bool lineage, std::optional<uint64_t> most_bytes) {
            new (self)
                EventFile(path, lineage ? EventFile::Kind::kLineage : EventFile::Kind::kSummary, most_bytes);
          },
          nb::arg("path"), nb::arg("lineage"), nb::arg("most_bytes").none())
      .def("append", [](EventFile& self, const nb::bytes& event) { return self.append(view(event)); })
      .def("flush", [](EventFile& self) { without_gil([&] { self.flush(); }); })
      .def("close", &EventFile::close);
  m.def("summary_event", &summary_event);
  m.def("graph_event", &graph_event);
  m.def("recorded_graph", &recorded_graph);
  m.def("lineage_event", [](double wall_time, const std::string& plugin, const nb::bytes& message) {
    return to_bytes(lineage_event(wall_time, lineage_kind(plugin), view(message)));
  });
  m.def("train_lineage", &train_lineage);
  m.def("evaluation_lineage", &evaluation_lineage);
  m.def("user_lineage", &user_lineage);
  m.def("dataset_graph", [](nb::handle stage) { return to_bytes(encode_lineage(graph_of(stage))); });
  m.def("read_summary", &read_summary);
}

}  // namespace sorus::python
