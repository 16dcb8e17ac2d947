#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/recurrent.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/nn/block.h"
#include "sorus/kernels/cpu/nn/step_product.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/kernels/recurrent_call.h"

/// Recurrent layers and their gradient: each step is a product with the hidden weight, and then one pass over
/// its rows. Samples do not depend on each other, so pieces of them go through all steps without waiting for
/// others; where they are too few for that, or the weight too large for a second-level cache, each step is
/// cut instead.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

constexpr int64_t kPieceRows = 16;                    // samples of a piece
constexpr int64_t kPieceSteps = 8;                    // steps whose sums over the input a piece makes at once
constexpr int64_t kNearWeight = 3 * 1024 * 1024 / 2;  // bytes
constexpr int64_t kPassElements = 16 * 1024;          // of the sums, worth a piece of a step's pass

template <class S>
HWY_INLINE BlockOf<S> sigmoid(BlockOf<S> a) {
  return map([](auto x) HWY_ATTR { return math::sigmoid(x); }, a);
}
template <class S>
HWY_INLINE BlockOf<S> tanh(BlockOf<S> a) {
  return map([](auto x) HWY_ATTR { return math::tanh(x); }, a);
}
/// g * s * (1 - s) and g * (1 - t * t).
template <class S>
HWY_INLINE BlockOf<S> of_sigmoid(BlockOf<S> g, BlockOf<S> s) {
  return g * s * (BlockOf<S>::of(1) - s);
}
template <class S>
HWY_INLINE BlockOf<S> of_tanh(BlockOf<S> g, BlockOf<S> t) {
  return g * (BlockOf<S>::of(1) - t * t);
}
template <class S>
HWY_INLINE BlockOf<S> load_or_zero(const S* from, int64_t i, int64_t count) {
  return from ? load_block(from + i, count, S(0)) : BlockOf<S>::of(0);
}
template <class S>
HWY_INLINE void store_if(BlockOf<S> b, S* to, int64_t i, int64_t count) {
  if (to) store_block(b, to + i, count);
}
template <class S>
void clear(S* to, int64_t n) {
  if (to) std::fill_n(to, n, S(0));
}

/// Whether pieces of samples go through all steps; else steps are cut.
template <class S>
bool goes_by_pieces(const RecurrentSizes& r) {
  const int64_t weight = r.gates * r.hidden * r.hidden * static_cast<int64_t>(sizeof(S));
  return r.batch >= 2 * kPieceRows && r.steps >= StepProduct<S>::kManySteps && weight <= kNearWeight;
}

template <class S>
Ref<Storage> room_for(int64_t numbers) {
  return Storage::allocate(static_cast<size_t>(numbers) * sizeof(S));
}
template <class S>
S* numbers_of(const Ref<Storage>& room) {
  return reinterpret_cast<S*>(room->data());
}

/// The pass of a step over one sample: n numbers of each gate.
template <class S>
struct ForwardRow {
  int64_t n;
  const S *x, *sums, *bias, *hidden_bias;
  const S* next_x;  // of the next step, asked for meanwhile
  S *h, *c;         // the state, which is replaced
  S *y, *gates, *parts;
};

/// A gate's sum over the input, with its bias.
template <class S>
HWY_INLINE BlockOf<S> over_input(const ForwardRow<S>& r, int64_t gate, int64_t i, int64_t count) {
  const int64_t at = gate * r.n + i;
  const BlockOf<S> sum = load_block(r.x + at, count, S(0));
  return r.bias ? sum + load_block(r.bias + at, count, S(0)) : sum;
}

