#include "sorus/ir/graph_body.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "sorus/base/fork_mutex.h"
#include "sorus/base/hash.h"
#include "sorus/base/throw_error.h"
#include "sorus/dispatch/apply.h"

namespace sorus {
namespace {

BodyCompiler& body_compiler() {
  static BodyCompiler compiler = nullptr;
  return compiler;
}

std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<TensorType> types;
  for (ValueId v : values) types.push_back(graph.type(v));
  return types;
}

/// By value: the node after which no node reads it.
std::vector<size_t> last_uses(const Graph& graph) {
  std::vector<size_t> last(graph.value_count(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (ValueId v : graph.nodes[i].in)
      if (v != kNoValue) last[static_cast<size_t>(v)] = i;
  for (ValueId v : graph.outputs) last[static_cast<size_t>(v)] = SIZE_MAX;
  return last;
}

TensorList apply_node(const Node& n, const std::vector<Tensor>& values) {
  TensorList made;
  if (n.body) {
    TensorList operands;
    for (ValueId v : n.in) operands.push_back(values[static_cast<size_t>(v)]);
    return apply_graph(*n.body, operands);
  }
  SmallVector<const Tensor*, 8> operands;
  for (ValueId v : n.in) operands.push_back(v == kNoValue ? nullptr : &values[static_cast<size_t>(v)]);
  try {
    apply_into(*n.op, operands, n.attrs.ref(), made);
  } catch (const Error& e) {
    if (n.site.empty()) throw;
    throw_error(e.kind(), std::string(e.what()) + " (at " + n.site + ")");  // as compiled programs say it
  }
  return made;
}

class GraphBody final : public FunctionBody {
 public:
  explicit GraphBody(Graph graph, std::string text)
      : graph_(std::move(graph)),
        text_(std::move(text)),
        hash_(hash_bytes(text_)),
        input_types_(types_of(graph_, graph_.inputs)),
        output_types_(types_of(graph_, graph_.outputs)) {}

  [[nodiscard]] const std::vector<TensorType>& input_types() const override { return input_types_; }
  [[nodiscard]] const std::vector<TensorType>& output_types() const override { return output_types_; }
  [[nodiscard]] bool checks_values() const override;
  [[nodiscard]] TensorList call(const TensorList& in) const override;
  void run(std::span<const Ref<Value>> in, std::span<char> donated, std::span<Ref<Value>> out) const override;
  [[nodiscard]] const std::string& text() const override { return text_; }
  [[nodiscard]] uint64_t hash() const override { return hash_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  BodyProgram& program() const;
  Graph graph_;
  std::string text_;
  uint64_t hash_;
  std::vector<TensorType> input_types_, output_types_;
  mutable std::array<std::unique_ptr<BodyProgram>, 2> programs_;  ///< exact, relaxed
};

bool GraphBody::checks_values() const {
  return std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                     [](const Node& n) { return n.op->check_values != nullptr; });
}

TensorList GraphBody::call(const TensorList& in) const { return apply_graph(graph_, in); }

void GraphBody::run(std::span<const Ref<Value>> in, std::span<char> donated,
                    std::span<Ref<Value>> out) const {
  if (!reference_kernels_only()) return program().run(in, donated, out);
  // A program keeps the kernels with which it was compiled, so it is not for a test of others.
  ScopedState<Recorder*> unheard(&ScopeState::recorder, nullptr);
  ScopedState<GradientRecorder*> untaped(&ScopeState::gradients, nullptr);
  TensorList operands;
  for (const Ref<Value>& v : in) operands.push_back(Tensor(v));
  TensorList results = call(operands);
  for (size_t i = 0; i < out.size(); ++i) out[i] = results[i].release();
}

BodyProgram& GraphBody::program() const {
  const size_t which = scope_state().relaxed_numerics ? 1 : 0;
  ForkMutex& mutex = fork_mutex_of(this);
  {
    std::lock_guard lock(mutex);
    if (programs_[which]) return *programs_[which];
  }
  // Compiling takes other locks. Of two threads that compile at once, the first to come is kept.
  std::unique_ptr<BodyProgram> made = body_compiler()(graph_);
  std::lock_guard lock(mutex);
  if (!programs_[which]) programs_[which].swap(made);
  return *programs_[which];
}

/// Bodies that somebody holds, by text.
class BodyStore {
 public:
  static BodyStore& instance() {
    static auto& store = *new BodyStore;
    return store;
  }
  BodyRef find_or_make(Graph graph) {
    std::string text = graph.text();
    const uint64_t key = hash_bytes(text);
    {
      std::lock_guard lock(mutex_);
      if (BodyRef known = find(key, text)) return known;
    }
    auto made = std::make_shared<const GraphBody>(std::move(graph), std::move(text));
    BodyRef known;  // dropped without the lock
    std::lock_guard lock(mutex_);
    if ((known = find(key, made->text()))) return known;
    if (bodies_.size() >= sweep_at_) sweep();
    bodies_.emplace(key, made);
    return made;
  }

 private:
  BodyRef find(uint64_t key, const std::string& text) {
    auto [at, end] = bodies_.equal_range(key);
    for (; at != end; ++at)
      if (std::shared_ptr<const GraphBody> body = at->second.lock(); body && body->text() == text)
        return body;
    return nullptr;
  }
  void sweep() {
    std::erase_if(bodies_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<size_t>(64, 2 * bodies_.size());
  }
  ForkMutex mutex_;
  std::unordered_multimap<uint64_t, std::weak_ptr<const GraphBody>> bodies_;
  size_t sweep_at_ = 64;
};

}  // namespace

TensorList apply_graph(const Graph& graph, const TensorList& in) {
  ScopedState<CastPolicy*> no_casts(&ScopeState::casts, nullptr);  // they are part of the graph
  std::vector<Tensor> values(graph.value_count());
  for (size_t v = 0; v < values.size(); ++v)
    if (graph.is_constant(static_cast<ValueId>(v))) values[v] = graph.constant(static_cast<ValueId>(v));
  for (size_t i = 0; i < in.size(); ++i) values[static_cast<size_t>(graph.inputs[i])] = in[i];
  const std::vector<size_t> last_use = last_uses(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    TensorList made = apply_node(n, values);
    for (ValueId v : n.in)
      if (v != kNoValue && last_use[static_cast<size_t>(v)] == i) values[static_cast<size_t>(v)] = Tensor();
    for (size_t k = 0; k < made.size(); ++k) values[static_cast<size_t>(n.out[k])] = std::move(made[k]);
  }
  TensorList out;
  for (ValueId v : graph.outputs) out.push_back(values[static_cast<size_t>(v)]);
  return out;
}

void set_body_compiler(BodyCompiler compiler) { body_compiler() = compiler; }

BodyRef body_of(Graph graph) { return BodyStore::instance().find_or_make(std::move(graph)); }

const Graph& graph_of(const FunctionBody& body) { return dynamic_cast<const GraphBody&>(body).graph(); }

}  // namespace sorus
