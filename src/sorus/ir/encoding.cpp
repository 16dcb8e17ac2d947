#include "sorus/ir/encoding.h"

#include <cstring>
#include <deque>
#include <unordered_map>

#include "sorus/ir/byte_stream.h"
#include "sorus/ir/graph_body.h"

namespace sorus {
namespace {

constexpr int kDeepest = 64;  // graphs inside graphs
/// Bytes of the largest value; sums of a few still fit an int64.
constexpr int64_t kLargestValue = int64_t{1} << 48;

constexpr size_t kRoomForTables = 1 << 16;

enum class ConstantForm : uint8_t { kBytes, kKnown };

/// Strings and types stand once in front, and are referred to by number.
class Encoder {
 public:
  explicit Encoder(const EncodingOptions& options) : options_(options) {
    for (size_t i = 0; i < options.known.size(); ++i) known_.emplace(options.known[i].value().get(), i);
  }

  std::string run(const Graph& g) {
    graph(g, options_.sites, 0);
    size_t bulk = 0;
    for (const Tensor* c : bulk_) bulk += bytes_of(*c);
    ByteWriter all;
    all.bytes().reserve(bulk + out_.bytes().size() + kRoomForTables);
    all.number(texts_.size());
    for (const std::string& t : texts_) all.text(t);
    all.number(types_.size());
    for (const TensorType* t : types_) type(all, *t);
    all.text(out_.bytes());
    for (const Tensor* c : bulk_) {
      const size_t at = all.bytes().size();
      all.bytes().resize(at + bytes_of(*c));
      c->copy_to(all.bytes().data() + at, c->dtype());
    }
    return std::move(all.bytes());
  }

 private:
  void graph(const Graph& g, bool sites, int depth) {
    SORUS_CHECK(depth < kDeepest, NotSupportedError,
                "graph: graphs are nested too deeply: got more than {}, need at most {}", kDeepest, kDeepest);
    const std::vector<ValueId> numbers = g.numbering();
    text(g.name);
    out_.number(g.inputs.size());
    for (ValueId v : g.inputs) type(g.type(v));
    constants(g);
    out_.number(g.nodes.size());
    for (const Node& n : g.nodes) {
      text(call_name(n));
      out_.number(n.in.size());
      for (ValueId v : n.in) out_.number(v == kNoValue ? 0 : number(numbers, v) + 1);
      out_.number(static_cast<uint64_t>(n.slot + 1) << 1 | (n.varies ? 1 : 0));
      n.body ? graph(*n.body, sites, depth + 1) : attributes(n.attrs.ref(), depth);
      out_.number(n.out.size());
      for (ValueId v : n.out) type(g.type(v));
      text(sites ? n.site : std::string());
    }
    out_.number(g.outputs.size());
    for (ValueId v : g.outputs) out_.number(number(numbers, v));
  }
  static uint64_t number(const std::vector<ValueId>& numbers, ValueId v) {
    return static_cast<uint64_t>(numbers[static_cast<size_t>(v)]);
  }

  void constants(const Graph& g) {
    std::vector<ValueId> all;
    for (size_t v = 0; v < g.value_count(); ++v)
      if (g.is_constant(static_cast<ValueId>(v))) all.push_back(static_cast<ValueId>(v));
    out_.number(all.size());
    for (ValueId v : all) {
      const Tensor& c = g.constant(v);
      if (auto at = known_.find(c.value().get()); at != known_.end()) {
        out_.byte(static_cast<uint8_t>(ConstantForm::kKnown));
        out_.number(at->second);
        continue;
      }
      out_.byte(static_cast<uint8_t>(ConstantForm::kBytes));
      type(g.type(v));
      bulk_.push_back(&c);
    }
  }
  static size_t bytes_of(const Tensor& t) { return static_cast<size_t>(t.numel()) * dtype_size(t.dtype()); }

  void attributes(AttrsRef attrs, int depth) {
    out_.number(attrs.def->fields.size());
    for (const FieldInfo& f : attrs.def->fields) {
      text(f.name);
      out_.byte(static_cast<uint8_t>(f.kind));
      attribute(f.get(attrs.data), depth);
    }
  }
  void attribute(const AttrValue& value, int depth) {
    if (const auto* b = std::get_if<bool>(&value)) return out_.byte(*b ? 1 : 0);
    if (const auto* i = std::get_if<int64_t>(&value)) return out_.integer(*i);
    if (const auto* d = std::get_if<double>(&value)) return out_.fixed(std::bit_cast<uint64_t>(*d), 8);
    if (const auto* s = std::get_if<std::string>(&value)) return text(*s);
    if (const auto* t = std::get_if<DType>(&value)) return out_.byte(static_cast<uint8_t>(*t));
    if (const auto* list = std::get_if<Ints>(&value)) {
      out_.number(static_cast<uint64_t>(list->size()));
      for (int64_t i : *list) out_.integer(i);
      return;
    }
    const auto& body = std::get<BodyRef>(value);
    SORUS_INTERNAL(body, "graph: a call has no body");
    graph(graph_of(*body), true, depth + 1);  // bodies are told apart by their places as well
  }