template <class S>
SORUS_FLATTEN void lstm_row(const ForwardRow<S>& r) {
  using B = BlockOf<S>;
  for_each_block(r.n, [&](int64_t i, int64_t count) {
    const auto sum = [&](int64_t g) HWY_ATTR {
      prefetch(r.next_x + g * r.n + i);
      return over_input(r, g, i, count) + load_block(r.sums + g * r.n + i, count, S(0));
    };
    const B in = sigmoid(sum(0)), forget = sigmoid(sum(1)), cell = tanh(sum(2)), out = sigmoid(sum(3));
    const B c = fma(in, cell, forget * load_block(r.c + i, count, S(0)));
    const B h = out * tanh(c);
    store_block(c, r.c + i, count);
    store_block(h, r.h + i, count);
    store_block(h, r.y + i, count);
    if (!r.gates) return;
    store_block(in, r.gates + i, count);
    store_block(forget, r.gates + r.n + i, count);
    store_block(cell, r.gates + 2 * r.n + i, count);
    store_block(out, r.gates + 3 * r.n + i, count);
    store_block(c, r.parts + i, count);
  });
}

template <class S>
SORUS_FLATTEN void gru_row(const ForwardRow<S>& r) {
  using B = BlockOf<S>;
  for_each_block(r.n, [&](int64_t i, int64_t count) {
    const auto over_x = [&](int64_t g) HWY_ATTR {
      prefetch(r.next_x + g * r.n + i);
      return over_input(r, g, i, count);
    };
    const auto over_h = [&](int64_t g) HWY_ATTR { return load_block(r.sums + g * r.n + i, count, S(0)); };
    const B reset = sigmoid(over_x(0) + over_h(0)), update = sigmoid(over_x(1) + over_h(1));
    const B hidden = over_h(2) + load_or_zero(r.hidden_bias, i, count);
    const B fresh = tanh(fma(reset, hidden, over_x(2)));
    const B h = fma(update, load_block(r.h + i, count, S(0)) - fresh, fresh);
    store_block(h, r.h + i, count);
    store_block(h, r.y + i, count);
    if (!r.gates) return;
    store_block(reset, r.gates + i, count);
    store_block(update, r.gates + r.n + i, count);
    store_block(fresh, r.gates + 2 * r.n + i, count);
    store_block(hidden, r.parts + i, count);
  });
}

template <class S>
SORUS_FLATTEN void rnn_row(const ForwardRow<S>& r, bool is_relu) {
  using B = BlockOf<S>;
  for_each_block(r.n, [&](int64_t i, int64_t count) {
    prefetch(r.next_x + i);
    const B sum = over_input(r, 0, i, count) + load_block(r.sums + i, count, S(0));
    const B zero = B::of(0);
    const B h = is_relu
                    ? map([](auto v, auto least) HWY_ATTR { return select(v < least, least, v); }, sum, zero)
                    : tanh(sum);
    store_block(h, r.h + i, count);
    store_block(h, r.y + i, count);
    store_if(h, r.gates, i, count);
  });
}

