#include "sorus/formats/graph_message.h"

#include "sorus/formats/summary.h"
#include "sorus/formats/wire.h"

namespace sorus::formats {
namespace {

// Field numbers of the messages ModelProto, GraphProto, NodeProto, TypeProto and ValueProto.
constexpr uint32_t kModelGraph = 4;
constexpr uint32_t kNode = 1, kGraphName = 2, kParameters = 3, kOutputs = 4, kConstants = 5;
constexpr uint32_t kInput = 1, kName = 2, kOpType = 3, kScope = 4, kAttribute = 5, kOutputType = 6,
                   kFullName = 8;
constexpr uint32_t kDataType = 1, kTensorType = 2, kSequenceType = 3;
constexpr uint32_t kText = 7, kTensorValue = 8;
constexpr uint64_t kString = 13, kTensor = 14, kTuple = 31;  // of the enum DataType
constexpr std::string_view kDefaultScope = "Default";

std::string tensor_type(const TensorType& type) {
  std::string shape, inside, out;
  for (int64_t extent : type.shape.sizes()) {
    std::string dim;
    put_number(dim, 1, static_cast<uint64_t>(extent));
    put_bytes(shape, 1, dim);
  }
  put_number(inside, 1, static_cast<uint64_t>(message_data_type(type.dtype)));
  put_bytes(inside, 2, shape);
  put_number(out, kDataType, kTensor);
  put_bytes(out, kTensorType, inside);
  return out;
}

/// A message of a name in field 1 and another message in field 2, as several are.
std::string named(std::string_view name, std::string_view message) {
  std::string out;
  put_bytes(out, 1, name);
  put_bytes(out, 2, message);
  return out;
}

std::string text_attribute(std::string_view name, std::string_view text) {
  std::string value;
  put_number(value, kDataType, kString);
  put_bytes(value, kText, text);
  return named(name, value);
}

class Encoder {
 public:
  explicit Encoder(const Graph& graph) : graph_(graph), numbers_(graph.numbering()) {
    names_.resize(graph.value_count());
    for (size_t v = 0; v < names_.size(); ++v) names_[v] = std::to_string(numbers_[v]);
  }

  std::string run() {
    std::string out;
    for (const Node& node : graph_.nodes) put_call(out, node);
    put_bytes(out, kGraphName, graph_.name);
    for (ValueId v : graph_.inputs) put_bytes(out, kParameters, named(name_of(v), type_of(v)));
    for (ValueId v : graph_.outputs) put_bytes(out, kOutputs, named(name_of(v), type_of(v)));
    for (size_t v = 0; v < names_.size(); ++v)
      if (graph_.is_constant(static_cast<ValueId>(v)))
        put_bytes(out, kConstants, named(names_[v], constant(static_cast<ValueId>(v))));
    return out;
  }

 private:
  [[nodiscard]] const std::string& name_of(ValueId v) const { return names_[static_cast<size_t>(v)]; }
  [[nodiscard]] std::string type_of(ValueId v) const { return tensor_type(graph_.type(v)); }

  [[nodiscard]] std::string constant(ValueId v) const {
    std::string tensor, out;
    for (int64_t extent : graph_.type(v).shape.sizes()) put_number(tensor, 1, static_cast<uint64_t>(extent));
    put_number(tensor, 2, static_cast<uint64_t>(message_data_type(graph_.type(v).dtype)));
    put_number(out, kDataType, kTensor);
    put_bytes(out, kTensorValue, tensor);
    return out;
  }

  void put_node(std::string& out, const std::string& name, std::string_view op,
                std::span<const std::string> inputs, std::span<const std::string> attributes,
                std::string_view type) {
    std::string node;
    for (const std::string& input : inputs) {
      std::string edge;
      put_bytes(edge, 1, input);
      put_number(edge, 2, 0);  // an edge of data
      put_bytes(node, kInput, edge);
    }
    put_bytes(node, kName, name);
    put_bytes(node, kOpType, op);
    put_bytes(node, kScope, kDefaultScope);
    for (const std::string& attribute : attributes) put_bytes(node, kAttribute, attribute);
    put_bytes(node, kOutputType, type);
    put_bytes(node, kFullName, fmt::format("{}/{}-op{}", kDefaultScope, op, name));
    put_bytes(out, kNode, node);
  }

  void put_call(std::string& out, const Node& node) {
    std::vector<std::string> inputs, attributes;
    for (ValueId v : node.in)
      if (v != kNoValue) inputs.push_back(name_of(v));
    if (!node.body) {
      const std::string text = node.attrs.text();
      if (!text.empty()) attributes.push_back(text_attribute("attributes", text));
    }
    if (!node.site.empty()) attributes.push_back(text_attribute("site", node.site));
    const std::string& name = name_of(node.out[0]);
    if (node.out.size() == 1)
      return put_node(out, name, node.op->name, inputs, attributes, type_of(node.out[0]));
    std::string types, tuple;
    for (ValueId v : node.out) put_bytes(types, 1, type_of(v));
    put_number(tuple, kDataType, kTuple);
    put_bytes(tuple, kSequenceType, types);
    const std::string call = name + "_results";
    put_node(out, call, node.op->name, inputs, attributes, tuple);
    for (size_t i = 0; i < node.out.size(); ++i) {
      const std::string from[] = {call}, index[] = {text_attribute("index", std::to_string(i))};
      put_node(out, name_of(node.out[i]), "TupleGetItem", from, index, type_of(node.out[i]));
    }
  }

  const Graph& graph_;
  std::vector<ValueId> numbers_;
  std::vector<std::string> names_;
};

}  // namespace

std::string graph_message(const Graph& graph) {
  std::string out;
  put_bytes(out, kModelGraph, Encoder(graph).run());
  return out;
}

}  // namespace sorus::formats
