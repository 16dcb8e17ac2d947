#include "sorus/compiler/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "sorus/base/log.h"
#include "sorus/compiler/compile.h"

namespace sorus {
namespace {

constexpr size_t kMaxSegments = 64;
constexpr size_t kMaxPrograms = 8;
constexpr int kMissesBeforeGivingUp = 16;

std::atomic<uint64_t> next_epoch{1};

/// Stands behind the results of a segment that failed: reading one of them throws what the segment threw.
class Poison final : public PendingSource {
 public:
  Poison(std::exception_ptr error, int values) : error_(std::move(error)), values_(values) {}
  void materialize(Value&) override { std::rethrow_exception(error_); }
  void abandon(Value&) noexcept override {
    if (values_.fetch_sub(1) == 1) delete this;
  }

 private:
  std::exception_ptr error_;
  std::atomic<int> values_;
};

}  // namespace

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
  static thread_local Frame frame;
  return frame;
}

void Frame::begin(Plan& plan) {
  plan_ = &plan;
  epoch_ = next_epoch.fetch_add(1, std::memory_order_relaxed);
  thread_ = std::this_thread::get_id();
  segment_ = plan.head;
  previous_ = nullptr;
  at_ = 0;
  base_ = 0;
  missed_ = false;
  outside_.clear();
  inputs_.clear();
  forget_pending();
  input_of_.clear();
  mode_ = plan.given_up ? Mode::kOff : segment_ ? Mode::kFollow : Mode::kRecord;
}