  void text(std::string_view s) {
    auto at = text_numbers_.find(s);
    if (at == text_numbers_.end()) {
      const size_t number = texts_.size();
      at = text_numbers_.emplace(texts_.emplace_back(s), number).first;
    }
    out_.number(at->second);
  }
  void type(const TensorType& t) {
    auto& same_hash = type_numbers_[t.hash()];
    for (size_t i : same_hash)
      if (*types_[i] == t) return out_.number(i);
    SORUS_CHECK(t.shape.is_concrete() && t.device == Device{}, NotSupportedError,
                "graph: a type cannot be written: got {} on {}, need known dimensions on the host", t,
                device_text(t.device));
    same_hash.push_back(types_.size());
    out_.number(types_.size());
    types_.push_back(&t);
  }
  static void type(ByteWriter& out, const TensorType& t) {
    out.byte(static_cast<uint8_t>(t.dtype));
    out.number(static_cast<uint64_t>(t.shape.rank()));
    for (int i = 0; i < t.shape.rank(); ++i) out.number(static_cast<uint64_t>(t.shape.size(i)));
  }

  const EncodingOptions& options_;
  ByteWriter out_;
  std::deque<std::string> texts_;  ///< stay where they are
  std::unordered_map<std::string_view, size_t> text_numbers_;
  std::unordered_map<uint64_t, std::vector<size_t>> type_numbers_;
  std::vector<const TensorType*> types_;  ///< in the graphs
  std::unordered_map<const Value*, size_t> known_;
  std::vector<const Tensor*> bulk_;  ///< constants in the graphs, whose bytes stand at the end
};

/// Attributes under construction.
class AttrsDraft {
 public:
  explicit AttrsDraft(const AttrsDef& def) : def_(def), bytes_(std::max<size_t>(def.size, 1)) {
    def_.construct(bytes_.data());
  }
  ~AttrsDraft() { def_.destroy(bytes_.data()); }
  AttrsDraft(const AttrsDraft&) = delete;
  AttrsDraft& operator=(const AttrsDraft&) = delete;
  void* data() { return bytes_.data(); }
  [[nodiscard]] AttrsRef ref() const { return {def_, bytes_.data()}; }

 private:
  const AttrsDef& def_;
  std::vector<std::byte> bytes_;
};

void verify_read(const Graph& graph) {
  try {
    graph.verify();
  } catch (const InternalError& e) {
    raise<ValueError>("graph: bytes hold no valid graph: got '{}', need a graph that another Sorus wrote",
                      e.what());
  }
}

class Decoder {
 public:
  Decoder(std::string_view bytes, const DecodingOptions& options)
      : in_(bytes, "graph"), bulk_({}, "graph"), options_(options) {}

  Graph run() {
    texts_.resize(in_.count());
    for (std::string_view& t : texts_) t = in_.text();
    types_.resize(in_.count(2));
    for (TensorType& t : types_) t = read_type();
    const std::string_view structure = in_.text();
    bulk_ = ByteReader(in_.take(in_.left()), "graph, constants");
    in_ = ByteReader(structure, "graph, calls");
    Graph g = graph(true, 0);
    if (!in_.done()) in_.fail("the end");
    if (!bulk_.done()) bulk_.fail("the end");
    return g;
  }

 private:
  Graph graph(bool outermost, int depth) {
    if (depth >= kDeepest) in_.fail("graphs nested less deeply");
    Graph g;
    g.name = std::string(text());
    for (size_t n = in_.count(); n > 0; --n) g.add_input(type());
    for (size_t n = in_.count(); n > 0; --n) constant(g);
    for (size_t n = in_.count(6); n > 0; --n) g.nodes.push_back(node(g, outermost, depth));
    for (size_t n = in_.count(); n > 0; --n)
      g.outputs.push_back(static_cast<ValueId>(in_.index(g.value_count())));
    return g;
  }

