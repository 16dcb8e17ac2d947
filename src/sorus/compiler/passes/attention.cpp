#include <numeric>
#include <optional>

#include "sorus/compiler/pass_manager.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/random/attributes.h"
#include "sorus/ops/shape/attributes.h"

namespace sorus {
namespace {

/// Attention as calls: dropout(softmax(q k^T * scale + mask)) v.
struct Written {
  ValueId query = kNoValue;
  ValueId turned_key = kNoValue;  ///< (..., E, S)
  ValueId value = kNoValue;
  ValueId mask = kNoValue;
  const OpDef* scaled_by = nullptr;  ///< mul or div, null where there is no scale
  ValueId scale = kNoValue;
  ValueId random = kNoValue;  ///< key of a dropout of the weights
  double dropout = 0;
};

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph), made_by_(graph.value_count(), nullptr), uses_(graph.value_count(), 0) {
    for (const Node& n : graph.nodes) {
      for (ValueId v : n.out) made_by_[static_cast<size_t>(v)] = &n;
      for (ValueId v : n.in)
        if (v != kNoValue) ++uses_[static_cast<size_t>(v)];
    }
    for (ValueId v : graph.outputs) ++uses_[static_cast<size_t>(v)];
  }

  /// What ends in this call; nothing where somebody wants the scores or weights, or shapes do not fit.
  [[nodiscard]] std::optional<Written> find(const Node& n) const {
    if (n.op->name != "matmul") return std::nullopt;
    Written w;
    w.value = n.in[1];
    const Node* weights = passing(before_dropout(n.in[0], w), "softmax");
    if (!weights || weights->slot >= 0) return std::nullopt;
    const int rank = graph_.type(n.in[0]).shape.rank();
    if (static_cast<const SoftmaxAttrs*>(weights->attrs.ref().data)->axis != rank - 1) return std::nullopt;
    const Node* scores = scores_of(weights->in[0], w);
    if (!scores) return std::nullopt;
    w.query = scores->in[0];
    w.turned_key = scores->in[1];
    return fits(w, graph_.type(scores->out[0])) ? std::optional(w) : std::nullopt;
  }

 private:
  /// The call of that op that makes a value which nobody else reads.
  [[nodiscard]] const Node* passing(ValueId v, std::string_view op) const {
    const Node* n = made_by_[static_cast<size_t>(v)];
    return n && n->op->name == op && uses_[static_cast<size_t>(v)] == 1 ? n : nullptr;
  }
  [[nodiscard]] const TensorType& type(ValueId v) const { return graph_.type(v); }

  /// What a dropout, which is noted, is given; the value itself where there is none.
  [[nodiscard]] ValueId before_dropout(ValueId v, Written& w) const {
    const Node* drops = passing(v, "dropout");
    if (!drops || drops->slot >= 0) return v;
    w.dropout = static_cast<const DropoutAttrs*>(drops->attrs.ref().data)->p;
    if (w.dropout > 0) w.random = drops->in[1];
    return drops->in[0];
  }
  /// The product behind a mask and a scale, which are noted.
  [[nodiscard]] const Node* scores_of(ValueId v, Written& w) const {
    if (const Node* sum = passing(v, "add")) {
      for (size_t k : {size_t{0}, size_t{1}}) {
        Written inner = w;
        const Node* product = type(sum->in[k]) == type(v) ? scaled_scores(sum->in[k], inner) : nullptr;
        if (!product) continue;
        w = inner;
        w.mask = sum->in[1 - k];
        return product;
      }
      return nullptr;
    }
    return scaled_scores(v, w);
  }
  [[nodiscard]] const Node* scaled_scores(ValueId v, Written& w) const {
    for (std::string_view name : {"mul", "div"}) {
      const Node* scaled = passing(v, name);
      if (!scaled || type(scaled->in[1]).shape.rank() != 0) continue;
      w.scaled_by = scaled->op;
      w.scale = scaled->in[1];
      v = scaled->in[0];
      break;
    }
    return passing(v, "matmul");
  }
  /// Stacks of matrices of one floating type with equal leading extents, all known.
  [[nodiscard]] bool fits(const Written& w, const TensorType& scores) const {
    const Shape &q = type(w.query).shape, &k = type(w.turned_key).shape, &v = type(w.value).shape;
    const int rank = q.rank();
    if (rank < 3 || k.rank() != rank || v.rank() != rank || !is_floating(scores.dtype)) return false;
    for (const Shape* s : {&q, &k, &v})
      if (!s->is_concrete() || s->numel() == 0) return false;
    for (int i = 0; i + 2 < rank; ++i)
      if (q[i] != k[i] || k[i] != v[i]) return false;
    return w.mask == kNoValue || type(w.mask).dtype == scores.dtype;
  }

  const Graph& graph_;
  std::vector<const Node*> made_by_;
  std::vector<int32_t> uses_;
};

/// Appends the op's call; the value that it gives.
ValueId write(Graph& graph, const Written& w, const std::string& site) {
  auto call = [&](const OpDef& op, AttrsRef attrs, std::initializer_list<ValueId> in) {
    Node& n = graph.add_node(op, attrs, std::span(in.begin(), in.size()));
    n.site = site;
    return n.out[0];
  };
  const ValueId query = w.scaled_by ? call(*w.scaled_by, NoAttrs{}, {w.query, w.scale}) : w.query;
  const Shape q = graph.type(w.query).shape, k = graph.type(w.turned_key).shape;
  AxesAttrs turn;
  for (int i = 0; i < k.rank(); ++i) turn.axes.push_back(i);
  std::swap(turn.axes[k.rank() - 1], turn.axes[k.rank() - 2]);
  const ValueId key = call(*find_op("transpose"), turn, {w.turned_key});
  ValueId mask = w.mask;
  Shape scores = q;
  scores[q.rank() - 1] = k[k.rank() - 1];
  if (mask != kNoValue && graph.type(mask).shape != scores)
    mask = call(*find_op("broadcast_to"), ShapeAttrs{scores.sizes()}, {mask});
  AttentionAttrs attrs;
  attrs.dropout = w.dropout;
  return call(*find_op("attention"), attrs, {query, key, w.value, mask, w.random});
}

}  // namespace

void recognize_attention(Graph& graph) {
  const Finder finder(graph);
  std::vector<std::optional<Written>> found;
  for (const Node& n : graph.nodes) found.push_back(finder.find(n));
  std::vector<ValueId> to(graph.value_count());
  std::iota(to.begin(), to.end(), 0);
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!found[i]) {
      graph.nodes.push_back(std::move(nodes[i]));
      continue;
    }
    const ValueId result = write(graph, *found[i], nodes[i].site);
    to[static_cast<size_t>(nodes[i].out[0])] = result;
  }
  for (size_t v = to.size(); v < graph.value_count(); ++v) to.push_back(static_cast<ValueId>(v));
  replace_uses(graph, to);
}

}  // namespace sorus
