#include "sorus/compiler/executable.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>

#include "sorus/base/clock.h"
#include "sorus/base/denormals.h"
#include "sorus/base/fork_mutex.h"
#include "sorus/base/thread_pool.h"
#include "sorus/base/throw_error.h"
#include "sorus/compiler/binder.h"
#include "sorus/compiler/compile_stats.h"
#include "sorus/dispatch/apply.h"

namespace sorus {
namespace {

constexpr size_t kMaxBindings = 8;
constexpr size_t kRegionBytes = 4096;  // of a region's program, about

/// One run of a binding: addresses of all buffers, and the storages behind them.
class Run {
 public:
  Run(const Executable::Binding& binding, std::span<const Ref<Value>> inputs, std::span<const char> donated,
      bool check)
      : b_(binding), inputs_(inputs), donated_(donated), check_(check), base_(binding.buffers.size()) {
    owned_.resize(static_cast<size_t>(b_.owned_count));
    kept_.resize(b_.kept_bytes.size());
    // Even an arena of no bytes has an address: buffers of empty tensors lie in it.
    arena_ = Storage::allocate(static_cast<size_t>(b_.arena_bytes));
    for (size_t i = 0; i < b_.buffers.size(); ++i) base_[i] = address(b_.buffers[i], inputs);
  }

  /// True once a step has begun that may write over a donated input.
  [[nodiscard]] bool overwrites() const { return overwrites_.load(std::memory_order_relaxed); }

  /// One after the other, with the time of each.
  [[gnu::noinline]] void time_steps(std::vector<double>& ns) {
    const DenormalControl control;
    for (const Step& s : b_.steps) {
      const double start = monotonic_ns();
      run_step(s, {});
      ns.push_back(monotonic_ns() - start);
    }
  }

  void run_steps(std::span<const AttrsBox> slots) {
    const DenormalControl control;
    for (const Stage& stage : b_.schedule.stages) {
      const Step* steps = b_.steps.data() + stage.first;
      if (stage.is_parallel)
        parallel_tasks(std::span(b_.schedule.before).subspan(stage.first, stage.count),
                       [&](int64_t i) { run_step(steps[i], slots); });
      else
        for (uint32_t i = 0; i < stage.count; ++i) run_step(steps[i], slots);
    }
  }

  [[nodiscard]] Ref<Value> result(const BoundValue& at, const TensorType& type,
                                  std::span<const Ref<Value>> inputs) const {
    Ref<Value> v = Value::make(type);
    const Buffer& buffer = b_.buffers[static_cast<size_t>(at.buffer)];
    auto size = static_cast<int64_t>(dtype_size(type.dtype));
    v->strides = at.strides;
    v->offset = at.offset / size;
    if (buffer.place == Place::kOwned) {
      v->storage = owned_[static_cast<size_t>(buffer.index)];
      return v;
    }
    const Value& source = buffer.place == Place::kInput ? *inputs[static_cast<size_t>(buffer.index)]
                                                        : *b_.graph->constant(buffer.index).value();
    v->storage = source.storage;
    v->offset += source.offset;
    return v;
  }

 private:
  void run_step(const Step& s, std::span<const AttrsBox> slots) {
    s.kept < 0 ? run_anew(s, slots) : run_kept(s, slots);
  }

  /// Finds the results of a run with the same inputs, or makes and keeps them.
  [[gnu::noinline]] void run_kept(const Step& s, std::span<const AttrsBox> slots) {
    const auto number = static_cast<size_t>(s.kept);
    std::optional<KeptResults::Key> key = key_of(s);
    Ref<Storage>& results = kept_[number];
    if (key) results = b_.kept.find(s.kept, *key);
    const bool is_known = static_cast<bool>(results);
    if (!is_known) results = Storage::allocate(static_cast<size_t>(b_.kept_bytes[number]));
    for (uint32_t i = s.in_count; i < s.in_count + s.out_count; ++i) {
      const auto buffer = static_cast<size_t>(b_.arrays[s.first + i].buffer);
      base_[buffer] = results->data() + b_.buffers[buffer].arena_offset;
    }
    if (is_known) return;
    run_anew(s, slots);
    if (key) b_.kept.keep(s.kept, std::move(*key), results);
  }

