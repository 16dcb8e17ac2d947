#include "sorus/compiler/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "sorus/base/host_lock.h"
#include "sorus/base/log.h"
#include "sorus/compiler/compile.h"
#include "sorus/compiler/frame_store.h"
#include "sorus/compiler/poison.h"
#include "sorus/compiler/reference_kernels.h"

namespace sorus {
namespace {

constexpr size_t kMaxSegments = 64;
constexpr size_t kMaxPrograms = 8;
constexpr int kMissesBeforeGivingUp = 16;

/// Numbers of boundary calls and of segments.
uint64_t next_number() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// While it lives, values of this thread's own frame that turn out to be needed are computed aside as well:
/// what computes them now is not the host program, so no segment ends. They are met where another thread's
/// values depend on them.
class Aside {
 public:
  Aside() { ++depth(); }
  ~Aside() { --depth(); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  static int& depth() {
    static thread_local int value = 0;
    return value;
  }
};

/// Computes one call as eager mode does. Operands are earlier results of the segment or its inputs; its
/// results take their places among `results`.
void compute_call(const RecordedCall& call, const AttrsBox& attrs, std::span<const Ref<Value>> inputs,
                  std::span<Tensor> results) {
  TensorList operands;
  for (const RecordedOperand& o : call.in)
    operands.push_back(o.source == kAbsent ? Tensor()
                       : o.source >= 0     ? results[static_cast<size_t>(o.source)]
                                           : Tensor(inputs[static_cast<size_t>(~o.source)]));
  SmallVector<const Tensor*, 8> pointers;
  for (const Tensor& t : operands) pointers.push_back(t.defined() ? &t : nullptr);
  TensorList out;
  check_values(*call.op, pointers, attrs.ref());
  execute(*call.op, pointers, attrs.ref(), TypeList(call.out.begin(), call.out.end()), out);
  for (size_t r = 0; r < out.size(); ++r)
    results[static_cast<size_t>(call.first_out) + r] = std::move(out[r]);
}

}  // namespace

/// A run that may write over inputs: no other thread may take them meanwhile, nor anything computed from them
/// before it is there.
class Frame::Running {
 public:
  explicit Running(Frame& frame) : frame_(frame) { set(true); }
  ~Running() {
    set(false);
    frame_.running_.notify_all();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  void set(bool on) {
    std::lock_guard lock(frame_.lock_);
    frame_.running_.store(on, std::memory_order_release);
  }
  Frame& frame_;
};

// ---------------------------------------------------------------- values from outside

void Frame::Outside::clear() {
  ++round_;
  count_ = 0;
}

int32_t Frame::Outside::number(const Value& v) {
  size_t mask = table_.size() - 1;
  for (size_t i = mix_bits(v.id) & mask;; i = (i + 1) & mask) {
    Entry& e = table_[i];
    if (e.round == round_ && e.id == v.id) return e.number;
    if (e.round == round_) continue;
    e = {v.id, count_++, round_};
    int32_t number = e.number;
    if (static_cast<size_t>(count_) * 2 > table_.size()) grow();
    return number;
  }
}

void Frame::Outside::forget_newest(const Value& v) {
  // No probe sequence runs through the newest entry.
  size_t mask = table_.size() - 1;
  for (size_t i = mix_bits(v.id) & mask; table_[i].round == round_; i = (i + 1) & mask)
    if (table_[i].id == v.id) {
      if (table_[i].number != count_ - 1) return;
      table_[i].round = 0;
      --count_;
      return;
    }
}

void Frame::Outside::grow() {
  std::vector<Entry> old = std::move(table_);
  table_.assign(old.size() * 2, Entry{});
  size_t mask = table_.size() - 1;
  for (const Entry& e : old) {
    if (e.round != round_) continue;
    size_t i = mix_bits(e.id) & mask;
    while (table_[i].round == round_) i = (i + 1) & mask;
    table_[i] = e;
  }
}

// ---------------------------------------------------------------- a boundary call

Frame& Frame::current() {
  static thread_local LentFrame frame;
  return *frame;
}

void Frame::lose() noexcept {
  lost_ = true;
  running_ = false;
  lock_.unlock();
}

void Frame::begin(Plan& plan, std::shared_ptr<GeneralPlan> general) {
  plan_ = &plan;
  segment_ = plan.head;
  previous_ = nullptr;
  missed_ = false;
  reference_ = reference_kernels_only();
  outside_.clear();
  start_segment(0, next_number());
  mode_ = plan.given_up ? Mode::kOff : segment_ ? Mode::kFollow : Mode::kRecord;
  if (mode_ == Mode::kRecord && general) start_general(std::move(general));
}

/// Forgets all about the segment before.
void Frame::start_segment(int32_t base, uint64_t epoch) {
  {
    std::lock_guard lock(lock_);
    epoch_ = epoch;
    base_ = base;
    at_ = 0;
    pending_.clear();
  }
  log_number_ = next_number();
  input_of_.clear();
  inputs_.clear();
  writes_.clear();
}

void Frame::end(bool thrown) {
  struct Finish {
    Frame& f;
    ~Finish() {
      f.mode_ = Mode::kOff;
      f.plan_ = nullptr;
      f.segment_ = f.previous_ = nullptr;
      f.start_segment(0, 0);
    }
  } finish{*this};
  if (is_following()) {
    if (thrown) {
      try {
        run_prefix();
      } catch (...) {  // the host's own exception is on its way; the poisoned values keep this one
      }
    } else {
      end_segment();
    }
  }
  if (missed_ && !thrown && ++plan_->misses_in_a_row >= kMissesBeforeGivingUp) {
    plan_->given_up = true;
    log_info("graph: a function is run eagerly from now on: it went another way in each of the last {} calls",
             kMissesBeforeGivingUp);
  }
  if (!missed_) plan_->misses_in_a_row = 0;
}

void Frame::find_places(OperandSpan in, Places* places) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i] || !in[i]->defined()) {
      places->push_back(kAbsent);
      continue;
    }
    const Value& v = *in[i]->value();
    places->push_back(v.frame == epoch_ ? v.place : ~outside_.number(v));
  }
}

