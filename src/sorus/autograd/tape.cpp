#include "sorus/autograd/tape.h"

#include <atomic>
#include <bit>
#include <utility>

#include "sorus/base/interrupt.h"
#include "sorus/dispatch/builtin.h"

namespace sorus {

/// The watched values by identity: open addressing, kept under half full. Holds the values, so that no other
/// value can get their address while the tape lives.
class Tape::Leaves {
 public:
  [[nodiscard]] int32_t find(const Value* v) const {
    if (kept_.empty()) return -1;
    for (size_t i = slot(v);; i = (i + 1) & (table_.size() - 1)) {
      if (table_[i].first == v) return table_[i].second;
      if (!table_[i].first) return -1;
    }
  }
  void add(const Tensor& x, int32_t id) {
    kept_.push_back(x);
    ids_.push_back(id);
    if (kept_.size() * 2 > table_.size())
      rebuild();
    else
      insert(x.value().get(), id);
  }

 private:
  [[nodiscard]] size_t slot(const Value* v) const {
    return mix_bits(reinterpret_cast<uintptr_t>(v)) & (table_.size() - 1);
  }
  void insert(const Value* v, int32_t id) {
    size_t i = slot(v);
    while (table_[i].first) i = (i + 1) & (table_.size() - 1);
    table_[i] = {v, id};
  }
  void rebuild() {
    table_.assign(std::bit_ceil(kept_.size() * 4), {nullptr, -1});
    for (size_t k = 0; k < kept_.size(); ++k) insert(kept_[k].value().get(), ids_[k]);
  }
  std::vector<Tensor> kept_;
  std::vector<int32_t> ids_;
  std::vector<std::pair<const Value*, int32_t>> table_ =
      std::vector<std::pair<const Value*, int32_t>>(8, {nullptr, -1});
};

/// One recorded call: edges to what it was computed from and just the values that its rule reads.
struct Tape::Node {
  const OpDef* op = nullptr;
  AttrsBox attrs;
  std::shared_ptr<const GradientRule> rule;  ///< instead of op->vjp
  SmallVector<int32_t, 4> edges;             ///< per operand: its number on this tape, -1 untracked
  SmallVector<int32_t, 2> outs;              ///< per result: its number, -1 untracked
  TensorList in, out;                        ///< undefined where not saved
  SmallVector<TensorType, 3> in_types;
  SmallVector<TensorType, 1> out_types;
  uint32_t present = 0;  ///< operands that were given, as bits (the first 32)

  [[nodiscard]] std::string_view name() const { return op ? op->name : "custom gradient"; }
};

class Tape::Context final : public VjpContext {
 public:
  Context(const Node& node, TensorList grads)
      : node_(node), grads_(std::move(grads)), results_(node.edges.size()) {}

  [[nodiscard]] const Tensor& grad(size_t i) const override { return grads_[i]; }
  [[nodiscard]] const Tensor& in(size_t i) const override { return saved(node_.in, i, "operand"); }
  [[nodiscard]] const Tensor& out(size_t i) const override { return saved(node_.out, i, "result"); }
  [[nodiscard]] const TensorType& in_type(size_t i) const override { return node_.in_types[i]; }
  [[nodiscard]] const TensorType& out_type(size_t i) const override { return node_.out_types[i]; }
  [[nodiscard]] size_t input_count() const override { return node_.edges.size(); }
  [[nodiscard]] size_t output_count() const override { return node_.outs.size(); }
  [[nodiscard]] bool has(size_t i) const override {
    return i < node_.edges.size() && (i >= 32 || (node_.present >> i & 1U));
  }
  [[nodiscard]] bool needs(size_t i) const override { return i < node_.edges.size() && node_.edges[i] >= 0; }
  void set(size_t i, Tensor gradient) override { results_[i] = std::move(gradient); }
  [[nodiscard]] AttrsRef attrs_ref() const override { return node_.attrs.ref(); }
  [[nodiscard]] Tensor take(size_t i) { return std::move(results_[i]); }
  [[nodiscard]] const TensorList& grads() const { return grads_; }

