#include <algorithm>
#include <map>
#include <optional>

#include "sorus/base/tunable.h"
#include "sorus/compiler/binder.h"
#include "sorus/compiler/region_orders.h"
#include "sorus/compiler/tuned_graph.h"
#include "sorus/dispatch/apply.h"

namespace sorus {

namespace {

const Tunable prepack_bytes(
    {.name = "prepack.largest_bytes",
     .initial = 1 << 30,
     .least = 4 << 10,
     .most = 1 << 30,
     .part = TunedPart::kProgram,
     .doc = "bytes of the largest weights that are kept as kernels have packed them"});

/// Values that a graph would have, had all calls given way to their nodes.
size_t flat_values(const Graph& graph) {
  size_t count = graph.value_count();
  for (const Node& n : graph.nodes)
    if (n.body) count += flat_values(*n.body);
  return count;
}

/// Of an operand that is kept, 0 where it is not.
size_t prepacked_bytes(size_t bytes) { return bytes <= static_cast<size_t>(prepack_bytes.get()) ? bytes : 0; }

}  // namespace

std::shared_ptr<const Executable::Binding> bind_graph(std::shared_ptr<const Graph> graph,
                                                      std::span<const Strides> input_strides,
                                                      EngineParts& parts) {
  auto binding = Binder(graph, nullptr, input_strides, parts).run();
  while (!binding) {
    // Parts of a call may be refused in their turn, so that there is no bound to what is added.
    auto changed = std::make_shared<Graph>(*graph);
    changed->reserve_values(2 * flat_values(*graph));
    binding = Binder(changed, changed.get(), input_strides, parts).run();
    graph = std::move(changed);
  }
  return binding;
}

Binder::Binder(std::shared_ptr<const Graph> graph, Graph* own, std::span<const Strides> input_strides,
               EngineParts& engine_parts)
    : owner_(std::move(graph)),
      graph_(*owner_),
      own_(own),
      engine_parts_(engine_parts),
      binding_(std::make_shared<Executable::Binding>()),
      values_(graph_.value_count()),
      donor_taken_(graph_.inputs.size(), 0) {
  binding_->graph = owner_;
  binding_->input_strides.assign(input_strides.begin(), input_strides.end());
}

std::shared_ptr<const Executable::Binding> Binder::run() {
  place_sources();
  find_last_uses();
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    while (graph_.nodes[i].body && !bind_call(graph_.nodes[i]))
      if (!give_way(i)) return nullptr;
    if (!graph_.nodes[i].body) bind_node(graph_.nodes[i]);
  }
  for (size_t s = 0; s < binding_->steps.size(); ++s)
    binding_->steps[s].node = &graph_.nodes[static_cast<size_t>(step_nodes_[s])];
  for (ValueId v : graph_.outputs) binding_->outputs.push_back(values_[static_cast<size_t>(v)]);
  settle_buffers();
  schedule();
  plan();
  return std::move(binding_);
}

/// What is bound so far stays: it knows nodes by their number and refers to types, which do not move.
bool Binder::give_way(size_t index) {
  if (!own_ || own_->value_count() + own_->nodes[index].body->value_count() > own_->value_capacity())
    return false;
  parts_.empty() ? own_->inline_call(index) : own_->split_call(index, parts_);
  const size_t known = values_.size();
  values_.resize(own_->value_count());
  place_constants(known);
  find_last_uses();
  alive_until_.assign(alive_until_.size(), -1);
  for (const Node& n : std::span(own_->nodes).first(index))
    for (ValueId v : n.out) note_use(values_[static_cast<size_t>(v)].buffer, v);
  return true;
}

void Binder::place_sources() {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    BoundValue& v = values_[static_cast<size_t>(graph_.inputs[i])];
    v.strides = binding_->input_strides[i];
    v.buffer = add_buffer(Place::kInput, static_cast<int32_t>(i), 0);
  }
  place_constants(0);
}

/// Of the values from `first` on.
void Binder::place_constants(size_t first) {
  for (size_t id = first; id < graph_.value_count(); ++id) {
    auto value = static_cast<ValueId>(id);
    if (!graph_.is_constant(value)) continue;
    values_[id].strides = graph_.constant(value).strides();
    values_[id].buffer = add_buffer(Place::kConstant, value, 0);
  }
}