template <class S>
class Forward {
 public:
  explicit Forward(const KernelCall& call)
      : r_(call),
        width_(r_.gates * r_.hidden),
        by_pieces_(goes_by_pieces<S>(r_)),
        input_by_pieces_(by_pieces_ && r_.inputs * width_ * static_cast<int64_t>(sizeof(S)) <= kNearWeight),
        input_product_(width_, r_.inputs, r_.input, 1, r_.inputs,
                       r_.input && input_by_pieces_ ? r_.steps : 0),
        product_(width_, r_.hidden, r_.weight, 1, r_.hidden, r_.steps, call.prepacked),
        sums_(room_for<S>(r_.batch * width_)) {
    std::copy_n(r_.h, r_.batch * r_.hidden, r_.last_h);
    if (r_.last_c) std::copy_n(r_.c, r_.batch * r_.hidden, r_.last_c);
    if (r_.input) input_sums_ = room_for<S>((input_by_pieces_ ? kPieceSteps : r_.steps) * r_.batch * width_);
  }
  [[nodiscard]] const RecurrentSizes& sizes() const { return r_; }
  /// What is done before the first step.
  void prepare() const {
    if (r_.input && !input_by_pieces_)
      input_product_.run(r_.steps * r_.batch, r_.x.data, r_.inputs, numbers_of<S>(input_sums_));
  }
  /// The products of step `i` for samples [begin, end).
  void multiply(int64_t i, int64_t begin, int64_t end) const {
    const bool makes_more = r_.input && input_by_pieces_ && i % kPieceSteps == 0;
    const int64_t last = makes_more ? std::min(i + kPieceSteps, r_.steps) : i;
    for (int64_t j = i; j < last; ++j)
      input_product_.run(end - begin, r_.x.at(r_.step_at(j), begin), r_.x.row, computed_input_sums(j, begin));
    product_.run(end - begin, r_.last_h + begin * r_.hidden, r_.hidden, sums(begin));
  }
  void pass(int64_t i, int64_t begin, int64_t end) const {
    const int64_t t = r_.step_at(i), next = std::min(i + 1, r_.steps - 1), n = r_.hidden;
    for (int64_t b = begin; b < end; ++b) {
      if (t >= r_.length(b)) {
        clear(r_.y.at(t, b), n);
        clear(r_.kept_gates.at(t, b), width_);
        clear(r_.parts.at(t, b), n);
        continue;
      }
      const ForwardRow<S> row{n,
                              input_sums(i, b),
                              sums(b),
                              r_.bias,
                              r_.hidden_bias,
                              input_sums(next, b),
                              r_.last_h + b * n,
                              r_.last_c ? r_.last_c + b * n : nullptr,
                              r_.y.at(t, b),
                              r_.kept_gates.at(t, b),
                              r_.parts.at(t, b)};
      if (r_.kind == RecurrentKind::kLstm)
        lstm_row(row);
      else if (r_.kind == RecurrentKind::kGru)
        gru_row(row);
      else
        rnn_row(row, r_.kind == RecurrentKind::kRelu);
    }
  }
  /// Each pass uses the product of its own step.
  static constexpr bool kMultipliesFirst = true;

 private:
  [[nodiscard]] S* sums(int64_t b) const { return numbers_of<S>(sums_) + b * width_; }
  /// Of the step that runs as number `i`.
  [[nodiscard]] const S* input_sums(int64_t i, int64_t b) const {
    return r_.input ? computed_input_sums(i, b) : r_.x.at(r_.step_at(i), b);
  }
  /// Those of a piece's steps lie together; all steps lie as x does.
  [[nodiscard]] S* computed_input_sums(int64_t i, int64_t b) const {
    const int64_t t = r_.step_at(i), first = b / kPieceRows * kPieceRows;
    const int64_t rows = std::min(kPieceRows, r_.batch - first);
    const int64_t row = input_by_pieces_ ? first * kPieceSteps + i % kPieceSteps * rows + b - first
                        : r_.batch_first ? b * r_.steps + t
                                         : t * r_.batch + b;
    return numbers_of<S>(input_sums_) + row * width_;
  }

  RecurrentForward<S> r_;
  int64_t width_;
  bool by_pieces_, input_by_pieces_;
  StepProduct<S> input_product_, product_;
  Ref<Storage> sums_, input_sums_;
};

/// The pass of a step back over one sample.
template <class S>
struct BackwardRow {
  int64_t n;
  const S *gates, *parts, *previous;
  const S *dh, *more_dh, *dy;        // whose sum flows back to the state; the latter two may be absent
  const S *dgates, *dparts;          // may be absent
  const S *next_gates, *next_parts;  // of the next step, asked for meanwhile
  S* dc;                             // of the cells, replaced
  S *dx, *dhidden, *sums, *kept;
};