 private:
  const Tensor& saved(const TensorList& list, size_t i, const char* what) const {
    SORUS_INTERNAL(i < list.size() && list[i].defined(),
                   "the gradient of {} reads {} {}, which it does not save", node_.name(), what, i);
    return list[i];
  }
  const Node& node_;
  TensorList grads_;
  TensorList results_;
};

namespace {

std::atomic<uint64_t> next_epoch{1};

SaveMask bit(size_t i) { return i < 31 ? SaveMask{1} << i : SaveMask{1} << 31; }

}  // namespace

Tape::Tape()
    : epoch_(next_epoch.fetch_add(1, std::memory_order_relaxed)),
      outer_(scope_state().gradients),
      in_boundary_(scope_state().recorder != nullptr),
      leaves_(std::make_unique<Leaves>()) {
  scope_state().gradients = this;
  ++scope_state().gradient_level;
}

Tape::~Tape() { close(); }

void Tape::close() {
  if (!std::exchange(open_, false)) return;
  scope_state().gradients = outer_;
  --scope_state().gradient_level;
}

void Tape::watch(const Tensor& x) {
  SORUS_CHECK(is_floating(x.dtype()), DTypeError,
              "grad: dtype has no gradient: got {}, need a floating dtype", x.dtype());
  if (leaves_->find(x.value().get()) < 0) leaves_->add(x, ids_++);
}

int32_t Tape::edge_of(const Tensor& x) const {
  if (!x.defined()) return -1;
  const Value* v = x.value().get();
  if (int32_t leaf = leaves_->find(v); leaf >= 0) return leaf;
  for (const TapeEdge& e : v->edges)
    if (e.tape == epoch_) return e.id;
  return -1;
}

int32_t Tape::track(const Tensor& out) {
  if (!is_floating(out.dtype())) return -1;
  out.value()->edges.push_back({epoch_, ids_});
  return ids_++;
}

bool Tape::tracks(const Tensor& x) const { return edge_of(x) >= 0 || (outer_ && outer_->tracks(x)); }

void Tape::record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<Tensor> out) {
  if (!op.traits.differentiable) return;
  if (outer_) outer_->record(op, in, attrs, out);
  Node node;
  bool any = false;
  for (const Tensor* t : in) {
    node.edges.push_back(t ? edge_of(*t) : -1);
    any |= node.edges.back() >= 0;
  }
  if (!any) return;
  node.op = &op;
  node.attrs = AttrsBox(attrs);
  for (size_t i = 0; i < in.size(); ++i) {
    bool given = in[i] && in[i]->defined();
    if (given && i < 32) node.present |= 1U << i;
    node.in_types.push_back(given ? in[i]->type() : TensorType{});
    node.in.push_back(given && (op.saves_in & bit(i)) ? *in[i] : Tensor());
  }
  for (size_t i = 0; i < out.size(); ++i) {
    node.out_types.push_back(out[i].type());
    node.outs.push_back(track(out[i]));
    node.out.push_back((op.saves_out & bit(i)) ? out[i] : Tensor());
  }
  append(std::move(node));
}

void Tape::record_custom(std::span<const Tensor> in, std::span<const Tensor> out,
                         const std::shared_ptr<const GradientRule>& rule) {
  if (outer_) outer_->record_custom(in, out, rule);
  Node node;
  bool any = false;
  for (const Tensor& t : in) {
    node.edges.push_back(edge_of(t));
    any |= node.edges.back() >= 0;
    node.in.push_back(t);
    node.in_types.push_back(t.defined() ? t.type() : TensorType{});
  }
  if (!any) return;
  node.rule = rule;
  for (const Tensor& t : out) {
    node.out.push_back(t);
    node.out_types.push_back(t.type());
    node.outs.push_back(track(t));
  }
  append(std::move(node));
}

void Tape::append(Node node) {
  if (scope_state().recorder) saw_boundary_ = true;
  nodes_.push_back(std::move(node));
}