/// The node after which no call reads a value, views of it included; outputs are never dead.
void Binder::find_last_uses() {
  last_use_.assign(graph_.value_count(), -1);
  last_check_ = -1;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (ValueId v : graph_.nodes[i].in)
      if (v != kNoValue) last_use_[static_cast<size_t>(v)] = static_cast<int32_t>(i);
    const Node& n = graph_.nodes[i];
    // An engine can fail as a check can.
    const bool may_fail =
        (n.op->check_values && !graph_.values_checked) || (n.body && !n.body->engine.empty());
    if (may_fail) last_check_ = static_cast<int32_t>(i);
  }
  for (ValueId v : graph_.outputs) last_use_[static_cast<size_t>(v)] = INT32_MAX;
}

int32_t Binder::add_buffer(Place place, int32_t index, int64_t bytes) {
  Buffer b;
  b.place = place;
  b.index = index;
  b.bytes = bytes;
  b.first = b.last = static_cast<int32_t>(binding_->steps.size());
  binding_->buffers.push_back(b);
  alive_until_.push_back(-1);
  return static_cast<int32_t>(binding_->buffers.size()) - 1;
}

Array Binder::array_of(ValueId v) const {
  const TensorType& t = graph_.type(v);
  return {nullptr, t.dtype, &t.shape, values_[static_cast<size_t>(v)].strides};
}

void Binder::bind_node(const Node& node) {
  auto index = static_cast<int32_t>(&node - graph_.nodes.data());
  ++binding_->report.nodes;
  if (node.op->view && bind_view(node)) {
    ++binding_->report.views;
    return;
  }
  ArrayVector in;
  for (ValueId v : node.in) in.push_back(v == kNoValue ? Array{} : array_of(v));
  ArrayVector out;
  for (ValueId v : node.out) out.push_back({nullptr, graph_.type(v).dtype, &graph_.type(v).shape, {}});
  KernelCall question{*node.op, node.attrs.ref().data, in, out};
  std::optional<TunedCall> tuned;
  if (tuning_in_use() && node.slot < 0)
    tuned.emplace(tuned_for_call(*node.op, node.attrs.ref(), in), TuningScope::Nesting::kInside);
  const Kernel& kernel =
      choose_kernel(question, node.out.empty() ? Device{} : graph_.type(node.out[0]).device);
  std::vector<BoundArray> arrays;
  for (size_t i = 0; i < in.size(); ++i) arrays.push_back(bind_operand(node, i, kernel, in[i]));
  for (size_t i = 0; i < out.size(); ++i) out[i].strides = output_strides(kernel, in, *out[i].shape, i);
  for (const BoundArray& a : arrays)
    if (a.buffer >= 0) touch(a.buffer);
  for (size_t i = 0; i < out.size(); ++i)
    arrays.push_back(bind_result(node, i, index, i == 0 ? kernel.in_place : 0, arrays, out[i]));
  Step step;
  if (tuned && tuned->values) {
    binding_->tuned.push_back(std::make_unique<TunedKernel>(&kernel, tuned->values));
    step.tuned = binding_->tuned.back().get();
  } else {
    step.kernel = &kernel;
  }
  if (size_t bytes = kernel.workspace ? kernel.workspace(question) : 0)
    step.workspace = add_buffer(Place::kArena, -1, static_cast<int64_t>(bytes));
  if (kernel.prepacked_in >= 0 && stays(arrays[static_cast<size_t>(kernel.prepacked_in)]))
    if (size_t bytes = prepacked_bytes(kernel.prepacked_bytes(question)))
      step.prepacked = binding_->prepacked.add(bytes);
  push_step(step, node, arrays, in.size());
}

/// Whether the operand may be the same at the next run: it is a constant or an input, as it comes.
bool Binder::stays(const BoundArray& operand) const {
  if (operand.buffer < 0) return false;
  const Place place = binding_->buffers[static_cast<size_t>(operand.buffer)].place;
  return place == Place::kInput || place == Place::kConstant;
}

/// The calls of a region, and those inside its calls.
void Binder::count_nodes(const Graph& body, ExecutableReport& report) {
  const Node& first = body.nodes.front();
  const bool is_depth_first = first.body && first.body->nodes.back().body;
  report.depth_first += is_depth_first ? 1 : 0;
  for (const Node& n : body.nodes) {
    if (n.body) {
      if (!is_depth_first) ++(first.body ? report.bundled : report.epilogues);
      count_nodes(*n.body, report);
      continue;
    }
    ++report.nodes;
    if (n.op->view)
      ++report.views;
    else
      ++report.fused_nodes;
  }
}

