#include "sorus/formats/summary.h"

#include "sorus/base/error.h"
#include "sorus/formats/record_file.h"

namespace sorus::formats {
namespace {

// Field numbers of the messages Event, Summary and its values.
constexpr uint32_t kWallTime = 1, kStep = 2, kVersion = 3, kGraph = 4, kSummary = 5;
constexpr uint32_t kValue = 1;
constexpr uint32_t kTag = 1, kScalar = 3, kImage = 4, kTensor = 8, kHistogram = 9, kLandscape = 10;
constexpr uint32_t kHeight = 1, kWidth = 2, kColours = 3, kPng = 4;
constexpr uint32_t kDims = 1, kDataType = 2, kFloats = 3;
constexpr uint32_t kBuckets = 1, kNans = 2, kInfinities = 3, kNegativeInfinities = 4, kMax = 5, kMin = 6,
                   kSum = 7, kCount = 8;
constexpr uint32_t kLeft = 1, kBucketWidth = 2, kBucketCount = 3;

void put_int(std::string& out, uint32_t field, int64_t v) {
  put_number(out, field, static_cast<uint64_t>(v));
}

std::string encode(const SummaryImage& image) {
  std::string out;
  put_int(out, kHeight, image.height);
  put_int(out, kWidth, image.width);
  put_int(out, kColours, image.colours);
  put_bytes(out, kPng, image.png);
  return out;
}

std::string encode(const SummaryTensor& tensor) {
  std::string out;
  for (int64_t d : tensor.dims) put_int(out, kDims, d);
  put_int(out, kDataType, tensor.data_type);
  if (!tensor.values.empty())
    put_bytes(out, kFloats,
              {reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float)});
  return out;
}

std::string encode(const SummaryHistogram& histogram) {
  std::string out;
  for (const SummaryHistogram::Bucket& b : histogram.buckets) {
    std::string bucket;
    put_double(bucket, kLeft, b.left);
    put_double(bucket, kBucketWidth, b.width);
    put_int(bucket, kBucketCount, b.count);
    put_bytes(out, kBuckets, bucket);
  }
  put_int(out, kNans, histogram.nans);
  put_int(out, kInfinities, histogram.infinities);
  put_int(out, kNegativeInfinities, histogram.negative_infinities);
  if (histogram.range) {
    put_double(out, kMax, histogram.range->max);
    put_double(out, kMin, histogram.range->min);
    put_double(out, kSum, histogram.range->sum);
  }
  put_int(out, kCount, histogram.count);
  return out;
}

std::string encode(const SummaryValue& value) {
  std::string out;
  put_bytes(out, kTag, value.tag);
  if (const auto* scalar = std::get_if<float>(&value.value)) put_float(out, kScalar, *scalar);
  if (const auto* image = std::get_if<SummaryImage>(&value.value)) put_bytes(out, kImage, encode(*image));
  if (const auto* tensor = std::get_if<SummaryTensor>(&value.value)) put_bytes(out, kTensor, encode(*tensor));
  if (const auto* histogram = std::get_if<SummaryHistogram>(&value.value))
    put_bytes(out, kHistogram, encode(*histogram));
  if (const auto* landscape = std::get_if<SummaryLandscape>(&value.value))
    put_bytes(out, kLandscape, landscape->message);
  return out;
}

SummaryImage decode_image(WireReader in) {
  SummaryImage image;
  while (!in.done()) {
    const WireField f = in.next();
    if (f.number == kHeight) image.height = static_cast<int32_t>(in.int_of(f));
    if (f.number == kWidth) image.width = static_cast<int32_t>(in.int_of(f));
    if (f.number == kColours) image.colours = static_cast<int32_t>(in.int_of(f));
    if (f.number == kPng) image.png = in.text_of(f);
  }
  return image;
}

SummaryTensor decode_tensor(WireReader in) {
  SummaryTensor tensor;
  while (!in.done()) {
    const WireField f = in.next();
    if (f.number == kDims) tensor.dims.push_back(in.int_of(f));
    if (f.number == kDataType) tensor.data_type = static_cast<int32_t>(in.int_of(f));
    if (f.number != kFloats) continue;
    if (f.type == 5) {
      tensor.values.push_back(in.float_of(f));
      continue;
    }
    if (f.type != 2 || f.bytes.size() % sizeof(float) != 0) in.fail(f.offset, "whole floats");
    const size_t before = tensor.values.size();
    tensor.values.resize(before + f.bytes.size() / sizeof(float));
    if (!f.bytes.empty()) std::memcpy(tensor.values.data() + before, f.bytes.data(), f.bytes.size());
  }
  return tensor;
}

SummaryHistogram::Bucket decode_bucket(WireReader in) {
  SummaryHistogram::Bucket bucket;
  while (!in.done()) {
    const WireField f = in.next();
    if (f.number == kLeft) bucket.left = in.double_of(f);
    if (f.number == kBucketWidth) bucket.width = in.double_of(f);
    if (f.number == kBucketCount) bucket.count = in.int_of(f);
  }
  return bucket;
}

SummaryHistogram decode_histogram(WireReader in) {
  SummaryHistogram histogram;
  SummaryHistogram::Range range;
  bool found = false;
  while (!in.done()) {
    const WireField f = in.next();
    if (f.number == kBuckets) histogram.buckets.push_back(decode_bucket(in.inside(f)));
    if (f.number == kNans) histogram.nans = in.int_of(f);
    if (f.number == kInfinities) histogram.infinities = in.int_of(f);
    if (f.number == kNegativeInfinities) histogram.negative_infinities = in.int_of(f);
    if (f.number == kMax) range.max = in.double_of(f);
    if (f.number == kMin) range.min = in.double_of(f);
    if (f.number == kSum) range.sum = in.double_of(f);
    if (f.number == kCount) histogram.count = in.int_of(f);
    found = found || f.number == kMax || f.number == kMin || f.number == kSum;
  }
  if (found) histogram.range = range;
  return histogram;
}

SummaryValue decode_value(WireReader in) {
  SummaryValue value;
  while (!in.done()) {
    const WireField f = in.next();
    if (f.number == kTag) value.tag = in.text_of(f);
    if (f.number == kScalar) value.value = in.float_of(f);
    if (f.number == kImage) value.value = decode_image(in.inside(f));
    if (f.number == kTensor) value.value = decode_tensor(in.inside(f));
    if (f.number == kHistogram) value.value = decode_histogram(in.inside(f));
    if (f.number == kLandscape) value.value = SummaryLandscape{in.text_of(f)};
  }
  return value;
}

std::vector<SummaryValue> decode_values(WireReader in) {
  std::vector<SummaryValue> values;
  while (!in.done()) {
    const WireField f = in.next();
    if (f.number == kValue) values.push_back(decode_value(in.inside(f)));
  }
  return values;
}

}  // namespace