void Frame::undo_places(OperandSpan in, int32_t known) {
  for (size_t i = in.size(); i-- > 0 && outside_.count() > known;)
    if (in[i] && in[i]->defined()) outside_.forget_newest(*in[i]->value());
}

Frame::Match Frame::match(const Segment& segment, size_t at, const OpDef& op, OperandSpan in, AttrsRef attrs,
                          const Places& places, int32_t known) {
  if (at >= segment.calls.size()) return Match::kNo;
  const RecordedCall& call = segment.calls[at];
  if (call.op != &op || call.in.size() != in.size()) return Match::kNo;
  for (size_t i = 0; i < in.size(); ++i) {
    if (places[i] != call.in[i].place) return Match::kNo;
    bool fresh = places[i] <= ~known && places[i] != kAbsent;
    if (fresh && !(in[i]->value()->type == call.in[i].type)) return Match::kNo;
  }
  if (!call.dynamic && call.attrs.ref().equals(attrs)) return Match::kYes;
  return op.traits.dynamic_attrs ? Match::kWithOtherAttributes : Match::kNo;
}

/// Matches with the segment at hand or a sibling that shares what was followed so far.
Frame::Match Frame::match_any(const OpDef& op, OperandSpan in, AttrsRef attrs, const Places& places,
                              int32_t known) {
  Match m = match(*segment_, at_, op, in, attrs, places, known);
  if (m != Match::kNo) [[likely]]
    return m;
  auto siblings = segment_->forks.find(at_);
  if (siblings == segment_->forks.end()) return Match::kNo;
  for (Segment* s : siblings->second) {
    m = match(*s, at_, op, in, attrs, places, known);
    if (m == Match::kNo) continue;
    go(s);
    return m;
  }
  return Match::kNo;
}

