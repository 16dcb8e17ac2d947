#include <algorithm>
#include <map>

#include "sorus/base/thread_pool.h"
#include "sorus/compiler/binder.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/engine/engine.h"

/// The last part of binding: which steps run at once, and where buffers lie.
namespace sorus {

namespace {

constexpr double kCopyBytesPerNs = 10;

/// How long the host takes for a call. A region costs what the dearest of its calls does, or the way of its
/// operands and results through memory.
double time_of(const Graph& graph, const Node& call) {
  double ns = host_cost(graph, call);
  if (call.body)
    for (const Node& n : call.body->nodes) ns = std::max(ns, time_of(*call.body, n));
  return ns;
}

/// Nothing may run beside a call that can throw or has effects: errors and effects keep their order, and no
/// input is written over before the last check.
bool is_alone(const Graph& graph, const Step& step) {
  const OpDef& op = *step.node->op;
  return step.part >= 0 || op.traits.ordered || op.checks_inside ||
         (op.check_values && !graph.values_checked);
}

/// The memory of a buffer: where a result takes an input's storage it is the input's.
int32_t memory_of(std::span<const Buffer> buffers, int32_t buffer) {
  const Buffer& b = buffers[static_cast<size_t>(buffer)];
  return b.donor >= 0 ? b.donor : buffer;  // buffers of inputs come first
}

template <class F>
void for_each_use(const Executable::Binding& binding, const Step& step, F f) {
  for (uint32_t i = 0; i < step.in_count + step.out_count; ++i) {
    const BoundArray& a = binding.arrays[step.first + i];
    if (a.buffer >= 0) f(a.buffer, i >= step.in_count);
  }
  if (step.workspace >= 0) f(step.workspace, true);
}

}  // namespace

StepFacts Binder::facts_of(size_t step) const {
  const Step& s = binding_->steps[step];
  StepFacts facts;
  facts.is_alone = is_alone(graph_, s);
  const Array& first = binding_->arrays[s.first].array;
  facts.ns = s.is_copy() ? static_cast<double>(first.numel()) * 2 *
                               static_cast<double>(dtype_size(first.dtype)) / kCopyBytesPerNs
                         : time_of(graph_, *s.node);
  for_each_use(*binding_, s, [&](int32_t buffer, bool is_written) {
    const Buffer& b = binding_->buffers[static_cast<size_t>(buffer)];
    if (b.place == Place::kConstant) return;
    (is_written ? facts.writes : facts.reads).push_back(memory_of(binding_->buffers, buffer));
    const bool is_new = b.first == static_cast<int32_t>(step) && b.donor < 0 && is_written;
    if (is_new && (b.place == Place::kArena || b.place == Place::kOwned)) facts.new_bytes += b.bytes;
  });
  return facts;
}

/// Where memory is limited one step runs after the other: branches at once take more.
void Binder::schedule() {
  std::vector<StepFacts> facts;
  for (size_t s = 0; s < binding_->steps.size(); ++s) facts.push_back(facts_of(s));
  binding_->schedule = make_schedule(facts, memory_limit() > 0 ? 1 : num_threads());
  for (const Stage& s : binding_->schedule.stages)
    if (s.is_parallel) binding_->report.tasks += static_cast<int>(s.count);
}

/// Of all buffers, those outside the arena included, by place in time.
std::vector<BufferLife> Binder::lives() const {
  const Schedule& schedule = binding_->schedule;
  std::vector<BufferLife> lives;
  for (const Buffer& b : binding_->buffers) lives.push_back({b.bytes, INT32_MAX, -1, ~uint64_t{0}, 0});
  for (const Stage& stage : schedule.stages)
    for (uint32_t i = 0; i < stage.count; ++i) {
      const size_t step = stage.first + i;
      const int32_t place = schedule.places[step];
      for_each_use(*binding_, binding_->steps[step], [&](int32_t buffer, bool) {
        BufferLife& life = lives[static_cast<size_t>(buffer)];
        life.first = std::min(life.first, place);
        if (place > life.last) life.last_tasks = 0;
        life.last = place;
        life.last_tasks |= stage.is_parallel ? uint64_t{1} << i : 1;
        if (place == life.first) life.first_before &= schedule.ancestors[step];
      });
    }
  return lives;
}

void Binder::plan() {
  const std::vector<BufferLife> all = lives();
  std::vector<BufferLife> planned, in_order;
  std::vector<Buffer*> buffers;
  for (size_t i = 0; i < all.size(); ++i) {
    Buffer& b = binding_->buffers[i];
    if (b.place != Place::kArena || all[i].last < 0) continue;
    planned.push_back(all[i]);
    in_order.push_back({b.bytes, b.first, b.last});
    buffers.push_back(&b);
  }
  const MemoryPlan plan = plan_memory(planned);
  for (size_t i = 0; i < buffers.size(); ++i) buffers[i]->arena_offset = plan.offsets[i];
  binding_->arena_bytes = plan.arena_bytes;
  ExecutableReport& r = binding_->report;
  r.steps = static_cast<int>(binding_->steps.size());
  r.planned_bytes = plan.arena_bytes;
  r.naive_bytes = plan.naive_bytes;
  r.lower_bound_bytes = most_alive(in_order);
}

/// The call of a step over inputs of its own; null where it cannot stand alone.
static std::shared_ptr<const Graph> call_alone(const Graph& graph, const Step& step) {
  const Node& node = *step.node;
  if (step.is_copy() || step.part >= 0 || node.slot >= 0) return nullptr;
  auto alone = std::make_shared<Graph>();
  alone->name = node.body ? "region" : std::string(node.op->name);
  Node call = node;
  call.site.clear();
  std::map<ValueId, ValueId> to;
  for (ValueId& v : call.in) {
    if (v == kNoValue) continue;
    const auto [at, is_new] = to.try_emplace(v, kNoValue);
    if (is_new) at->second = alone->add_input(graph.type(v));
    v = at->second;
  }
  for (ValueId& v : call.out) {
    v = alone->add_value(graph.type(v));
    alone->outputs.push_back(v);
  }
  alone->nodes.push_back(std::move(call));
  return alone;
}

std::vector<BoundStep> bound_steps_of(const Executable::Binding& binding) {
  std::vector<BoundStep> steps;
  for (const Step& s : binding.steps) {
    const Kernel* kernel = s.tuned ? s.tuned->kernel : s.kernel;
    BoundStep step;
    step.kernel = kernel ? std::string(kernel->name) : s.region ? "region" : s.part >= 0 ? "part" : "copy";
    step.alone = call_alone(*binding.graph, s);
    // Operands that are the same value are one input.
    for (uint32_t i = 0; step.alone && i < s.in_count; ++i) {
      const auto input = static_cast<ValueId>(step.strides.size());
      const ValueId v = step.alone->nodes[0].in[i];
      if (v != kNoValue && input < static_cast<ValueId>(step.alone->inputs.size()) &&
          v == step.alone->inputs[static_cast<size_t>(input)])
        step.strides.push_back(binding.arrays[s.first + i].array.strides);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<PlannedStep> planned_steps_of(const Executable::Binding& binding) {
  std::vector<PlannedStep> steps;
  for (size_t s = 0; s < binding.steps.size(); ++s) {
    PlannedStep step{binding.schedule.places[s], binding.schedule.before[s], {}};
    for_each_use(binding, binding.steps[s], [&](int32_t buffer, bool is_written) {
      const Buffer& b = binding.buffers[static_cast<size_t>(buffer)];
      const bool is_given = b.place == Place::kInput || b.place == Place::kConstant;
      MemoryUse use{buffer, -1, b.arena_offset, b.arena_offset + b.bytes, is_written, is_given};
      if (b.place != Place::kArena) {
        use.space = memory_of(binding.buffers, buffer);
        use.begin = 0;
        use.end = 1;
      }
      step.uses.push_back(use);
    });
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace sorus