/// A call of a body as one step; false when nobody knows how to run it whole.
bool Binder::bind_call(const Node& node) {
  return node.body->engine.empty() ? bind_region_call(node) : bind_part(node);
}

/// Where an operand lies, or a copy in the order that is wanted.
BoundArray Binder::bind_body_operand(const Node& node, size_t i, const Strides& wanted) {
  const BoundValue& v = values_[static_cast<size_t>(node.in[i])];
  BoundArray bound{v.buffer, v.offset, array_of(node.in[i])};
  if (!same_strides(*bound.array.shape, bound.array.strides, wanted)) return convert(node, bound, wanted);
  bound.array.strides = wanted;  // which may differ where there is nothing to step over
  return bound;
}

bool Binder::bind_part(const Node& node) {
  parts_.clear();
  std::shared_ptr<const EnginePart> part = engine_parts_.find_or_compile(node.body);
  if (!part) return false;
  auto index = static_cast<int32_t>(&node - graph_.nodes.data());
  std::vector<BoundArray> arrays;
  for (size_t i = 0; i < node.in.size(); ++i)
    arrays.push_back(bind_body_operand(node, i, Strides::contiguous(graph_.type(node.in[i]).shape)));
  for (const BoundArray& a : arrays) touch(a.buffer);
  for (size_t i = 0; i < node.out.size(); ++i) {
    const TensorType& type = graph_.type(node.out[i]);
    const Array result{nullptr, type.dtype, &type.shape, Strides::contiguous(type.shape)};
    arrays.push_back(bind_result(node, i, index, 0, std::span(arrays).first(node.in.size()), result));
  }
  Step step;
  step.part = static_cast<int32_t>(binding_->parts.size());
  push_step(step, node, arrays, node.in.size());
  binding_->parts.push_back(std::move(part));
  ExecutableReport& r = binding_->report;
  ++r.parts;
  for (const Node& n : node.body->nodes) {
    const bool is_border = n.op == &to_engine_op() || n.op == &from_engine_op();
    ++(is_border ? r.border_copies : r.part_nodes);
    if (!is_border) ++r.nodes;
  }
  return true;
}

bool Binder::bind_region_call(const Node& node) {
  auto index = static_cast<int32_t>(&node - graph_.nodes.data());
  ArrayVector in;
  for (ValueId v : node.in) in.push_back(array_of(v));
  parts_ = parts_by_order(*node.body, in);
  if (!parts_.empty()) return false;
  const TunedRef tuned = tuned_for_graph(TunedPart::kRegion, *node.body);
  const TuningScope scope(tuned.get(), TuningScope::Nesting::kInside);
  std::unique_ptr<RegionProgram> program = bind_region(*node.body, in);
  if (!program) return false;
  std::vector<BoundArray> arrays;
  for (size_t i = 0; i < in.size(); ++i) arrays.push_back(bind_body_operand(node, i, program->in_strides[i]));
  for (const BoundArray& a : arrays) touch(a.buffer);
  for (size_t i = 0; i < node.out.size(); ++i) {
    const TensorType& type = graph_.type(node.out[i]);
    const Array result{nullptr, type.dtype, &type.shape, program->out_strides[i]};
    arrays.push_back(
        bind_result(node, i, index, program->in_place[i], std::span(arrays).first(in.size()), result));
  }
  Step step;
  step.region = program.get();
  for (const RegionProgram::Prepacked& p : program->prepacked) {
    const bool is_kept = stays(arrays[static_cast<size_t>(p.operand)]);
    const int32_t number = binding_->prepacked.add(is_kept ? prepacked_bytes(p.bytes) : 0);
    if (step.prepacked < 0) step.prepacked = number;
  }
  if (program->workspace_bytes > 0)
    step.workspace = add_buffer(Place::kArena, -1, static_cast<int64_t>(program->workspace_bytes));
  push_step(step, node, arrays, in.size());
  ExecutableReport& r = binding_->report;
  count_nodes(*node.body, r);
  ++r.regions;
  binding_->regions.push_back(std::move(program));
  return true;
}

void Binder::push_step(Step step, const Node& node, std::span<const BoundArray> arrays, size_t in_count) {
  step.first = static_cast<uint32_t>(binding_->arrays.size());
  step.in_count = static_cast<uint32_t>(in_count);
  step.out_count = static_cast<uint32_t>(arrays.size() - in_count);
  for (const BoundArray& a : arrays) {
    binding_->arrays.push_back(a);
    if (a.buffer >= 0) touch(a.buffer);
  }
  if (step.kernel || step.region) keep_results(step, node, arrays, in_count);
  binding_->steps.push_back(step);
  step_nodes_.push_back(static_cast<int32_t>(&node - graph_.nodes.data()));
}

