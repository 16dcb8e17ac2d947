/* An engine without a function to run. */
#include "sorus/engine/c_engine.h"

static double cost(void* context, const SorusCall* call) {
  (void)context, (void)call;
  return 1;
}
static int compile(void* context, const char* graph, size_t size, void** program, char* message) {
  (void)context, (void)graph, (void)size, (void)program, (void)message;
  return SORUS_OK;
}

static const SorusEngine engine = {.version = SORUS_ENGINE_VERSION,
                                   .name = "half",
                                   .revision = "1",
                                   .numerics = "cpu",
                                   .cost = cost,
                                   .compile = compile};

const SorusEngine* sorus_engine(uint32_t version) {
  (void)version;
  return &engine;
}
