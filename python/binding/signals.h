#pragma once

namespace sorus::python {

/// For loops that run long without Python: throws what a handler of a signal raises (KeyboardInterrupt).
/// Takes the interpreter's lock only after a signal has come, and only on the thread that handles signals:
/// whoever waits for the loop may hold the lock meanwhile.
void check_signals();
/// Has signals noted for check_signals that somebody handles by now.
void listen_to_signals();

}  // namespace sorus::python