void Frame::end(bool thrown) {
  struct Finish {
    Frame& f;
    ~Finish() {
      f.forget_writes();
      f.mode_ = Mode::kOff;
      f.plan_ = nullptr;
      f.segment_ = f.previous_ = nullptr;
      f.inputs_.clear();
      f.forget_pending();
    }
  } finish{*this};
  if (mode_ == Mode::kFollow) {
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
  if (mode_ != Mode::kFollow) return false;
  Places places;
  int32_t known = outside_.count();
  find_places(in, &places);
  Match m = match_any(op, in, attrs, places, known);
  if (m == Match::kNo) [[unlikely]] {
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
  for (const TensorType& type : call.out) {
    Ref<Value> v = Value::make(type);  // a match implies the types, so inference does not run again
    v->source = this;
    v->frame = epoch_;
    v->place = base_ + static_cast<int32_t>(pending_.size());
    std::lock_guard lock(pending_lock_);
    pending_.push_back(v.get());
    out.push_back(Tensor(std::move(v)));
  }
  ++at_;
  ++follow_stats().followed;
  return true;
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
    segment_ = add_segment();
    (previous_ ? previous_->next : plan_->head) = segment_;
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
  base_ += segment_->result_count;
  at_ = 0;
  previous_ = segment_;
  segment_ = segment_->next;
  mode_ = segment_ ? Mode::kFollow : Mode::kRecord;
  input_of_.clear();
  inputs_.clear();
  forget_pending();
  forget_writes();
}

std::vector<Ref<Value>> Frame::hold_pending() {
  std::lock_guard lock(pending_lock_);
  std::vector<Ref<Value>> held(pending_.size());
  for (size_t i = 0; i < held.size(); ++i) {
    Value* v = pending_[i];
    if (!v) continue;
    // Without references it is being destroyed by another thread, which waits for the lock.
    uint32_t refs = v->refs.load(std::memory_order_relaxed);
    while (refs > 0 && !v->refs.compare_exchange_weak(refs, refs + 1, std::memory_order_acquire)) {
    }
    if (refs == 0) continue;
    held[i] = Ref<Value>(v);
    v->refs.fetch_sub(1, std::memory_order_relaxed);  // the reference that made sure of it
  }
  return held;
}

void Frame::forget_pending() {
  std::lock_guard lock(pending_lock_);
  pending_.clear();
}

std::shared_ptr<SegmentProgram> Frame::program_for(std::vector<char> live) {
  for (const auto& p : segment_->programs)
    if (p->live == live) return p;
  auto program = std::make_shared<SegmentProgram>();
  Graph graph = segment_graph(*segment_, segment_->calls.size(), live, &program->slots);
  program->live = std::move(live);
  program->executable = compile(std::move(graph));
  ++follow_stats().programs;
  if (segment_->programs.size() >= kMaxPrograms) segment_->programs.erase(segment_->programs.begin());
  segment_->programs.push_back(program);
  return program;
}

void Frame::run_compiled() {
  std::vector<Ref<Value>> wanted = hold_pending();
  std::vector<char> live(wanted.size());
  for (size_t i = 0; i < live.size(); ++i) live[i] = wanted[i] ? 1 : 0;
  if (std::none_of(live.begin(), live.end(), [](char l) { return l; }) &&
      std::none_of(segment_->calls.begin(), segment_->calls.end(),
                   [](const RecordedCall& c) { return c.op->traits.may_fail || c.op->traits.ordered; }))
    return;
  try {
    for (Ref<Value>& v : inputs_) v->ensure();
    std::shared_ptr<SegmentProgram> program = program_for(std::move(live));
    std::vector<AttrsBox> slots;
    for (int32_t call : program->slots) slots.push_back(call_attrs_[static_cast<size_t>(call)]);
    std::vector<char> donated(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) donated[i] = nobody_else_holds(inputs_[i]);
    std::vector<Ref<Value>> results(program->executable->graph().outputs.size());
    program->executable->run(inputs_, donated, slots, results);
    ++follow_stats().runs;
    size_t next = 0;
    for (const Ref<Value>& v : wanted)
      if (v) deliver(*v, results[next++]);
  } catch (...) {
    poison(std::current_exception(), wanted);
    throw;
  }
}

/// Computes the calls followed so far one by one, as eager mode does.
void Frame::run_prefix() {
  std::vector<Ref<Value>> wanted = hold_pending();
  try {
    TensorList results;
    for (size_t j = 0; j < at_; ++j) {
      const RecordedCall& call = segment_->calls[j];
      TensorList operands;
      for (const RecordedOperand& o : call.in)
        operands.push_back(o.source == kAbsent ? Tensor()
                           : o.source >= 0     ? results[static_cast<size_t>(o.source)]
                                               : Tensor(inputs_[static_cast<size_t>(~o.source)]));
      SmallVector<const Tensor*, 8> pointers;
      for (const Tensor& t : operands) pointers.push_back(t.defined() ? &t : nullptr);
      const AttrsBox& attrs = call.dynamic ? call_attrs_[j] : call.attrs;
      TypeList types(call.out.begin(), call.out.end());
      size_t first = results.size();
      execute(*call.op, pointers, attrs.ref(), types, results);
      for (size_t r = first; r < results.size(); ++r)
        if (wanted[r]) deliver(*wanted[r], results[r].value());
    }
    forget_pending();
    forget_writes();
  } catch (...) {
    poison(std::current_exception(), wanted);
    throw;
  }
}

void Frame::deliver(Value& pending, const Ref<Value>& result) {
  pending.storage = result->storage;
  pending.strides = result->strides;
  pending.offset = result->offset;
  pending.source = nullptr;
}

void Frame::poison(const std::exception_ptr& error, std::span<const Ref<Value>> waiting) {
  auto undelivered = [](const Ref<Value>& v) { return v && v->source; };
  if (auto count = std::count_if(waiting.begin(), waiting.end(), undelivered); count > 0) {
    auto* poison = new Poison(error, static_cast<int>(count));
    for (const Ref<Value>& v : waiting)
      if (undelivered(v)) v->source = poison;
  }
  undo_writes();
  forget_pending();
  inputs_.clear();
  mode_ = Mode::kOff;
}

// ---------------------------------------------------------------- handles

void Frame::read(const TensorHandle& /*handle*/) {}

void Frame::written(TensorHandle& handle, const Tensor& before) {
  // While recording, values are there and writes stand as in eager mode.
  if (mode_ != Mode::kFollow || handle.logged) return;
  handle.logged = true;
  writes_.push_back({&handle, before});
}

void Frame::drawn(int64_t /*count*/, const Tensor& /*key*/) {}  // the host draws again at every call

void Frame::gone(const TensorHandle& handle) noexcept {
  std::erase_if(writes_, [&](const Write& w) { return w.handle == &handle; });
}

void Frame::undo_writes() noexcept {
  for (Write& w : writes_) w.handle->restore(std::move(w.before));
  forget_writes();
}

void Frame::forget_writes() noexcept {
  for (Write& w : writes_) w.handle->logged = false;
  writes_.clear();
}

/// Only the segment, and the log that could undo the handle's update, refer to the value.
bool Frame::nobody_else_holds(const Ref<Value>& input) const {
  auto mine = 1 + std::count_if(writes_.begin(), writes_.end(),
                                [&](const Write& w) { return w.before.value() == input; });
  return input->refs.load(std::memory_order_acquire) == static_cast<uint32_t>(mine);
}

// ---------------------------------------------------------------- reads

void Frame::check_thread(std::string_view what) const {
  SORUS_CHECK(std::this_thread::get_id() == thread_, RuntimeError,
              "graph: a value is {} by another thread than the one that computes it: got a result of a "
              "function that is still "
              "running, need it read there first, or returned",
              what);
}

void Frame::materialize(Value& v) {
  check_thread("read");
  end_segment();
  SORUS_INTERNAL(!v.source, "a segment ended without the value that was read");
}

void Frame::abandon(Value& v) noexcept {
  std::lock_guard lock(pending_lock_);
  auto result = static_cast<size_t>(v.place - base_);
  if (v.frame == epoch_ && v.place >= base_ && result < pending_.size()) pending_[result] = nullptr;
}

void Frame::observe(const Value& v) {
  if (mode_ == Mode::kRecord && v.frame == epoch_ && v.place >= base_) end_segment();
}

}  // namespace sorus