template <class S>
HWY_INLINE BlockOf<S> gradient_of_state(const BackwardRow<S>& r, int64_t i, int64_t count) {
  BlockOf<S> dh = load_block(r.dh + i, count, S(0));
  if (r.more_dh) dh = dh + load_block(r.more_dh + i, count, S(0));
  if (r.dy) dh = dh + load_block(r.dy + i, count, S(0));
  return dh;
}
template <class S>
HWY_INLINE BlockOf<S> with_more(BlockOf<S> gradient, const S* more, int64_t i, int64_t count) {
  return more ? gradient + load_block(more + i, count, S(0)) : gradient;
}

template <class S>
SORUS_FLATTEN void lstm_row_back(const BackwardRow<S>& r) {
  using B = BlockOf<S>;
  for_each_block(r.n, [&](int64_t i, int64_t count) {
    const auto gate = [&](int64_t g) HWY_ATTR {
      prefetch(r.next_gates + g * r.n + i);
      return load_block(r.gates + g * r.n + i, count, S(0));
    };
    const auto store = [&](int64_t g, B gradient, B value, bool is_tanh) HWY_ATTR {
      if (r.dgates) gradient = gradient + load_block(r.dgates + g * r.n + i, count, S(0));
      store_block(is_tanh ? of_tanh(gradient, value) : of_sigmoid(gradient, value), r.dx + g * r.n + i,
                  count);
    };
    prefetch(r.next_parts + i);
    const B in = gate(0), forget = gate(1), cell = gate(2), out = gate(3);
    const B squashed = tanh(load_block(r.parts + i, count, S(0)));
    const B dh = gradient_of_state(r, i, count);
    const B dc =
        with_more(load_block(r.dc + i, count, S(0)) + of_tanh(dh * out, squashed), r.dparts, i, count);
    store(0, dc * cell, in, false);
    store(1, dc * load_block(r.previous + i, count, S(0)), forget, false);
    store(2, dc * in, cell, true);
    store(3, dh * squashed, out, false);
    store_block(dc * forget, r.dc + i, count);
  });
}

template <class S>
SORUS_FLATTEN void gru_row_back(const BackwardRow<S>& r) {
  using B = BlockOf<S>;
  const B one = B::of(1);
  for_each_block(r.n, [&](int64_t i, int64_t count) {
    const auto gate = [&](int64_t g) HWY_ATTR {
      prefetch(r.next_gates + g * r.n + i);
      return load_block(r.gates + g * r.n + i, count, S(0));
    };
    const auto more = [&](int64_t g, B gradient) HWY_ATTR {
      return r.dgates ? gradient + load_block(r.dgates + g * r.n + i, count, S(0)) : gradient;
    };
    prefetch(r.next_parts + i);
    const B reset = gate(0), update = gate(1), fresh = gate(2);
    const B dh = gradient_of_state(r, i, count);
    const B of_fresh = of_tanh(more(2, dh * (one - update)), fresh);
    const B of_update = of_sigmoid(more(1, dh * (load_block(r.previous + i, count, S(0)) - fresh)), update);
    const B of_reset = of_sigmoid(more(0, of_fresh * load_block(r.parts + i, count, S(0))), reset);
    const B hidden = with_more(of_fresh * reset, r.dparts, i, count);
    store_block(of_reset, r.dx + i, count);
    store_block(of_update, r.dx + r.n + i, count);
    store_block(of_fresh, r.dx + 2 * r.n + i, count);
    store_block(hidden, r.dhidden + i, count);
    store_block(of_reset, r.sums + i, count);
    store_block(of_update, r.sums + r.n + i, count);
    store_block(hidden, r.sums + 2 * r.n + i, count);
    store_block(dh * update, r.kept + i, count);
  });
}

template <class S>
SORUS_FLATTEN void rnn_row_back(const BackwardRow<S>& r, bool is_relu) {
  using B = BlockOf<S>;
  for_each_block(r.n, [&](int64_t i, int64_t count) {
    prefetch(r.next_gates + i);
    const B out = load_block(r.gates + i, count, S(0));
    const B total = with_more(gradient_of_state(r, i, count), r.dgates, i, count);
    const B dx =
        is_relu ? map([](auto v, auto g) HWY_ATTR { return select(v > v.of(0), g, v.of(0)); }, out, total)
                : of_tanh(total, out);
    store_block(dx, r.dx + i, count);
  });
}