  /// Nothing where the bytes of an input may change.
  std::optional<KeptResults::Key> key_of(const Step& s) const {
    KeptResults::Key key{flush_denormal() ? uint64_t{1} : 0};
    for (uint32_t i = 0; i < s.in_count; ++i) {
      const int32_t bound = b_.arrays[s.first + i].buffer;
      if (bound < 0) continue;
      const Buffer& buffer = b_.buffers[static_cast<size_t>(bound)];
      if (buffer.place != Place::kInput) continue;
      const Value& value = *inputs_[static_cast<size_t>(buffer.index)];
      if (value.storage->is_external()) return std::nullopt;
      key.push_back(value.id);
    }
    return key;
  }

  void run_anew(const Step& s, std::span<const AttrsBox> slots) {
    if (s.takes_input) overwrites_.store(true, std::memory_order_relaxed);
    if (s.region) return run_region(s, slots);
    SmallVector<Array, 8> arrays;
    for (uint32_t i = 0; i < s.in_count + s.out_count; ++i) {
      const BoundArray& a = b_.arrays[s.first + i];
      arrays.push_back(a.array);
      if (a.buffer >= 0) arrays.back().data = base_[static_cast<size_t>(a.buffer)] + a.offset;
    }
    s.kernel ? run_kernel(s, arrays, slots) : run_other(s, arrays, slots);
  }

  std::byte* address(const Buffer& buffer, std::span<const Ref<Value>> inputs) {
    switch (buffer.place) {
      case Place::kInput:
        return inputs[static_cast<size_t>(buffer.index)]->bytes();
      case Place::kConstant:
        return b_.graph->constant(buffer.index).value()->bytes();
      case Place::kArena:
        return arena_->data() + buffer.arena_offset;
      case Place::kKept:
        return nullptr;  // until its step has run
      case Place::kOwned:
        break;
    }
    Ref<Storage>& storage = owned_[static_cast<size_t>(buffer.index)];
    if (buffer.donor >= 0 && donated_[static_cast<size_t>(buffer.donor)])
      storage = donation(*inputs[static_cast<size_t>(buffer.donor)], buffer.bytes);
    if (!storage) storage = Storage::allocate(static_cast<size_t>(buffer.bytes));
    return storage->data();
  }

  /// The input's storage when no other value shares it and the result fills it whole.
  static Ref<Storage> donation(const Value& input, int64_t bytes) {
    bool alone = input.storage.unique() && input.storage->may_be_donated();
    bool whole = input.offset == 0 && static_cast<int64_t>(input.storage->bytes()) == bytes;
    return alone && whole ? input.storage : nullptr;
  }

  /// A tuned kernel, a part of an engine, or a copy. Out of line, so that other kernels do not pay for it.
  [[gnu::noinline]] void run_other(const Step& s, std::span<const Array> arrays,
                                   std::span<const AttrsBox> slots) {
    if (s.tuned) {
      const TuningScope scope(s.tuned->values.get());
      Step plain = s;  // one place that runs kernels: what is not tuned does not pay for what is
      plain.kernel = std::exchange(plain.tuned, nullptr)->kernel;
      return run_anew(plain, slots);
    }
    auto in = arrays.first(s.in_count);
    auto out = arrays.subspan(s.in_count);
    if (s.part >= 0) return at_site(s, [&] { b_.parts[static_cast<size_t>(s.part)]->run(in, out); });
    copy_strided(in[0].data, in[0].strides, out[0].data, out[0].strides, *in[0].shape,
                 dtype_size(in[0].dtype));
  }

