#pragma once

/// All optimizers.
#include "sorus/optim/adam.h"
#include "sorus/optim/adaptive.h"
#include "sorus/optim/descent.h"
