#include <mutex>

#include "sorus/compiler/compile.h"
#include "sorus/compiler/frame.h"
#include "sorus/compiler/partition.h"
#include "sorus/core/allocator.h"

/// Following a general plan: the first call with new extents goes by what recordings with others have in
/// common. Inference gives the types of each call, nothing is computed before a segment ends, and the plan of
/// these extents is filled as if it had been recorded.
namespace sorus {

void Frame::start_general(std::shared_ptr<GeneralPlan> general) {
  plan_->extents = general->no_extents();
  plan_->general = std::move(general);
  general_at_ = 0;
  mode_ = Mode::kSpecialize;
}

bool Frame::specialize(const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out) {
  SmallVector<const TensorType*, 8> operands;
  for (const Tensor* t : in) operands.push_back(t && t->defined() ? &t->type() : nullptr);
  const TypeList types = infer_types(op, operands, attrs.data);  // a call that is refused leaves no trace
  Places places;
  const int32_t known = outside_.count();
  find_places(in, &places);
  RecordedCall call;
  if (!match_general(op, in, attrs, types, places, &call)) {
    undo_places(in, known);
    leave_general();
    return false;
  }
  std::lock_guard lock(lock_);
  if (!segment_) {
    open_segment();
    segment_->general_index = static_cast<int32_t>(general_at_);
  }
  call.first_out = segment_->result_count;
  segment_->result_count += static_cast<int32_t>(call.out.size());
  segment_->any_dynamic |= call.dynamic;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!call.in[i].first_use) continue;
    inputs_.push_back(in[i]->value());
    ++segment_->input_count;
  }
  if (call.dynamic) {
    if (call_attrs_.size() <= at_) call_attrs_.resize(at_ + 1);
    call_attrs_[at_] = call.attrs;
  }
  segment_->calls.push_back(std::move(call));
  owe(segment_->calls.back(), out);
  return true;
}

/// The call as the general one says, with these types and attributes; false when it differs from it.
bool Frame::match_general(const OpDef& op, OperandSpan in, AttrsRef attrs, const TypeList& types,
                          const Places& places, RecordedCall* call) {
  const GeneralPlan& general = *plan_->general;
  Extents* extents = &plan_->extents;
  if (general_at_ >= general.segments().size()) return false;
  const GeneralSegment& segment = general.segments()[general_at_];
  if (at_ >= segment.size()) return false;
  const GeneralCall& open = segment[at_];
  if (open.call.op != &op || open.call.in.size() != in.size() || open.call.out.size() != types.size())
    return false;
  *call = open.call;
  for (size_t i = 0; i < in.size(); ++i) {
    if (places[i] != open.call.in[i].place) return false;
    if (places[i] == kAbsent) continue;
    if (!general.match(open.call.in[i].type, in[i]->type(), extents)) return false;
    call->in[i].type = in[i]->type();
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (!general.match(open.call.out[i], types[i], extents)) return false;
    call->out[i] = types[i];
  }
  call->varies = open.open_attrs;
  if (!call->dynamic && !open.open_attrs && open.call.attrs.ref().equals(attrs)) return true;
  if (op.traits.dynamic_attrs) call->dynamic = true;
  if (!call->dynamic && !(open.open_attrs && general.match(open, attrs, extents))) return false;
  call->attrs = AttrsBox(attrs);
  return true;
}

/// The call differs: what was followed so far is computed, and recording goes on behind it.
void Frame::leave_general() {
  ++follow_stats().mismatches;
  run_prefix();
  plan_->general = nullptr;
  for (const auto& s : plan_->segments) s->general_index = -1;
  input_of_.clear();
  if (segment_)
    for (const RecordedCall& c : segment_->calls)
      for (const RecordedOperand& o : c.in)
        if (o.source < 0 && o.source != kAbsent) input_of_.try_emplace(o.place, ~o.source);
  mode_ = Mode::kRecord;
}

void Frame::end_general_segment() {
  if (!segment_) return;  // nothing was called since the last one
  if (at_ != plan_->general->segments()[general_at_].size()) {
    leave_general();
    return next_segment();
  }
  run_compiled();
  ++general_at_;
  previous_ = segment_;
  segment_ = nullptr;
  start_segment(base_ + previous_->result_count, epoch_);
}

/// Through the passes, unless others of its general plan show what comes of that.
std::unique_ptr<Executable> Frame::compile_segment(Graph graph, const SegmentProgram& program) const {
  GeneralPlan* general = segment_->general_index < 0 ? nullptr : plan_->general.get();
  const auto index = static_cast<size_t>(segment_->general_index);
  if (general)
    if (auto made = general->instance(index, program.live, program.slots, plan_->extents);
        made && parts_problem(*made).empty()) {  // engines may take some extents and not others
      ++follow_stats().instances;
      return compile_as_is(std::move(*made));
    }
  std::unique_ptr<Executable> executable = compile(std::move(graph));
  release_excess_memory();  // recording it, eager calls kept more alive than the program will
  ++follow_stats().programs;
  if (general) general->learn(index, program.live, program.slots, executable->shared_graph(), plan_->extents);
  return executable;
}

}  // namespace sorus
