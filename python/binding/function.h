#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "binding/bridge.h"
#include "binding/release_gil.h"
#include "sorus/dispatch/apply.h"

/// The generic adapter between Python arguments and the C++ functions of the public API. A function is one
/// line in a table: its name, its address and its signature with defaults. How each argument is converted
/// follows from its C++ type; nothing here is written per function.
namespace sorus::python {

/// What an argument accepts; decides overloads and the words of errors. The order is that of words_of().
enum class Kind : uint8_t {
  kTensor,
  kTensors,
  kNumber,
  kBool,
  kInt,
  kFloat,
  kInts,
  kDType,
  kString,
  kAny,
};

/// "a Tensor", "an int": what such an argument needs, for errors.
[[nodiscard]] const char* words_of(Kind kind);

/// Longest list of parameters of a C++ function or of a spelling.
inline constexpr size_t kMaxParameters = 24;

struct Frame;
using Invoke = PyObject* (*)(void (*)(), Frame&);

/// A C++ function as the binding sees it. Lives for the whole process.
struct Function {
  const char* name;
  const char* signature;  ///< Python parameter list: "x, axes=(), keepdims=False"
  void (*pointer)();
  Invoke invoke;
  std::vector<Kind> kinds;
  std::string result;  ///< its type as Python writes it: "Tensor", "tuple[Tensor, ...]"
  /// Tensor parameters beside which a number promotes weakly, as bits; numbers are refused elsewhere.
  uint32_t weak = 0;
  /// Parameter names and defaults, evaluated from `signature` at first use (null: required).
  std::vector<PyObject*> names = {};
  std::vector<PyObject*> defaults = {};
};

struct Overload;
struct Call;

/// One call of a Function: borrowed arguments, one for each parameter.
struct Frame {
  const Function& function;
  PyObject* const* arguments;
  /// What calls, for the names of arguments in errors; null for calls from elsewhere.
  const Overload* overload = nullptr;
  const Call* call = nullptr;
  int64_t largest = 0;  ///< elements of the largest tensor operand

