#include "sorus/compiler/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <set>

#include "sorus/base/fork_mutex.h"
#include "sorus/compiler/build_id.h"
#include "sorus/compiler/compile.h"
#include "sorus/dispatch/apply.h"
#include "sorus/dispatch/body.h"
#include "sorus/engine/choice.h"
#include "sorus/formats/file.h"
#include "sorus/formats/sealed.h"
#include "sorus/ir/byte_stream.h"
#include "sorus/ir/encoding.h"
#include "sorus/ir/graph_body.h"

namespace sorus {
namespace {

constexpr std::string_view kKind = "SRSPRG1";

/// Memory that somebody else may write is copied.
Tensor own(const Tensor& t) {
  const Value& v = t.ready();
  if (!v.storage || v.storage->may_be_donated()) return t;
  Ref<Value> copy = make_dense(t.type());
  t.copy_to(copy->storage->data(), t.dtype());
  return Tensor(std::move(copy));
}

/// The body's first inputs as inputs, the others as constants.
Graph with_constants(const Graph& body, size_t input_count, const TensorList& captured) {
  Graph graph;
  graph.name = "program";
  std::vector<ValueId> to(body.value_count(), kNoValue);
  for (size_t i = 0; i < body.inputs.size(); ++i)
    to[static_cast<size_t>(body.inputs[i])] = i < input_count
                                                  ? graph.add_input(body.type(body.inputs[i]))
                                                  : graph.add_constant(own(captured[i - input_count]));
  for (size_t v = 0; v < to.size(); ++v)
    if (body.is_constant(static_cast<ValueId>(v)))
      to[v] = graph.add_constant(own(body.constant(static_cast<ValueId>(v))));
  for (Node node : body.nodes) {
    for (ValueId& v : node.in)
      if (v != kNoValue) v = to[static_cast<size_t>(v)];
    for (ValueId& v : node.out) v = to[static_cast<size_t>(v)] = graph.add_value(body.type(v));
    graph.nodes.push_back(std::move(node));
  }
  for (ValueId v : body.outputs) graph.outputs.push_back(to[static_cast<size_t>(v)]);
  return graph;
}

void check_names(const std::vector<ProgramValue>& values, std::string_view what) {
  std::set<std::string> known;
  for (const ProgramValue& v : values)
    SORUS_CHECK(!v.name.empty() && known.insert(v.name).second, ValueError,
                "program: name of an {} is empty or repeated: got '{}', need one name for each", what,
                v.name);
}

std::string names_of(const std::vector<ProgramValue>& values) {
  std::string all;
  for (const ProgramValue& v : values) all += (all.empty() ? "" : ", ") + v.name;
  return all;
}

void check_type(const ProgramValue& need, const Tensor& got) {
  SORUS_CHECK(got.defined(), ValueError, "program: input '{}' has no value: got none, need {}", need.name,
              need.type);
  SORUS_CHECK(got.dtype() == need.type.dtype, DTypeError,
              "program: input '{}' has another dtype: got {}, need {}", need.name, got.type(), need.type);
  SORUS_CHECK(got.type() == need.type, ShapeError, "program: input '{}' has another shape: got {}, need {}",
              need.name, got.type(), need.type);
}

}  // namespace

struct Program::State {
  Graph graph;
  std::vector<ProgramValue> inputs, outputs;
  struct Compiled {
    uint64_t settings;  ///< numerics and engines
    std::unique_ptr<Executable> executable;
  };
  mutable std::list<Compiled> compiled;  ///< under fork_mutex_of(this); what is there stays