  void run_kernel(const Step& s, std::span<const Array> arrays, std::span<const AttrsBox> slots) {
    auto in = arrays.first(s.in_count);
    auto out = arrays.subspan(s.in_count);
    const void* attrs =
        s.node->slot >= 0 ? slots[static_cast<size_t>(s.node->slot)].ref().data : s.node->attrs.ref().data;
    void* workspace = s.workspace >= 0 ? base_[static_cast<size_t>(s.workspace)] : nullptr;
    const OpDef& op = *s.node->op;
    at_site(s, [&] {
      if (check_ && op.check_values) op.check_values({op, attrs, in, {}});
      const Ref<Storage> packed = prepacked(s, s.prepacked, s.kernel->prepacked_in, [&](void* to) {
        s.kernel->prepack({op, attrs, in, out}, to);
      });
      s.kernel->run({op, attrs, in, out, workspace, packed ? packed->data() : nullptr});
    });
  }

  /// The copy that is kept of an operand, made now where it is time; null where there is none.
  template <class Pack>
  Ref<Storage> prepacked(const Step& s, int32_t number, int operand, Pack pack) {
    if (number < 0) return nullptr;
    const int32_t bound = b_.arrays[s.first + static_cast<uint32_t>(operand)].buffer;
    const Buffer& buffer = b_.buffers[static_cast<size_t>(bound)];
    if (buffer.place != Place::kInput && buffer.place != Place::kConstant) return nullptr;
    const Value& value = buffer.place == Place::kInput ? *inputs_[static_cast<size_t>(buffer.index)]
                                                       : *b_.graph->constant(buffer.index).value();
    if (value.storage->is_external()) return nullptr;  // its bytes may change
    Ref<Storage> fresh;
    if (Ref<Storage> kept = b_.prepacked.find(number, value.id, &fresh)) return kept;
    if (!fresh) return nullptr;
    pack(fresh->data());
    b_.prepacked.keep(number, value.id, fresh);
    return fresh;
  }

  void run_region(const Step& s, std::span<const AttrsBox> slots) {
    SmallVector<std::byte*, 16> data;
    for (uint32_t i = 0; i < s.in_count + s.out_count; ++i) {
      const BoundArray& a = b_.arrays[s.first + i];
      data.push_back(base_[static_cast<size_t>(a.buffer)] + a.offset);
    }
    const std::span<std::byte* const> all(data.data(), data.size());
    std::byte* workspace = s.workspace >= 0 ? base_[static_cast<size_t>(s.workspace)] : nullptr;
    at_site(s, [&] {
      SmallVector<Ref<Storage>, 2> kept;
      SmallVector<const void*, 2> packed;
      for (size_t k = 0; k < s.region->prepacked.size(); ++k) {
        const int32_t operand = s.region->prepacked[k].operand;
        kept.push_back(prepacked(s, s.prepacked + static_cast<int32_t>(k), operand, [&](void* to) {
          s.region->prepack(k, all[static_cast<size_t>(operand)], to);
        }));
        packed.push_back(kept.back() ? kept.back()->data() : nullptr);
      }
      s.region->run(
          {all.first(s.in_count), all.subspan(s.in_count), slots, workspace, {packed.data(), packed.size()}});
    });
  }

  /// The segment runs later than the line that asked for it, so the text of an error says where that line is.
  template <class F>
  static void at_site(const Step& s, F run) {
    try {
      run();
    } catch (const Error& e) {
      if (s.node->site.empty()) throw;
      throw_error(e.kind(), std::string(e.what()) + " (at " + s.node->site + ")");
    }
  }