bool Frame::follow(const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out) {
  if (mode_ != Mode::kFollow) return mode_ == Mode::kSpecialize && specialize(op, in, attrs, out);
  Places places;
  int32_t known = outside_.count();
  find_places(in, &places);
  std::unique_lock lock(lock_);
  Match m = match_any(op, in, attrs, places, known);
  if (m == Match::kNo) [[unlikely]] {
    lock.unlock();
    // Inference speaks first: a call that is refused leaves no trace.
    undo_places(in, known);
    SmallVector<const TensorType*, 8> types;
    for (const Tensor* t : in) types.push_back(t && t->defined() ? &t->type() : nullptr);
    static_cast<void>(infer_types(op, types, attrs.data));
    diverge();
    return false;
  }
  RecordedCall& call = segment_->calls[at_];
  if (m == Match::kWithOtherAttributes) take_attributes(call, attrs);
  for (size_t i = 0; i < in.size(); ++i)
    if (call.in[i].first_use) inputs_.push_back(in[i]->value());
  owe(call, out);  // a match implies the types, so inference does not run again
  return true;
}

/// Results of the call, to be computed later.
void Frame::owe(const RecordedCall& call, TensorList& out) {
  for (const TensorType& type : call.out) {
    Ref<Value> v = Value::make(type);
    v->source.store(this, std::memory_order_relaxed);
    v->frame = epoch_;
    v->place = base_ + static_cast<int32_t>(pending_.size());
    pending_.push_back({v.get(), false});
    out.push_back(Tensor(std::move(v)));
  }
  ++at_;
  ++follow_stats().followed;
}

void Frame::take_attributes(RecordedCall& call, AttrsRef attrs) {
  if (!call.dynamic) {
    call.dynamic = segment_->any_dynamic = true;
    segment_->programs.clear();
  }
  if (call_attrs_.size() <= at_) call_attrs_.resize(at_ + 1);
  call_attrs_[at_] = AttrsBox(attrs);
}

void Frame::record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<const Tensor> out) {
  if (mode_ != Mode::kRecord) return;
  if (!segment_) {
    if (plan_->segments.size() >= kMaxSegments) {
      mode_ = Mode::kOff;
      return;
    }
    open_segment();
  }
  Places places;
  find_places(in, &places);
  RecordedCall call;
  call.op = &op;
  call.attrs = AttrsBox(attrs);
  call.site = current_call_site();
  for (size_t i = 0; i < in.size(); ++i) {
    RecordedOperand o;
    o.place = places[i];
    o.source = kAbsent;
    if (places[i] != kAbsent) {
      o.type = in[i]->type();
      o.source = o.place - base_;
      if (o.place < base_) {
        auto [input, is_new] = input_of_.try_emplace(o.place, segment_->input_count);
        o.source = ~input->second;
        o.first_use = is_new;
        segment_->input_count += is_new ? 1 : 0;
      }
    }
    call.in.push_back(std::move(o));
  }
  call.first_out = segment_->result_count;
  for (const Tensor& t : out) {
    call.out.push_back(t.type());
    Value& v = *t.value();
    v.frame = epoch_;
    v.place = base_ + segment_->result_count++;
  }
  segment_->calls.push_back(std::move(call));
  ++at_;
  ++follow_stats().recorded;
}

// ---------------------------------------------------------------- segments

/// A segment that follows on the one before it.
void Frame::open_segment() {
  segment_ = add_segment();
  (previous_ ? previous_->next : plan_->head) = segment_;
}

Segment* Frame::add_segment() {
  plan_->segments.push_back(std::make_unique<Segment>());
  plan_->segments.back()->base = base_;
  return plan_->segments.back().get();
}

void Frame::go(Segment* segment) {
  // Attributes that turned out to vary do so in the shared prefix of a sibling as well.
  for (size_t j = 0; segment_->any_dynamic && j < at_; ++j)
    if (segment_->calls[j].dynamic && !segment->calls[j].dynamic) {
      segment->calls[j].dynamic = segment->any_dynamic = true;
      segment->programs.clear();
    }
  segment_ = segment;
}

/// The host went another way than any recorded one: what it computed so far is computed, and recording goes
/// on.
void Frame::diverge() {
  ++follow_stats().mismatches;
  missed_ = true;
  run_prefix();
  fork();
}

