#include "sorus/core/promotion.h"

#include "sorus/core/promotion_table.h"

namespace sorus {

DType promote(DType a, DType b) {
  const detail::PromotionEntry entry =
      detail::kPromotionTables.tensors[static_cast<size_t>(a)][static_cast<size_t>(b)];
  SORUS_CHECK(entry != detail::kNoCommonType, DTypeError,
              "promote: no common dtype: got {} and {}, need a cast of one of them", a, b);
  return static_cast<DType>(entry);
}

DType promote_scalar(DType tensor, ScalarKind kind) {
  return static_cast<DType>(
      detail::kPromotionTables.scalars[static_cast<size_t>(tensor)][static_cast<size_t>(kind)]);
}

}  // namespace sorus
