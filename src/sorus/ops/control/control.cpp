#include "sorus/ops/control/control.h"

#include <algorithm>

#include "sorus/base/interrupt.h"
#include "sorus/core/generator.h"
#include "sorus/dispatch/apply.h"
#include "sorus/dispatch/body.h"
#include "sorus/ops/control/attributes.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

using Types = std::vector<TensorType>;

Types types_of(const TensorList& tensors) {
  Types types;
  for (const Tensor& t : tensors) types.push_back(t.type());
  return types;
}

void append(TensorList& to, const TensorList& from) {
  for (const Tensor& t : from) to.push_back(t);
}

TensorList part(const TensorList& from, size_t first, size_t count) {
  TensorList out;
  for (size_t i = first; i < first + count; ++i) out.push_back(from[i]);
  return out;
}

bool is_true(const Tensor& one_element) { return one_element.item<double>() != 0; }

TensorList apply_control(const OpDef& op, const TensorList& operands, AttrsRef attrs) {
  SmallVector<const Tensor*, 8> pointers;
  for (const Tensor& t : operands) pointers.push_back(&t);
  return apply_all(op, pointers, attrs);
}

// ------------------------------------------------------------------------------------------------ inference

/// The operands from `first` on have the types that a body takes.
void check_operands(const InferContext& c, size_t first, std::span<const TensorType> needed) {
  SORUS_CHECK(first + needed.size() <= c.count(), ValueError, "{}: too few operands: got {}, need {} or more",
              c.name(), c.count(), first + needed.size());
  for (size_t i = 0; i < needed.size(); ++i)
    SORUS_CHECK(c.in(first + i) == needed[i], TypeError, "{}: operand {} has the wrong type: got {}, need {}",
                c.name(), first + i, c.in(first + i), needed[i]);
}

void check_body(const InferContext& c, const BodyRef& body, std::string_view what, size_t arguments) {
  SORUS_CHECK(body, ValueError, "{}: {} is missing: got none, need a body", c.name(), what);
  SORUS_CHECK(body->input_types().size() >= arguments, ValueError,
              "{}: {} takes too few values: got {}, need {} or more", c.name(), what,
              body->input_types().size(), arguments);
}

/// What a body captured, from operand `first` on.
void check_captured(const InferContext& c, const FunctionBody& body, size_t arguments, size_t first) {
  check_operands(c, first, std::span(body.input_types()).subspan(arguments));
}

size_t count_of(const InferContext& c, int64_t n, std::string_view what) {
  SORUS_CHECK(n >= 0 && n <= static_cast<int64_t>(c.count()), ValueError,
              "{}: {} is out of range: got {}, need 0 to {}", c.name(), what, n, c.count());
  return static_cast<size_t>(n);
}

void check_single(const InferContext& c, const TensorType& type, std::string_view what) {
  SORUS_CHECK(type.shape.numel() == 1, ShapeError, "{}: {} has the wrong shape: got {}, need one element",
              c.name(), what, type.shape);
}

TypeList as_list(std::span<const TensorType> types) {
  TypeList list;
  for (const TensorType& t : types) list.push_back(t);
  return list;
}

TypeList infer_cond(const InferContext& c) {
  const auto& a = c.attrs<CondAttrs>();
  const size_t arguments = count_of(c, a.arguments, "arguments");
  const size_t captured = count_of(c, a.true_captured, "true_captured");
  check_body(c, a.if_true, "if_true", arguments);
  check_body(c, a.if_false, "if_false", arguments);
  check_single(c, c.in(0), "the predicate");
  check_operands(c, 1, std::span(a.if_true->input_types()).first(arguments));
  check_operands(c, 1, std::span(a.if_false->input_types()).first(arguments));
  check_captured(c, *a.if_true, arguments, 1 + arguments);
  check_captured(c, *a.if_false, arguments, 1 + arguments + captured);
  const Types &yes = a.if_true->output_types(), &no = a.if_false->output_types();
  SORUS_CHECK(yes.size() == no.size(), TypeError,
              "cond: the branches differ in the number of results: got {} and {}, need the same", yes.size(),
              no.size());
  for (size_t i = 0; i < yes.size(); ++i)
    SORUS_CHECK(yes[i] == no[i], TypeError,
                "cond: the branches differ in the type of result {}: got {} and {}, need the same", i, yes[i],
                no[i]);
  return as_list(yes);
}

/// The first results of a body have the types of what it carries.
void check_carry(const InferContext& c, const FunctionBody& body, size_t first, size_t carried) {
  SORUS_CHECK(body.output_types().size() >= carried, TypeError,
              "{}: the body gives too few results: got {}, need {} for what it carries", c.name(),
              body.output_types().size(), carried);
  for (size_t i = 0; i < carried; ++i)
    SORUS_CHECK(body.output_types()[i] == c.in(first + i), TypeError,
                "{}: the body changes the type of carried value {}: got {}, need {}", c.name(), i,
                body.output_types()[i], c.in(first + i));
}

