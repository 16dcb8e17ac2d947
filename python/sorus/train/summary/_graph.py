"""The graphs that graph mode has recorded of cells."""

from ... import _core, _tree


def recorded_graph(cell, inputs):
    """The graph of a cell that was called with such tensors, as a message; None where none is recorded."""
    ids = cell.__dict__.get("_boundary_ids")
    for training in (cell.training, not cell.training) if ids else ():
        graph = _core.recorded_graph(ids[bool(training)], inputs)
        if graph is not None:
            return graph
    return None


class WatchedCell:
    """Keeps what a cell is given in its next call, which its recording is known by."""

    def __init__(self, cell):
        self.cell, self.inputs = cell, None
        self._had_hooks = cell.__dict__["_hooks"] is not None
        self._hook = cell.register_forward_pre_hook(self._see, with_kwargs=True)

    def _see(self, _cell, args, kwargs):
        self.inputs = _tree.tensors((args, kwargs))
        self.forget()

    def forget(self):
        """Watches no more."""
        if self._hook is None:
            return
        self._hook.remove()
        self._hook = None
        if not self._had_hooks and not any(self.cell._hooks.kinds.values()):
            self.cell.__dict__["_hooks"] = None  # a cell without hooks takes a shorter way
