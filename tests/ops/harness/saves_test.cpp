#include <cstring>
#include <map>
#include <set>

#include "sorus/autograd/grad.h"
#include "sorus/autograd/tape.h"
#include "tests/ops/harness/corpus.h"

// What ops say they save for their gradient is what their rules read: no less, or a rule would see what the
// tape has dropped, and no more, or memory would be kept for nothing.
namespace sorus::samples {
namespace {

using SavesCorpus = Corpus;

SaveMask bit(size_t i) { return i < 31 ? SaveMask{1} << i : SaveMask{1} << 31; }

/// Overwrites the bytes of everything that a forward pass touched and no op has saved.
class Poison {
 public:
  void note(const OpDef& op, OperandSpan in, std::span<const Tensor> out) {
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i] && in[i]->defined()) add(*in[i], op.vjp && (op.saves_in & bit(i)));
    for (size_t i = 0; i < out.size(); ++i) add(out[i], op.vjp && (op.saves_out & bit(i)));
  }
  void spread() {
    for (const auto& [storage, owner] : touched_) {
      if (saved_.contains(storage) || owner->bytes() == 0) continue;
      // 0x01 in each byte: a truth that is valid, an index that is out of range, a number that is wrong.
      std::memset(owner->data(), 1, owner->bytes());
    }
  }

 private:
  void add(const Tensor& t, bool saved) {
    const Ref<Storage>& storage = t.ready().storage;
    touched_.emplace(storage.get(), storage);
    if (saved) saved_.insert(storage.get());
  }
  std::map<const Storage*, Ref<Storage>> touched_;
  std::set<const Storage*> saved_;
};

TensorList gradients_of(const Sample& sample, DType dtype, const TensorList& in, bool poisoned) {
  Tape tape;
  std::vector<Tensor> sources;
  for (size_t i = 0; i < in.size(); ++i)
    if (sample.inputs[i].differentiable && is_floating(in[i].dtype())) sources.push_back(in[i]);
  for (const Tensor& t : sources) tape.watch(t);
  Poison poison;
  std::vector<Tensor> outputs;
  std::vector<Tensor> seeds;
  {
    CallListener listener([&](const OpDef& op, OperandSpan operands, AttrsRef, std::span<const Tensor> out) {
      poison.note(op, operands, out);
    });
    for (const Tensor& t : sample.call(in))
      if (is_floating(t.dtype())) outputs.push_back(t);
  }
  tape.close();
  for (const Tensor& t : outputs) seeds.push_back(to_tensor(randn(t.shape(), 5), t.dtype()));
  if (poisoned) poison.spread();
  (void)dtype;
  TensorList result;
  for (Tensor& t : tape.gradients(outputs, seeds, sources))
    if (t.defined()) result.push_back(std::move(t));
  return result;
}

TEST_P(SavesCorpus, GradientsReadNothingThatIsNotSaved) {
  for_each([](const Sample& sample, DType dtype) {
    if (!sample.gradient || !is_floating(dtype)) return;
    const TensorList want = gradients_of(sample, dtype, inputs_of(sample, dtype), false);
    expect_equal(gradients_of(sample, dtype, inputs_of(sample, dtype), true), want, "with the rest poisoned");
  });
}

INSTANTIATE_TEST_SUITE_P(Op, SavesCorpus, ::testing::ValuesIn(sampled_functions()), test_name);

/// Runs the rule of every op that is called while it lives, and of every op that these rules call, for each
/// choice of operands and results, and notes what they read.
class RuleAuditor final : public GradientRecorder {
 public:
  struct Reads {
    SaveMask in = 0, out = 0;              ///< what the rule read
    SaveMask could_in = 0, could_out = 0;  ///< what there was in some call
  };

  RuleAuditor() : scope_(&ScopeState::gradients, this) {}
  void record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<Tensor> out) override {
    if (!op.vjp || depth_ == kDeepest) return;
    ++depth_;
    audit(op, in, attrs, out);
    --depth_;
  }
  void record_custom(std::span<const Tensor>, std::span<const Tensor>,
                     const std::shared_ptr<const GradientRule>&) override {}
  [[nodiscard]] bool tracks(const Tensor&) const override { return true; }
  [[nodiscard]] const std::map<const OpDef*, Reads>& reads() const { return reads_; }

 private:
  static constexpr int kDeepest = 3;
  class Context;
  void audit(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<const Tensor> out);

  std::map<const OpDef*, Reads> reads_;
  int depth_ = 0;
  ScopedState<GradientRecorder*> scope_;
};