TypeList infer_while(const InferContext& c) {
  const auto& a = c.attrs<WhileLoopAttrs>();
  const size_t carried = count_of(c, a.carried, "carried");
  const size_t captured = count_of(c, a.condition_captured, "condition_captured");
  check_body(c, a.condition, "the condition", carried);
  check_body(c, a.body, "the body", carried);
  check_operands(c, 0, std::span(a.condition->input_types()).first(carried));
  check_operands(c, 0, std::span(a.body->input_types()).first(carried));
  check_captured(c, *a.condition, carried, carried);
  check_captured(c, *a.body, carried, carried + captured);
  SORUS_CHECK(a.condition->output_types().size() == 1, TypeError,
              "while_loop: the condition gives too many results: got {}, need 1",
              a.condition->output_types().size());
  check_single(c, a.condition->output_types()[0], "the condition");
  SORUS_CHECK(a.body->output_types().size() == carried, TypeError,
              "while_loop: the body gives another number of values than it takes: got {}, need {}",
              a.body->output_types().size(), carried);
  check_carry(c, *a.body, 0, carried);
  return as_list(a.body->output_types());
}

TensorType row_type(TensorType type) {
  Shape row;
  for (int axis = 1; axis < type.shape.rank(); ++axis) row.push_back(type.shape.size(axis));
  type.shape = row;
  return type;
}

TensorType stacked_type(TensorType type, int64_t length) {
  Shape stacked{length};
  for (int axis = 0; axis < type.shape.rank(); ++axis) stacked.push_back(type.shape.size(axis));
  type.shape = stacked;
  return type;
}

TypeList infer_scan(const InferContext& c) {
  const auto& a = c.attrs<ScanLoopAttrs>();
  const size_t carried = count_of(c, a.carried, "carried");
  const size_t scanned = count_of(c, a.scanned, "scanned");
  check_body(c, a.body, "the body", carried + scanned);
  const std::span<const TensorType> needed(a.body->input_types());
  check_operands(c, 0, needed.first(carried));
  SORUS_CHECK(a.length >= 0, ValueError, "scan: length is negative: got {}, need 0 or more", a.length);
  for (size_t i = carried; i < carried + scanned; ++i) {
    SORUS_CHECK(i < c.count(), ValueError, "scan: too few operands: got {}, need {}", c.count(),
                carried + scanned);
    SORUS_CHECK(c.shape(i).rank() > 0 && c.shape(i).size(0) == a.length, ShapeError,
                "scan: the first axis of xs[{}] has the wrong length: got shape {}, need {}", i - carried,
                c.shape(i), a.length);
    SORUS_CHECK(row_type(c.in(i)) == needed[i], TypeError,
                "scan: rows of xs[{}] have the wrong type: got {}, need {}", i - carried, row_type(c.in(i)),
                needed[i]);
  }
  check_captured(c, *a.body, carried + scanned, carried + scanned);
  check_carry(c, *a.body, 0, carried);
  TypeList out;
  for (size_t i = 0; i < a.body->output_types().size(); ++i) {
    const TensorType& type = a.body->output_types()[i];
    out.push_back(i < carried ? type : stacked_type(type, a.length));
  }
  return out;
}

// ------------------------------------------------------------------------------------------------ steps

Tensor row(const Tensor& x, int64_t index) { return squeeze(narrow(x, 0, index, 1), {0}); }

TensorList part(OperandSpan from, size_t first, size_t count) {
  TensorList out;
  for (size_t i = first; i < first + count; ++i) out.push_back(*from[i]);
  return out;
}
TensorList rest(OperandSpan from, size_t first) { return part(from, first, from.size() - first); }

TensorList joined(TensorList a, const TensorList& b) {
  append(a, b);
  return a;
}

TensorList cond_by_steps(OperandSpan in, AttrsRef attrs) {
  const auto& a = *static_cast<const CondAttrs*>(attrs.data);
  const auto arguments = static_cast<size_t>(a.arguments), captured = static_cast<size_t>(a.true_captured);
  const TensorList given = part(in, 1, arguments);
  if (is_true(*in[0])) return a.if_true->call(joined(given, part(in, 1 + arguments, captured)));
  return a.if_false->call(joined(given, rest(in, 1 + arguments + captured)));
}

