#include "sorus/compiler/replay.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "sorus/base/flags.h"
#include "sorus/base/fork_mutex.h"
#include "sorus/base/host_lock.h"
#include "sorus/compiler/compile.h"
#include "sorus/compiler/poison.h"
#include "sorus/core/allocator.h"
#include "sorus/core/generator.h"
#include "sorus/core/parameter.h"
#include "sorus/engine/choice.h"

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

/// What a handle holds, nothing once it is gone.
std::optional<Tensor> held_by(HandleToken& token) {
  Tensor value;
  if (!token.with([&](TensorHandle& handle) { value = handle.peek(); })) return std::nullopt;
  return value;
}

void give(HandleToken& token, Tensor value) {
  token.with([&](TensorHandle& handle) { handle.exchange(value); });
}

/// Stands behind the values that a replay owes to handles while it runs, on whatever thread. It is the same
/// for all replays and never destroyed, since a thread may be about to wait here when a replay ends.
class ReplayUnderWay final : public PendingSource {
 public:
  static ReplayUnderWay& instance() { return *current().load(std::memory_order_acquire); }
  void materialize(Value& v) override {
    SORUS_CHECK(
        !lost_.load(std::memory_order_relaxed), RuntimeError,
        "pure function: a value was to be computed by another thread: got a fork before that, need it "
        "read first");
    v.source.wait(this, std::memory_order_acquire);
  }
  void abandon(Value&) noexcept override {}  // the replay holds it

 private:
  /// In the child of a fork, no thread computes what the parent's replays owed.
  static std::atomic<ReplayUnderWay*>& current() {
    static auto& now = *[] {
      pthread_atfork(nullptr, nullptr, [] {
        current().load()->lost_ = true;
        current() = new ReplayUnderWay;
      });
      return new std::atomic<ReplayUnderWay*>(new ReplayUnderWay);
    }();
    return now;
  }
  std::atomic<bool> lost_{false};
};

}  // namespace

struct PureFunction::Program {
  std::vector<Source> sources;
  std::vector<int64_t> draws;  ///< counts of the keys to draw, in order
  std::vector<std::shared_ptr<HandleToken>> written;
  size_t result_count = 0;
  std::unique_ptr<Executable> executable;

  [[nodiscard]] bool has_handles() const {
    return !written.empty() || std::any_of(sources.begin(), sources.end(),
                                           [](const Source& s) { return s.kind == Source::Kind::kHandle; });
  }
  /// False once a handle is gone.
  [[nodiscard]] bool usable() const {
    bool all = true;
    for (const Source& s : sources) all &= s.kind != Source::Kind::kHandle || held_by(*s.handle);
    for (const auto& w : written) all &= held_by(*w).has_value();
    return all;
  }
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
  [[nodiscard]] bool checks_at_run() const override { return true; }
  /// Checks of values run again at every replay.
  void observe_check(const Value&) override {}
  void read(const TensorHandle& handle) override {
    offer(handle.peek(), {Source::Kind::kHandle, 0, handle.token()});
  }
  void written(TensorHandle& handle, const Tensor&) override {
    std::shared_ptr<HandleToken> token = handle.token();
    for (const auto& w : written_)
      if (w == token) return;
    written_.push_back(std::move(token));
  }
  void drawn(Generator& from, int64_t count, const Tensor& key) override {
    if (&from != &default_generator()) return;
    offer(key, {Source::Kind::kKey, draws_.size(), nullptr});
    draws_.push_back(count);
  }

  std::shared_ptr<Program> finish(const TensorList& results) {
    auto program = std::make_shared<Program>();
    for (const Tensor& t : results) graph_.outputs.push_back(resolve(t));
    for (const auto& token : written_) {
      std::optional<Tensor> value = held_by(*token);
      if (!value) continue;  // it lived only within the function
      graph_.outputs.push_back(resolve(*value));
      program->written.push_back(token);
    }
    program->result_count = results.size();
    program->sources = std::move(sources_);
    program->draws = std::move(draws_);
    program->executable = compile(std::move(graph_));
    release_excess_memory();  // recording it, eager calls kept more alive than the program will
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
};

TensorList PureFunction::operator()(const TensorList& in) {
  const ScopeState& scope = scope_state();
  if (scope.recorder || scope.gradients || !boundaries_enabled()) return f_(in);
  BoundaryKey types(hash_combine(scope.hash(), engines_key()));
  types.add(in);
  const uint64_t key = types.exact;
  std::shared_ptr<Program> program = find(key);
  if (!program) return record(key, in);
  static const bool auditing = env_string("SORUS_JIT") == "audit";
  std::optional<TensorList> results = auditing ? audit(*program, in) : replay(*program, in);
  return results ? std::move(*results) : record(key, in);
}

size_t PureFunction::program_count() const {
  std::lock_guard lock(fork_mutex_of(this));
  return programs_.size();
}

std::shared_ptr<PureFunction::Program> PureFunction::find(uint64_t key) const {
  std::lock_guard lock(fork_mutex_of(this));
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
  // What the program replaces is destroyed without the lock.
  std::lock_guard lock(fork_mutex_of(this));
  programs_[key].swap(program);
  return results;
}

/// One run of a program. Taking the values of handles, and giving them the values that are to come, is one
/// indivisible step among threads. So replays that write the same handles form a chain, in which each waits
/// for the one before it, and none waits in a circle.
class PureFunction::Replay {
 public:
  Replay(Program& program, const TensorList& in) : program_(program), graph_(program.executable->graph()) {
    for (const Source& s : program.sources)
      inputs_.push_back(s.kind == Source::Kind::kOperand ? in[s.index].value() : nullptr);
    for (size_t i = 0; i < program.written.size(); ++i)
      owed_.push_back(Value::make(graph_.type(graph_.outputs[program.result_count + i])));
  }

