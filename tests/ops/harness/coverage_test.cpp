#include <set>

#include "sorus/autograd/grad.h"
#include "tests/ops/harness/corpus.h"

// Every op of the table is run by some sample or by the gradient of one, has a doc and can be computed.
namespace sorus::samples {
namespace {

/// Gradient of the sum of all results.
TensorList pull_ones(const TensorFunction& f, const TensorList& x) {
  const Pullback pullback = vjp(f, x);
  TensorList ones;
  for (const Tensor& t : pullback.values) ones.push_back(to_tensor(full(t.shape(), 1), t.dtype()));
  return pullback.pull(ones);
}

/// Names of the ops that run when the sample is called and differentiated.
void collect(const Sample& sample, std::set<std::string_view>& names) {
  DType dtype = sample.dtypes.back();
  for (DType t : sample.dtypes)
    if (is_floating(t)) dtype = t;
  TensorList in;
  for (const Input& i : sample.inputs) in.push_back(to_tensor(i.data, i.fixed ? i.dtype : dtype));
  CallListener listener(
      [&](const OpDef& op, OperandSpan, AttrsRef, std::span<const Tensor>) { names.insert(op.name); });
  if (!sample.gradient || !is_floating(dtype)) {
    (void)sample.call(in);
    return;
  }
  TensorList x;
  std::vector<size_t> at;
  for (size_t i = 0; i < in.size(); ++i)
    if (sample.inputs[i].differentiable) {
      at.push_back(i);
      x.push_back(in[i]);
    }
  const TensorFunction f = [&](const TensorList& varied) {
    TensorList all = in;
    for (size_t i = 0; i < at.size(); ++i) all[at[i]] = varied[i];
    TensorList out;
    for (Tensor& t : sample.call(all))
      if (is_floating(t.dtype())) out.push_back(std::move(t));
    return out;
  };
  const TensorFunction gradient = [&](const TensorList& varied) { return pull_ones(f, varied); };
  if (!sample.second_gradient) {
    (void)gradient(x);
    return;
  }
  (void)pull_ones(gradient, x);
  TensorList ones;
  for (const Tensor& t : x) ones.push_back(to_tensor(full(t.shape(), 1), t.dtype()));
  (void)jvp(f, x, ones);
}

TEST(OpTable, EveryOpRunsInASample) {
  std::set<std::string_view> names;
  for (const auto& [function, makers] : all_samples())
    for (auto* make : makers)
      for (const Sample& sample : make()) collect(sample, names);
  for (const OpDef* op : all_ops()) EXPECT_TRUE(names.contains(op->name)) << op->name << " has no sample";
}

TEST(OpTable, EveryOpHasADocAndNamedOperands) {
  for (const OpDef* op : all_ops()) {
    EXPECT_GT(op->doc.size(), 10U) << op->name;
    EXPECT_NE(op->infer, nullptr) << op->name;
    for (const InputSpec& spec : op->inputs) EXPECT_FALSE(spec.name.empty()) << op->name;
  }
}

TEST(OpTable, EveryOpEndsInAReferenceKernel) {
  for (const OpDef* op : all_ops()) {
    const auto kernels = kernels_of(*op, Device{});
    if (kernels.empty()) {
      EXPECT_NE(op->view, nullptr) << op->name << " has no kernel";
      continue;
    }
    EXPECT_NE(kernels.back()->run, nullptr) << op->name;
    EXPECT_NE(kernels.back()->name.find("reference"), std::string_view::npos)
        << op->name << " ends in " << kernels.back()->name;
  }
}

TEST(OpTable, ChecksOfValuesReadOperands) {
  for (const OpDef* op : all_ops()) EXPECT_EQ(op->check_values != nullptr, op->check_reads != 0U) << op->name;
}

TEST(OpTable, GradientsAreThereWhereOpsSaySo) {
  for (const OpDef* op : all_ops()) {
    EXPECT_EQ(op->traits.differentiable, op->vjp != nullptr) << op->name;
    if (!op->vjp) {
      EXPECT_EQ(op->saves_in | op->saves_out, 0U) << op->name << " saves for a gradient that is not there";
    }
  }
}

}  // namespace
}  // namespace sorus::samples
