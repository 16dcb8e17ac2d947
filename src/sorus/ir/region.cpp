#include "sorus/ir/region.h"

#include "sorus/base/error.h"

namespace sorus {
namespace {

RegionBinder& region_binder() {
  static RegionBinder binder = nullptr;
  return binder;
}

}  // namespace

void RegionProgram::prepack(size_t /*index*/, std::byte* /*operand*/, void* /*to*/) const {
  SORUS_INTERNAL(false, "a region that has nothing to prepack is asked to");
}

void set_region_binder(RegionBinder binder) { region_binder() = binder; }

std::unique_ptr<RegionProgram> bind_region(const Graph& body, std::span<const Array> in) {
  return region_binder() ? region_binder()(body, in) : nullptr;
}

}  // namespace sorus