/// Whether equal operands are all that the call, or those inside it, need for equal results.
static bool gives_the_same(const Node& n) {
  if (n.body) return std::all_of(n.body->nodes.begin(), n.body->nodes.end(), gives_the_same);
  return !n.op->traits.ordered && !n.op->check_values && n.slot < 0;
}

/// Small results of a bundle of what is the same at the next run, as long as inputs are: it need not run
/// then. Of a single call a look at the inputs costs as much as it does.
void Binder::keep_results(Step& step, const Node& node, std::span<const BoundArray> arrays, size_t in_count) {
  constexpr int64_t kMostBytes = 256 << 10;
  if (!node.body || !node.body->nodes.front().body || !gives_the_same(node)) return;
  for (ValueId v : node.out)
    if (last_use_[static_cast<size_t>(v)] == INT32_MAX) return;
  int64_t bytes = 0;
  bool reads_input = false;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].buffer < 0) continue;
    const Buffer& b = binding_->buffers[static_cast<size_t>(arrays[i].buffer)];
    if (i < in_count) {
      if (!stays(arrays[i])) return;
      reads_input |= b.place == Place::kInput;
    } else {
      if (b.first != static_cast<int32_t>(binding_->steps.size())) return;
      bytes += (b.bytes + 63) / 64 * 64;
    }
  }
  if (!reads_input || bytes == 0 || bytes > kMostBytes) return;
  step.kept = binding_->kept.add();
  int64_t at = 0;
  for (const BoundArray& a : arrays.subspan(in_count)) {
    Buffer& b = binding_->buffers[static_cast<size_t>(a.buffer)];
    b.place = Place::kKept, b.index = step.kept, b.arena_offset = at;
    b.donor = -1;  // inputs are needed again
    at += (b.bytes + 63) / 64 * 64;
  }
  binding_->kept_bytes.push_back(at);
}

/// A step that runs each time after all.
void Binder::release_results(int32_t kept) {
  for (Step& s : binding_->steps)
    if (s.kept == kept) s.kept = -1;
  for (Buffer& b : binding_->buffers)
    if (b.place == Place::kKept && b.index == kept) b.place = Place::kArena;
}

/// Results that share their operand's buffer; false when its strides do not allow it.
bool Binder::bind_view(const Node& node) {
  const BoundValue base = values_[static_cast<size_t>(node.in[0])];
  auto size = static_cast<int64_t>(dtype_size(graph_.type(node.in[0]).dtype));
  const SmallVector<const TensorType*, 8> types = operand_types(graph_, node);
  InferContext context(*node.op, types, node.attrs.ref().data);
  const Views views = node.op->view(context, base.strides, base.offset / size);
  for (size_t i = 0; i < views.size(); ++i) {
    values_[static_cast<size_t>(node.out[i])] = {base.buffer, views[i].offset * size, views[i].strides};
    note_use(base.buffer, node.out[i]);
  }
  return !views.empty();
}

/// The operand in the layout that the kernel wants, copied by a step of its own where needed.
BoundArray Binder::bind_operand(const Node& node, size_t i, const Kernel& kernel, Array& array) {
  if (node.in[i] == kNoValue) return {};
  const BoundValue& v = values_[static_cast<size_t>(node.in[i])];
  BoundArray bound{v.buffer, v.offset, array};
  Strides wanted;
  if (!needs_conversion(kernel, array, i, &wanted)) return bound;
  array.strides = wanted;
  return convert(node, bound, wanted);
}

/// A copy with other strides, made by a step of its own.
BoundArray Binder::convert(const Node& node, const BoundArray& from, const Strides& wanted) {
  BoundArray copy = from;
  copy.array.strides = wanted;
  copy.offset = 0;
  copy.buffer =
      add_buffer(Place::kArena, -1, from.array.numel() * static_cast<int64_t>(dtype_size(from.array.dtype)));
  Step step;
  push_step(step, node, std::vector<BoundArray>{from, copy}, 1);
  ++binding_->report.conversions;
  return copy;
}

