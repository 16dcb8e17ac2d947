#include "sorus/compiler/replay.h"

#include <cstring>
#include <utility>
#include <vector>

#include "sorus/base/flags.h"
#include "sorus/compiler/compile.h"
#include "sorus/core/generator.h"
#include "sorus/core/parameter.h"

namespace sorus {
namespace {

constexpr uint64_t kPureFrame = UINT64_MAX;  // marks values made while a pure function is recorded

/// Where an input of a program comes from at each run.
struct Source {
  enum class Kind { kOperand, kHandle, kKey } kind;
  size_t index = 0;                     ///< operand or draw
  std::shared_ptr<HandleToken> handle;  ///< for kHandle
};

std::vector<std::byte> bytes_of(const Tensor& t) {
  std::vector<std::byte> bytes(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
  t.copy_to(bytes.data(), t.dtype());
  return bytes;
}

}  // namespace

struct PureFunction::Program {
  std::vector<Source> sources;
  std::vector<int64_t> draws;  ///< counts of the keys to draw, in order
  std::vector<std::shared_ptr<HandleToken>> written;
  size_t result_count = 0;
  std::unique_ptr<Executable> executable;
};

/// Listens to one plain run of the function and makes a graph of it.
class PureFunction::Recording final : public Recorder, public HandleLog {
 public:
  explicit Recording(const TensorList& in) {
    for (size_t i = 0; i < in.size(); ++i) offer(in[i], {Source::Kind::kOperand, i, nullptr});
  }

  bool follow(const OpDef&, OperandSpan, AttrsRef, TensorList&) override { return false; }
  void record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<const Tensor> out) override {
    SmallVector<ValueId, 4> operands;
    for (const Tensor* t : in) operands.push_back(t && t->defined() ? resolve(*t) : kNoValue);
    Node& node = graph_.add_node(op, attrs, operands);
    node.site = current_call_site();
    for (size_t i = 0; i < out.size(); ++i) {
      out[i].value()->frame = kPureFrame;
      made_.push_back(out[i]);
      known_[out[i].value()->id] = node.out[i];
    }
  }
  void observe(const Value& v) override {
    SORUS_CHECK(v.frame != kPureFrame || !known_.contains(v.id), ValueError,
                "pure function: a value is read while it is recorded: got a read of {}, need a function that "
                "only computes; "
                "use jit without pure where Python looks at values",
                v.type);
  }
  void read(const TensorHandle& handle) override {
    if (reading_) return;
    reading_ = true;  // asking the handle for its value is a read as well
    offer(handle.get(), {Source::Kind::kHandle, 0, handle.token()});
    reading_ = false;
  }
  void written(TensorHandle& handle, const Tensor&) override {
    std::shared_ptr<HandleToken> token = handle.token();
    for (const auto& w : written_)
      if (w == token) return;
    written_.push_back(std::move(token));
  }
  void gone(const TensorHandle&) noexcept override {}
  void drawn(int64_t count, const Tensor& key) override {
    offer(key, {Source::Kind::kKey, draws_.size(), nullptr});
    draws_.push_back(count);
  }

  std::shared_ptr<Program> finish(const TensorList& results) {
    auto program = std::make_shared<Program>();
    for (const Tensor& t : results) graph_.outputs.push_back(resolve(t));
    for (const auto& token : written_) {
      if (!token->handle) continue;  // it lived only within the function
      graph_.outputs.push_back(resolve(token->handle->get()));
      program->written.push_back(token);
    }
    program->result_count = results.size();
    program->sources = std::move(sources_);
    program->draws = std::move(draws_);
    program->executable = compile(std::move(graph_));
    return program;
  }

 private:
  /// A value that becomes an input if an op uses it.
  void offer(const Tensor& t, Source source) {
    if (!t.defined() || known_.contains(t.value()->id)) return;
    made_.push_back(t);
    offered_.try_emplace(t.value()->id, std::move(source));
  }
  ValueId resolve(const Tensor& t) {
    uint64_t id = t.value()->id;
    if (auto at = known_.find(id); at != known_.end()) return at->second;
    auto source = offered_.find(id);
    ValueId v = source == offered_.end() ? graph_.add_constant(t) : graph_.add_input(t.type());
    if (source != offered_.end()) sources_.push_back(source->second);
    made_.push_back(t);
    return known_[id] = v;
  }