std::string encode_event(const SummaryEvent& event) {
  std::string out;
  put_double(out, kWallTime, event.wall_time);
  if (event.step) put_int(out, kStep, *event.step);
  if (const auto* version = std::get_if<std::string>(&event.what)) put_bytes(out, kVersion, *version);
  if (const auto* graph = std::get_if<SummaryGraph>(&event.what)) put_bytes(out, kGraph, graph->message);
  if (const auto* values = std::get_if<std::vector<SummaryValue>>(&event.what)) {
    std::string summary;
    for (const SummaryValue& value : *values) put_bytes(summary, kValue, encode(value));
    put_bytes(out, kSummary, summary);
  }
  return out;
}

SummaryEvent decode_event(std::string_view file, std::string_view bytes, uint64_t offset) {
  WireReader in(file, bytes, offset);
  SummaryEvent event;
  while (!in.done()) {
    const WireField f = in.next();
    if (f.number == kWallTime) event.wall_time = in.double_of(f);
    if (f.number == kStep) event.step = in.int_of(f);
    if (f.number == kVersion) event.what = in.text_of(f);
    if (f.number == kGraph) event.what = SummaryGraph{in.text_of(f)};
    if (f.number == kSummary) event.what = decode_values(in.inside(f));
  }
  return event;
}

SummaryGraph graph_of_model(std::string_view model) {
  constexpr uint32_t kGraphOfModel = 4;
  WireReader in("graph", model, 0);
  while (!in.done()) {
    const WireField f = in.next();
    if (f.number == kGraphOfModel) return {in.text_of(f)};
  }
  in.fail(in.offset(), "a model with a graph");
}

std::vector<SummaryEvent> read_events(const std::string& path) {
  std::vector<SummaryEvent> events;
  for_each_record(path, [&](std::string_view record, uint64_t offset) {
    events.push_back(decode_event(path, record, offset));
  });
  return events;
}

}  // namespace sorus::formats
