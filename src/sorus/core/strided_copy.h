#pragma once

#include "sorus/core/tensor.h"

/// How copy_strided() of tensor.h is done: element by element until the room of kernels installs something
/// faster. It moves bytes, so nothing depends on which. The target has no two elements in one place and
/// overlaps nothing of the source.
namespace sorus {

/// Element by element: the specification.
SORUS_API void copy_strided_plainly(const std::byte* from, const Strides& from_strides, std::byte* to,
                                    const Strides& to_strides, const Shape& shape, size_t element_size);
/// Installs what copy_strided() calls. Once, while the library loads.
SORUS_API void set_strided_copy(decltype(&copy_strided) copy);

}  // namespace sorus
