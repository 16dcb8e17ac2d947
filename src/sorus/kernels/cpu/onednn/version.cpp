#include "sorus/kernels/cpu/onednn/version.h"

#include <dnnl.h>
#include <fmt/core.h>

namespace sorus::kernels::onednn {

std::string library_version() {
  const dnnl_version_t* v = dnnl_version();
  return fmt::format("{}.{}.{}", v->major, v->minor, v->patch);
}

}  // namespace sorus::kernels::onednn
