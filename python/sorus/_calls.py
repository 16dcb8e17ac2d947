"""What a Cell's call does beside its `construct`: graph-mode boundaries, hooks, conversion to a dtype."""

from . import _context, _core, _declared, _loops, _tree

boundaries = None
"""In graph mode `run_boundary`, else None."""


def run_boundary(owner, function, args, kwargs):
    """`function(*args, **kwargs)` as a boundary known by `owner` (a cell, an optimizer or another object
    with a
    dictionary); within another boundary just the call.
    """
    if _core.in_boundary():
        return function(*args, **kwargs)
    state = owner.__dict__
    if "_boundary_ids" not in state:  # one for training, one for inference
        state["_boundary_ids"] = (_core.new_boundary_id(), _core.new_boundary_id())
        if "_cells" in state:
            _loops.prepare(owner)
    key = state["_boundary_ids"][bool(state.get("training"))]
    return _core.run_boundary(key, _tree.tensors((args, kwargs)), lambda: function(*args, **kwargs))


def on_setting(name, value):
    """Follows the settings: graph mode makes calls boundaries."""
    global boundaries
    if name == "mode":
        boundaries = run_boundary if value == _context.GRAPH_MODE else None
    elif name in ("save_graphs", "save_graphs_path"):
        level = _context.get_context("save_graphs")
        _core.dump_graphs(2 if level is True else min(level, 2), _context.get_context("save_graphs_path"))
    elif name in ("enable_compile_cache", "compile_cache_path"):
        enabled = _context.get_context("enable_compile_cache")
        _core.set_compile_cache(_context.get_context("compile_cache_path") if enabled else "")
    elif name == "tuning_database":
        _core.set_tuning_database(_core.default_tuning_database() if value is None else value)
    elif name == "numerics":
        _core.set_relaxed_numerics(value == "relaxed")
    elif name in ("engine", "op_engines", "forbidden_engines"):
        _core.set_engines(*(_context.get_context(n) for n in ("engine", "op_engines", "forbidden_engines")))
    elif name == "max_device_memory":
        _core.set_memory_limit(_context.memory_bytes(value))
    elif name == "flush_denormal":
        _core.set_flush_denormal(value)


_context.on_change(on_setting)


def cast_floats(value, dtype):
    """`value` with its floating tensors converted to `dtype`; one that stands in several places stays one."""
    given = _tree.tensors(value)
    made = {id(t): t.astype(dtype) if t.dtype.is_floating_point else t for t in given}
    return _tree.rebuild(value, iter([made[id(t)] for t in given]))


class Handle:
    """Takes a hook away again: `remove()`."""

    def __init__(self, hooks, cell):
        self._hooks, self._cell = hooks, cell

    def remove(self):
        """The hook is called no more."""
        self._hooks.pop(id(self), None)


class Hooks:
    """Hooks of one cell, by kind, in the order of registration."""

    def __init__(self):
        self.kinds = {}

    def add(self, kind, hook, cell):
        """Registers a hook and gives its handle."""
        table = self.kinds.setdefault(kind, {})
        handle = Handle(table, cell)
        table[id(handle)] = hook
        return handle

    def of(self, kind):
        """The hooks of a kind."""
        return list(self.kinds.get(kind, {}).values())


def with_hooks(cell, args, kwargs):
    """Calls the cell with its hooks around."""
    hooks = cell._hooks
    if cell.__dict__["_declared_inputs"] is not None:
        _declared.check(type(cell).__name__, cell.__dict__["_declared_inputs"], args, kwargs)
    for hook in hooks.of("forward_pre"):
        changed = hook(cell, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    for hook in hooks.of("forward_pre_kwargs"):
        changed = hook(cell, args, kwargs)
        if changed is not None:
            args, kwargs = changed
    backward = _core.in_gradient_scope() and (hooks.of("backward") or hooks.of("backward_pre"))
    output = _with_backward_hooks(cell, args, kwargs) if backward else cell._compute(*args, **kwargs)
    for hook in hooks.of("forward"):
        changed = hook(cell, args, output)
        output = output if changed is None else changed
    for hook in hooks.of("forward_kwargs"):
        changed = hook(cell, args, kwargs, output)
        output = output if changed is None else changed
    return output


def observed(value, observe):
    """`value` unchanged, whose gradients pass through `observe(gradients) -> gradients`."""
    sources = _tree.tensors(value)

    def rule(_operands, _results, gradients):
        return observe(tuple(gradients))

    results = _core.custom_gradient(lambda *tensors: tensors, sources, rule)
    return _tree.rebuild(value, iter(results))


def _with_backward_hooks(cell, args, kwargs):
    seen = {"output": ()}
    reaches_inputs = _core.tracks_gradients(_tree.tensors(args))

    def at_input(gradients):
        for hook in cell._hooks.of("backward"):
            changed = hook(cell, gradients, seen["output"])
            if changed is not None:
                gradients = changed if isinstance(changed, tuple) else (changed,)
        return gradients

    def at_output(gradients):
        for hook in cell._hooks.of("backward_pre"):
            changed = hook(cell, gradients)
            if changed is not None:
                gradients = changed if isinstance(changed, tuple) else (changed,)
        seen["output"] = gradients
        if not reaches_inputs:  # a first layer, of which only parameters have gradients
            for hook in cell._hooks.of("backward"):
                hook(cell, (None,), gradients)
        return gradients

    output = cell._compute(*observed(args, at_input), **kwargs)
    return observed(output, at_output)
