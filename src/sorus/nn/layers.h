#pragma once

/// All layers, losses and containers. Names, defaults and parameter names are those of the Python package;
/// options are structs with the Python names. Arguments that do not fit throw ValueError, tensors ShapeError.
#include "sorus/nn/activation.h"
#include "sorus/nn/basic.h"
#include "sorus/nn/container.h"
#include "sorus/nn/conv.h"
#include "sorus/nn/embedding.h"
#include "sorus/nn/loss.h"
#include "sorus/nn/norm.h"
#include "sorus/nn/pool.h"
