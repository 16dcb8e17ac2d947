#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sorus/core/tensor.h"
#include "sorus/formats/wire.h"

/// Events of the field's summary files: what a training run tells of itself, step by step. A file of records
/// (record_file.h) holds one Event message in each, the first of which says the version.
namespace sorus::formats {

struct SummaryImage {
  int32_t height = 0, width = 0;
  int32_t colours = 3;
  std::string png;
};

/// Every element as a float, whatever it was.
struct SummaryTensor {
  std::vector<int64_t> dims;
  int32_t data_type = 0;  ///< of the elements, a number of the messages' enum DataType
  std::vector<float> values;
};

struct SummaryHistogram {
  struct Bucket {
    double left = 0, width = 0;
    int64_t count = 0;
  };
  /// Of the finite elements.
  struct Range {
    double min = 0, max = 0, sum = 0;
  };
  std::vector<Bucket> buckets;
  int64_t nans = 0, infinities = 0, negative_infinities = 0;
  std::optional<Range> range;  ///< none where no element is finite
  int64_t count = 0;           ///< of all elements
};

/// A loss landscape: the LossLandscape message as it is.
struct SummaryLandscape {
  std::string message;
};

struct SummaryValue {
  std::string tag;
  std::variant<std::monostate, float, SummaryImage, SummaryTensor, SummaryHistogram, SummaryLandscape> value;
};

/// A graph: the GraphProto message as it is.
struct SummaryGraph {
  std::string message;
};

struct SummaryEvent {
  double wall_time = 0;  ///< seconds since 1970
  std::optional<int64_t> step;
  /// The version, a graph, or values; nothing for what this version does not know.
  std::variant<std::monostate, std::string, SummaryGraph, std::vector<SummaryValue>> what;
};

inline constexpr std::string_view kSummaryVersion = "MindSpore.Event:1";

/// The bytes of an Event message.
[[nodiscard]] SORUS_API std::string encode_event(const SummaryEvent& event);
/// The event in bytes that begin at `offset` of a file. Fields that are not known are left out. Throws
/// IOError naming file and offset for what is no Event.
[[nodiscard]] SORUS_API SummaryEvent decode_event(std::string_view file, std::string_view bytes,
                                                  uint64_t offset = 0);
/// The GraphProto message in a ModelProto message. Throws IOError where there is none.
[[nodiscard]] SORUS_API SummaryGraph graph_of_model(std::string_view model);
/// All events of a file. Throws IOError naming file and offset where it is damaged or of another kind.
[[nodiscard]] SORUS_API std::vector<SummaryEvent> read_events(const std::string& path);

/// The number of an element type in the messages' enum DataType.
[[nodiscard]] SORUS_API int32_t message_data_type(DType dtype);

/// The only element. Throws ValueError when there are more or none.
[[nodiscard]] SORUS_API float summary_scalar(const Tensor& tensor);

/// All elements. Throws ValueError for a rank of 0.
[[nodiscard]] SORUS_API SummaryTensor summary_tensor(const Tensor& tensor);

/// Buckets of equal width between the least and the greatest finite element, their edges rounded to the
/// element type: one bucket for no element, 2 for up to 5, 3 for up to 10, then one for every ten up to 90.
/// Throws ValueError for a rank of 0.
[[nodiscard]] SORUS_API SummaryHistogram summary_histogram(const Tensor& tensor);

/// The images of a batch, up to 8 beside each other. (N, C, H, W) with C = 1, which is shown grey, or 3.
/// Elements from 0 to 1 are stretched to 255; others are moved and scaled so that the least finite one is 0
/// and the greatest nearly 255. NaN and negative infinity are 0, infinity is 255. Throws ValueError for
/// another shape, or an extent of 0.
[[nodiscard]] SORUS_API SummaryImage summary_image(const Tensor& tensor);

}  // namespace sorus::formats
