#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "sorus/base/host_lock.h"
#include "sorus/core/generator.h"
#include "sorus/core/parameter.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ir/graph_body.h"

/// Calling a function once with values that have no bytes, and making a graph of its op calls.
namespace sorus {
namespace {

/// Stands behind all abstract values: nobody can give them bytes.
class Abstract final : public PendingSource {
 public:
  static Abstract& instance() {
    static auto& abstract = *new Abstract;
    return abstract;
  }
  void materialize(Value& v) override;
  void abandon(Value&) noexcept override {}
};

class Tracer final : public Recorder, public HandleLog {
 public:
  Tracer(std::string_view name, std::span<const TensorType> types, TraceRule rule)
      : name_(name), rule_(rule), outer_log_(handle_log()) {
    graph_.name = "body";
    for (const TensorType& t : types) {
      arguments_.push_back(abstract(t));
      known_[arguments_.back().value()->id] = graph_.add_input(t);
    }
  }

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] const TensorList& arguments() const { return arguments_; }
  [[nodiscard]] bool is_abstract() const override { return true; }

  bool follow(const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out) override {
    SmallVector<ValueId, 4> operands;
    for (const Tensor* t : in) operands.push_back(t && t->defined() ? resolve(*t) : kNoValue);
    Node& node = graph_.add_node(op, attrs, operands);
    node.site = current_call_site();
    for (ValueId v : node.out) {
      out.push_back(abstract(graph_.type(v)));
      known_[out.back().value()->id] = v;
    }
    return true;
  }
  void record(const OpDef&, OperandSpan, AttrsRef, std::span<const Tensor>) override {}
  void observe(const Value&) override {}

  void read(const TensorHandle& handle) override {
    if (outer_log_) outer_log_->read(handle);
  }
  void written(TensorHandle& handle, const Tensor& before) override {
    if (rule_ == TraceRule::kComputes) {
      if (!before.defined()) return;
      wrote_ = true;  // whether or not the handle is there at the end
    }
    if (rule_ == TraceRule::kMayDraw && before.defined() && known_.contains(before.value()->id) &&
        !captured_ids_.contains(before.value()->id))
      return;
    std::shared_ptr<HandleToken> token = handle.token();
    for (const auto& w : writes_)
      if (w.first == token) return;
    writes_.emplace_back(std::move(token), before);
  }
  void drawn(Generator& from, int64_t count, const Tensor& key) override {
    if (rule_ == TraceRule::kComputes) {
      from.give_back(key, count);
      raise<NotSupportedError>("{}: the body draws random numbers: got a draw, need none", name_);
    }
    if (outer_log_) outer_log_->drawn(from, count, key);
    draws_.push_back({&from, count});
    keys_.push_back(key);
    key_inputs_.push_back(capture(key));
  }

  /// Handles that the function wrote and must not get back what they held. True if there were any.
  bool undo_writes() noexcept {
    bool any = wrote_;
    HostLock host;
    for (auto& [token, before] : writes_)
      any |= token->with([&](TensorHandle& handle) { handle.exchange(before); });
    writes_.clear();
    return any;
  }

  Traced finish(const TensorList& results) {
    for (const Tensor& t : results) {
      SORUS_CHECK(t.defined(), TypeError, "{}: a result has no value: got none, need a tensor", name_);
      graph_.outputs.push_back(resolve(t));
    }
    put_keys_first();
    Traced traced{body_of(std::move(graph_)), std::move(keys_), std::move(draws_)};
    for (Tensor& t : captured_) traced.captured.push_back(std::move(t));
    return traced;
  }

 private:
  static Tensor abstract(const TensorType& type) {
    Ref<Value> v = Value::make(type);
    v->source.store(&Abstract::instance(), std::memory_order_relaxed);
    return Tensor(std::move(v));
  }
  ValueId resolve(const Tensor& t) {
    const uint64_t id = t.value()->id;
    if (auto at = known_.find(id); at != known_.end()) return at->second;
    captured_.push_back(t);
    return capture(t);
  }
  ValueId capture(const Tensor& t) {
    const uint64_t id = t.value()->id;
    captured_ids_.insert(id);
    return known_[id] = graph_.add_input(t.type());
  }
  void put_keys_first() {
    auto is_key = [&](ValueId v) {
      return std::find(key_inputs_.begin(), key_inputs_.end(), v) != key_inputs_.end();
    };
    std::stable_partition(graph_.inputs.begin() + static_cast<std::ptrdiff_t>(arguments_.size()),
                          graph_.inputs.end(), is_key);
  }

  std::string_view name_;
  TraceRule rule_;
  HandleLog* outer_log_;
  Graph graph_;
  TensorList arguments_;
  std::unordered_map<uint64_t, ValueId> known_;
  std::unordered_set<uint64_t> captured_ids_;
  TensorList captured_, keys_;
  std::vector<ValueId> key_inputs_;
  std::vector<Traced::Draw> draws_;
  std::vector<std::pair<std::shared_ptr<HandleToken>, Tensor>> writes_;
  bool wrote_ = false;
};

void Abstract::materialize(Value& v) {
  auto* tracer = dynamic_cast<Tracer*>(scope_state().recorder);
  SORUS_CHECK(
      tracer, ValueError,
      "control flow: a value of a body is read after the body has been recorded: got a read of {}, need "
      "it among the body's results",
      v.type);
  raise<ValueError>(
      "{}: the body reads a value while it is recorded: got a read of {}, need a body that only computes: "
      "cond "
      "or where in place of if",
      tracer->name(), v.type);
}

/// This thread listens to the tracer alone.
class Listening {
 public:
  explicit Listening(Tracer& tracer)
      : recorder_(&ScopeState::recorder, &tracer),
        gradients_(&ScopeState::gradients, nullptr),
        saved_log_(handle_log()) {
    handle_log() = &tracer;
  }
  ~Listening() { handle_log() = saved_log_; }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  ScopedState<Recorder*> recorder_;
  ScopedState<GradientRecorder*> gradients_;
  HandleLog* saved_log_;
};

Traced trace_graph(std::string_view name, const TensorFunction& f, std::span<const TensorType> types,
                   TraceRule rule) {
  Tracer tracer(name, types, rule);
  TensorList results;
  try {
    Listening listening(tracer);
    results = f(tracer.arguments());
  } catch (...) {
    tracer.undo_writes();
    throw;
  }
  SORUS_CHECK(
      !tracer.undo_writes(), NotSupportedError,
      "{}: the body updates a tensor or parameter in place that it did not make: got an update, need it "
      "carried from step to step and returned",
      name);
  return tracer.finish(results);
}

const bool installed = [] {
  set_body_maker(
      {.trace = &trace_graph, .parse = [](std::string_view text) { return body_of(Graph::parse(text)); }});
  return true;
}();

}  // namespace
}  // namespace sorus