template <class S>
class Backward {
 public:
  explicit Backward(const KernelCall& call)
      : r_(call),
        width_(r_.gates * r_.hidden),
        product_(r_.hidden, width_, r_.weight, r_.hidden, 1, r_.steps),
        through_(room_for<S>(r_.batch * r_.hidden)),
        ran_(static_cast<size_t>(r_.batch), 0) {
    const int64_t numbers = r_.batch * r_.hidden;
    start(r_.dh, r_.first_dh, numbers);
    start(r_.dc, r_.first_dc, numbers);
    if (r_.kind == RecurrentKind::kGru) sums_ = room_for<S>(r_.batch * width_);
  }
  [[nodiscard]] const RecurrentSizes& sizes() const { return r_; }
  void prepare() const {}
  void multiply(int64_t i, int64_t begin, int64_t end) const {
    const int64_t t = step_at(i);
    if (sums_)
      product_.run(end - begin, sums(begin), width_, through(begin));
    else
      product_.run(end - begin, r_.dx.at(t, begin), r_.dx.row, through(begin));
  }
  void pass(int64_t i, int64_t begin, int64_t end) {
    const int64_t t = step_at(i), next = step_at(std::min(i + 1, r_.steps - 1)), n = r_.hidden;
    for (int64_t b = begin; b < end; ++b) {
      if (t >= r_.length(b)) {
        settle(b);
        clear(r_.dx.at(t, b), width_);
        clear(r_.dhidden.at(t, b), n);
        if (sums_) clear(sums(b), width_);
        continue;
      }
      char& has_run = ran_[static_cast<size_t>(b)];
      const bool ran = has_run != 0;
      if (!ran) has_run = 1;  // no needless writes to a line that threads share
      S* dh = r_.first_dh + b * n;
      const bool is_gru = sums_ != nullptr;
      BackwardRow<S> row{n,
                         r_.kept_gates.at(t, b),
                         r_.parts.at(t, b),
                         r_.initial ? r_.previous(t, b) : nullptr,
                         ran && !is_gru ? through(b) : dh,
                         ran && is_gru ? through(b) : nullptr,
                         r_.dy.at(t, b),
                         r_.dgates.at(t, b),
                         r_.dparts.at(t, b),
                         r_.kept_gates.at(next, b),
                         r_.parts.at(next, b),
                         r_.first_dc ? r_.first_dc + b * n : nullptr,
                         r_.dx.at(t, b),
                         r_.dhidden.at(t, b),
                         is_gru ? sums(b) : nullptr,
                         dh};
      if (r_.kind == RecurrentKind::kLstm)
        lstm_row_back(row);
      else if (is_gru)
        gru_row_back(row);
      else
        rnn_row_back(row, r_.kind == RecurrentKind::kRelu);
    }
  }
  /// What has flowed back to a sample's state, as one number each.
  void settle(int64_t b) {
    if (ran_[static_cast<size_t>(b)] == 0) return;
    ran_[static_cast<size_t>(b)] = 0;
    const S* more = through(b);
    S* dh = r_.first_dh + b * r_.hidden;
    for (int64_t j = 0; j < r_.hidden; ++j) dh[j] = sums_ ? dh[j] + more[j] : more[j];
  }
  /// Each pass makes the operand of its step's product.
  static constexpr bool kMultipliesFirst = false;

 private:
  static void start(const S* from, S* to, int64_t numbers) {
    if (!to) return;
    from ? std::copy_n(from, numbers, to) : std::fill_n(to, numbers, S(0));
  }
  [[nodiscard]] int64_t step_at(int64_t i) const { return r_.step_at(r_.steps - 1 - i); }
  [[nodiscard]] S* through(int64_t b) const { return numbers_of<S>(through_) + b * r_.hidden; }
  [[nodiscard]] S* sums(int64_t b) const { return numbers_of<S>(sums_) + b * width_; }