/// A new sibling with the calls followed so far; recording goes on in it.
void Frame::fork() {
  if (plan_->segments.size() >= kMaxSegments) {
    warn_once("graph.segments",
              fmt::format(
                  "graph: a function takes more than {} different ways; new ones run eagerly. Last call: {}",
                  kMaxSegments, current_call_site()));
    mode_ = Mode::kOff;
    return;
  }
  Segment* branch = add_segment();
  ++follow_stats().branches;
  branch->any_dynamic = segment_->any_dynamic;
  branch->calls.assign(segment_->calls.begin(), segment_->calls.begin() + static_cast<std::ptrdiff_t>(at_));
  for (const RecordedCall& c : branch->calls)
    branch->result_count = c.first_out + static_cast<int32_t>(c.out.size());
  for (auto& [k, siblings] : segment_->forks)
    if (k < at_) branch->forks[k] = siblings;
  std::vector<Segment*> others = segment_->forks[at_];
  others.push_back(segment_);
  for (Segment* other : others) other->forks[at_].push_back(branch);
  branch->forks[at_] = std::move(others);
  input_of_.clear();
  for (const RecordedCall& c : branch->calls)
    for (const RecordedOperand& o : c.in)
      if (o.source < 0 && o.source != kAbsent && input_of_.try_emplace(o.place, ~o.source).second)
        ++branch->input_count;
  segment_ = branch;
  mode_ = Mode::kRecord;
}

void Frame::end_segment() {
  if (mode_ == Mode::kFollow && !finish_followed()) return;
  if (mode_ == Mode::kSpecialize) return end_general_segment();
  if (segment_ && mode_ != Mode::kOff) next_segment();
}

/// Runs the segment that was followed; false when following ends with it.
bool Frame::finish_followed() {
  if (at_ == segment_->calls.size()) {
    run_compiled();
    return true;
  }
  auto siblings = segment_->forks.find(at_);  // ended elsewhere than recorded
  if (siblings != segment_->forks.end())
    for (Segment* s : siblings->second)
      if (s->calls.size() == at_) {
        go(s);
        run_compiled();
        return true;
      }
  diverge();
  return mode_ != Mode::kOff;
}

void Frame::next_segment() {
  int32_t base = base_ + segment_->result_count;
  previous_ = segment_;
  segment_ = segment_->next;
  mode_ = segment_ ? Mode::kFollow : Mode::kRecord;
  start_segment(base, epoch_);
}

/// A reference to a value that is owed, with the lock held. Null when another thread is destroying it, which
/// waits for the lock.
Ref<Value> Frame::hold(Value* v) {
  if (!v) return nullptr;
  uint32_t refs = v->refs.load(std::memory_order_relaxed);
  while (refs > 0 && !v->refs.compare_exchange_weak(refs, refs + 1, std::memory_order_acquire)) {
  }
  if (refs == 0) return nullptr;
  Ref<Value> held(v);
  v->refs.fetch_sub(1, std::memory_order_relaxed);  // the reference that made sure of it
  return held;
}

/// Those that were computed aside count as live, so that programs do not depend on other threads.
Frame::Wanted Frame::hold_pending(std::vector<char>* live) {
  std::lock_guard lock(lock_);
  Wanted held(pending_.size());
  live->assign(pending_.size(), 0);
  for (size_t i = 0; i < held.size(); ++i) {
    held[i] = hold(pending_[i].value);
    (*live)[i] = held[i] || pending_[i].computed ? 1 : 0;
  }
  return held;
}

std::shared_ptr<SegmentProgram> Frame::program_for(std::vector<char> live) {
  for (const auto& p : segment_->programs)
    if (p->live == live) return p;
  auto program = std::make_shared<SegmentProgram>();
  Graph graph = segment_graph(*segment_, segment_->calls.size(), live, &program->slots);
  program->live = std::move(live);
  program->executable = compile_segment(std::move(graph), *program);
  if (segment_->programs.size() >= kMaxPrograms) segment_->programs.erase(segment_->programs.begin());
  segment_->programs.push_back(program);
  return program;
}