TensorList Tape::gradients(std::span<const Tensor> outputs, std::span<const Tensor> seeds,
                           std::span<const Tensor> sources, bool retain) {
  // Only the enclosing scopes see the walk: its gradients are of a level below this one.
  ScopedState<GradientRecorder*> outside(&ScopeState::gradients, open_ ? outer_ : scope_state().gradients);
  std::vector<Tensor> slots(static_cast<size_t>(ids_));
  auto body = [&] {
    for (size_t i = 0; i < outputs.size(); ++i) {
      Tensor seed = i < seeds.size() ? seeds[i] : Tensor();
      SORUS_CHECK(!seed.defined() || seed.shape() == outputs[i].shape(), ShapeError,
                  "grad: sensitivity has another shape than output {}: got {}, need {}", i, seed.shape(),
                  outputs[i].shape());
      int32_t edge = edge_of(outputs[i]);
      if (edge < 0) continue;
      if (!seed.defined()) seed = builtin_ops().ones(outputs[i].type());
      Tensor& slot = slots[static_cast<size_t>(edge)];
      slot = slot.defined() ? builtin_ops().add(slot, seed) : seed;
    }
    walk(slots, retain);
  };
  if (saw_boundary_ && !in_boundary_ && !scope_state().recorder) {
    using Body = decltype(body);
    run_boundary(
        structure(), [](void* b) { (*static_cast<Body*>(b))(); }, &body);
  } else {
    body();
  }
  TensorList result;
  for (const Tensor& s : sources) {
    int32_t edge = edge_of(s);
    result.push_back(edge >= 0 ? slots[static_cast<size_t>(edge)] : Tensor());
  }
  return result;
}

void Tape::walk(std::vector<Tensor>& slots, bool retain) {
  if (retain) {
    for (size_t i = nodes_.size(); i-- > 0;) {
      check_interrupt();
      visit(nodes_[i], slots);
    }
    return;
  }
  while (!nodes_.empty()) {  // saved values go as soon as they are used
    check_interrupt();
    Node node = std::move(nodes_.back());
    nodes_.pop_back();
    visit(node, slots);
  }
}

void Tape::visit(const Node& node, std::vector<Tensor>& slots) {
  TensorList grads;
  bool any = false;
  for (int32_t id : node.outs) {
    // Later results cannot need this slot again: every use of the value comes after the record that made it.
    grads.push_back(id >= 0 ? std::move(slots[static_cast<size_t>(id)]) : Tensor());
    any |= grads.back().defined();
  }
  if (!any) return;
  if (node.rule) {
    for (size_t i = 0; i < grads.size(); ++i)
      if (!grads[i].defined()) grads[i] = builtin_ops().zeros(node.out_types[i]);
    TensorList results = (*node.rule)(node.in, node.out, grads);
    SORUS_CHECK(results.size() <= node.edges.size(), ValueError,
                "custom gradient: too many gradients: got {}, need at most {}, one for each operand",
                results.size(), node.edges.size());
    for (size_t i = 0; i < results.size(); ++i) accumulate(node, i, std::move(results[i]), slots);
    return;
  }
  SORUS_CHECK(node.op->vjp, NotSupportedError,
              "{}: has no gradient: got a gradient request, need stop_gradient before or after it",
              node.op->name);
  Context context(node, std::move(grads));
  node.op->vjp(context);
  for (size_t i = 0; i < node.edges.size(); ++i) accumulate(node, i, context.take(i), slots);
}

void Tape::accumulate(const Node& node, size_t i, Tensor gradient, std::vector<Tensor>& slots) {
  if (node.edges[i] < 0 || !gradient.defined()) return;
  SORUS_CHECK(gradient.shape() == node.in_types[i].shape, ShapeError,
              "{}: gradient of operand {} has another shape: got {}, need {}", node.name(), i,
              gradient.shape(), node.in_types[i].shape);
  SORUS_CHECK(gradient.dtype() == node.in_types[i].dtype, DTypeError,
              "{}: gradient of operand {} has another dtype: got {}, need {}", node.name(), i,
              gradient.dtype(), node.in_types[i].dtype);
  Tensor& slot = slots[static_cast<size_t>(node.edges[i])];
  slot = slot.defined() ? builtin_ops().add(slot, gradient) : std::move(gradient);
}

BoundaryKey Tape::structure() const {
  BoundaryKey key(nodes_.size());
  for (const Node& n : nodes_) {
    key.add(reinterpret_cast<uintptr_t>(n.op ? static_cast<const void*>(n.op) : n.rule.get()));
    for (int32_t e : n.edges) key.add(static_cast<uint64_t>(e));
    for (const TensorType& t : n.out_types) key.add(t);
  }
  return key;
}

}  // namespace sorus