TensorList while_by_steps(OperandSpan in, AttrsRef attrs) {
  const auto& a = *static_cast<const WhileLoopAttrs*>(attrs.data);
  const auto carried = static_cast<size_t>(a.carried), tested = static_cast<size_t>(a.condition_captured);
  TensorList carry = part(in, 0, carried);
  const TensorList to_test = part(in, carried, tested), to_body = rest(in, carried + tested);
  while (is_true(a.condition->call(joined(carry, to_test))[0])) {
    check_interrupt();
    carry = a.body->call(joined(std::move(carry), to_body));
  }
  return carry;
}

TensorList scan_by_steps(OperandSpan in, AttrsRef attrs) {
  const auto& a = *static_cast<const ScanLoopAttrs*>(attrs.data);
  const auto carried = static_cast<size_t>(a.carried), scanned = static_cast<size_t>(a.scanned);
  TensorList carry = part(in, 0, carried);
  const TensorList captured = rest(in, carried + scanned);
  std::vector<TensorList> ys(a.body->output_types().size() - carried);
  for (TensorList& y : ys) y.resize(static_cast<size_t>(a.length));
  for (int64_t step = 0; step < a.length; ++step) {
    check_interrupt();
    const int64_t at = a.reverse ? a.length - 1 - step : step;
    TensorList given = std::move(carry);
    for (size_t i = 0; i < scanned; ++i) given.push_back(row(*in[carried + i], at));
    TensorList out = a.body->call(joined(std::move(given), captured));
    carry = part(out, 0, carried);
    for (size_t i = 0; i < ys.size(); ++i) ys[i][static_cast<size_t>(at)] = out[carried + i];
  }
  for (size_t i = 0; i < ys.size(); ++i) {
    const TensorType none = stacked_type(a.body->output_types()[carried + i], 0);
    carry.push_back(a.length > 0 ? stack(ys[i]) : full(none, 0));
  }
  return carry;
}

bool cond_checks(AttrsRef attrs) {
  const auto& a = *static_cast<const CondAttrs*>(attrs.data);
  return a.if_true->checks_values() || a.if_false->checks_values();
}
bool while_checks(AttrsRef attrs) {
  const auto& a = *static_cast<const WhileLoopAttrs*>(attrs.data);
  return a.condition->checks_values() || a.body->checks_values();
}
bool scan_checks(AttrsRef attrs) {
  return static_cast<const ScanLoopAttrs*>(attrs.data)->body->checks_values();
}

// ------------------------------------------------------------------------------------------------ the ops

const OpDef cond_op{
    .name = "cond",
    .doc =
        "The results of one of two bodies, chosen by whether the predicate is zero. Operands: "
        "predicate, arguments of both bodies, what if_true captured, what if_false captured.",
    .inputs = {{"operands", InputKind::kList}},
    .attrs = attrs_def<CondAttrs>(),
    .infer = infer_cond,
    .by_steps = cond_by_steps,
    .checks_inside = cond_checks,
    .traits = {.differentiable = false}};
const OpRegistrar registered_cond{cond_op};

const OpDef while_op{
    .name = "while_loop",
    .doc =
        "The body applied again and again while the condition is not zero. Operands: carried "
        "values, what the condition captured, what the body captured.",
    .inputs = {{"operands", InputKind::kList}},
    .attrs = attrs_def<WhileLoopAttrs>(),
    .infer = infer_while,
    .by_steps = while_by_steps,
    .checks_inside = while_checks,
    .traits = {.differentiable = false}};
const OpRegistrar registered_while{while_op};

const OpDef scan_op{
    .name = "scan",
    .doc =
        "The body applied to each row of the scanned operands in turn, with values carried from "
        "step to step. Operands: carried values, scanned tensors, what the body captured. "
        "Results: carried values, results of each step stacked along a new first axis.",
    .inputs = {{"operands", InputKind::kList}},
    .attrs = attrs_def<ScanLoopAttrs>(),
    .infer = infer_scan,
    .by_steps = scan_by_steps,
    .checks_inside = scan_checks,
    .traits = {.differentiable = false}};
const OpRegistrar registered_scan{scan_op};

// ------------------------------------------------------------------------------------------ the functions

int64_t scan_length(const TensorList& xs, const ScanOptions& options) {
  int64_t length = options.length;
  SORUS_CHECK(length >= 0 || (length == -1 && !xs.empty()), ValueError,
              "scan: length is missing or negative: got {}, need 0 or more, or xs", length);
  for (size_t i = 0; i < xs.size(); ++i) {
    SORUS_CHECK(xs[i].rank() > 0, ShapeError, "scan: xs[{}] has no axis: got shape {}, need rank 1 or more",
                i, xs[i].shape());
    const int64_t rows = xs[i].shape().size(0);
    if (length < 0) length = rows;
    SORUS_CHECK(rows == length, ShapeError,
                "scan: the first axes differ: got {} rows in xs[{}], need {} as elsewhere", rows, i, length);
  }
  return length;
}

