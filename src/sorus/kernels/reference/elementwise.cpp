#include <map>

#include "sorus/kernels/reference/element.h"
#include "sorus/math/rows.h"

namespace sorus::reference {
namespace {

using math::ExactRow;
using math::FloatingRow;
using math::RowList;
using math::RowTraits;
using math::Takes;

#include "sorus/math/rows/activation.inc"
#include "sorus/math/rows/arithmetic.inc"
#include "sorus/math/rows/bitwise.inc"
#include "sorus/math/rows/comparison.inc"
#include "sorus/math/rows/error_function.inc"
#include "sorus/math/rows/exponential.inc"
#include "sorus/math/rows/floating.inc"
#include "sorus/math/rows/integer.inc"
#include "sorus/math/rows/logarithm.inc"
#include "sorus/math/rows/logic.inc"
#include "sorus/math/rows/power.inc"
#include "sorus/math/rows/trigonometric.inc"

/// The functions of one op, which several rows may share out among the dtypes.
struct ByType {
  ElementFunction function[kDTypeCount] = {};
};
std::map<std::string_view, ByType>& functions() {
  static std::map<std::string_view, ByType> table;
  return table;
}

/// The kernel of every row: finds the element function by op and dtype.
void run_row(const KernelCall& call) {
  for_each_element(call, functions().at(call.op.name).function[static_cast<int>(call.in[0].dtype)]);
}
Refusal supports_row(const KernelCall& call) {
  return functions().at(call.op.name).function[static_cast<int>(call.in[0].dtype)]
             ? kAccepted
             : "has no function for this dtype";
}

template <class Row, class T>
void add_type(ByType& row) {
  row.function[static_cast<int>(dtype_of<T>)] =
      element_function<Row, Row::kOperands, T, std::conditional_t<Row::kGivesTruth, bool, T>,
                       Row::kParameters>;
}

template <class Row, class... T>
void add_types(ByType& row) {
  (add_type<Row, T>(row), ...);
}

template <class Row>
void add_row() {
  auto [at, fresh] = functions().try_emplace(Row::kName);
  ByType& row = at->second;
  constexpr Takes kTakes = Row::kTakes;
  if constexpr (kTakes == Takes::kFloating || kTakes == Takes::kNumber || kTakes == Takes::kAny)
    add_types<Row, Float16, BFloat16, float, double>(row);
  if constexpr (kTakes != Takes::kFloating)
    add_types<Row, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(row);
  if constexpr (kTakes == Takes::kAny || kTakes == Takes::kIntegerOrBool) add_type<Row, bool>(row);
  if (fresh)
    KernelRegistrar(Row::kName,
                    Kernel{.name = "reference",
                           .in_layout = Layout::kAny,
                           .out_layout = Layout::kAny,
                           .supports = supports_row,
                           .run = run_row},
                    kReferenceRank);
}

template <class... Rows>
void add_rows(RowList<Rows...>) {
  (add_row<Rows>(), ...);
}

[[maybe_unused]] const bool registered = [] {
  add_rows(ActivationRows{});
  add_rows(ArithmeticRows{});
  add_rows(BitwiseRows{});
  add_rows(ComparisonRows{});
  add_rows(ErrorFunctionRows{});
  add_rows(ExponentialRows{});
  add_rows(FloatingRows{});
  add_rows(IntegerRows{});
  add_rows(LogarithmRows{});
  add_rows(LogicRows{});
  add_rows(PowerRows{});
  add_rows(TrigonometricRows{});
  return true;
}();

}  // namespace
}  // namespace sorus::reference