  TensorList run() {
    std::vector<Ref<Value>> outputs(graph_.outputs.size());
    std::vector<char> donated(inputs_.size());
    try {
      draw_keys();
      for (const Ref<Value>& v : inputs_) v->ensure();
      for (size_t i = 0; i < inputs_.size(); ++i) donated[i] = given_up(i);
      program_.executable->run(inputs_, donated, {}, outputs, true);
    } catch (...) {
      fail(std::current_exception(), donated);
      throw;
    }
    for (size_t i = 0; i < owed_.size(); ++i) settle(*owed_[i], *outputs[program_.result_count + i]);
    TensorList results;
    for (size_t i = 0; i < program_.result_count; ++i) results.push_back(Tensor(outputs[i]));
    return results;
  }

  /// False when a handle is gone or holds another type; nothing has changed then.
  bool take_handles() {
    std::vector<Tensor> held;  // dropped after the lock
    HostLock host;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (program_.sources[i].kind != Source::Kind::kHandle) continue;
      std::optional<Tensor> value = held_by(*program_.sources[i].handle);
      if (!value || !(value->type() == graph_.type(graph_.inputs[i]))) return false;
      inputs_[i] = value->release();
    }
    for (const auto& w : program_.written) {
      held.push_back(held_by(*w).value_or(Tensor()));
      if (!held.back().defined()) return false;
    }
    for (size_t i = 0; i < owed_.size(); ++i) {
      owed_[i]->source.store(&ReplayUnderWay::instance(), std::memory_order_relaxed);
      give(*program_.written[i], Tensor(owed_[i]));
      before_.push_back(held[i].release());
    }
    return true;
  }

 private:
  void draw_keys() {
    std::vector<Tensor> keys;
    for (int64_t count : program_.draws) keys.push_back(default_generator().key(count));
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (const Source& s = program_.sources[i]; s.kind == Source::Kind::kKey)
        inputs_[i] = keys[s.index].value();
  }
  static void settle(Value& owed, const Value& bytes) {
    owed.deliver(bytes);
    owed.source.notify_all();
  }
  /// Nobody but this run holds the value of a handle that it updates.
  [[nodiscard]] bool given_up(size_t i) const {
    if (program_.sources[i].kind != Source::Kind::kHandle) return false;
    const auto read = std::count(inputs_.begin(), inputs_.end(), inputs_[i]);
    if (read > 1) return false;  // two handles hold it, and the update of one must not be seen by the other
    auto mine = read + std::count(before_.begin(), before_.end(), inputs_[i]);
    bool updated = std::find(before_.begin(), before_.end(), inputs_[i]) != before_.end();
    return updated && inputs_[i]->refs.load(std::memory_order_acquire) == static_cast<uint32_t>(mine);
  }
  static bool has_bytes(Value& v) try {
    v.ensure();
    return true;
  } catch (...) {
    return false;
  }
  /// The handles keep what they held, but for values that the run may have written over.
  void fail(const std::exception_ptr& error, std::span<const char> donated) {
    std::vector<Value*> lost;
    for (size_t k = 0; k < owed_.size(); ++k) {
      bool whole = before_[k]->type == owed_[k]->type && has_bytes(*before_[k]);
      for (size_t i = 0; i < inputs_.size(); ++i) whole &= !(donated[i] && inputs_[i] == before_[k]);
      if (whole)
        settle(*owed_[k], *before_[k]);
      else
        lost.push_back(owed_[k].get());
    }
    poison_values(error, lost);
  }

  Program& program_;
  const Graph& graph_;
  std::vector<Ref<Value>> inputs_;
  std::vector<Ref<Value>> owed_;    ///< what the written handles hold meanwhile
  std::vector<Ref<Value>> before_;  ///< what they held before
};

std::optional<TensorList> PureFunction::replay(Program& program, const TensorList& in) {
  Replay replay(program, in);
  if (program.has_handles() && !replay.take_handles()) return std::nullopt;
  return replay.run();
}

/// Runs the function and the program from the same state and compares what they gave and left.
std::optional<TensorList> PureFunction::audit(Program& program, const TensorList& in) {
  if (!program.usable()) return std::nullopt;
  auto held = [&] {
    std::vector<Tensor> values;
    for (const auto& w : program.written) values.push_back(held_by(*w).value_or(Tensor()));
    return values;
  };
  std::vector<Tensor> before = held();
  Generator::State random = default_generator().state();
  TensorList plain = f_(in);
  std::vector<Tensor> left = held();
  Generator::State random_after = default_generator().state();
  for (size_t i = 0; i < before.size(); ++i) give(*program.written[i], before[i]);
  default_generator().set_state(random);
  std::optional<TensorList> results = replay(program, in);
  bool same =
      results && plain.size() == results->size() && random_after.offset == default_generator().state().offset;
  for (size_t i = 0; same && i < plain.size(); ++i)
    same = plain[i].type() == (*results)[i].type() && bytes_of(plain[i]) == bytes_of((*results)[i]);
  std::vector<Tensor> replayed = held();
  for (size_t i = 0; same && i < left.size(); ++i) same = bytes_of(left[i]) == bytes_of(replayed[i]);
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