void Frame::run_compiled() {
  std::vector<char> live;
  Wanted wanted = hold_pending(&live);
  if (std::none_of(live.begin(), live.end(), [](char l) { return l; }) &&
      std::none_of(segment_->calls.begin(), segment_->calls.end(),
                   [](const RecordedCall& c) { return c.op->traits.ordered; }))
    return;
  try {
    run_program(wanted, live);
  } catch (...) {
    poison(std::current_exception(), wanted, {});
    fail();
    throw;
  }
}

void Frame::run_program(const Wanted& wanted, const std::vector<char>& live) {
  bool shared = false;  // with somebody who may have changed bytes since the calls were checked
  {
    Aside aside;
    for (Ref<Value>& v : inputs_) {
      v->ensure();
      shared |= v->storage->is_external();
    }
  }
  std::shared_ptr<SegmentProgram> program = program_for(live);
  std::vector<AttrsBox> slots;
  for (int32_t call : program->slots) slots.push_back(call_attrs_[static_cast<size_t>(call)]);
  std::vector<Ref<Value>> results(program->executable->graph().outputs.size());
  std::vector<char> donated(inputs_.size());
  Running running(*this);
  for (size_t i = 0; i < inputs_.size(); ++i) donated[i] = !shared && nobody_else_holds(inputs_[i]);
  try {
    program->executable->run(inputs_, donated, slots, results, shared);
  } catch (...) {
    poison(std::current_exception(), wanted, donated);  // before other threads may take the inputs again
    throw;
  }
  ++follow_stats().runs;
  std::lock_guard lock(lock_);
  size_t next = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!live[i]) continue;
    if (wanted[i]) deliver(*wanted[i], *results[next]);
    ++next;
  }
}

/// Computes the calls followed so far one by one, as eager mode does.
void Frame::run_prefix() {
  std::vector<char> live;
  Wanted wanted = hold_pending(&live);
  try {
    Aside aside;
    std::vector<Tensor> results(pending_.size());
    for (size_t j = 0; j < at_; ++j) {
      const RecordedCall& call = segment_->calls[j];
      compute_call(call, call.dynamic ? call_attrs_[j] : call.attrs, inputs_, results);
      std::lock_guard lock(lock_);
      for (size_t r = 0; r < call.out.size(); ++r) {
        size_t at = static_cast<size_t>(call.first_out) + r;
        if (wanted[at]) deliver(*wanted[at], *results[at].value());
      }
    }
    std::lock_guard lock(lock_);
    pending_.clear();
  } catch (...) {
    poison(std::current_exception(), wanted, {});
    fail();
    throw;
  }
  writes_.clear();
}

/// With the lock held: the value gets its bytes unless another thread was faster.
void Frame::deliver(Value& pending, const Value& result) {
  if (pending.source.load(std::memory_order_relaxed) != this) return;
  pending_[static_cast<size_t>(pending.place - base_)] = {nullptr, true};
  pending.deliver(result);
}

/// Results that are owed, and inputs that are lost, throw the error when they are read.
void Frame::poison(const std::exception_ptr& error, const Wanted& wanted, std::span<const char> overwritten) {
  std::vector<Value*> lost;
  {
    std::lock_guard lock(lock_);
    for (const Ref<Value>& v : wanted)
      if (v && v->source.load(std::memory_order_relaxed) == this) lost.push_back(v.get());
    for (size_t i = 0; i < overwritten.size(); ++i)
      if (overwritten[i]) lost.push_back(inputs_[i].get());
    poison_values(error, lost);
  }
}

/// The segment failed: the boundary goes on eagerly.
void Frame::fail() noexcept {
  undo_writes();
  {
    std::lock_guard lock(lock_);
    pending_.clear();
  }
  inputs_.clear();
  mode_ = Mode::kOff;
}

// ---------------------------------------------------------------- handles

void Frame::read(const TensorHandle& /*handle*/) {}

void Frame::written(TensorHandle& handle, const Tensor& before) {
  // While recording, values are there and writes stand as in eager mode.
  if (!is_following()) return;
  std::shared_ptr<HandleToken> token = handle.token();
  if (token->logged_in.exchange(log_number_, std::memory_order_relaxed) == log_number_) return;
  writes_.push_back({std::move(token), before});
}

void Frame::drawn(Generator& /*from*/, int64_t /*count*/, const Tensor& /*key*/) {
}  // the host draws again at every call

