#include "sorus/formats/lineage.h"

#include "sorus/formats/record_file.h"

namespace sorus::formats {
namespace {

// Field numbers of the messages LineageEvent, TrainLineage, EvaluationLineage, DatasetGraph, UserDefinedInfo.
constexpr uint32_t kWallTime = 1;
constexpr uint32_t kHyperParameters = 1, kTrainDataset = 2, kAlgorithm = 3, kModel = 4;
constexpr uint32_t kOptimizer = 1, kLearningRate = 2, kLossFunction = 3, kEpoch = 4, kParallelMode = 5,
                   kDeviceNum = 6, kBatchSize = 8;
constexpr uint32_t kPath = 1, kSize = 2;
constexpr uint32_t kNetwork = 1, kLoss = 2;
constexpr uint32_t kModelPath = 3, kModelSize = 4;
constexpr uint32_t kMetrics = 2, kValidDataset = 3;
constexpr uint32_t kChildren = 1, kParameter = 2;
constexpr uint32_t kTexts = 1, kFlags = 3, kNumbers = 4, kDoubles = 5;
constexpr uint32_t kUserInfo = 1, kUserNumbers = 3, kUserTexts = 4, kUserDoubles = 5;
constexpr uint32_t kMapKey = 1, kMapValue = 2;

constexpr int kDeepest = 100;  // messages within messages, as the protobuf library has it

void put(std::string& out, uint32_t field, bool v) { put_number(out, field, v ? 1 : 0); }
void put(std::string& out, uint32_t field, int32_t v) {
  put_number(out, field, static_cast<uint64_t>(int64_t{v}));
}
void put(std::string& out, uint32_t field, int64_t v) { put_number(out, field, static_cast<uint64_t>(v)); }
void put(std::string& out, uint32_t field, float v) { put_float(out, field, v); }
void put(std::string& out, uint32_t field, double v) { put_double(out, field, v); }
void put(std::string& out, uint32_t field, const std::string& v) { put_bytes(out, field, v); }
template <class T>
void put(std::string& out, uint32_t field, const std::optional<T>& v) {
  if (v) put(out, field, *v);
}
/// A message, unless nothing is in it.
void put_message(std::string& out, uint32_t field, const std::string& message) {
  if (!message.empty()) put_bytes(out, field, message);
}

/// An entry of a map: a message of a key and a value.
template <class V>
std::string entry(const std::string& key, const V& value) {
  std::string out;
  put_bytes(out, kMapKey, key);
  std::visit([&](const auto& v) { put(out, kMapValue, v); }, value);
  return out;
}

std::string encode(const DatasetLineage& dataset) {
  std::string out;
  put(out, kPath, dataset.path);
  put(out, kSize, dataset.size);
  return out;
}

/// Calls f(field, reader) for each field of a message.
template <class F>
void for_each(WireReader in, F&& f) {
  while (!in.done()) {
    const WireField field = in.next();
    f(field, in);
  }
}

int32_t int32_of(const WireReader& in, const WireField& f) { return static_cast<int32_t>(in.int_of(f)); }

DatasetLineage decode_dataset(const WireReader& message) {
  DatasetLineage out;
  for_each(message, [&](const WireField& f, const WireReader& in) {
    if (f.number == kPath) out.path = in.text_of(f);
    if (f.number == kSize) out.size = int32_of(in, f);
  });
  return out;
}

void decode_hyper_parameters(const WireReader& message, TrainLineage* out) {
  for_each(message, [&](const WireField& f, const WireReader& in) {
    if (f.number == kOptimizer) out->optimizer = in.text_of(f);
    if (f.number == kLearningRate) out->learning_rate = in.float_of(f);
    if (f.number == kLossFunction) out->loss_function = in.text_of(f);
    if (f.number == kEpoch) out->epoch = int32_of(in, f);
    if (f.number == kParallelMode) out->parallel_mode = in.text_of(f);
    if (f.number == kDeviceNum) out->device_num = int32_of(in, f);
    if (f.number == kBatchSize) out->batch_size = int32_of(in, f);
  });
}

TrainLineage decode_train(const WireReader& message) {
  TrainLineage out;
  for_each(message, [&](const WireField& f, const WireReader& in) {
    if (f.number == kHyperParameters) decode_hyper_parameters(in.inside(f), &out);
    if (f.number == kTrainDataset) out.dataset = decode_dataset(in.inside(f));
    if (f.number == kAlgorithm)
      for_each(in.inside(f), [&](const WireField& g, const WireReader& inner) {
        if (g.number == kNetwork) out.network = inner.text_of(g);
        if (g.number == kLoss) out.loss = inner.float_of(g);
      });
    if (f.number == kModel)
      for_each(in.inside(f), [&](const WireField& g, const WireReader& inner) {
        if (g.number == kModelPath) out.model_path = inner.text_of(g);
        if (g.number == kModelSize) out.model_size = inner.int_of(g);
      });
  });
  return out;
}

EvaluationLineage decode_evaluation(const WireReader& message) {
  EvaluationLineage out;
  for_each(message, [&](const WireField& f, const WireReader& in) {
    if (f.number == kMetrics) out.metrics = in.text_of(f);
    if (f.number == kValidDataset) out.dataset = decode_dataset(in.inside(f));
  });
  return out;
}

/// An entry of a map, its value read by read(reader, field).
template <class V, class F>
std::pair<std::string, V> decode_entry(const WireReader& message, F&& read) {
  using Read = std::invoke_result_t<F, const WireReader&, const WireField&>;
  std::string key;
  Read value{};
  for_each(message, [&](const WireField& f, const WireReader& in) {
    if (f.number == kMapKey) key = in.text_of(f);
    if (f.number == kMapValue) value = read(in, f);
  });
  return {std::move(key), V(std::move(value))};
}

bool flag_of(const WireReader& in, const WireField& f) { return in.int_of(f) != 0; }
std::string text_of(const WireReader& in, const WireField& f) { return in.text_of(f); }
double double_of(const WireReader& in, const WireField& f) { return in.double_of(f); }

void decode_user(const WireReader& message, int depth, UserLineage* out) {
  using V = std::variant<int32_t, std::string, double>;
  for_each(message, [&](const WireField& f, const WireReader& in) {
    if (f.number == kUserInfo) {
      if (depth == kDeepest) in.fail(f.offset, "messages that are not so deep");
      decode_user(in.inside(f), depth + 1, out);
    }
    if (f.number == kUserNumbers) out->items.push_back(decode_entry<V>(in.inside(f), int32_of));
    if (f.number == kUserTexts) out->items.push_back(decode_entry<V>(in.inside(f), text_of));
    if (f.number == kUserDoubles) out->items.push_back(decode_entry<V>(in.inside(f), double_of));
  });
}

DatasetGraph decode_graph(const WireReader& message, int depth) {
  using V = std::variant<std::string, bool, int32_t, double>;
  DatasetGraph out;
  for_each(message, [&](const WireField& f, const WireReader& in) {
    if (f.number == kChildren) {
      if (depth == kDeepest) in.fail(f.offset, "messages that are not so deep");
      out.children.push_back(decode_graph(in.inside(f), depth + 1));
    }
    if (f.number != kParameter) return;
    for_each(in.inside(f), [&](const WireField& g, const WireReader& inner) {
      if (g.number == kTexts) out.parameters.push_back(decode_entry<V>(inner.inside(g), text_of));
      if (g.number == kFlags) out.parameters.push_back(decode_entry<V>(inner.inside(g), flag_of));
      if (g.number == kNumbers) out.parameters.push_back(decode_entry<V>(inner.inside(g), int32_of));
      if (g.number == kDoubles) out.parameters.push_back(decode_entry<V>(inner.inside(g), double_of));
    });
  });
  return out;
}

}  // namespace

std::string encode_lineage(const TrainLineage& lineage) {
  std::string hyper, algorithm, model, out;
  put(hyper, kOptimizer, lineage.optimizer);
  put(hyper, kLearningRate, lineage.learning_rate);
  put(hyper, kLossFunction, lineage.loss_function);
  put(hyper, kEpoch, lineage.epoch);
  put(hyper, kParallelMode, lineage.parallel_mode);
  put(hyper, kDeviceNum, lineage.device_num);
  put(hyper, kBatchSize, lineage.batch_size);
  put(algorithm, kNetwork, lineage.network);
  put(algorithm, kLoss, lineage.loss);
  put(model, kModelPath, lineage.model_path);
  put(model, kModelSize, lineage.model_size);
  put_message(out, kHyperParameters, hyper);
  put_message(out, kTrainDataset, encode(lineage.dataset));
  put_message(out, kAlgorithm, algorithm);
  put_message(out, kModel, model);
  return out;
}

std::string encode_lineage(const EvaluationLineage& lineage) {
  std::string out;
  put(out, kMetrics, lineage.metrics);
  put_message(out, kValidDataset, encode(lineage.dataset));
  return out;
}

std::string encode_lineage(const DatasetGraph& graph) {
  constexpr uint32_t kFields[] = {kTexts, kFlags, kNumbers, kDoubles};
  std::string out, parameters;
  for (const DatasetGraph& child : graph.children) put_bytes(out, kChildren, encode_lineage(child));
  for (const auto& [name, value] : graph.parameters)
    put_bytes(parameters, kFields[value.index()], entry(name, value));
  put_message(out, kParameter, parameters);
  return out;
}

std::string encode_lineage(const UserLineage& lineage) {
  constexpr uint32_t kFields[] = {kUserNumbers, kUserTexts, kUserDoubles};
  std::string out;
  for (const auto& [name, value] : lineage.items) {
    std::string info;
    put_bytes(info, kFields[value.index()], entry(name, value));
    put_bytes(out, kUserInfo, info);
  }
  return out;
}

std::string lineage_event(double wall_time, LineageKind kind, std::string_view message) {
  std::string out;
  put_double(out, kWallTime, wall_time);
  put_bytes(out, static_cast<uint32_t>(kind), message);
  return out;
}

LineageEvent decode_lineage_event(std::string_view file, std::string_view bytes, uint64_t offset) {
  LineageEvent event;
  for_each({file, bytes, offset}, [&](const WireField& f, const WireReader& in) {
    if (f.number == kWallTime) event.wall_time = in.double_of(f);
    if (f.number == static_cast<uint32_t>(LineageKind::kTrain)) event.what = decode_train(in.inside(f));
    if (f.number == static_cast<uint32_t>(LineageKind::kEvaluation))
      event.what = decode_evaluation(in.inside(f));
    if (f.number == static_cast<uint32_t>(LineageKind::kDatasetGraph))
      event.what = decode_graph(in.inside(f), 0);
    if (f.number == static_cast<uint32_t>(LineageKind::kUser)) {
      UserLineage user;
      decode_user(in.inside(f), 0, &user);
      event.what = std::move(user);
    }
  });
  return event;
}

std::vector<LineageEvent> read_lineage(const std::string& path) {
  std::vector<LineageEvent> events;
  for_each_record(path, [&](std::string_view record, uint64_t offset) {
    events.push_back(decode_lineage_event(path, record, offset));
  });
  return events;
}

}  // namespace sorus::formats