  const Executable::Binding& b_;
  std::span<const Ref<Value>> inputs_;
  std::span<const char> donated_;
  bool check_;
  std::atomic<bool> overwrites_{false};
  SmallVector<std::byte*, 64> base_;
  SmallVector<Ref<Storage>, 16> owned_;
  SmallVector<Ref<Storage>, 8> kept_;  ///< by number of the step
  Ref<Storage> arena_;
};

}  // namespace

Executable::Executable(Graph graph, TunedRef tuned)
    : graph_(std::make_shared<const Graph>(std::move(graph))), tuned_(std::move(tuned)) {}
Executable::~Executable() = default;

std::shared_ptr<const Executable::Binding> Executable::known_binding(std::span<const Strides> strides) const {
  for (const auto& b : bindings_) {
    bool same = true;
    for (size_t i = 0; same && i < strides.size(); ++i)
      same = same_strides(graph_->type(graph_->inputs[i]).shape, strides[i], b->input_strides[i]);
    if (same) return b;
  }
  return nullptr;
}

std::shared_ptr<const Executable::Binding> Executable::binding_for(std::span<const Strides> strides) {
  ForkMutex& mutex = fork_mutex_of(this);
  {
    std::lock_guard lock(mutex);
    if (auto known = known_binding(strides)) return known;
  }
  // Binding takes other locks. Two threads may bind at once; the first to come is kept.
  const auto start = std::chrono::steady_clock::now();
  const TuningScope tuned(tuned_.get());
  std::shared_ptr<const Binding> made = bind_graph(graph_, strides, parts_);
  note_compile_event(CompileEvent::kBinding,
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  std::shared_ptr<const Binding> dropped;  // destroyed without the lock
  std::lock_guard lock(mutex);
  if (auto known = known_binding(strides)) return known;
  if (bindings_.size() >= kMaxBindings) {
    dropped = std::move(bindings_.front());
    bindings_.erase(bindings_.begin());
  }
  bindings_.push_back(made);
  return made;
}

void Executable::run(std::span<const Ref<Value>> inputs, std::span<char> donated,
                     std::span<const AttrsBox> slots, std::span<Ref<Value>> outputs, bool check) {
  run_or_time(inputs, donated, slots, outputs, check, nullptr);
}

std::vector<double> Executable::time_steps(std::span<const Ref<Value>> inputs) {
  std::vector<char> donated(inputs.size(), 0);
  std::vector<Ref<Value>> outputs(graph_->outputs.size());
  std::vector<double> ns;
  run_or_time(inputs, donated, {}, outputs, true, &ns);
  return ns;
}

void Executable::run_or_time(std::span<const Ref<Value>> inputs, std::span<char> donated,
                             std::span<const AttrsBox> slots, std::span<Ref<Value>> outputs, bool check,
                             std::vector<double>* ns) {
  SORUS_INTERNAL(inputs.size() == graph_->inputs.size() && outputs.size() == graph_->outputs.size(),
                 "graph {} is run with {} inputs and {} outputs", graph_->name, inputs.size(),
                 outputs.size());
  SmallVector<Strides, 16> strides;
  for (const Ref<Value>& v : inputs) strides.push_back(v->strides);
  std::optional<TuningScope> own;  // whoever calls may have values for a call of his
  if (tuning_in_use()) own.emplace(nullptr);
  std::optional<Run> run;
  try {
    std::shared_ptr<const Binding> binding = binding_for(strides);
    run.emplace(*binding, inputs, donated, check);
    ns ? run->time_steps(*ns) : run->run_steps(slots);
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i] = run->result(binding->outputs[i], graph_->type(graph_->outputs[i]), inputs);
  } catch (...) {
    if (!run || !run->overwrites()) std::fill(donated.begin(), donated.end(), 0);
    throw;
  }
}

size_t Executable::bytes() const {
  std::lock_guard lock(fork_mutex_of(const_cast<Executable*>(this)));
  size_t bytes = graph_->bytes();
  for (const auto& b : bindings_)
    bytes += b->steps.size() * sizeof(Step) + b->arrays.size() * sizeof(BoundArray) +
             b->buffers.size() * sizeof(Buffer) + b->regions.size() * kRegionBytes +
             std::accumulate(b->kept_bytes.begin(), b->kept_bytes.end(), size_t{0}) +
             (b->graph == graph_ ? 0 : b->graph->bytes());
  return bytes;
}

std::shared_ptr<const Executable::Binding> Executable::row_major_binding() {
  SmallVector<Strides, 16> strides;
  for (ValueId v : graph_->inputs) strides.push_back(Strides::contiguous(graph_->type(v).shape));
  return binding_for(strides);
}

std::vector<BoundStep> Executable::bound_steps() { return bound_steps_of(*row_major_binding()); }

ExecutableReport Executable::report() { return row_major_binding()->report; }
std::vector<PlannedStep> Executable::planned_steps() { return planned_steps_of(*row_major_binding()); }

}  // namespace sorus