  RecurrentBackward<S> r_;
  int64_t width_;
  StepProduct<S> product_;
  Ref<Storage> through_, sums_;
  std::vector<char> ran_;  // the state's gradient is what came through the last product
};

/// All steps of all samples, cut by the shape alone.
template <class S, class Layer>
void run_steps(Layer& layer) {
  const RecurrentSizes& r = layer.sizes();
  layer.prepare();
  const auto step = [&](int64_t i, int64_t begin, int64_t end, auto&& pass) {
    if (Layer::kMultipliesFirst) layer.multiply(i, begin, end);
    pass(i, begin, end);
    if (!Layer::kMultipliesFirst) layer.multiply(i, begin, end);
  };
  if (goes_by_pieces<S>(r)) {
    parallel_ranges(r.batch, kPieceRows, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < r.steps; ++i)
        step(i, begin, end, [&](int64_t at, int64_t from, int64_t to) { layer.pass(at, from, to); });
    });
    return;
  }
  const int64_t rows = std::max<int64_t>(1, kPassElements / (r.gates * r.hidden));
  for (int64_t i = 0; i < r.steps; ++i)
    step(i, 0, r.batch, [&](int64_t at, int64_t from, int64_t to) {
      parallel_ranges(to - from, rows, [&](int64_t begin, int64_t end) { layer.pass(at, begin, end); });
    });
}

template <class S>
void run_backward(const KernelCall& call) {
  Backward<S> layer(call);
  run_steps<S>(layer);
  for (int64_t b = 0; b < layer.sizes().batch; ++b) layer.settle(b);
}
template <class S>
void run_forward(const KernelCall& call) {
  Forward<S> layer(call);
  run_steps<S>(layer);
}

bool is_double(const KernelCall& call) { return call.out[0].dtype == DType::kFloat64; }
void recurrent(const KernelCall& call) {
  is_double(call) ? run_forward<double>(call) : run_forward<float>(call);
}
void recurrent_backward(const KernelCall& call) {
  is_double(call) ? run_backward<double>(call) : run_backward<float>(call);
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(recurrent);
HWY_EXPORT(recurrent_backward);

Refusal supports(const KernelCall& call) {
  if (call.out[0].dtype != DType::kFloat32 && call.out[0].dtype != DType::kFloat64)
    return "it computes float32 and float64";
  return call.out[0].numel() == 0 ? "there are no samples, steps or numbers" : kAccepted;
}

constexpr int kWeight = 4;
size_t prepacked_bytes(const KernelCall& call) {
  const Array& w = call.in[kWeight];
  return w.dtype == DType::kFloat32 ? StepProduct<float>::packed_bytes(w.size(0), w.size(1)) : 0;
}
void prepack(const KernelCall& call, void* to) {
  const Array& w = call.in[kWeight];
  StepProduct<float>::pack(w.size(0), w.size(1), w.as<float>(), 1, w.size(1), to);
}
Kernel forward_kernel(std::string_view name) {
  return {.name = name,
          .supports = supports,
          .run = run_best<HWY_DISPATCH_TABLE(recurrent)>,
          .prepacked_in = kWeight,
          .prepacked_bytes = prepacked_bytes,
          .prepack = prepack};
}
const SimdRegistrar registered{"recurrent", forward_kernel("recurrent_simd")};
const SimdRegistrar train_registered{"recurrent_train", forward_kernel("recurrent_train_simd")};
const SimdRegistrar backward_registered{"recurrent_backward",
                                        {.name = "recurrent_backward_simd",
                                         .supports = supports,
                                         .run = run_best<HWY_DISPATCH_TABLE(recurrent_backward)>,
                                         .in_place = 1}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