class RuleAuditor::Context final : public VjpContext {
 public:
  Context(OperandSpan in, AttrsRef attrs, std::span<const Tensor> out, Reads& reads)
      : in_(in), attrs_(attrs), out_(out), reads_(reads), grads_(out.size()) {
    for (const Tensor* t : in) in_types_.push_back(t && t->defined() ? t->type() : TensorType{});
  }
  /// The gradient flows back through one result, or all of them (-1), to one operand, or all.
  void choose(int result, int operand) {
    operand_ = operand;
    for (size_t i = 0; i < out_.size(); ++i) {
      const bool flows = is_floating(out_[i].dtype()) && (result < 0 || static_cast<size_t>(result) == i);
      grads_[i] = flows ? to_tensor(full(out_[i].shape(), 1), out_[i].dtype()) : Tensor();
    }
  }
  [[nodiscard]] bool flows() const {
    for (const Tensor& g : grads_)
      if (g.defined()) return true;
    return false;
  }

  [[nodiscard]] const Tensor& grad(size_t i) const override { return grads_[i]; }
  [[nodiscard]] const Tensor& in(size_t i) const override {
    reads_.in |= bit(i);
    return *in_[i];
  }
  [[nodiscard]] const Tensor& out(size_t i) const override {
    reads_.out |= bit(i);
    return out_[i];
  }
  [[nodiscard]] const TensorType& in_type(size_t i) const override { return in_types_[i]; }
  [[nodiscard]] const TensorType& out_type(size_t i) const override { return out_[i].type(); }
  [[nodiscard]] size_t input_count() const override { return in_.size(); }
  [[nodiscard]] size_t output_count() const override { return out_.size(); }
  [[nodiscard]] bool has(size_t i) const override { return i < in_.size() && in_[i] && in_[i]->defined(); }
  [[nodiscard]] bool needs(size_t i) const override {
    return has(i) && is_floating(in_[i]->dtype()) && (operand_ < 0 || static_cast<size_t>(operand_) == i);
  }
  void set(size_t, Tensor) override {}
  [[nodiscard]] AttrsRef attrs_ref() const override { return attrs_; }

 private:
  OperandSpan in_;
  AttrsRef attrs_;
  std::span<const Tensor> out_;
  Reads& reads_;
  TensorList grads_;
  std::vector<TensorType> in_types_;
  int operand_ = -1;
};

void RuleAuditor::audit(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<const Tensor> out) {
  Reads& reads = reads_[&op];
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i] && in[i]->defined()) reads.could_in |= bit(i);
  for (size_t i = 0; i < out.size(); ++i) reads.could_out |= bit(i);
  Context context(in, attrs, out, reads);
  for (int result = -1; result < static_cast<int>(out.size()); ++result) {
    context.choose(result, -1);
    if (!context.flows()) continue;
    op.vjp(context);
    // A rule may read less when fewer gradients are wanted; it must not read more.
    for (int operand = 0; operand < static_cast<int>(in.size()) && in.size() > 1; ++operand) {
      if (!in[static_cast<size_t>(operand)] || !in[static_cast<size_t>(operand)]->defined()) continue;
      if (!is_floating(in[static_cast<size_t>(operand)]->dtype())) continue;
      context.choose(result, operand);
      op.vjp(context);
    }
  }
}

std::string places(SaveMask mask) {
  std::string text;
  for (size_t i = 0; i < 32; ++i)
    if (mask >> i & 1U) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "{" + text + "}";
}

TEST(Saves, AreWhatTheRulesRead) {
  std::map<const OpDef*, RuleAuditor::Reads> reads;
  for (const auto& [function, makers] : all_samples())
    for (auto* make : makers)
      for (const Sample& sample : make()) {
        if (!sample.gradient || sample.dtypes.empty()) continue;
        DType dtype = sample.dtypes.back();
        for (DType t : sample.dtypes)
          if (is_floating(t)) dtype = t;
        if (!is_floating(dtype)) continue;
        SCOPED_TRACE(function + ": " + sample.name);
        TensorList in;
        for (const Input& i : sample.inputs) in.push_back(to_tensor(i.data, i.fixed ? i.dtype : dtype));
        RuleAuditor auditor;
        (void)sample.call(in);
        for (const auto& [op, r] : auditor.reads()) {
          RuleAuditor::Reads& all = reads[op];
          all.in |= r.in;
          all.out |= r.out;
          all.could_in |= r.could_in;
          all.could_out |= r.could_out;
        }
      }
  for (const auto& [op, r] : reads) {
    EXPECT_EQ(places(r.in), places(op->saves_in & r.could_in)) << op->name << ": operands";
    EXPECT_EQ(places(r.out), places(op->saves_out & r.could_out)) << op->name << ": results";
  }
  for (const OpDef* op : all_ops())
    EXPECT_TRUE(!op->vjp || reads.contains(op)) << op->name << ": no sample differentiates it";
}

}  // namespace
}  // namespace sorus::samples
