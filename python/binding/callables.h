#pragma once

#include <memory>

#include "binding/bridge.h"
#include "sorus/dispatch/op_def.h"

/// Python functions that C++ calls, and the lists of tensors that go between. Everything here needs the GIL;
/// the functions take it again wherever they are called.
namespace sorus::python {

/// A Python object that C++ may copy and drop without the lock.
using Shared = std::shared_ptr<nb::object>;
[[nodiscard]] Shared share(nb::object o);

/// The tensors of a sequence; None stands for none. Throws TypeError for anything else; `what` names the
/// function.
[[nodiscard]] TensorList tensors_of(nb::handle sequence, const char* what);
[[nodiscard]] nb::tuple tuple_of(const TensorList& list);
/// `call(*tensors)`, which returns a sequence of tensors, as a function of tensors.
[[nodiscard]] TensorFunction function_of(const Shared& call, const char* what);

}  // namespace sorus::python
