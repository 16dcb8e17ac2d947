#include "binding/drop.h"

#include <Python.h>

#include <atomic>
#include <utility>

namespace sorus::python {
namespace {

struct Waiting {
  void* object;
  void (*drop)(void*);
  Waiting* next;
};

std::atomic<Waiting*> waiting{nullptr};

int drop_pending(void* /*nothing*/) {
  drop_what_waits();
  return 0;
}

}  // namespace

void drop_with_lock(void* object, void (*drop)(void*)) {
  if (!Py_IsInitialized()) return;
  if (PyGILState_Check()) return drop(object);
  auto* entry = new Waiting{object, drop, waiting.load(std::memory_order_relaxed)};
  while (!waiting.compare_exchange_weak(entry->next, entry, std::memory_order_release)) {
  }
  // The interpreter's queue is short: when it is full, what stands in it already drops this entry too.
  Py_AddPendingCall(&drop_pending, nullptr);
}

void drop_what_waits() {
  if (!waiting.load(std::memory_order_relaxed)) return;
  Waiting* entry = waiting.exchange(nullptr, std::memory_order_acquire);
  while (entry) {
    entry->drop(entry->object);
    delete std::exchange(entry, entry->next);
  }
}

}  // namespace sorus::python
