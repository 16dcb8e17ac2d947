#include "sorus/tuning/subject.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "sorus/base/error.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/compiler/tuned_graph.h"
#include "sorus/dispatch/apply.h"

namespace sorus::tuning {
namespace {

void add_types(std::string& text, const Graph& graph, std::span<const ValueId> values) {
  const char* separator = "";
  for (ValueId v : values) {
    text += separator + (v == kNoValue ? std::string("none") : graph.type(v).text());
    separator = ", ";
  }
}

/// The ops inside, in order, each once.
void add_ops(std::vector<std::string>& ops, const Graph& body) {
  for (const Node& n : body.nodes) {
    if (n.body) {
      add_ops(ops, *n.body);
    } else if (std::find(ops.begin(), ops.end(), n.op->name) == ops.end()) {
      ops.emplace_back(n.op->name);
    }
  }
}

std::string describe_call(const Graph& graph, const Node& call) {
  constexpr size_t kMostOps = 8;
  std::string text(call.op->name);
  if (call.body) {
    std::vector<std::string> ops;
    add_ops(ops, *call.body);
    text = "region";
    for (size_t i = 0; i < std::min(ops.size(), kMostOps); ++i) text += (i == 0 ? " " : "+") + ops[i];
    if (ops.size() > kMostOps) text += "+...";
    text += "(";
    add_types(text, graph, call.out);
    return text + ")";
  }
  text += "(";
  add_types(text, graph, call.in);
  text += ")";
  if (const std::string attributes = call.attrs.text(); !attributes.empty()) text += " {" + attributes + "}";
  return text;
}

Digest::Words key_of_call(const Graph& graph, const Node& call) {
  std::vector<Array> in;
  for (ValueId v : call.in)
    in.push_back(v == kNoValue ? Array{} : Array{nullptr, graph.type(v).dtype, &graph.type(v).shape, {}});
  return tuned_call_key(*call.op, call.attrs.ref(), in);
}

/// Attributes that are functions have no key that another process finds.
bool has_functions(const OpDef& op) {
  return std::any_of(op.attrs.fields.begin(), op.attrs.fields.end(),
                     [](const FieldInfo& f) { return f.kind == AttrKind::kBody; });
}

/// Subjects by their keys.
class Collector {
 public:
  void add(const BoundStep& step, double ns) {
    if (!step.alone) return;
    const Graph& graph = *step.alone;
    const Node& call = graph.nodes[0];
    if (!call.body) return add_call(graph, step.strides, ns);
    add(TunedPart::kRegion, tuned_graph_key(TunedPart::kRegion, *call.body), graph, step.strides, ns);
    add_head(*call.body, ns);
  }
  std::vector<Subject> take() {
    std::vector<Subject> all;
    for (auto& [key, subject] : subjects_) all.push_back(std::move(subject));
    std::stable_sort(all.begin(), all.end(), [](const Subject& a, const Subject& b) { return a.ns > b.ns; });
    return all;
  }

 private:
  void add(TunedPart part, const Digest::Words& key, const Graph& graph, std::span<const Strides> strides,
           double ns) {
    auto [at, is_new] = subjects_.try_emplace({part, key});
    Subject& s = at->second;
    s.ns += ns;
    if (!is_new) return;
    s.part = part;
    s.key = key;
    s.graph = graph;
    s.what = describe_call(graph, graph.nodes[0]);
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const TensorType& type = graph.type(graph.inputs[i]);
      s.inputs.push_back(
          example_value(type, i < strides.size() ? strides[i] : Strides::contiguous(type.shape)));
    }
  }
  void add_call(const Graph& graph, std::span<const Strides> strides, double ns) {
    const Node& call = graph.nodes[0];
    if (!has_functions(*call.op)) add(TunedPart::kCall, key_of_call(graph, call), graph, strides, ns);
  }
  /// The product or convolution that the rest of a region follows.
  void add_head(const Graph& body, double ns) {
    const Node& head = body.nodes.front();
    if (body.nodes.size() < 2 || head.body || !body.nodes.back().body || head.slot >= 0) return;
    Graph alone;
    SmallVector<ValueId, 4> in;
    for (ValueId v : head.in) in.push_back(v == kNoValue ? kNoValue : alone.add_input(body.type(v)));
    alone.outputs = {alone.add_node(*head.op, head.attrs.ref(), in).out[0]};
    add_call(alone, {}, ns);
  }

  std::map<std::pair<TunedPart, Digest::Words>, Subject> subjects_;
};

}  // namespace

std::string describe(const BoundStep& step) {
  return step.alone ? describe_call(*step.alone, step.alone->nodes[0]) : step.kernel;
}

Ref<Value> example_value(const TensorType& type, const Strides& strides) {
  Ref<Value> value = make_dense(type);
  const int64_t count = type.shape.numel();
  std::memset(value->storage->data(), 0, static_cast<size_t>(count) * dtype_size(type.dtype));
  if (is_dense(type.shape, strides)) value->strides = strides;
  if (!is_floating(type.dtype)) return value;
  std::vector<float> numbers(static_cast<size_t>(count));
  uint64_t state = 1;
  for (float& x : numbers) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x = 0.1F + 0.9F * static_cast<float>(state >> 40) / static_cast<float>(1 << 24);
  }
  const Tensor filled(std::span<const float>(numbers), Shape{count});
  filled.copy_to(value->storage->data(), type.dtype);
  return value;
}

Runner::Runner(std::unique_ptr<Executable> executable, const std::vector<Ref<Value>>& inputs)
    : executable_(std::move(executable)),
      inputs_(inputs),
      outputs_(executable_->graph().outputs.size()),
      donated_(inputs.size(), 0) {
  run();
  run();  // from now on weights are packed
}

void Runner::run() { executable_->run(inputs_, donated_, {}, outputs_, true); }

std::string Runner::result_bits() {
  run();
  std::string bits;
  for (const Ref<Value>& v : outputs_) {
    const size_t at = bits.size();
    bits.resize(at + static_cast<size_t>(v->type.shape.numel()) * dtype_size(v->type.dtype));
    Tensor(v).copy_to(bits.data() + at, v->type.dtype);
  }
  return bits;
}

std::unique_ptr<Runner> Subject::bind() const {
  Graph copy = graph;
  if (part != TunedPart::kProgram)
    return std::make_unique<Runner>(std::make_unique<Executable>(std::move(copy)), inputs);
  PassOptions options = pass_options();
  options.relaxed = scope_state().relaxed_numerics;
  options.after = nullptr;
  TunedRef tuned = tuned_for_graph(TunedPart::kProgram, graph);
  const TuningScope scope(tuned.get());
  run_passes(copy, options);
  return std::make_unique<Runner>(std::make_unique<Executable>(std::move(copy), std::move(tuned)), inputs);
}

std::vector<const Tunable*> Subject::parameters(bool relaxed) const {
  std::vector<const Tunable*> chosen;
  const TunableTrace trace;
  static_cast<void>(bind());
  for (const Tunable* p : trace.read())
    if (p->spec().part == part && (relaxed || p->spec().effect == BitEffect::kNeutral)) chosen.push_back(p);
  return chosen;
}

std::vector<Subject> subjects_of(Executable& executable, std::span<const double> step_ns) {
  Collector collector;
  const std::vector<BoundStep> steps = executable.bound_steps();
  for (size_t i = 0; i < steps.size(); ++i) collector.add(steps[i], step_ns[i]);
  return collector.take();
}

}  // namespace sorus::tuning