/// The keys of all steps, as rows: the first step's are there, the others are drawn now.
TensorList keys_of_steps(const Traced& traced, int64_t length) {
  std::vector<TensorList> rows(traced.draws.size());
  for (int64_t step = 0; step < length; ++step)
    for (size_t k = 0; k < rows.size(); ++k)
      rows[k].push_back(step == 0 ? traced.captured[k] : traced.draws[k].from->key(traced.draws[k].count));
  TensorList keys;
  for (const TensorList& r : rows)
    keys.push_back(length > 0 ? stack(r) : full({DType::kUInt64, {}, {0, 2}}, 0));
  return keys;
}

/// A scan whose body is told of as that of `name`.
ScanResult scan_as(std::string_view name, const TensorFunction& body, const TensorList& init,
                   const TensorList& xs, const ScanOptions& options) {
  const int64_t length = scan_length(xs, options);
  Types types = types_of(init);
  for (const Tensor& x : xs) types.push_back(row_type(x.type()));
  const Traced traced = trace(name, body, types);
  const size_t keys = traced.draws.size();
  TensorList all = joined(joined(init, xs), keys_of_steps(traced, length));
  append(all, part(traced.captured, keys, traced.captured.size() - keys));
  const TensorList out =
      apply_control(scan_op, all,
                    ScanLoopAttrs{traced.body, static_cast<int64_t>(init.size()),
                                  static_cast<int64_t>(xs.size() + keys), length, options.reverse});
  return {part(out, 0, init.size()), part(out, init.size(), out.size() - init.size())};
}

}  // namespace

TensorList cond(const Tensor& predicate, const TensorFunction& if_true, const TensorFunction& if_false,
                const TensorList& operands) {
  const Types types = types_of(operands);
  return cond(predicate, trace("cond", if_true, types), trace("cond", if_false, types), operands);
}

TensorList cond(const Tensor& predicate, const Traced& yes, const Traced& no, const TensorList& operands) {
  const TensorList all = joined(joined(joined({predicate}, operands), yes.captured), no.captured);
  return apply_control(cond_op, all,
                       CondAttrs{yes.body, no.body, static_cast<int64_t>(operands.size()),
                                 static_cast<int64_t>(yes.captured.size())});
}

TensorList while_loop(const TensorFunction& condition, const TensorFunction& body, const TensorList& init) {
  const Types types = types_of(init);
  const Traced test = trace("while_loop", condition, types), step = trace("while_loop", body, types);
  SORUS_CHECK(test.draws.empty() && step.draws.empty(), TypeError,
              "while_loop: the condition or the body draws random numbers: got a draw, need keys that do not "
              "come from a generator, or scan or fori_loop");
  return while_loop(test, step, init);
}

TensorList while_loop(const Traced& test, const Traced& step, const TensorList& init) {
  return apply_control(while_op, joined(joined(init, test.captured), step.captured),
                       WhileLoopAttrs{test.body, step.body, static_cast<int64_t>(init.size()),
                                      static_cast<int64_t>(test.captured.size())});
}

ScanResult scan(const TensorFunction& body, const TensorList& init, const TensorList& xs,
                const ScanOptions& options) {
  return scan_as("scan", body, init, xs, options);
}

ScanResult scan(const Traced& body, const TensorList& init, const TensorList& xs,
                const ScanOptions& options) {
  const TensorList out = apply_control(
      scan_op, joined(joined(init, xs), body.captured),
      ScanLoopAttrs{body.body, static_cast<int64_t>(init.size()), static_cast<int64_t>(xs.size()),
                    scan_length(xs, options), options.reverse});
  return {part(out, 0, init.size()), part(out, init.size(), out.size() - init.size())};
}

TensorList fori_loop(int64_t lower, int64_t upper, const TensorFunction& body, const TensorList& init) {
  constexpr int64_t kFarthest = int64_t{1} << 62;
  SORUS_CHECK(lower >= -kFarthest && upper <= kFarthest, ValueError,
              "fori_loop: bounds are out of range: got {} and {}, need at most 2^62 either way", lower,
              upper);
  const Tensor one(int64_t{1});
  // The integer is carried, so that a long loop holds no list of them.
  const auto step = [&](const TensorList& in) {
    const TensorList out = body(in);
    SORUS_CHECK(out.size() + 1 == in.size(), TypeError,
                "fori_loop: the body gives another number of values than it carries: got {}, need {}",
                out.size(), in.size() - 1);
    return joined({add(in[0], one)}, out);
  };
  const ScanResult result = scan_as("fori_loop", step, joined({Tensor(lower)}, init), {},
                                    {.length = std::max<int64_t>(upper - lower, 0)});
  return part(result.carry, 1, init.size());
}

}  // namespace sorus
