#include "sorus/dispatch/apply.h"

#include <algorithm>
#include <optional>

#include "sorus/base/denormals.h"
#include "sorus/dispatch/in_place.h"
#include "sorus/dispatch/tuned.h"

namespace sorus {
namespace {

constexpr size_t kInlineOperands = 8;
constexpr int64_t kTooManyElements = int64_t{1} << 59;  // from here on a size in bytes may overflow
using ArrayList = SmallVector<Array, 4>;

CallSiteHook call_site_hook = nullptr;
BoundaryHook boundary_hook = nullptr;

/// The operand's bytes, for a kernel.
Array as_array(Value& v) {
  v.ensure();
  return {v.bytes(), v.type.dtype, &v.type.shape, v.strides};
}

/// Adds the results of a view op, which share the operand's storage; false when its strides do not allow it.
bool try_view(const OpDef& op, OperandSpan in, AttrsRef attrs, const TypeList& out_types, TensorList& out) {
  Value& base = *in[0]->value();
  base.ensure();
  SmallVector<const TensorType*, kInlineOperands> types;
  for (const Tensor* t : in) types.push_back(t ? &t->type() : nullptr);
  const Views views = op.view(InferContext(op, types, attrs.data), base.strides, base.offset);
  for (size_t i = 0; i < views.size(); ++i) {
    Ref<Value> v = Value::make(out_types[i]);
    v->strides = views[i].strides;
    v->offset = views[i].offset;
    v->storage = base.storage;
    out.push_back(Tensor(std::move(v)));
  }
  return !views.empty();
}

/// Operands brought into the layout that the kernel wants; `keep` owns the copies during the call.
void convert_operands(const Kernel& kernel, ArrayList& arrays, SmallVector<Ref<Storage>, 2>& keep) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    Array& a = arrays[i];
    Strides wanted;
    if (!needs_conversion(kernel, a, i, &wanted)) continue;
    size_t size = dtype_size(a.dtype);
    keep.push_back(Storage::allocate(static_cast<size_t>(a.numel()) * size));
    copy_strided(a.data, a.strides, keep.back()->data(), wanted, *a.shape, size);
    a.data = keep.back()->data();
    a.strides = wanted;
  }
}

/// The storage of the operand that the first result may be written over, null for none.
Ref<Storage> storage_to_update(const Kernel& kernel, OperandSpan in, const ArrayList& arrays,
                               const Array& result) {
  const Value* held = InPlaceUpdate::current();
  if (!held || kernel.in_place == 0 || held->refs.load(std::memory_order_acquire) != 1) return nullptr;
  Ref<Storage> found;
  for (size_t i = 0; i < in.size() && i < 32; ++i) {
    if (!in[i] || in[i]->value().get() != held) continue;
    const Array& a = arrays[i];
    const bool fits = (kernel.in_place >> i & 1U) != 0 && a.data == held->bytes() &&
                      a.dtype == result.dtype && *a.shape == *result.shape &&
                      same_strides(*a.shape, a.strides, result.strides) && is_dense(*a.shape, a.strides);
    const bool is_alone = held->storage->refs.load(std::memory_order_acquire) == 1 && held->offset == 0 &&
                          held->storage->may_be_donated();
    if (found || !fits || !is_alone) return nullptr;
    found = held->storage;
  }
  return found;
}

void check_operands(const OpDef& op, OperandSpan in) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] && in[i]->defined()) continue;
    const InputSpec& spec = op.inputs[std::min(i, op.inputs.size() - 1)];
    SORUS_CHECK(spec.kind == InputKind::kOptional, ValueError,
                "{}: operand '{}' has no value: got none, need a tensor", op.name, spec.name);
  }
}

TypeList infer_operands(const OpDef& op, OperandSpan in, const void* attrs) {
  SmallVector<const TensorType*, kInlineOperands> types;
  for (const Tensor* t : in) types.push_back(t && t->defined() ? &t->value()->type : nullptr);
  return infer_types(op, types, attrs);
}

