#include "sorus/ops/nn/attention.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/nn/reference.h"

namespace sorus::samples {
namespace {

Call attention_call(bool causal = false, double scale = 0) {
  return [=](const TensorList& t) {
    return TensorList{scaled_dot_product_attention(
        t[0], t[1], t[2], {.mask = t.size() > 3 ? t[3] : Tensor(), .causal = causal, .scale = scale})};
  };
}

Call dropped_call(bool causal) {
  return [=](const TensorList& t) {
    const Tensor key({uint64_t{12345}, uint64_t{0xfffffff0}}, Shape{2});
    return TensorList{scaled_dot_product_attention(t[0], t[1], t[2],
                                                   {.causal = causal, .dropout = 0.4, .dropout_key = key})};
  };
}

/// The last operand is the key, which the reference is given as float64; before it a mask, maybe.
Call dropped_call() {
  return [](const TensorList& t) {
    return TensorList{scaled_dot_product_attention(t[0], t[1], t[2],
                                                   {.mask = t.size() > 4 ? t[3] : Tensor(),
                                                    .dropout = 0.4,
                                                    .dropout_key = cast(t.back(), DType::kUInt64)})};
  };
}

std::vector<Input> with_key(std::vector<Input> in) {
  in.push_back({items({12345, 0xfffffff0U}), DType::kUInt64});
  return in;
}

HostArray every_third_off(const Shape& shape) {
  HostArray mask{shape, {}};
  for (int64_t i = 0; i < shape.numel(); ++i) mask.values.push_back(i % 3 == 1 ? 0 : 1);
  return mask;
}

std::vector<Input> operands(const Shape& batch, int64_t rows, int64_t columns, int64_t depth, int64_t width) {
  const auto shape = [&](int64_t a, int64_t b) {
    Shape s = batch;
    s.push_back(a);
    s.push_back(b);
    return s;
  };
  return {
      {randn(shape(rows, depth), 1)}, {randn(shape(columns, depth), 2)}, {randn(shape(columns, width), 3)}};
}

OP_SAMPLES(attention) {
  SampleList list;
  list.push_back(sample_of("one head", operands({}, 4, 5, 3, 2), attention_call()));
  list.push_back(sample_of("heads", operands({2, 3}, 5, 7, 4, 4), attention_call()));
  list.push_back(sample_of("causal", operands({2}, 6, 6, 3, 5), attention_call(true)));
  list.push_back(
      sample_of("causal, more columns than rows", operands({2}, 3, 7, 3, 5), attention_call(true)));
  list.push_back(sample_of("own scale", operands({2}, 3, 18, 3, 5), attention_call(false, 0.7)));
  auto chosen = operands({2, 2}, 4, 6, 3, 3);
  chosen.push_back({every_third_off({2, 1, 1, 6}), kBool});
  Sample mask = sample_of("mask", chosen, attention_call());
  // The same numbers whatever dtype the reference is given.
  mask.reference = in_double([](const TensorList& t) {
    return TensorList{scaled_dot_product_attention(
        t[0], t[1], t[2], {.mask = not_equal(t[3], sorus::full({t[3].dtype(), {}, {}}, 0))})};
  });
  list.push_back(mask);
  auto added = operands({2}, 4, 6, 3, 3);
  added.push_back({randn({4, 6}, 4)});
  list.push_back(sample_of("added mask", added, attention_call()));
  list.push_back(sample_of("shared keys", {{randn({3, 4, 5}, 1)}, {randn({6, 5}, 2)}, {randn({1, 6, 2}, 3)}},
                           attention_call()));
  list.push_back(sample_of("no rows", operands({2}, 0, 3, 2, 2), attention_call()));
  list.push_back(sample_of("dropout", with_key(operands({2, 3}, 5, 7, 4, 4)), dropped_call()));
  list.push_back(sample_of("dropout, causal", operands({3}, 6, 6, 3, 5), dropped_call(true)));
  list.push_back(sample_of("dropout, added mask", with_key(added), dropped_call()));
  return list;
}

/// More rows than a block: results and gradients between kernels, strides, threads and modes.
OP_SAMPLES(attention_backward) {
  SampleList list;
  const auto add = [&](const std::string& name, const std::vector<Input>& in, const Call& call) {
    for (bool backward : {false, true}) {
      Sample s =
          sample_of(name + (backward ? ", gradients" : ""), in, backward ? gradients_of(call) : call, 100);
      s.second_gradient = s.gradient = false;
      list.push_back(s);
    }
  };
  add("long", operands({2}, 300, 260, 8, 6), attention_call());
  add("long, causal", operands({2}, 300, 260, 8, 6), attention_call(true));
  add("many heads", operands({9}, 20, 20, 8, 6), attention_call());
  auto added = operands({2}, 300, 260, 4, 6);
  added.push_back({randn({2, 300, 260}, 4)});
  add("long, added mask", added, attention_call());
  add("long, dropout", operands({2}, 300, 260, 8, 6), dropped_call(false));
  add("long, causal, dropout", operands({2}, 300, 259, 8, 6), dropped_call(true));
  return list;
}

}  // namespace
}  // namespace sorus::samples
