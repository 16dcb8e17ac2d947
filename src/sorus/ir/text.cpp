#include <fmt/format.h>

#include <charconv>
#include <map>

#include "sorus/ir/graph.h"

namespace sorus {
namespace {

std::string hex_bytes(const Tensor& t) {
  size_t size = dtype_size(t.dtype());
  std::vector<uint8_t> bytes(static_cast<size_t>(t.numel()) * size);
  t.copy_to(bytes.data(), t.dtype());
  std::string out = "0x";
  for (uint8_t b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

/// Reads the text form line by line. Values keep the numbers of the text through a map.
class Parser {
  static constexpr size_t kDeepest = 64;  // graphs inside graphs

 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Graph run() {
    next_line();
    graph();
    return std::move(graph_);
  }

 private:
  /// From "graph @" in the current line to the closing brace, into graph_ and values_.
  void graph() {
    expect("graph @");
    graph_.name = std::string(until("("));
    while (!accept(")")) {
      ValueId id = number();
      expect(": ");
      values_[id] = graph_.add_input(type());
      accept(", ");
    }
    expect(" {");
    while (next_line(), expect(indent_), !accept("}")) line();
  }
  /// The graph of a call, which stands inside another one. The rest of its last line is left.
  Graph body() {
    Graph outer = std::exchange(graph_, Graph());
    std::map<ValueId, ValueId> outer_values = std::exchange(values_, {});
    indent_ += "  ";
    if (indent_.size() > 2 * kDeepest) fail("graphs nested less deeply");
    graph();
    indent_.resize(indent_.size() - 2);
    values_ = std::move(outer_values);
    return std::exchange(graph_, std::move(outer));
  }
  void line() {
    expect("  ");
    if (accept("return")) {
      accept(" ");
      while (!line_.empty()) {
        graph_.outputs.push_back(value());
        accept(", ");
      }
      return;
    }
    std::vector<ValueId> out{number()};
    while (accept(", ")) out.push_back(number());
    expect(" = ");
    if (accept("constant ")) return constant(out[0]);
    call(out);
  }
  void constant(ValueId id) {
    expect("0x");
    std::string_view hex = until(" : ");
    TensorType t = type();
    if (hex.size() != 2 * static_cast<size_t>(t.shape.numel()) * dtype_size(t.dtype))
      fail("as many bytes as the type has");
    Ref<Value> v = make_dense(t);
    for (size_t i = 0; i < hex.size() / 2; ++i) {
      uint8_t b = 0;
      auto [end, error] = std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, b, 16);
      if (error != std::errc{} || end != hex.data() + 2 * i + 2) fail("hexadecimal bytes");
      v->storage->data()[i] = static_cast<std::byte>(b);
    }
    values_[id] = graph_.add_constant(Tensor(std::move(v)));
  }
  void call(const std::vector<ValueId>& out) {
    std::string_view name = until("(");
    std::string engine = split_call_name(&name);
    const OpDef* op = find_graph_op(name);
    const bool has_body = op == &call_op();
    if (!op) fail(fmt::format("the name of an op, not '{}'", name));
    std::vector<ValueId> in;
    while (!accept(")")) {
      in.push_back(accept("none") ? kNoValue : value());
      accept(", ");
    }
    if (has_body) {
      expect(" ");
      auto graph = std::make_shared<Graph>(body());
      graph->engine = std::move(engine);
      return results(out, graph_.add_call(std::move(graph), in));
    }
    int32_t slot = accept(" slot ") ? static_cast<int32_t>(integer()) : -1;
    const bool varies = accept(" varies");
    std::string attrs_text;
    if (accept(" {")) attrs_text = attributes();
    std::vector<std::byte> attrs(std::max<size_t>(op->attrs.size, 1));
    op->attrs.construct(attrs.data());
    op->attrs.parse(attrs_text, attrs.data());
    Node& node = graph_.add_node(*op, AttrsRef(op->attrs, attrs.data()), in);
    op->attrs.destroy(attrs.data());
    node.slot = slot;
    node.varies = varies;
    results(out, node);
  }
  void results(const std::vector<ValueId>& out, Node& node) {
    if (node.out.size() != out.size()) fail(fmt::format("{} results of {}", node.out.size(), node.op->name));
    expect(" : ");
    for (size_t i = 0; i < out.size(); ++i) {
      values_[out[i]] = node.out[i];
      if (!(type() == graph_.type(node.out[i])))
        fail(fmt::format("the type {} of result {}", graph_.type(node.out[i]), i));
      accept(", ");
    }
    if (accept(" # ")) node.site = std::string(std::exchange(line_, {}));
  }

  /// Up to the brace that closes the attributes: strings may hold any.
  std::string attributes() {
    bool in_string = false;
    for (size_t i = 0; i < line_.size(); ++i) {
      if (in_string && line_[i] == '\\')
        ++i;
      else if (line_[i] == '"')
        in_string = !in_string;
      else if (line_[i] == '}' && !in_string) {
        std::string found(line_.substr(0, i));
        line_.remove_prefix(i + 1);
        return found;
      }
    }
    fail("'}'");
  }

  TensorType type() {
    TensorType t;
    t.dtype = dtype_from_name(until("("));
    while (!accept(")")) {
      t.shape.push_back(integer());
      accept(",");
      accept(" ");
    }
    return t;
  }
  ValueId number() {
    expect("%");
    return static_cast<ValueId>(integer());
  }
  ValueId value() {
    ValueId id = number();
    auto at = values_.find(id);
    if (at == values_.end()) fail(fmt::format("a value that is defined, not %{}", id));
    return at->second;
  }
  int64_t integer() {
    int64_t v = 0;
    auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), v);
    if (error != std::errc{}) fail("an integer");
    line_.remove_prefix(static_cast<size_t>(end - line_.data()));
    return v;
  }
  bool next_line() {
    if (rest_.empty()) fail("more lines");
    size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++row_;
    return true;
  }
  bool accept(std::string_view s) {
    if (!line_.starts_with(s)) return false;
    line_.remove_prefix(s.size());
    return true;
  }
  void expect(std::string_view s) {
    if (!accept(s)) fail(fmt::format("'{}'", s));
  }
  std::string_view until(std::string_view s) {
    size_t at = line_.find(s);
    if (at == std::string_view::npos) fail(fmt::format("'{}'", s));
    std::string_view found = line_.substr(0, at);
    line_.remove_prefix(at + s.size());
    return found;
  }
  [[noreturn]] void fail(std::string_view need) {
    raise<ValueError>("graph: text is malformed in line {}: got '{}', need {}", row_, line_, need);
  }

