#pragma once

#include <exception>
#include <span>

#include "sorus/core/value.h"

namespace sorus {

/// Reading one of these values throws the error from now on.
void poison_values(const std::exception_ptr& error, std::span<Value* const> values);

}  // namespace sorus
