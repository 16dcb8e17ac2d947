#pragma once

namespace sorus::python {

/// Calls drop(object), which lets go of Python objects, with the interpreter's lock and without ever waiting
/// for it: at once where this thread holds it, else soon on a thread that does. Whoever drops the last
/// reference to shared memory may hold locks of the library that the holder of the interpreter's lock waits
/// for. Once the interpreter has ended nothing is called.
void drop_with_lock(void* object, void (*drop)(void*));

/// Does what drop_with_lock() left to be done; this thread holds the interpreter's lock. One look at a flag
/// when there is nothing.
void drop_what_waits();

}  // namespace sorus::python