  Graph graph_;
  std::map<ValueId, ValueId> values_;
  std::string_view rest_, line_;
  std::string indent_;  ///< before the lines of the graph that is being read
  int row_ = 0;
};

}  // namespace

std::vector<ValueId> Graph::numbering() const {
  std::vector<ValueId> numbers(value_count(), kNoValue);
  ValueId next = 0;
  for (ValueId v : inputs) numbers[static_cast<size_t>(v)] = next++;
  for (size_t v = 0; v < value_count(); ++v)
    if (constants_[v].defined()) numbers[v] = next++;
  for (const Node& n : nodes)
    for (ValueId v : n.out) numbers[static_cast<size_t>(v)] = next++;
  return numbers;
}

std::string Graph::text() const { return text("") + "\n"; }

/// `indent` stands before every line but the first.
std::string Graph::text(const std::string& indent) const {
  std::vector<ValueId> numbers = numbering();
  auto value = [&](ValueId v) {
    return v == kNoValue ? std::string("none") : fmt::format("%{}", numbers[static_cast<size_t>(v)]);
  };
  auto list = [](const auto& items, const auto& one) {
    std::string joined;
    for (const auto& item : items) joined += (joined.empty() ? "" : ", ") + one(item);
    return joined;
  };
  auto typed = [&](ValueId v) { return type(v).text(); };
  std::string out = "graph @" + name + "(";
  out += list(inputs, [&](ValueId v) { return value(v) + ": " + typed(v); }) + ") {\n";
  for (size_t v = 0; v < value_count(); ++v)
    if (constants_[v].defined())
      out += fmt::format("{}  {} = constant {} : {}\n", indent, value(static_cast<ValueId>(v)),
                         hex_bytes(constants_[v]), types_[v]);
  for (const Node& n : nodes) {
    out += fmt::format("{}  {} = {}({})", indent, list(n.out, value), call_name(n), list(n.in, value));
    if (n.body) out += " " + n.body->text(indent + "  ");
    if (n.slot >= 0) out += fmt::format(" slot {}", n.slot);
    if (n.varies) out += " varies";
    if (std::string attrs = n.attrs.text(); !attrs.empty()) out += " {" + attrs + "}";
    out += " : " + list(n.out, typed);
    if (!n.site.empty()) out += " # " + n.site;
    out += "\n";
  }
  out += indent + "  return";
  if (!outputs.empty()) out += " " + list(outputs, value);
  return out + "\n" + indent + "}";
}

Graph Graph::parse(std::string_view text) { return Parser(text).run(); }

}  // namespace sorus
