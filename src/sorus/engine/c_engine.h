/* An engine in a shared library: the interface in plain C. docs/writing_an_engine.md writes one.
 *
 * The library exports one function, `sorus_engine`. Sorus calls it once, when the library is loaded, and then
 * the functions of the structure that it returns, from any thread and from several at once. Nothing here
 * throws: a function that fails returns a status other than SORUS_OK and writes what was wrong, what it got
 * and what it needs into `message`. The library stays loaded until the process ends.
 */
#ifndef SORUS_ENGINE_C_ENGINE_H
#define SORUS_ENGINE_C_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this interface. A library of another version is refused. */
#define SORUS_ENGINE_VERSION 1
#define SORUS_MAX_RANK 8
#define SORUS_MESSAGE_SIZE 512

/* What kind of mistake is reported; the user gets the exception of that kind. */
enum {
  SORUS_OK = 0,
  SORUS_VALUE_ERROR = 1,
  SORUS_TYPE_ERROR = 2,
  SORUS_RUNTIME_ERROR = 3,
  SORUS_MEMORY_ERROR = 4,
  SORUS_NOT_SUPPORTED = 5
};

/* Element types. A bool is a byte, 0 or 1. */
enum {
  SORUS_BOOL = 0,
  SORUS_INT8 = 1,
  SORUS_INT16 = 2,
  SORUS_INT32 = 3,
  SORUS_INT64 = 4,
  SORUS_UINT8 = 5,
  SORUS_UINT16 = 6,
  SORUS_UINT32 = 7,
  SORUS_UINT64 = 8,
  SORUS_FLOAT16 = 9,
  SORUS_BFLOAT16 = 10,
  SORUS_FLOAT32 = 11,
  SORUS_FLOAT64 = 12
};

/* A tensor: elements in row-major order in the host's memory, aligned to their size; or a type alone, with
 * null `data`. `rank` is -1 for an operand that is not given. */
typedef struct SorusTensor {
  void* data;
  int32_t dtype;
  int32_t rank;
  int64_t shape[SORUS_MAX_RANK];
} SorusTensor;

/* A call that the engine is asked about. `attributes` are spelled as in the text of graphs: "axis=-1,
 * keepdims=true", floats in hexadecimal. */
typedef struct SorusCall {
  const char* op;
  const char* attributes;
  const SorusTensor* in;
  size_t in_count;
  const SorusTensor* out;
  size_t out_count;
} SorusCall;

/* Takes `size` bytes of text and copies them. */
typedef void (*SorusGive)(void* receiver, const char* text, size_t size);

typedef struct SorusEngine {
  uint32_t version;     /* SORUS_ENGINE_VERSION */
  uint32_t own_memory;  /* 1: parts have `to_engine` and `from_engine` at their borders; else 0 */
  const char* name;     /* letters, digits, '_', '-' and '.' */
  const char* revision; /* another one when cost() or optimize() answer otherwise */
  const char* numerics; /* "cpu": the bits of the host, and parts come without being asked for; or a name */
  double start_ns;      /* of one run of a part */
  double copy_ns;       /* of one value through a border, if memory is its own */
  double copy_ns_per_byte;
  void* context; /* given to every function */

  /* How many nanoseconds the call takes, about; negative: the engine does not take it. Decided by op,
   * attributes and types alone. */
  double (*cost)(void* context, const SorusCall* call);
  /* The engine's own pass over a part, exact to the bit; null for none. `graph` is its lossless text
   * (docs/rooms/ir.md), which ends with a zero that `size` does not count. Gives another text with inputs and
   * results of the same types, or nothing to leave the part as it is. */
  int (*optimize)(void* context, const char* graph, size_t size, SorusGive give, void* receiver,
                  char* message);
  /* Prepares a part, given as such a text. `*program` is handed to run(), and to destroy() once. */
  int (*compile)(void* context, const char* graph, size_t size, void** program, char* message);
  /* Computes the results, in the order of the part's `return`, into their `data`. A result whose dtype, rank
   * or shape is changed here is refused. Operands must not be changed; results overlap nothing. */
  int (*run)(void* context, void* program, const SorusTensor* in, size_t in_count, SorusTensor* out,
             size_t out_count, char* message);
  void (*destroy)(void* context, void* program);
} SorusEngine;

/* What the library exports. Returns a structure that is never changed afterwards, or null where the library
 * knows no interface of `version`, which is that of the Sorus that asks. */
#define SORUS_ENGINE_SYMBOL "sorus_engine"
typedef const SorusEngine* (*SorusEngineFunction)(uint32_t version);

#if defined(__GNUC__)
#define SORUS_ENGINE_EXPORT __attribute__((visibility("default")))
#else
#define SORUS_ENGINE_EXPORT
#endif
SORUS_ENGINE_EXPORT const SorusEngine* sorus_engine(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
