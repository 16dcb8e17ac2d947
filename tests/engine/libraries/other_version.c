/* An engine of an interface that does not exist yet. */
#include "sorus/engine/c_engine.h"

static const SorusEngine engine = {.version = SORUS_ENGINE_VERSION + 1, .name = "other_version"};

const SorusEngine* sorus_engine(uint32_t version) {
  (void)version;
  return &engine;
}