/// Operands that the check of a call reads get their bytes. Whoever listens to this thread hears of it as of
/// any other read, so that the program goes the same way at every call.
void read_for_check(const OpDef& op, OperandSpan in, Recorder* recorder) {
  for (size_t i = 0; i < in.size() && i < 32; ++i) {
    if (!(op.check_reads >> i & 1U) || !in[i] || !in[i]->defined()) continue;
    Value& v = *in[i]->value();
    v.ensure();
    if (recorder && v.frame != 0) recorder->observe_check(v);
  }
}

}  // namespace

ScopeState& scope_state() {
  static thread_local ScopeState state;
  return state;
}

uint64_t ScopeState::hash() const {
  uint64_t h = hash_combine(static_cast<uint64_t>(gradient_level), relaxed_numerics ? 1 : 0);
  h = hash_combine(h, casts ? casts->hash() : 0);
  return hash_combine(h, flush_denormal() ? 1 : 0);
}

TypeList infer_types(const OpDef& op, std::span<const TensorType* const> in, const void* attrs) {
  TypeList types = op.infer(InferContext(op, in, attrs));
  for (const TensorType& t : types)
    SORUS_CHECK(!t.shape.is_concrete() || t.shape.numel() < kTooManyElements, ShapeError,
                "{}: result has too many elements: got shape {}, need fewer than 2^59", op.name, t.shape);
  return types;
}

void check_values(const OpDef& op, OperandSpan in, AttrsRef attrs) {
  if (!op.check_values) return;
  ArrayList arrays;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i] || !in[i]->defined())
      arrays.push_back({});
    else if (i < 32 && op.check_reads >> i & 1U)
      arrays.push_back(as_array(*in[i]->value()));
    else
      arrays.push_back({nullptr, in[i]->dtype(), &in[i]->shape(), {}});
  }
  op.check_values({op, attrs.data, arrays, {}});
}

void execute(const OpDef& op, OperandSpan in, AttrsRef attrs, const TypeList& types, TensorList& out) {
  if (op.view && try_view(op, in, attrs, types, out)) return;
  ArrayList arrays;
  for (const Tensor* t : in) arrays.push_back(t && t->defined() ? as_array(*t->value()) : Array{});
  std::optional<TunedCall> tuned;
  if (tuning_in_use()) [[unlikely]]
    tuned.emplace(tuned_for_call(op, attrs, arrays));
  ArrayList results;
  for (const TensorType& t : types) results.push_back({nullptr, t.dtype, &t.shape, {}});
  KernelCall question{op, attrs.data, arrays, results};
  const Kernel& kernel = choose_kernel(question, types.empty() ? Device{} : types[0].device);
  SmallVector<Ref<Storage>, 2> keep;
  convert_operands(kernel, arrays, keep);
  size_t first = out.size();
  for (size_t i = 0; i < types.size(); ++i) {
    Ref<Value> v = Value::make(types[i]);
    v->strides = output_strides(kernel, arrays, types[i].shape, i);
    results[i].strides = v->strides;
    if (i == 0) v->storage = storage_to_update(kernel, in, arrays, results[0]);
    if (!v->storage)
      v->storage =
          Storage::allocate(static_cast<size_t>(types[i].shape.numel()) * dtype_size(types[i].dtype));
    results[i].data = v->storage->data();
    out.push_back(Tensor(std::move(v)));
  }
  void* workspace = nullptr;
  if (size_t bytes = kernel.workspace ? kernel.workspace(question) : 0) {
    keep.push_back(Storage::allocate(bytes));
    workspace = keep.back()->data();
  }
  try {
    const DenormalControl control;
    kernel.run({op, attrs.data, arrays, results, workspace});
  } catch (...) {
    out.resize(first);
    throw;
  }
}