/// Handles get back what they held before the segment, but for what other threads have written since.
void Frame::undo_writes() noexcept {
  std::vector<Write> writes = std::move(writes_);
  writes_.clear();
  HostLock host;
  auto mine = [this](const Tensor& t) {
    return t.defined() && t.value()->frame == epoch_ && t.value()->place >= base_;
  };
  for (size_t i = writes.size(); i-- > 0;)
    writes[i].handle->with([&](TensorHandle& handle) { handle.exchange_if(mine, writes[i].before); });
}

/// Only the segment, and the log that could undo the handle's update, refer to the value.
bool Frame::nobody_else_holds(const Ref<Value>& input) const {
  auto mine = 1 + std::count_if(writes_.begin(), writes_.end(),
                                [&](const Write& w) { return w.before.value() == input; });
  return input->refs.load(std::memory_order_acquire) == static_cast<uint32_t>(mine);
}

// ---------------------------------------------------------------- reads

void Frame::materialize(Value& v) {
  if (&current() != this || Aside::depth() > 0) return compute_aside(v);
  end_segment();
  SORUS_INTERNAL(!v.is_pending(), "a segment ended without the value that was read");
}

void Frame::abandon(Value& v) noexcept {
  if (lost_) return;
  std::lock_guard lock(lock_);
  auto result = static_cast<size_t>(v.place - base_);
  if (v.frame == epoch_ && v.place >= base_ && result < pending_.size()) pending_[result].value = nullptr;
}

void Frame::observe(const Value& v) {
  // While following, the bytes are there when another thread had wanted them before.
  if (mode_ != Mode::kOff && v.frame == epoch_ && v.place >= base_) end_segment();
}

/// The calls of the segment that `v` depends on, for this thread to compute. Waits while the segment runs.
/// False when the segment has given the value its bytes, or will not.
bool Frame::copy_cone(const Value& v, Cone* cone) {
  std::unique_lock lock(lock_);
  while (running_.load(std::memory_order_relaxed)) {
    lock.unlock();
    running_.wait(true, std::memory_order_acquire);
    lock.lock();
  }
  if (v.source.load(std::memory_order_relaxed) != this) return false;
  std::vector<char> needed(pending_.size(), 0);
  needed[static_cast<size_t>(v.place - base_)] = 1;
  cone->inputs.resize(inputs_.size());
  cone->wanted.resize(pending_.size());
  for (size_t j = at_; j-- > 0;) {
    const RecordedCall& call = segment_->calls[j];
    auto first = static_cast<size_t>(call.first_out);
    bool wanted = false;
    for (size_t r = first; r < first + call.out.size(); ++r) wanted |= needed[r] != 0;
    if (!wanted) continue;
    for (size_t r = first; r < first + call.out.size(); ++r) cone->wanted[r] = hold(pending_[r].value);
    for (const RecordedOperand& o : call.in) {
      if (o.source == kAbsent) continue;
      if (o.source >= 0)
        needed[static_cast<size_t>(o.source)] = 1;
      else
        cone->inputs[static_cast<size_t>(~o.source)] = inputs_[static_cast<size_t>(~o.source)];
    }
    cone->calls.push_back(call);
    if (call.dynamic) cone->calls.back().attrs = call_attrs_[j];
  }
  std::reverse(cone->calls.begin(), cone->calls.end());
  return true;
}

/// Gives a pending value its bytes on a thread that is not running the host program of this boundary, or is
/// in the middle of an event of it.
void Frame::compute_aside(Value& v) {
  SORUS_CHECK(
      !lost_, RuntimeError,
      "graph: a value was to be computed by another thread: got a fork before that, need it read first");
  Cone cone;
  if (!copy_cone(v, &cone)) return;
  Aside aside;
  const ReferenceKernels kernels(reference_);
  std::vector<Tensor> results(cone.wanted.size());
  for (const RecordedCall& call : cone.calls) compute_call(call, call.attrs, cone.inputs, results);
  std::lock_guard lock(lock_);
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r].defined() && cone.wanted[r]) deliver(*cone.wanted[r], *results[r].value());
}

}  // namespace sorus
