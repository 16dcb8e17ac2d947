#include "sorus/kernels/reference/element.h"

namespace sorus::reference {
namespace {

struct Add {
  template <class V>
  V operator()(V a, V b) const {
    return a + b;
  }
};
struct Sub {
  template <class V>
  V operator()(V a, V b) const {
    return a - b;
  }
};
struct Mul {
  template <class V>
  V operator()(V a, V b) const {
    return a * b;
  }
};
struct Div {
  template <class V>
  V operator()(V a, V b) const {
    return a / b;
  }
};
struct Neg {
  template <class V>
  V operator()(V x) const {
    return -x;
  }
};
struct Relu {
  template <class V>
  V operator()(V x) const {
    return select(x < V::of(0), V::of(0), x);
  }
};
struct Exp {
  template <class V>
  V operator()(V x) const {
    return {std::exp(x.v)};
  }
};
struct Log {
  template <class V>
  V operator()(V x) const {
    return {std::log(x.v)};
  }
};
struct Sqrt {
  template <class V>
  V operator()(V x) const {
    return {std::sqrt(x.v)};
  }
};
struct Tanh {
  template <class V>
  V operator()(V x) const {
    return {std::tanh(x.v)};
  }
};
struct Sigmoid {
  template <class V>
  V operator()(V x) const {
    // The exponential of -|x| never overflows.
    V e{std::exp(x.v < 0 ? x.v : -x.v)};
    return select(x < V::of(0), e, V::of(1)) / (V::of(1) + e);
  }
};
struct Equal {
  template <class V>
  auto operator()(V a, V b) const {
    return a == b;
  }
};
struct NotEqual {
  template <class V>
  auto operator()(V a, V b) const {
    return a != b;
  }
};
struct Less {
  template <class V>
  auto operator()(V a, V b) const {
    return a < b;
  }
};
struct LessEqual {
  template <class V>
  auto operator()(V a, V b) const {
    return a <= b;
  }
};
struct Greater {
  template <class V>
  auto operator()(V a, V b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <class V>
  auto operator()(V a, V b) const {
    return a >= b;
  }
};

template <class F, size_t kOperands, bool kTruth = false>
void run_any(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) {
    for_each_element(call, element_function<F, kOperands, T, std::conditional_t<kTruth, bool, T>>);
  });
}
template <class F, size_t kOperands>
void run_floating(const KernelCall& call) {
  visit_floating(call.in[0].dtype, [&]<class T>(std::type_identity<T>) {
    for_each_element(call, element_function<F, kOperands, T>);
  });
}

KernelRegistrar reference(std::string_view op, void (*run)(const KernelCall&)) {
  constexpr uint32_t kAnyOperand =
      7;  // element i is read before it is written, so any operand may be overwritten
  return {op,
          Kernel{.name = "reference",
                 .in_layout = Layout::kAny,
                 .out_layout = Layout::kAny,
                 .run = run,
                 .in_place = kAnyOperand},
          kReferenceRank};
}

/// Copies the bytes of the chosen operand.
template <class T>
void where_element(std::byte* out, const std::byte* const* in, const double*) {
  bool condition;
  std::memcpy(&condition, in[0], 1);
  std::memcpy(out, condition ? in[1] : in[2], sizeof(T));
}
void run_where(const KernelCall& call) {
  visit_dtype(call.in[1].dtype,
              [&]<class T>(std::type_identity<T>) { for_each_element(call, where_element<T>); });
}

void run_copy(const KernelCall& call) {
  copy_strided(call.in[0].data, call.in[0].strides, call.out[0].data, call.out[0].strides, *call.out[0].shape,
               dtype_size(call.out[0].dtype));
}

const KernelRegistrar registered[] = {
    reference("add", run_any<Add, 2>),
    reference("sub", run_any<Sub, 2>),
    reference("mul", run_any<Mul, 2>),
    reference("div", run_floating<Div, 2>),
    reference("neg", run_any<Neg, 1>),
    reference("relu", run_any<Relu, 1>),
    reference("exp", run_floating<Exp, 1>),
    reference("log", run_floating<Log, 1>),
    reference("sqrt", run_floating<Sqrt, 1>),
    reference("tanh", run_floating<Tanh, 1>),
    reference("sigmoid", run_floating<Sigmoid, 1>),
    reference("equal", run_any<Equal, 2, true>),
    reference("not_equal", run_any<NotEqual, 2, true>),
    reference("less", run_any<Less, 2, true>),
    reference("less_equal", run_any<LessEqual, 2, true>),
    reference("greater", run_any<Greater, 2, true>),
    reference("greater_equal", run_any<GreaterEqual, 2, true>),
    reference("where", run_where),
    reference("stop_gradient", run_copy),
};

}  // namespace
}  // namespace sorus::reference