namespace {

bool follows(const ScopeState& scope, const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out) {
  return scope.recorder && scope.recorder->follow(op, in, attrs, out);
}

void compute(const ScopeState& scope, const OpDef& op, OperandSpan in, AttrsRef attrs, const TypeList& types,
             TensorList& out) {
  size_t first = out.size();
  execute(op, in, attrs, types, out);
  if (scope.recorder)
    scope.recorder->record(op, in, attrs, std::span<const Tensor>(out.data() + first, out.size() - first));
}

/// Memory that the host program shares may be written by it at any time. What is computed from it is
/// computed at the call, as in eager mode: under a recorder that is a read of the results.
void read_what_shared_memory_gave(Recorder& recorder, OperandSpan in, std::span<const Tensor> out) {
  // What is pending is of no such memory, and another thread may be giving it its bytes just now.
  auto shared = [](const Tensor* t) {
    return t && t->defined() && !t->value()->is_pending() && t->value()->storage &&
           t->value()->storage->is_external();
  };
  if (recorder.is_abstract() || std::none_of(in.begin(), in.end(), shared)) return;
  for (const Tensor& t : out) {
    t.value()->ensure();
    recorder.observe_check(*t.value());
  }
}

}  // namespace

namespace {

bool goes_by_steps(const ScopeState& scope, const OpDef& op, OperandSpan in, AttrsRef attrs) {
  if (scope.recorder && !scope.recorder->checks_at_run() && op.checks_inside(attrs)) return true;
  return scope.gradients && std::any_of(in.begin(), in.end(), [&](const Tensor* t) {
           return t && t->defined() && scope.gradients->tracks(*t);
         });
}

}  // namespace

void apply_into(const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out) {
  ScopeState& scope = scope_state();
  check_operands(op, in);
  if (op.by_steps && goes_by_steps(scope, op, in, attrs)) [[unlikely]] {
    static_cast<void>(infer_operands(op, in, attrs.data));
    for (Tensor& t : op.by_steps(in, attrs)) out.push_back(std::move(t));
    return;
  }
  TensorList replaced;
  SmallVector<const Tensor*, kInlineOperands> pointers;
  if (scope.casts && scope.casts->cast(op, in, replaced)) [[unlikely]] {
    for (const Tensor& t : replaced) pointers.push_back(t.defined() ? &t : nullptr);
    in = pointers;
  }
  size_t first = out.size();
  if (op.check_values && !(scope.recorder && scope.recorder->is_abstract())) [[unlikely]] {
    TypeList types = infer_operands(op, in, attrs.data);
    read_for_check(op, in, scope.recorder);
    check_values(op, in, attrs);
    if (!follows(scope, op, in, attrs, out)) compute(scope, op, in, attrs, types, out);
  } else if (!follows(scope, op, in, attrs, out)) {
    compute(scope, op, in, attrs, infer_operands(op, in, attrs.data), out);
  }
  std::span<Tensor> made(out.data() + first, out.size() - first);
  if (scope.recorder) read_what_shared_memory_gave(*scope.recorder, in, made);
  if (scope.gradients) scope.gradients->record(op, in, attrs, made);
}

Tensor apply(const OpDef& op, OperandSpan in, AttrsRef attrs) {
  TensorList out;
  apply_into(op, in, attrs, out);
  return std::move(out[0]);
}

TensorList apply_all(const OpDef& op, OperandSpan in, AttrsRef attrs) {
  TensorList out;
  apply_into(op, in, attrs, out);
  return out;
}

void set_call_site_hook(CallSiteHook hook) { call_site_hook = hook; }
std::string current_call_site() { return call_site_hook ? call_site_hook() : std::string(); }

uint64_t new_boundary_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void set_boundary_hook(BoundaryHook hook) { boundary_hook = hook; }
void run_boundary(BoundaryKey key, BoundaryBody body, void* context) {
  const ScopeState& scope = scope_state();
  if (!boundary_hook || scope.recorder) return body(context);
  key.add(scope.hash());
  boundary_hook(key, body, context);
}

}  // namespace sorus
