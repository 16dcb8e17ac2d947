#pragma once

#include "binding/function.h"

/// Spellings: what a public name accepts and which C++ functions it stands for. Made by the package from rows
/// of text (python/sorus/_rows.py); this side only binds arguments and evaluates.
namespace sorus::python {

/// Where an argument of a call comes from.
struct Source {
  enum class From : uint8_t { kParameter, kConstant, kCall };
  From from = From::kConstant;
  uint16_t index = 0;
};

/// A call inside a spelling: of a C++ function, or of a Python callable when `function` is null.
struct Call {
  const Function* function = nullptr;
  PyObject* callable = nullptr;
  std::vector<Source> arguments;
  int select = -1;  ///< which of several results; -1: all
};

/// One way to call a spelling. Parameters lie in order: positional ones, then keyword-only ones.
struct Overload {
  std::string text;                 ///< as shown in errors
  std::vector<PyObject*> names;     ///< interned
  std::vector<PyObject*> defaults;  ///< null: required
  size_t positional = 0;
  int variadic = -1;  ///< parameter that takes all further positional arguments, the last positional one
  std::vector<PyObject*> constants;
  std::vector<Call> calls;  ///< nested ones first; the last gives the result
  std::vector<Kind> kinds;  ///< what each parameter accepts, as far as one call says so
  uint32_t weak = 0;        ///< parameters for which a number may stand for a tensor
  uint32_t checked = 0;     ///< parameters of Python callables that say what they accept
};

/// Values of the parameters of an overload during a call; `owned` keeps the tuple of a variadic one.
struct Bound {
  PyObject* values[kMaxParameters] = {};
  nb::object owned;
};

/// Arguments as a vectorcall gives them.
struct Given {
  PyObject* const* arguments;
  size_t count;
  PyObject* keywords;  ///< tuple of names, may be null
};

/// Fits `given` to the parameters. On failure returns false and says why.
[[nodiscard]] bool fit(const Overload& o, const Given& given, Bound& bound, std::string& why);
/// True when each bound value is of the kind that its parameter accepts.
[[nodiscard]] bool accepts(const Overload& o, const Bound& bound);
/// Throws TypeError when a parameter of a Python callable is not of its kind; `name` is the spelling's.
void check_kinds(const std::string& name, const Overload& o, const Bound& bound);
/// The result, a new reference. Throws.
[[nodiscard]] PyObject* evaluate(const Overload& o, const Bound& bound);
/// An overload from the tuple that the package makes of a row. Throws ValueError for an unknown function.
[[nodiscard]] Overload overload_from(nb::tuple description);

/// The C++ function of that name, null when there is none.
[[nodiscard]] const Function* find_function(std::string_view name);

}  // namespace sorus::python
