/* An engine in plain C that adds and multiplies float32 tensors of equal shapes. It reads the text of graphs line
 * by line. `tiny_fault` makes it fail in one way or another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sorus/engine/c_engine.h"

enum { kMostValues = 256 };

/* 0 none, 1 compile, 2 run, 3 shape of a result, 4 no program but no error, 5 a pass that gives nonsense,
 * 6 a pass that drops a result, 7 compile without a message */
SORUS_ENGINE_EXPORT int tiny_fault = 0;
SORUS_ENGINE_EXPORT int tiny_programs = 0; /* alive */
SORUS_ENGINE_EXPORT int tiny_runs = 0;

typedef struct {
  char op;
  int in[2];
  int out;
} Call;

typedef struct {
  int inputs[kMostValues], input_count;
  int outputs[kMostValues], output_count;
  int64_t numel[kMostValues];
  const char* constants[kMostValues]; /* hexadecimal, in `text` */
  Call calls[kMostValues];
  int call_count;
  char* text;
} Program;

static int fail(char* message, int status, const char* text) {
  snprintf(message, SORUS_MESSAGE_SIZE, "%s", text);
  return status;
}

/* The elements of "float32(2, 3)". */
static int64_t numel_of(const char* type) {
  int64_t n = 1;
  const char* at = strchr(type, '(') + 1;
  while (*at != ')') {
    char* end = NULL;
    n *= strtoll(at, &end, 10);
    at = end + strspn(end, ", ");
  }
  return n;
}

static double cost(void* context, const SorusCall* call) {
  (void)context;
  if (strcmp(call->op, "add") != 0 && strcmp(call->op, "mul") != 0) return -1;
  for (int k = 0; k < 2; ++k) {
    const SorusTensor* in = &call->in[k];
    if (in->dtype != SORUS_FLOAT32 || in->rank != call->out->rank) return -1;
    if (memcmp(in->shape, call->out->shape, (size_t)in->rank * sizeof(int64_t)) != 0) return -1;
  }
  return 1;
}

/* 0 where there are too many values. */
static int read_line(Program* p, char* line) {
  int out = 0, a = 0, b = 0;
  char op[8];
  if (sscanf(line, " %%%d", &out) == 1 && out >= kMostValues) return 0;
  if (sscanf(line, " %%%d = constant 0x", &out) == 1 && strstr(line, "constant")) {
    p->constants[out] = strstr(line, "0x") + 2;
    p->numel[out] = numel_of(strstr(line, " : "));
    return 1;
  }
  if (sscanf(line, " %%%d = %3[a-z](%%%d, %%%d)", &out, op, &a, &b) == 4) {
    Call call = {op[0], {a, b}, out};
    p->calls[p->call_count++] = call;
    p->numel[out] = numel_of(strstr(line, " : "));
    return 1;
  }
  char* at = strstr(line, "return");
  for (at = at ? strchr(at, '%') : NULL; at; at = strchr(at + 1, '%'))
    p->outputs[p->output_count++] = atoi(at + 1);
  return 1;
}

static void destroy(void* context, void* program);

static int compile(void* context, const char* graph, size_t size, void** program, char* message) {
  (void)context;
  if (tiny_fault == 1) return fail(message, SORUS_NOT_SUPPORTED, "tiny: no room: got 1 call, need 0");
  if (tiny_fault == 7) return 77;
  if (tiny_fault == 4) return SORUS_OK;
  Program* p = calloc(1, sizeof(Program));
  p->text = malloc(size + 1);
  memcpy(p->text, graph, size + 1);
  char* rest = p->text;
  char* line = strsep(&rest, "\n");
  for (char* at = strchr(line, '%'); at && p->input_count < kMostValues; at = strchr(at + 1, '%')) {
    const int id = atoi(at + 1);
    p->inputs[p->input_count++] = id;
    p->numel[id] = numel_of(strchr(at, ':'));
  }
  ++tiny_programs;
  *program = p;
  while (rest && (line = strsep(&rest, "\n")) && *line != '}')
    if (!read_line(p, line)) {
      destroy(context, p);
      return fail(message, SORUS_NOT_SUPPORTED, "tiny: too many values: got 256 or more, need fewer");
    }
  return SORUS_OK;
}

static float* constant_of(const Program* p, int id) {
  float* values = malloc((size_t)p->numel[id] * sizeof(float) + 1);
  unsigned char* bytes = (unsigned char*)values;
  for (size_t i = 0; i < (size_t)p->numel[id] * sizeof(float); ++i) {
    unsigned byte = 0;
    sscanf(p->constants[id] + 2 * i, "%2x", &byte);
    bytes[i] = (unsigned char)byte;
  }
  return values;
}

static int run(void* context, void* program, const SorusTensor* in, size_t in_count, SorusTensor* out,
               size_t out_count, char* message) {
  (void)context;
  const Program* p = program;
  if (tiny_fault == 2) return fail(message, SORUS_MEMORY_ERROR, "tiny: out of memory: got 0 bytes, need more");
  float* values[kMostValues] = {0};
  for (size_t i = 0; i < in_count; ++i) values[p->inputs[i]] = in[i].data;
  for (int id = 0; id < kMostValues; ++id)
    if (p->constants[id]) values[id] = constant_of(p, id);
  for (int c = 0; c < p->call_count; ++c) {
    const Call* call = &p->calls[c];
    float* result = malloc((size_t)p->numel[call->out] * sizeof(float) + 1);
    for (int64_t i = 0; i < p->numel[call->out]; ++i)
      result[i] = call->op == 'a' ? values[call->in[0]][i] + values[call->in[1]][i]
                                  : values[call->in[0]][i] * values[call->in[1]][i];
    values[call->out] = result;
  }
  for (size_t i = 0; i < out_count; ++i)
    memcpy(out[i].data, values[p->outputs[i]], (size_t)p->numel[p->outputs[i]] * sizeof(float));
  for (int c = 0; c < p->call_count; ++c) free(values[p->calls[c].out]);
  for (int id = 0; id < kMostValues; ++id)
    if (p->constants[id]) free(values[id]);
  if (tiny_fault == 3) out[0].shape[0] += 1;
  ++tiny_runs;
  return SORUS_OK;
}

static void destroy(void* context, void* program) {
  (void)context;
  Program* p = program;
  if (!p) return;
  --tiny_programs;
  free(p->text);
  free(p);
}

/* mul(x, y) and add(x, y) give the bits of mul(y, x) and add(y, x) but for NaN, so that it leaves all as it is. */
static int optimize(void* context, const char* graph, size_t size, SorusGive give, void* receiver, char* message) {
  (void)context, (void)size, (void)message;
  const char* nonsense = "no graph";
  const char* other = "graph @part(%0: float32(2,)) {\n  %1 = mul(%0, %0) : float32(2,)\n  return %1\n}\n";
  if (tiny_fault == 5) give(receiver, nonsense, strlen(nonsense));
  if (tiny_fault == 6) give(receiver, other, strlen(other));
  if (tiny_fault == 0) give(receiver, graph, size);
  return SORUS_OK;
}

static const SorusEngine engine = {.version = SORUS_ENGINE_VERSION,
                                   .own_memory = 0,
                                   .name = "tiny",
                                   .revision = "1",
                                   .numerics = "cpu",
                                   .cost = cost,
                                   .optimize = optimize,
                                   .compile = compile,
                                   .run = run,
                                   .destroy = destroy};

const SorusEngine* sorus_engine(uint32_t version) { return version == SORUS_ENGINE_VERSION ? &engine : NULL; }
