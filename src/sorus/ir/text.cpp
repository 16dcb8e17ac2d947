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
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Graph run() {
    next_line();
    expect("graph @");
    graph_.name = std::string(until("("));
    while (!accept(")")) {
      ValueId id = number();
      expect(": ");
      values_[id] = graph_.add_input(type());
      accept(", ");
    }
    expect(" {");
    while (next_line() && !accept("}")) line();
    return std::move(graph_);
  }

 private:
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
    std::string name(until("("));
    const OpDef* op = find_op(name);
    if (!op) fail(fmt::format("the name of an op, not '{}'", name));
    std::vector<ValueId> in;
    while (!accept(")")) {
      in.push_back(accept("none") ? kNoValue : value());
      accept(", ");
    }
    std::string attrs_text;
    if (accept(" {")) attrs_text = std::string(until("}"));
    std::vector<std::byte> attrs(std::max<size_t>(op->attrs.size, 1));
    op->attrs.construct(attrs.data());
    op->attrs.parse(attrs_text, attrs.data());
    Node& node = graph_.add_node(*op, AttrsRef(op->attrs, attrs.data()), in);
    op->attrs.destroy(attrs.data());
    if (node.out.size() != out.size()) fail(fmt::format("{} results of {}", node.out.size(), name));
    expect(" : ");
    for (size_t i = 0; i < out.size(); ++i) {
      values_[out[i]] = node.out[i];
      if (!(type() == graph_.type(node.out[i])))
        fail(fmt::format("the type {} of result {}", graph_.type(node.out[i]), i));
      accept(", ");
    }
    if (accept(" # ")) node.site = std::string(std::exchange(line_, {}));
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
  int row_ = 0;
};

}  // namespace

std::string Graph::text() const {
  std::string out = "graph @" + name + "(";
  for (size_t i = 0; i < inputs.size(); ++i)
    out += fmt::format("{}%{}: {}", i ? ", " : "", inputs[i], type(inputs[i]));
  out += ") {\n";
  for (size_t v = 0; v < value_count(); ++v)
    if (constants_[v].defined())
      out += fmt::format("  %{} = constant {} : {}\n", v, hex_bytes(constants_[v]), types_[v]);
  for (const Node& n : nodes) {
    out += "  ";
    for (size_t i = 0; i < n.out.size(); ++i) out += fmt::format("{}%{}", i ? ", " : "", n.out[i]);
    out += fmt::format(" = {}(", n.op->name);
    for (size_t i = 0; i < n.in.size(); ++i)
      out += (i ? ", " : "") + (n.in[i] == kNoValue ? std::string("none") : fmt::format("%{}", n.in[i]));
    out += ")";
    if (std::string attrs = n.attrs.text(); !attrs.empty()) out += " {" + attrs + "}";
    out += " : ";
    for (size_t i = 0; i < n.out.size(); ++i) out += fmt::format("{}{}", i ? ", " : "", type(n.out[i]));
    if (!n.site.empty()) out += " # " + n.site;
    out += "\n";
  }
  out += "  return";
  for (size_t i = 0; i < outputs.size(); ++i) out += fmt::format("{}%{}", i ? ", " : " ", outputs[i]);
  return out + "\n}\n";
}

Graph Graph::parse(std::string_view text) { return Parser(text).run(); }

}  // namespace sorus
