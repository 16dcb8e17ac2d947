#pragma once

#include "sorus/data/dataset.h"

namespace sorus::data {

/// The rows of a column grown to one shape, what is added filled. Throws ShapeError, DTypeError or TypeError
/// that begins with `op` and names the column when rows do not fit.
[[nodiscard]] Column pad_column(const char* op, const Column& column, const PadTo& pad,
                                const std::string& name);

}  // namespace sorus::data