  [[nodiscard]] PyObject* at(size_t i) const { return arguments[i]; }
  /// The name of argument i as the caller knows it.
  [[nodiscard]] std::string name_of(size_t i) const;
  /// Throws TypeError: "add: argument 'other' has the wrong type: got str, need ...".
  [[noreturn]] void refuse(size_t i, const char* need) const;
  /// The dtype of the first tensor among the operands that promote weakly with i; false when there is none.
  [[nodiscard]] bool beside(DType* dtype) const;
};

/// A tensor operand during a call: the caller's own, or one made from a number.
struct TensorArgument {
  const Tensor* given = nullptr;
  Tensor made;
};

void convert(Frame& f, size_t i, TensorArgument& out);
void convert(Frame& f, size_t i, std::vector<Tensor>& out);
void convert(Frame& f, size_t i, std::optional<Scalar>& out);
void convert(Frame& f, size_t i, bool& out);
void convert(Frame& f, size_t i, int64_t& out);
void convert(Frame& f, size_t i, double& out);
void convert(Frame& f, size_t i, Ints& out);
void convert(Frame& f, size_t i, std::vector<int64_t>& out);
void convert(Frame& f, size_t i, std::vector<double>& out);
void convert(Frame& f, size_t i, DType& out);
void convert(Frame& f, size_t i, std::string& out);

/// How one C++ parameter type is held during the call, made from Python and handed over. `none` says that
/// None stands for "absent".
template <class T>
struct Argument;

template <class T, Kind kKind>
struct PlainArgument {
  static constexpr Kind kind = kKind;
  using Held = T;
  static void make(Frame& f, size_t i, T& held) { convert(f, i, held); }
  static const T& pass(T& held) { return held; }
  static void keep(T&) {}
};
template <>
struct Argument<bool> : PlainArgument<bool, Kind::kBool> {};
template <>
struct Argument<int64_t> : PlainArgument<int64_t, Kind::kInt> {};
template <>
struct Argument<double> : PlainArgument<double, Kind::kFloat> {};
template <>
struct Argument<DType> : PlainArgument<DType, Kind::kDType> {};
template <>
struct Argument<Ints> : PlainArgument<Ints, Kind::kInts> {};
template <>
struct Argument<std::span<const int64_t>> : PlainArgument<std::vector<int64_t>, Kind::kInts> {};
template <>
struct Argument<std::span<const double>> : PlainArgument<std::vector<double>, Kind::kAny> {};
template <>
struct Argument<std::string> : PlainArgument<std::string, Kind::kString> {};
template <>
struct Argument<std::string_view> : PlainArgument<std::string, Kind::kString> {};
template <>
struct Argument<int> : PlainArgument<int64_t, Kind::kInt> {
  static int pass(int64_t& held) { return static_cast<int>(held); }
};
template <>
struct Argument<float> : PlainArgument<double, Kind::kFloat> {
  static float pass(double& held) { return static_cast<float>(held); }
};
template <>
struct Argument<uint64_t> : PlainArgument<int64_t, Kind::kInt> {
  static uint64_t pass(int64_t& held) { return static_cast<uint64_t>(held); }
};
template <>
struct Argument<Shape> : PlainArgument<Ints, Kind::kInts> {
  static Shape pass(Ints& held) { return Shape(held); }
};
template <>
struct Argument<Scalar> : PlainArgument<std::optional<Scalar>, Kind::kNumber> {
  static Scalar pass(std::optional<Scalar>& held) { return *held; }
};
template <>
struct Argument<Tensor> {
  static constexpr Kind kind = Kind::kTensor;
  using Held = TensorArgument;
  static void make(Frame& f, size_t i, Held& held) {
    if (f.at(i) == Py_None) {  // an absent optional operand is an undefined tensor
      if (!f.function.defaults[i]) f.refuse(i, "a Tensor");
      held.given = &held.made;
      return;
    }
    convert(f, i, held);
  }
  static const Tensor& pass(Held& held) { return *held.given; }
  static void keep(Held& held) {
    if (held.given != &held.made) held.made = *held.given;
    held.given = &held.made;
  }
};
template <>
struct Argument<const Tensor*> : Argument<Tensor> {
  static const Tensor* pass(Held& held) { return held.given->defined() ? held.given : nullptr; }
};
template <>
struct Argument<std::span<const Tensor>> {
  static constexpr Kind kind = Kind::kTensors;
  using Held = std::vector<Tensor>;
  static void make(Frame& f, size_t i, Held& held) { convert(f, i, held); }
  static std::span<const Tensor> pass(Held& held) { return held; }
  static void keep(Held&) {}
};
template <>
struct Argument<TensorList> : Argument<std::span<const Tensor>> {
  static TensorList pass(Held& held) { return TensorList(held.begin(), held.end()); }
};
template <>
struct Argument<std::vector<Tensor>> : Argument<std::span<const Tensor>> {
  static std::vector<Tensor>& pass(Held& held) { return held; }
};
template <class T>
struct Argument<std::optional<T>> {
  static constexpr Kind kind = Argument<T>::kind;
  using Inner = Argument<T>;
  using Held = std::pair<typename Inner::Held, bool>;
  static void make(Frame& f, size_t i, Held& held) {
    held.second = f.at(i) != Py_None;
    if (held.second) Inner::make(f, i, held.first);
  }
  static std::optional<T> pass(Held& held) {
    return held.second ? std::optional<T>(Inner::pass(held.first)) : std::nullopt;
  }
  static void keep(Held& held) {
    if (held.second) Inner::keep(held.first);
  }
};

/// Words by which Python names the values of an enum: specialize beside the table that uses it.
template <class E>
struct EnumWords;
[[nodiscard]] int64_t convert_word(Frame& f, size_t i, std::span<const char* const> words);
template <class E>
requires std::is_enum_v<E>
struct Argument<E> {
  static constexpr Kind kind = Kind::kString;
  using Held = E;
  static void make(Frame& f, size_t i, E& held) {
    held = static_cast<E>(convert_word(f, i, EnumWords<E>::words));
  }
  static E pass(E& held) { return held; }
  static void keep(E&) {}
};

inline PyObject* to_python(Tensor&& t) { return t.defined() ? wrap(std::move(t)) : Py_NewRef(Py_None); }
inline PyObject* to_python(bool v) { return PyBool_FromLong(v); }
inline PyObject* to_python(int64_t v) { return PyLong_FromLongLong(v); }
inline PyObject* to_python(double v) { return PyFloat_FromDouble(v); }
inline PyObject* to_python(std::string v) {
  return PyUnicode_FromStringAndSize(v.data(), static_cast<Py_ssize_t>(v.size()));
}
inline PyObject* to_python(const Shape& s) { return shape_tuple(s).release().ptr(); }
PyObject* to_python(const Ints& v);
PyObject* to_python(std::span<Tensor> list);
inline PyObject* to_python(TensorList&& v) { return to_python(std::span<Tensor>(v)); }
inline PyObject* to_python(std::vector<Tensor>&& v) { return to_python(std::span<Tensor>(v)); }
template <size_t kN>
PyObject* to_python(std::array<Tensor, kN>&& v) {
  return to_python(std::span<Tensor>(v));
}
template <class... T>
PyObject* to_python(std::tuple<T...>&& v) {
  std::array<Tensor, sizeof...(T)> list;
  std::apply(
      [&](T&... t) {
        size_t i = 0;
        ((list[i++] = std::move(t)), ...);
      },
      v);
  return to_python(std::span<Tensor>(list));
}
inline PyObject* to_python(std::pair<Tensor, Tensor>&& v) {
  std::array<Tensor, 2> list{std::move(v.first), std::move(v.second)};
  return to_python(std::span<Tensor>(list));
}

/// Converts, calls and converts back. One instance for each list of parameter types, not for each function.
template <class R, class... A>
PyObject* invoke(void (*pointer)(), Frame& f) {
  auto* call = reinterpret_cast<R (*)(A...)>(pointer);
  std::tuple<typename Argument<std::remove_cvref_t<A>>::Held...> held;
  return [&]<size_t... kI>(std::index_sequence<kI...>) {
    (Argument<std::remove_cvref_t<A>>::make(f, kI, std::get<kI>(held)), ...);
    if (f.largest < kLargeElements || scope_state().recorder)
      return to_python(call(Argument<std::remove_cvref_t<A>>::pass(std::get<kI>(held))...));
    (Argument<std::remove_cvref_t<A>>::keep(std::get<kI>(held)), ...);
    return to_python(
        without_gil([&] { return call(Argument<std::remove_cvref_t<A>>::pass(std::get<kI>(held))...); }));
  }
  (std::index_sequence_for<A...>{});
}

/// How Python writes the type of what to_python makes.
template <class R>
std::string result_text() {
  if constexpr (std::is_same_v<R, Tensor>) {
    return "Tensor";
  } else if constexpr (std::is_same_v<R, TensorList> || std::is_same_v<R, std::vector<Tensor>>) {
    return "tuple[Tensor, ...]";
  } else if constexpr (std::is_same_v<R, Shape> || std::is_same_v<R, Ints>) {
    return "tuple[int, ...]";
  } else if constexpr (std::is_same_v<R, bool>) {
    return "bool";
  } else if constexpr (std::is_same_v<R, int64_t>) {
    return "int";
  } else if constexpr (std::is_same_v<R, double>) {
    return "float";
  } else if constexpr (std::is_same_v<R, std::string>) {
    return "str";
  } else {
    std::string text = "tuple[Tensor";
    for (size_t i = 1; i < std::tuple_size_v<R>; ++i) text += ", Tensor";
    return text + "]";
  }
}

/// A line of a table. `weak`: bits of the tensor parameters for which a Python number may stand.
template <class R, class... A>
Function function(const char* name, R (*pointer)(A...), const char* signature, uint32_t weak = 0) {
  return {name,
          signature,
          reinterpret_cast<void (*)()>(pointer),
          &invoke<R, A...>,
          {Argument<std::remove_cvref_t<A>>::kind...},
          result_text<R>(),
          weak};
}

/// Adds the lines of a table; called while the module is imported.
void add_functions(std::vector<Function> table);

}  // namespace sorus::python