  Graph graph_;
  std::unordered_map<uint64_t, ValueId> known_;
  std::unordered_map<uint64_t, Source> offered_;
  std::vector<Source> sources_;
  std::vector<std::shared_ptr<HandleToken>> written_;
  std::vector<int64_t> draws_;
  std::vector<Tensor> made_;  // kept alive while the recording lasts
  bool reading_ = false;
};

TensorList PureFunction::operator()(const TensorList& in) {
  const ScopeState& scope = scope_state();
  if (scope.recorder || scope.gradients || !boundaries_enabled()) return f_(in);
  uint64_t key = hash_combine(signature_of(in), scope.hash());
  std::shared_ptr<Program> program = find(key);
  if (!program || !usable(*program)) return record(key, in);
  static const bool auditing = env_string("SORUS_JIT") == "audit";
  return auditing ? audit(*program, in) : replay(*program, in);
}

size_t PureFunction::program_count() const {
  std::lock_guard lock(mutex_);
  return programs_.size();
}

std::shared_ptr<PureFunction::Program> PureFunction::find(uint64_t key) const {
  std::lock_guard lock(mutex_);
  auto at = programs_.find(key);
  return at == programs_.end() ? nullptr : at->second;
}

TensorList PureFunction::record(uint64_t key, const TensorList& in) {
  Recording recording(in);
  TensorList results;
  std::shared_ptr<Program> program;
  {
    ScopedState<Recorder*> scope(&ScopeState::recorder, &recording);
    struct Log {
      HandleLog* saved = handle_log();
      explicit Log(HandleLog* log) { handle_log() = log; }
      ~Log() { handle_log() = saved; }
    } log(&recording);
    results = f_(in);
    program = recording.finish(results);
  }
  std::lock_guard lock(mutex_);
  programs_[key] = std::move(program);
  return results;
}

/// False once a handle is gone or holds another type: then the function is recorded anew.
bool PureFunction::usable(const Program& program) {
  const Graph& graph = program.executable->graph();
  for (size_t i = 0; i < program.sources.size(); ++i) {
    const Source& s = program.sources[i];
    if (s.kind != Source::Kind::kHandle) continue;
    if (!s.handle->handle || !(s.handle->handle->get().type() == graph.type(graph.inputs[i]))) return false;
  }
  for (const auto& token : program.written)
    if (!token->handle) return false;
  return true;
}

TensorList PureFunction::replay(Program& program, const TensorList& in) {
  std::vector<Tensor> keys;
  for (int64_t count : program.draws) keys.push_back(default_generator().key(count));
  std::vector<Ref<Value>> inputs;
  std::vector<char> donated;
  for (const Source& s : program.sources) {
    const Tensor& t = s.kind == Source::Kind::kOperand ? in[s.index]
                      : s.kind == Source::Kind::kKey   ? keys[s.index]
                                                       : s.handle->handle->get();
    t.value()->ensure();
    inputs.push_back(t.value());
    bool updated = false;
    for (const auto& w : program.written) updated |= w == s.handle && s.kind == Source::Kind::kHandle;
    // The handle and this list are the only holders of a value that the program replaces.
    donated.push_back(updated && t.value()->refs.load(std::memory_order_acquire) == 2);
  }
  std::vector<Ref<Value>> outputs(program.executable->graph().outputs.size());
  program.executable->run(inputs, donated, {}, outputs);
  TensorList results;
  for (size_t i = 0; i < program.result_count; ++i) results.push_back(Tensor(outputs[i]));
  for (size_t i = 0; i < program.written.size(); ++i)
    program.written[i]->handle->set(Tensor(outputs[program.result_count + i]));
  return results;
}

/// Runs the function and the program from the same state and compares what they gave and left.
TensorList PureFunction::audit(Program& program, const TensorList& in) {
  std::vector<Tensor> before;
  for (const auto& w : program.written) before.push_back(w->handle->get());
  Generator::State random = default_generator().state();
  TensorList plain = f_(in);
  std::vector<Tensor> left;
  for (const auto& w : program.written) left.push_back(w->handle->get());
  Generator::State random_after = default_generator().state();
  for (size_t i = 0; i < before.size(); ++i) program.written[i]->handle->set(before[i]);
  default_generator().set_state(random);
  TensorList results = replay(program, in);
  bool same = plain.size() == results.size() && random_after.offset == default_generator().state().offset;
  for (size_t i = 0; same && i < plain.size(); ++i)
    same = plain[i].type() == results[i].type() && bytes_of(plain[i]) == bytes_of(results[i]);
  for (size_t i = 0; same && i < left.size(); ++i)
    same = bytes_of(left[i]) == bytes_of(program.written[i]->handle->get());
  SORUS_CHECK(same, RuntimeError,
              "pure function: a replay differs from the function: got other results, need a function that "
              "does the same ops at "
              "every call with operands of these types");
  return results;
}

TensorFunction jit_pure(TensorFunction f) {
  return [pure = std::make_shared<PureFunction>(std::move(f))](const TensorList& in) { return (*pure)(in); };
}

}  // namespace sorus
