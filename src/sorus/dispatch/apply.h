#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>

#include "sorus/dispatch/kernel.h"
#include "sorus/dispatch/op_def.h"

/// The one choke point: every computation goes through apply().
namespace sorus {

/// Computes `op`. Four steps: mixed precision, inference and the check of values, run (or record, or follow),
/// tape. Throws what the second throws, and leaves no trace then. Results are appended to `out`.
SORUS_API void apply_into(const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out);

/// As apply_into for ops with one result.
[[nodiscard]] SORUS_API Tensor apply(const OpDef& op, OperandSpan in, AttrsRef attrs = NoAttrs{});
[[nodiscard]] inline Tensor apply(const OpDef& op, std::initializer_list<const Tensor*> in,
                                  AttrsRef attrs = NoAttrs{}) {
  return apply(op, OperandSpan(in.begin(), in.size()), attrs);
}
[[nodiscard]] SORUS_API TensorList apply_all(const OpDef& op, OperandSpan in, AttrsRef attrs = NoAttrs{});
[[nodiscard]] inline TensorList apply_all(const OpDef& op, std::initializer_list<const Tensor*> in,
                                          AttrsRef attrs = NoAttrs{}) {
  return apply_all(op, OperandSpan(in.begin(), in.size()), attrs);
}

/// Inference alone, with the same checks and texts as apply().
[[nodiscard]] SORUS_API TypeList infer_types(const OpDef& op, std::span<const TensorType* const> in,
                                             const void* attrs);

/// Checks the values of a call whose types have passed inference. Throws what OpDef::check_values throws.
SORUS_API void check_values(const OpDef& op, OperandSpan in, AttrsRef attrs);

/// Runs kernels now, past every recording and tape, on values that have been checked: what eager mode and
/// constant folding use.
SORUS_API void execute(const OpDef& op, OperandSpan in, AttrsRef attrs, const TypeList& types,
                       TensorList& out);

/// A boundary call under way on this thread. `follow` either takes the call, appends its results and returns
/// true, or returns false: then the call runs eagerly and `record` is told of it.
class SORUS_API Recorder {
 public:
  virtual ~Recorder() = default;
  virtual bool follow(const OpDef& op, OperandSpan in, AttrsRef attrs, TensorList& out) = 0;
  virtual void record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<const Tensor> out) = 0;
  /// The host program reads a value that was made in a boundary.
  virtual void observe(const Value& v) = 0;
  /// The check of a call's values reads one that was made in a boundary.
  virtual void observe_check(const Value& v) { observe(v); }
  /// True when values have no bytes while this listens: calls are checked when the program runs.
  [[nodiscard]] virtual bool is_abstract() const { return false; }
  /// True when the program that is recorded will check the values of its calls by itself, and undo what it
  /// did when one fails.
  [[nodiscard]] virtual bool checks_at_run() const { return is_abstract(); }
};

/// Gradient of a custom function: (operands, results, gradients of the results) -> gradient of each operand,
/// which may be undefined where none flows. Written with public ops, so that it can be differentiated again.
using GradientRule =
    std::function<TensorList(const TensorList& in, const TensorList& out, const TensorList& grads)>;

/// The innermost gradient scope of this thread. `record` is called for every op whose result may need a
/// gradient.
class SORUS_API GradientRecorder {
 public:
  virtual ~GradientRecorder() = default;
  virtual void record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<Tensor> out) = 0;
  /// `out` was computed from `in` by a function that has a gradient rule of its own.
  virtual void record_custom(std::span<const Tensor> in, std::span<const Tensor> out,
                             const std::shared_ptr<const GradientRule>& rule) = 0;
  /// True when this scope, or one around it, wants a gradient with respect to `x`.
  [[nodiscard]] virtual bool tracks(const Tensor& x) const = 0;
};

/// Casts that mixed precision inserts before a call; returns true when `in` was replaced by `replaced`.
class SORUS_API CastPolicy {
 public:
  virtual ~CastPolicy() = default;
  virtual bool cast(const OpDef& op, OperandSpan in, TensorList& replaced) = 0;
  [[nodiscard]] virtual uint64_t hash() const = 0;
};

/// All scopes of a thread in one place. Each field is set by RAII objects of the room that owns it.
struct ScopeState {
  Recorder* recorder = nullptr;
  GradientRecorder* gradients = nullptr;
  CastPolicy* casts = nullptr;
  int gradient_level = 0;
  bool relaxed_numerics = false;
  bool graph_mode = false;  ///< outermost cells, gradient functions and optimizers are boundaries
  /// What of this decides how a call runs; part of the signature of a boundary.
  [[nodiscard]] SORUS_API uint64_t hash() const;
};
[[nodiscard]] SORUS_API ScopeState& scope_state();

/// Sets one field of the scope state and restores it.
template <class T>
class ScopedState {
 public:
  ScopedState(T ScopeState::*field, T value) : field_(field), saved_(scope_state().*field) {
    scope_state().*field_ = value;
  }
  ~ScopedState() { scope_state().*field_ = saved_; }
  ScopedState(const ScopedState&) = delete;
  ScopedState& operator=(const ScopedState&) = delete;

 private:
  T ScopeState::*field_;
  T saved_;
};

/// Where in the user's program the call under way comes from: "file.py:12 in construct", set by the binding.
using CallSiteHook = std::string (*)();
SORUS_API void set_call_site_hook(CallSiteHook hook);
[[nodiscard]] SORUS_API std::string current_call_site();

/// What a boundary is known by: the code that runs, and the types of what it is given.
struct BoundaryKey {
  uint64_t exact;
  uint64_t family;  ///< the same for types that differ in extents alone

  BoundaryKey(uint64_t code) : exact(code), family(code) {}  // NOLINT: code alone is a key
  void add(uint64_t part) {
    exact = hash_combine(exact, part);
    family = hash_combine(family, part);
  }
  void add(const TensorType& type) {
    exact = hash_combine(exact, type.hash());
    family = hash_combine(family, type.family_hash());
  }
  void add(std::span<const Tensor> tensors) {
    for (const Tensor& t : tensors) t.defined() ? add(t.type()) : add(uint64_t{0});
  }
};

/// Runs `body` as a boundary: the first call with a key runs eagerly and is recorded, later ones follow the
/// recording and run compiled. Recordings whose keys are of one family may serve calls with further extents.
/// This thread's scopes are added to the key. Inside another boundary, or without a compiler in the program,
/// `body` just runs. Rooms below the compiler open boundaries through this. What the body throws is passed
/// on.
using BoundaryBody = void (*)(void* context);
using BoundaryHook = void (*)(BoundaryKey key, BoundaryBody body, void* context);
SORUS_API void set_boundary_hook(BoundaryHook hook);
SORUS_API void run_boundary(BoundaryKey key, BoundaryBody body, void* context);
template <class F>
void run_boundary(BoundaryKey key, F&& body) {
  using Body = std::remove_reference_t<F>;
  run_boundary(
      key, [](void* b) { (*static_cast<Body*>(b))(); }, const_cast<void*>(static_cast<const void*>(&body)));
}
/// A number for a piece of code, never given twice.
[[nodiscard]] SORUS_API uint64_t new_boundary_id();

}  // namespace sorus
