#include "sorus/base/interrupt.h"
#include "sorus/dispatch/body.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/ops/control/attributes.h"

/// Control flow: bodies run compiled, one step after the other. What is carried stays in the storage that a
/// step gave it, and a later step may write over it.
namespace sorus {
namespace {

using Values = std::vector<Ref<Value>>;

/// A value over bytes that belong to the caller; `skip` elements further.
Ref<Value> borrow(const Array& a, const Shape& shape, int64_t skip = 0) {
  Ref<Value> v = Value::make({a.dtype, {}, shape});
  const size_t size = dtype_size(a.dtype);
  v->strides = Strides::contiguous(shape);
  v->storage = Storage::external(a.data + static_cast<size_t>(skip) * size,
                                 static_cast<size_t>(shape.numel()) * size, {}, nullptr, [](void*) {});
  return v;
}

Values borrow_all(std::span<const Array> arrays) {
  Values values;
  for (const Array& a : arrays) values.push_back(borrow(a, *a.shape));
  return values;
}

void copy_out(const Value& from, const Array& to, int64_t skip = 0) {
  const size_t size = dtype_size(to.dtype);
  copy_strided(from.bytes(), from.strides, to.data + static_cast<size_t>(skip) * size,
               Strides::contiguous(from.type.shape), from.type.shape, size);
}

bool is_true(const Value& v) {
  return visit_dtype(v.type.dtype, [&]<class T>(std::type_identity<T>) {
    return static_cast<ComputeType<T>>(*reinterpret_cast<const T*>(v.bytes())) != 0;
  });
}

/// Runs the body on `carry`, rows and `captured`; what is carried may be written over where nobody else holds
/// it.
Values step(const FunctionBody& body, Values carry, std::span<const Ref<Value>> rest) {
  const size_t carried = carry.size();
  carry.insert(carry.end(), rest.begin(), rest.end());
  std::vector<char> donated(carry.size());
  for (size_t i = 0; i < carried; ++i)
    donated[i] = carry[i]->refs.load(std::memory_order_acquire) == 1 ? 1 : 0;
  Values out(body.output_types().size());
  body.run(carry, donated, out);
  return out;
}

void run_cond(const KernelCall& call) {
  const auto& a = call.attrs<CondAttrs>();
  const bool yes = is_true(*borrow(call.in[0], *call.in[0].shape));
  const auto arguments = static_cast<size_t>(a.arguments), captured = static_cast<size_t>(a.true_captured);
  Values in = borrow_all(call.in.subspan(1, arguments));
  const Values rest =
      borrow_all(yes ? call.in.subspan(1 + arguments, captured) : call.in.subspan(1 + arguments + captured));
  const Values out = step(yes ? *a.if_true : *a.if_false, std::move(in), rest);
  for (size_t i = 0; i < out.size(); ++i) copy_out(*out[i], call.out[i]);
}

void run_while(const KernelCall& call) {
  const auto& a = call.attrs<WhileLoopAttrs>();
  const auto carried = static_cast<size_t>(a.carried), tested = static_cast<size_t>(a.condition_captured);
  Values carry = borrow_all(call.in.first(carried));
  const Values test_rest = borrow_all(call.in.subspan(carried, tested));
  const Values rest = borrow_all(call.in.subspan(carried + tested));
  // The condition holds its own references, so that it writes over nothing.
  while (is_true(*step(*a.condition, Values(carry), test_rest)[0])) {
    check_interrupt();
    carry = step(*a.body, std::move(carry), rest);
  }
  for (size_t i = 0; i < carried; ++i) copy_out(*carry[i], call.out[i]);
}

Shape row_shape(const Shape& shape) {
  Shape row;
  for (int axis = 1; axis < shape.rank(); ++axis) row.push_back(shape.size(axis));
  return row;
}

void run_scan(const KernelCall& call) {
  const auto& a = call.attrs<ScanLoopAttrs>();
  const auto carried = static_cast<size_t>(a.carried), scanned = static_cast<size_t>(a.scanned);
  Values carry = borrow_all(call.in.first(carried));
  const Values captured = borrow_all(call.in.subspan(carried + scanned));
  for (int64_t i = 0; i < a.length; ++i) {
    check_interrupt();
    const int64_t at = a.reverse ? a.length - 1 - i : i;
    Values rest;
    for (const Array& x : call.in.subspan(carried, scanned)) {
      const Shape row = row_shape(*x.shape);
      rest.push_back(borrow(x, row, at * row.numel()));
    }
    rest.insert(rest.end(), captured.begin(), captured.end());
    Values out = step(*a.body, std::move(carry), rest);
    for (size_t k = carried; k < out.size(); ++k)
      copy_out(*out[k], call.out[k], at * out[k]->type.shape.numel());
    out.resize(carried);
    carry = std::move(out);
  }
  for (size_t k = 0; k < carried; ++k) copy_out(*carry[k], call.out[k]);
}

const KernelRegistrar registered_cond{"cond", Kernel{.name = "cond_reference", .run = run_cond},
                                      kReferenceRank};
const KernelRegistrar registered_while{"while_loop", Kernel{.name = "while_loop_reference", .run = run_while},
                                       kReferenceRank};
const KernelRegistrar registered_scan{"scan", Kernel{.name = "scan_reference", .run = run_scan},
                                      kReferenceRank};

}  // namespace
}  // namespace sorus