  State(Graph g, std::vector<std::string> input_names, std::vector<std::string> output_names)
      : graph(std::move(g)) {
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      inputs.push_back({std::move(input_names[i]), graph.type(graph.inputs[i])});
    for (size_t i = 0; i < graph.outputs.size(); ++i)
      outputs.push_back({std::move(output_names[i]), graph.type(graph.outputs[i])});
    check_names(inputs, "input");
    check_names(outputs, "output");
  }
  Executable& executable() const {
    const uint64_t settings = hash_combine(engines_key(), scope_state().relaxed_numerics ? 1 : 0);
    ForkMutex& mutex = fork_mutex_of(this);
    {
      std::lock_guard lock(mutex);
      if (Executable* known = find(settings)) return *known;
    }
    // Compiling takes other locks. Of two threads that compile at once, the first to come is kept.
    std::unique_ptr<Executable> made = sorus::compile(graph);
    std::lock_guard lock(mutex);
    if (Executable* known = find(settings)) return *known;
    compiled.push_back({settings, std::move(made)});
    return *compiled.back().executable;
  }
  [[nodiscard]] Executable* find(uint64_t settings) const {
    for (const Compiled& c : compiled)
      if (c.settings == settings) return c.executable.get();
    return nullptr;
  }
};

const Program::State& Program::state() const {
  SORUS_CHECK(state_, ValueError,
              "program: there is none: got an empty Program, need one that was made or loaded");
  return *state_;
}

const std::vector<ProgramValue>& Program::inputs() const { return state().inputs; }
const std::vector<ProgramValue>& Program::outputs() const { return state().outputs; }
const Graph& Program::graph() const { return state().graph; }

Program Program::trace(const TensorFunction& f, std::span<const ProgramValue> inputs,
                       std::span<const std::string> outputs) {
  std::vector<TensorType> types;
  std::vector<std::string> input_names, output_names(outputs.begin(), outputs.end());
  for (const ProgramValue& v : inputs) {
    types.push_back(v.type);
    input_names.push_back(v.name);
  }
  const Traced traced = sorus::trace("program", f, types);
  SORUS_CHECK(
      traced.draws.empty(), NotSupportedError,
      "program: the function draws random numbers: got {} draws from a generator, need none: take the key "
      "as an input, or leave out dropout as in inference",
      traced.draws.size());
  const Graph& body = graph_of(*traced.body);
  if (output_names.empty())
    for (size_t i = 0; i < body.outputs.size(); ++i) output_names.push_back(fmt::format("output{}", i));
  SORUS_CHECK(output_names.size() == body.outputs.size(), ValueError,
              "program: number of results differs: got {} from the function, need {} as there are names",
              body.outputs.size(), output_names.size());
  Graph graph = with_constants(body, types.size(), traced.captured);
  return Program(
      std::make_shared<const State>(std::move(graph), std::move(input_names), std::move(output_names)));
}

std::string Program::bytes() const { return formats::seal(kKind, unsealed()); }

std::string Program::unsealed() const {
  const State& s = state();
  ByteWriter out;
  out.text(library_build());
  for (const auto* values : {&s.inputs, &s.outputs}) {
    out.number(values->size());
    for (const ProgramValue& v : *values) out.text(v.name);
  }
  std::string graph = encode_graph(s.graph);
  return std::move(graph.insert(0, out.bytes()));
}

namespace {

/// A program is a graph before the passes.
void refuse_what_passes_make(const Graph& graph) {
  for (const Node& n : graph.nodes) {
    SORUS_CHECK(!n.body || n.body->engine.empty(), ValueError,
                "graph: it is cut for engines: got a part for '{}', need a graph as it was traced",
                n.body->engine);
    SORUS_CHECK(n.slot < 0, ValueError,
                "graph: a call of {} takes attributes at each run: got slot {}, need a graph that is whole",
                n.op->name, n.slot);
    if (n.body) refuse_what_passes_make(*n.body);
  }
}

}  // namespace

Program Program::from_bytes(std::string_view bytes, const std::string& source) {
  const std::string_view inside = formats::unseal(kKind, bytes, source);
  try {
    ByteReader in(inside, "names");
    static_cast<void>(in.text());  // which build wrote it, for people
    std::array<std::vector<std::string>, 2> names;
    for (auto& list : names) {
      list.resize(in.count());
      for (std::string& name : list) name = std::string(in.text());
    }
    Graph graph = decode_graph(in.take(in.left()));
    refuse_what_passes_make(graph);
    SORUS_CHECK(names[0].size() == graph.inputs.size() && names[1].size() == graph.outputs.size(), ValueError,
                "names: do not fit the graph: got {} and {}, need {} and {}", names[0].size(),
                names[1].size(), graph.inputs.size(), graph.outputs.size());
    return Program(std::make_shared<const State>(std::move(graph), std::move(names[0]), std::move(names[1])));
  } catch (const ValueError& e) {
    raise<IOError>("{}: {}", source, e.what());
  }
}

void Program::compile() const { static_cast<void>(state().executable().report()); }

TensorList Program::operator()(const TensorList& in) const {
  const State& s = state();
  SORUS_CHECK(in.size() == s.inputs.size(), ValueError,
              "program: number of inputs differs: got {}, need {} ({})", in.size(), s.inputs.size(),
              names_of(s.inputs));
  for (size_t i = 0; i < in.size(); ++i) check_type(s.inputs[i], in[i]);
  const ScopeState& scope = scope_state();
  if (scope.recorder || scope.gradients || reference_kernels_only()) return apply_graph(s.graph, in);
  std::vector<Ref<Value>> inputs, outputs(s.outputs.size());
  for (const Tensor& t : in) {
    static_cast<void>(t.ready());
    inputs.push_back(t.value());
  }
  std::vector<char> donated(inputs.size(), 0);
  s.executable().run(inputs, donated, {}, outputs, true);
  TensorList out;
  for (Ref<Value>& v : outputs) out.push_back(Tensor(std::move(v)));
  return out;
}

std::map<std::string, Tensor> Program::by_name(const std::map<std::string, Tensor>& in) const {
  const State& s = state();
  TensorList list;
  for (const ProgramValue& v : s.inputs) {
    auto at = in.find(v.name);
    SORUS_CHECK(at != in.end(), KeyError, "program: an input is missing: got none for '{}', need {}", v.name,
                names_of(s.inputs));
    list.push_back(at->second);
  }
  for (const auto& [name, value] : in)
    SORUS_CHECK(std::any_of(s.inputs.begin(), s.inputs.end(), [&](const auto& v) { return v.name == name; }),
                KeyError, "program: an input is unknown: got '{}', need {}", name, names_of(s.inputs));
  TensorList results = (*this)(list);
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < results.size(); ++i) out.emplace(s.outputs[i].name, std::move(results[i]));
  return out;
}

void save_program(const std::string& path, const Program& program) {
  const std::string bytes = program.unsealed();
  formats::AtomicFile file(path);
  file.write(formats::seal_head(kKind, bytes));
  file.write(bytes);
  file.commit();
}

void save_program(const std::string& path, const TensorFunction& f, std::span<const ProgramValue> inputs,
                  std::span<const std::string> outputs) {
  save_program(path, Program::trace(f, inputs, outputs));
}

Program load_program(const std::string& path) {
  const formats::MappedFile file(path);
  return Program::from_bytes(file.bytes(), path);
}

}  // namespace sorus