  Node node(Graph& g, bool mapped, int depth) {
    Node n;
    std::string_view name = text();
    std::string engine = split_call_name(&name);
    n.op = find_graph_op(name);
    const bool has_body = n.op == &call_op();
    if (!n.op) in_.fail(fmt::format("an op of this library, not '{}'", name));
    for (size_t k = in_.count(); k > 0; --k)
      n.in.push_back(static_cast<ValueId>(in_.index(g.value_count() + 1)) - 1);
    const uint64_t slot = in_.number();
    if (slot >> 1 > INT32_MAX) in_.fail("a smaller slot");
    n.slot = static_cast<int32_t>(slot >> 1) - 1;
    n.varies = (slot & 1) != 0;
    if (has_body) {
      auto body = std::make_shared<Graph>(graph(mapped, depth + 1));
      body->engine = std::move(engine);
      n.body = std::move(body);
    } else {
      n.attrs = attributes(*n.op, depth);
    }
    for (size_t k = in_.count(); k > 0; --k) n.out.push_back(g.add_value(type()));
    const std::string_view site = text();
    n.site = mapped && options_.site ? options_.site(site) : std::string(site);
    return n;
  }

  void constant(Graph& g) {
    const auto form = static_cast<ConstantForm>(in_.byte());
    if (form == ConstantForm::kKnown) {
      g.add_constant(options_.known[in_.index(options_.known.size())]);
      return;
    }
    if (form != ConstantForm::kBytes) in_.fail("a constant");
    const TensorType& t = type();
    const std::string_view bytes =
        bulk_.take(static_cast<size_t>(t.shape.numel()) * dtype_size(t.dtype));  // before memory for it
    Ref<Value> v = make_dense(t);
    if (!bytes.empty()) std::memcpy(v->storage->data(), bytes.data(), bytes.size());
    g.add_constant(Tensor(std::move(v)));
  }

  AttrsBox attributes(const OpDef& op, int depth) {
    AttrsDraft draft(op.attrs);
    for (size_t n = in_.count(); n > 0; --n) {
      const std::string_view name = text();
      const FieldInfo* f = op.attrs.find(name);
      if (!f || in_.byte() != static_cast<uint8_t>(f->kind))
        in_.fail(fmt::format("an attribute of {}, not '{}'", op.name, name));
      f->set(draft.data(), attribute(f->kind, depth));
    }
    for (const FieldInfo& f : op.attrs.fields)
      if (f.kind == AttrKind::kBody && !std::get<BodyRef>(f.get(draft.data()))) in_.fail("a body");
    return AttrsBox(draft.ref());
  }
  AttrValue attribute(AttrKind kind, int depth) {
    switch (kind) {
      case AttrKind::kBool:
        return in_.byte() != 0;
      case AttrKind::kInt:
        return in_.integer();
      case AttrKind::kFloat:
        return std::bit_cast<double>(in_.fixed(8));
      case AttrKind::kString:
        return std::string(text());
      case AttrKind::kDType:
        return dtype();
      case AttrKind::kInts: {
        Ints list;
        for (size_t n = in_.count(); n > 0; --n) list.push_back(in_.integer());
        return list;
      }
      case AttrKind::kBody:
        break;
    }
    Graph body = graph(false, depth + 1);
    verify_read(body);
    return body_of(std::move(body));
  }

  std::string_view text() { return texts_[in_.index(texts_.size())]; }
  const TensorType& type() { return types_[in_.index(types_.size())]; }
  DType dtype() {
    const uint8_t d = in_.byte();
    if (d >= kDTypeCount) in_.fail("a dtype");
    return static_cast<DType>(d);
  }
  TensorType read_type() {
    TensorType t;
    t.dtype = dtype();
    const size_t rank = in_.count();
    if (rank > static_cast<size_t>(kMaxRank)) in_.fail("fewer dimensions");
    int64_t bytes = static_cast<int64_t>(dtype_size(t.dtype));
    for (size_t i = 0; i < rank; ++i) {
      const uint64_t extent = in_.number();
      // As if no extent were 0, so that strides are bounded as well.
      if (extent > static_cast<uint64_t>(kLargestValue) ||
          __builtin_mul_overflow(bytes, std::max<int64_t>(1, static_cast<int64_t>(extent)), &bytes) ||
          bytes > kLargestValue)
        in_.fail("a smaller shape");
      t.shape.push_back(static_cast<int64_t>(extent));
    }
    return t;
  }

  ByteReader in_, bulk_;
  const DecodingOptions& options_;
  std::vector<std::string_view> texts_;
  std::vector<TensorType> types_;
};

}  // namespace

std::string encode_graph(const Graph& graph, const EncodingOptions& options) {
  return Encoder(options).run(graph);
}

Graph decode_graph(std::string_view bytes, const DecodingOptions& options) {
  Graph graph = Decoder(bytes, options).run();
  verify_read(graph);
  return graph;
}

}  // namespace sorus
