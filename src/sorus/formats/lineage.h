#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sorus/formats/wire.h"

/// Events of the field's lineage files: what a run was made of and what became of it. A file of records
/// (record_file.h) holds one LineageEvent message in each.
namespace sorus::formats {

struct DatasetLineage {
  std::optional<std::string> path;
  std::optional<int32_t> size;  ///< rows
};

struct TrainLineage {
  std::optional<std::string> optimizer;
  std::optional<float> learning_rate;
  std::optional<std::string> loss_function;
  std::optional<int32_t> epoch;
  std::optional<std::string> parallel_mode;
  std::optional<int32_t> device_num, batch_size;
  DatasetLineage dataset;
  std::optional<std::string> network;
  std::optional<float> loss;
  std::optional<std::string> model_path;
  std::optional<int64_t> model_size;  ///< bytes
};

struct EvaluationLineage {
  std::optional<std::string> metrics;  ///< a JSON object
  DatasetLineage dataset;
};

/// What the user says of a run, by name.
struct UserLineage {
  std::vector<std::pair<std::string, std::variant<int32_t, std::string, double>>> items;
};

/// A pipeline: what is said of its last stage by name, and the stages that it takes its rows from.
struct DatasetGraph {
  std::vector<std::pair<std::string, std::variant<std::string, bool, int32_t, double>>> parameters;
  std::vector<DatasetGraph> children;
};

struct LineageEvent {
  double wall_time = 0;  ///< seconds since 1970
  /// Nothing for what this version does not know.
  std::variant<std::monostate, TrainLineage, EvaluationLineage, DatasetGraph, UserLineage> what;
};

/// The bytes of the message, without the event around it.
[[nodiscard]] SORUS_API std::string encode_lineage(const TrainLineage& lineage);
[[nodiscard]] SORUS_API std::string encode_lineage(const EvaluationLineage& lineage);
[[nodiscard]] SORUS_API std::string encode_lineage(const DatasetGraph& graph);
[[nodiscard]] SORUS_API std::string encode_lineage(const UserLineage& lineage);

/// Which message a LineageEvent holds.
enum class LineageKind : uint32_t { kTrain = 6, kEvaluation = 7, kDatasetGraph = 9, kUser = 10 };

/// The bytes of a LineageEvent around a message.
[[nodiscard]] SORUS_API std::string lineage_event(double wall_time, LineageKind kind,
                                                  std::string_view message);

/// The event in bytes that begin at `offset` of a file. Fields that are not known are left out. Throws
/// IOError naming file and offset for what is no LineageEvent.
[[nodiscard]] SORUS_API LineageEvent decode_lineage_event(std::string_view file, std::string_view bytes,
                                                          uint64_t offset = 0);
/// All events of a file. Throws IOError naming file and offset where it is damaged or of another kind.
[[nodiscard]] SORUS_API std::vector<LineageEvent> read_lineage(const std::string& path);

}  // namespace sorus::formats