/// A buffer for a result: a dead operand's when the kernel can work in place, a new one otherwise.
BoundArray Binder::bind_result(const Node& node, size_t i, int32_t index, uint64_t in_place,
                               std::span<const BoundArray> operands, const Array& result) {
  int64_t bytes = result.numel() * static_cast<int64_t>(dtype_size(result.dtype));
  BoundArray bound{-1, 0, result};
  auto take = [&](size_t k, Place place) {
    if (bound.buffer >= 0 || !(in_place >> k & 1U) || operands[k].buffer < 0) return;
    const Array& a = operands[k].array;
    const Buffer b = binding_->buffers[static_cast<size_t>(operands[k].buffer)];
    bool fits = a.dtype == result.dtype && *a.shape == *result.shape &&
                same_strides(*a.shape, a.strides, result.strides) && operands[k].offset == 0;
    bool dead = dead_after(operands[k].buffer, index) && !shared_operand(operands, k);
    if (b.place != place || !fits || !dead || !is_dense(*a.shape, a.strides)) return;
    if (place == Place::kArena && b.bytes == bytes) {
      bound.buffer = operands[k].buffer;
      ++binding_->report.in_place;
    } else if (place == Place::kInput && index > last_check_ && !donor_taken_[static_cast<size_t>(b.index)]) {
      donor_taken_[static_cast<size_t>(b.index)] = 1;
      bound.buffer = add_buffer(Place::kArena, -1, bytes);
      binding_->buffers.back().donor = b.index;
    }
  };
  // What leaves the program needs storage of its own: an input's rather than one that could stay in the
  // arena.
  const bool leaves = last_use_[static_cast<size_t>(node.out[i])] == INT32_MAX;
  for (Place place : {leaves ? Place::kInput : Place::kArena, leaves ? Place::kArena : Place::kInput})
    for (size_t k = 0; k < std::min<size_t>(node.in.size(), 64); ++k) take(k, place);
  if (bound.buffer < 0) bound.buffer = add_buffer(Place::kArena, -1, bytes);
  BoundValue& v = values_[static_cast<size_t>(node.out[i])];
  v.buffer = bound.buffer;
  v.offset = 0;
  v.strides = result.strides;
  note_use(v.buffer, node.out[i]);
  return bound;
}

bool Binder::shared_operand(std::span<const BoundArray> operands, size_t k) {
  for (size_t j = 0; j < operands.size(); ++j)
    if (j != k && operands[j].buffer == operands[k].buffer) return true;
  return false;
}

/// True when no call after `index` reads the buffer through any value seen so far. Later views can only come
/// from those values, so they count as reads of them.
bool Binder::dead_after(int32_t buffer, int32_t index) const {
  if (binding_->buffers[static_cast<size_t>(buffer)].place == Place::kInput)
    return input_dead_after(buffer, index);
  return alive_until_[static_cast<size_t>(buffer)] <= index;
}

bool Binder::input_dead_after(int32_t buffer, int32_t index) const {
  auto input = static_cast<size_t>(
      graph_.inputs[static_cast<size_t>(binding_->buffers[static_cast<size_t>(buffer)].index)]);
  return std::max(last_use_[input], alive_until_[static_cast<size_t>(buffer)]) <= index;
}

void Binder::note_use(int32_t buffer, ValueId v) {
  int32_t& until = alive_until_[static_cast<size_t>(buffer)];
  until = std::max(until, last_use_[static_cast<size_t>(v)]);
}

void Binder::touch(int32_t buffer) {
  Buffer& b = binding_->buffers[static_cast<size_t>(buffer)];
  b.last = std::max(b.last, static_cast<int32_t>(binding_->steps.size()));
}

/// Buffers of results that leave the program get storage of their own.
void Binder::settle_buffers() {
  std::map<int32_t, int32_t> owned;
  for (const BoundValue& v : binding_->outputs) {
    Buffer& b = binding_->buffers[static_cast<size_t>(v.buffer)];
    if (b.place == Place::kKept) release_results(b.index);
    if (b.place != Place::kArena) continue;
    b.place = Place::kOwned;
    b.index = binding_->owned_count++;
  }
  for (Buffer& b : binding_->buffers) {
    if (b.donor < 0) continue;
    if (b.place == Place::kOwned)
      ++binding_->report.donations;
    else
      b.donor = -1;  // what stays inside is planned anyway
  }
  for (const Step& s : binding_->steps) binding_->report.kept += s.kept >= 0 ? 1 : 0;
  for (Step& s : binding_->steps)
    for (uint32_t i = s.in_count; i < s.in_count + s.out_count; ++i)
      s.takes_input |=
          binding_->buffers[static_cast<size_t>(binding_->arrays[s.first + i].buffer)].donor >= 0;
}

}  // namespace sorus
