/* A library that knows none of the interfaces it is asked for. */
#include "sorus/engine/c_engine.h"

const SorusEngine* sorus_engine(uint32_t version) {
  (void)version;
  return 0;
}
