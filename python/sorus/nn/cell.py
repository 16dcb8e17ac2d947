"""Cell: a tree of named parameters and child cells with a function, `construct`."""

import collections

from .. import _autograd, _calls, _core, _declared, _errors
from .._core import Tensor
from .._loops import construct_of
from ..common.parameter import Parameter, ParameterTuple

_floats = ("float16", "float32", "bfloat16")


class LoadedState(collections.namedtuple("LoadedState", "missing_keys unexpected_keys")):
    """What load_state_dict found missing and unexpected."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if any(self) else "<All keys matched successfully>"


class Cell:
    """The base of every network and layer. Subclasses assign parameters and cells to attributes in
    `__init__` and
    compute in `construct`; calling the cell calls `construct`.

    >>> from sorus import Tensor, nn
    >>> class Net(nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    ...
    ...     def construct(self, x):
    ...         return self.fc(x) * 2
    >>> net = Net()
    >>> net(Tensor([[1.0, 2.0]])).tolist()
    [[6.0]]
    >>> [p.name for p in net.trainable_params()]
    ['fc.weight', 'fc.bias']
    """

    # Attributes that are made when they are first asked for, by functions of the cell.
    _on_demand = {}

    def __init__(self, auto_prefix=True, flags=None):
        state = self.__dict__
        state["_params"] = {}
        state["_cells"] = {}
        state["_buffers"] = {}
        state["_hooks"] = None
        state["_declared_inputs"] = None
        state["_cast_to"] = None
        state["_casting"] = False
        state["_auto_prefix"] = auto_prefix
        state["_flags"] = dict(flags or {})
        state["_param_prefix"] = ""
        state["training"] = False
        state["requires_grad"] = False
        state["cls_name"] = type(self).__name__
        state["instance_name"] = ""

    # Of a class whose `construct` has loops: it, the same with loops offered, and with branches offered as
    # well, either of them None where there are none. A class has its own, or none.
    _with_loops = None

    pipeline_stage = None
    """Accepted for compatibility: there is one stage."""

    # --------------------------------------------------------------------------------------------- attributes

    def __setattr__(self, name, value):
        state = self.__dict__
        cells, params = state.get("_cells"), state.get("_params")
        if cells is None:
            if isinstance(value, (Cell, Parameter)):
                raise AttributeError(
                    f"{type(self).__name__}: '{name}' is set too early: call super().__init__() first"
                )
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            cells.pop(name, None)
            state.pop(name, None)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, ParameterTuple):
            for p in value:
                self.insert_param_to_cell(p.name, p, check_name_contain_dot=False)
            object.__setattr__(self, name, value)
        elif isinstance(value, Cell):
            params.pop(name, None)
            state.pop(name, None)
            cells[name] = value
            if state["_auto_prefix"]:
                value.update_parameters_name(name + ".")
            value._param_prefix = name
        elif name in params and isinstance(value, Tensor):
            params[name].set_data(value)
        elif name in params and value is None:
            params[name] = None
        elif name in cells:
            if value is not None:
                raise TypeError(
                    f"{type(self).__name__}: '{name}' holds a cell: got {type(value).__name__}, need a Cell"
                )
            cells[name] = None
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        state = self.__dict__
        for table in ("_params", "_cells", "_buffers"):
            members = state.get(table)
            if members is not None and name in members:
                member = members[name]
                if table == "_params" and state["_casting"] and _is_castable(member):
                    return member.astype(state["_cast_to"])
                return member
        if name in self._on_demand:
            state[name] = self._on_demand[name](self)
            return state[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for table in (self._params, self._cells, self._buffers):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *self._params, *self._cells, *self._buffers})

    # --------------------------------------------------------------------------------------------- parameters

    def insert_param_to_cell(self, param_name, param, check_name_contain_dot=True):
        """Makes `param` the parameter of that name; a parameter without a name is named after it."""
        if not isinstance(param_name, str) or not param_name:
            raise KeyError(
                f"insert_param_to_cell: parameter has no proper name: got {param_name!r}, need a str"
            )
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"insert_param_to_cell: name holds a dot: got '{param_name}', need one without")
        if "_params" not in self.__dict__:
            raise AttributeError(
                "insert_param_to_cell: cell is not initialized: call super().__init__() first"
            )
        if hasattr(self, param_name) and param_name not in self._params:
            raise KeyError(f"insert_param_to_cell: name is taken: got '{param_name}', need another")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"insert_param_to_cell: wrong type: got {type(param).__name__}, need a Parameter")
        if param is not None and param.has_default_name:
            param.name = param_name
        self._params[param_name] = param

    def parameters_and_names(self, name_prefix="", expand=True):
        """Pairs of a parameter's path and the parameter, each parameter once."""
        seen = set()
        for prefix, cell in (
            self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]
        ):
            for name, p in cell._params.items():
                if p is not None and id(p) not in seen:
                    seen.add(id(p))
                    yield (f"{prefix}.{name}" if prefix else name), p

    def get_parameters(self, expand=True):
        """All parameters, of this cell alone unless `expand`."""
        for _, p in self.parameters_and_names(expand=expand):
            yield p

    def trainable_params(self, recurse=True):
        """Parameters that gradients are computed for."""
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse=True):
        """Parameters that no gradients are computed for."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse=True):
        """Parameters by name, in order."""
        return collections.OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse=True):
        """Parameters that data-parallel training broadcasts, by name."""
        found = {p.name: p for p in self.get_parameters(expand=recurse) if not p.layerwise_parallel}
        return found or None

    def update_parameters_name(self, prefix="", recurse=True):
        """Names every parameter after its path below this cell, with `prefix` before it."""
        if not isinstance(prefix, str):
            raise TypeError(f"update_parameters_name: wrong type: got {type(prefix).__name__}, need a str")
        for name, p in self.parameters_and_names(expand=recurse):
            p.is_init = False
            p.name = prefix + name

    def init_parameters_data(self, auto_parallel_mode=False):  # noqa: ARG002
        """Parameters hold their data from the start; gives the mapping of each to itself."""
        return {p: p for p in self.get_parameters()}

    def check_names(self):
        """Throws ValueError when two parameters of the network share a name."""
        names = set()
        for path, p in self.parameters_and_names():
            if p.name in names:
                raise ValueError(f"check_names: parameter name is taken: got '{p.name}' again at {path}")
            names.add(p.name)

    check_names_and_refcount_for_flatten_weights = check_names

    def register_buffer(self, name, tensor, persistent=True):
        """Keeps a tensor that is no parameter under that name, in `state_dict` too when it is persistent."""
        if not isinstance(name, str) or not name or "." in name:
            raise KeyError(f"register_buffer: no proper name: got {name!r}, need a str without dots")
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"register_buffer: name is taken: got '{name}', need another")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: wrong type: got {type(tensor).__name__}, need a Tensor")
        self._buffers[name] = tensor
        passing = self.__dict__.setdefault("_passing_buffers", set())
        passing.discard(name) if persistent else passing.add(name)

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Pairs of a buffer's path and the buffer."""
        seen = set()
        for path, cell in self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]:
            for name, tensor in cell._buffers.items():
                if tensor is None or (remove_duplicate and id(tensor) in seen):
                    continue
                seen.add(id(tensor))
                yield (f"{path}.{name}" if path else name), tensor

    def buffers(self, recurse=True):
        """All buffers, of this cell alone unless `recurse`."""
        for _, tensor in self.named_buffers(recurse=recurse):
            yield tensor

    def get_buffer(self, target):
        """The buffer at a path such as "block.0.mask"."""
        path, _, name = target.rpartition(".")
        buffers = self.get_sub_cell(path)._buffers
        if name not in buffers:
            raise AttributeError(f"get_buffer: no buffer: got '{target}', need one of {sorted(buffers)}")
        return buffers[name]

    def _kept(self, prefix=""):
        """Parameters and persistent buffers by path, cell by cell."""
        found = collections.OrderedDict()
        for path, cell in self.cells_and_names(name_prefix=prefix):
            passing = cell.__dict__.get("_passing_buffers", ())
            buffers = {name: t for name, t in cell._buffers.items() if name not in passing}
            for name, value in (*cell._params.items(), *buffers.items()):
                if value is not None:
                    found[f"{path}.{name}" if path else name] = value
        return found

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):  # noqa: ARG002
        """Parameters and persistent buffers by path, the very ones of the cell."""
        if args:
            destination = args[0]
            prefix = args[1] if len(args) > 1 else prefix
        found = self._kept(prefix.removesuffix("."))
        if destination is None:
            return found
        destination.update(found)
        return destination

    def load_state_dict(self, state_dict, strict=True):
        """Gives parameters and buffers the values that a state has for their paths.

        The result names the paths that the state lacks and those that the cell lacks, `missing_keys` and
        `unexpected_keys`. With `strict` there must be none (RuntimeError, and nothing is loaded); shapes must
        fit in any case.
        """
        own = self._kept()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = [
            f"{name}: got shape {tuple(state_dict[name].shape)}, need {tuple(value.shape)}"
            for name, value in own.items()
            if name in state_dict and tuple(state_dict[name].shape) != tuple(value.shape)
        ]
        if wrong or (strict and (missing or unexpected)):
            said = [*wrong, *(f"missing {n}" for n in missing), *(f"unexpected {n}" for n in unexpected)]
            raise RuntimeError(
                f"load_state_dict: state does not fit {type(self).__name__}: got {'; '.join(said)}, "
                "need its paths and shapes"
            )
        for name, value in own.items():
            if name in state_dict:
                given = state_dict[name]
                given = given if isinstance(given, Tensor) else Tensor(given)
                write = value.set_data if isinstance(value, Parameter) else value.assign_value
                write(given.astype(value.dtype))
        return LoadedState(missing, unexpected)

    # -------------------------------------------------------------------------------------------------- cells

    def insert_child_to_cell(self, child_name, child_cell):
        """Makes `child_cell` the child of that name."""
        if not isinstance(child_name, str) or not child_name or "." in child_name:
            raise KeyError(
                f"insert_child_to_cell: no proper name: got {child_name!r}, need a str without dots"
            )
        if hasattr(self, child_name) and child_name not in self._cells:
            raise KeyError(f"insert_child_to_cell: name is taken: got '{child_name}', need another")
        if not isinstance(child_cell, Cell) and child_cell is not None:
            raise TypeError(f"insert_child_to_cell: wrong type: got {type(child_cell).__name__}, need a Cell")
        self._cells[child_name] = child_cell

    def cells(self):
        """Child cells."""
        return self.name_cells().values()

    def name_cells(self):
        """Child cells by name, each once."""
        seen, found = set(), collections.OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def cells_and_names(self, cells=None, name_prefix=""):
        """Pairs of path and cell: this one and all below it, each once."""
        seen = cells if cells is not None else set()
        if self in seen:
            return
        seen.add(self)
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def get_sub_cell(self, target):
        """The cell at a path such as "block.0"; this one for an empty path."""
        found = self
        for name in target.split(".") if target else ():
            if not isinstance(found, Cell) or found._cells.get(name) is None:
                raise AttributeError(
                    f"get_sub_cell: no cell: got '{target}', need a path of {type(self).__name__}"
                )
            found = found._cells[name]
        return found

    def get_children(self):
        """Child cells, as cells()."""
        return self.cells()

    def apply(self, fn):
        """Calls `fn` on every cell below and then on this one."""
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    def _children_first(self):
        for _, cell in self.cells_and_names():
            yield cell

    # -------------------------------------------------------------------------------------------------- modes

    def set_train(self, mode=True):
        """Training or inference for this cell and all below it."""
        if not isinstance(mode, bool):
            raise TypeError(f"set_train: 'mode' has the wrong type: got {type(mode).__name__}, need a bool")
        for cell in self._children_first():
            cell.__dict__["training"] = mode
        return self

    def set_grad(self, requires_grad=True):
        """Notes that gradients are wanted; they are computed whenever a gradient function asks for them."""
        for cell in self._children_first():
            cell.__dict__["requires_grad"] = requires_grad
        return self

    def to_float(self, dst_type):
        """Computes this cell and all below it in that floating dtype: inputs and parameters are converted."""
        if dst_type.name not in _floats:
            raise ValueError(
                f"to_float: unsupported dtype: got {dst_type}, need float16, bfloat16 or float32"
            )
        for cell in self._children_first():
            cell.__dict__["_cast_to"] = dst_type
        return self

    def add_flags(self, **flags):
        """Keeps flags, also as attributes."""
        self._flags.update(flags)
        for name, value in flags.items():
            object.__setattr__(self, name, value)
        return self

    def add_flags_recursive(self, **flags):
        """Keeps flags in this cell and all below it."""
        for cell in self._children_first():
            cell.add_flags(**flags)
        return self

    def get_flags(self):
        """The flags kept."""
        return self._flags

    def recompute(self, **kwargs):  # noqa: ARG002
        """Keeps nothing of this cell's inside for the backward pass, which computes it again."""
        self.__dict__["_recompute"] = True
        return self

    def shard(self, in_strategy=None, out_strategy=None, parameter_plan=None, device="Ascend", level=0):  # noqa: ARG002
        """One process computes everything, so that a strategy changes nothing."""
        return self

    def set_inputs(self, *inputs, **kwargs):
        """Declares the types of the inputs, by position or by name, where extents may be unknown:
        `Tensor(shape=[None, 3], dtype=ms.float32)`. A call with others raises ValueError. Compilation needs
        no such declaration. None stands for any input; without arguments nothing is declared any more.
        """
        if inputs and kwargs:
            raise ValueError("Cell.set_inputs: inputs by position and by name: need one of the two")
        declared = _declared.as_declared("Cell.set_inputs", kwargs or inputs)
        self.__dict__["_declared_inputs"] = declared or None
        if self._hooks is None:  # whose way calls take then
            self.__dict__["_hooks"] = _calls.Hooks()

    def get_inputs(self):
        """What `set_inputs` declared, or None."""
        return self.__dict__["_declared_inputs"]

    def set_comm_fusion(self, fusion_type, recurse=True):  # noqa: ARG002
        """Accepted for compatibility."""
        return self

    def set_jit_config(self, jit_config):  # noqa: ARG002
        """Accepted for compatibility."""

    def flatten_weights(self, fusion_size=0):  # noqa: ARG002
        """Accepted for compatibility: parameters stay where they are."""

    def set_broadcast_flag(self, mode=True):  # noqa: ARG002
        """Accepted for compatibility."""
        return self

    def set_param_fl(self, push_to_server=False, pull_from_server=False, requires_aggr=True):  # noqa: ARG002
        """Accepted for compatibility."""
        return self

    def place(self, role, rank_id):
        """Accepted for compatibility: there is one process."""

    # --------------------------------------------------------------------------------------------------- call

    def construct(self, *args, **kwargs):
        """What the cell computes; subclasses say it."""
        raise AttributeError(f"{type(self).__name__}: 'construct' is missing: define what the cell computes")

    def __call__(self, *args, **kwargs):
        try:
            if _calls.boundaries:  # graph mode: the outermost call is a boundary
                return _calls.boundaries(self, self._run, args, kwargs)
            state = self.__dict__
            if state["_hooks"] is None and state["_cast_to"] is None and not _core.in_gradient_scope():
                if type(self)._with_loops is not None and _core.in_boundary():
                    return construct_of(self)(*args, **kwargs)
                return self.construct(*args, **kwargs)  # as _run does, two calls sooner
            return self._run(*args, **kwargs)
        except Exception as error:
            told = _errors.told_in(error, self, args, kwargs)
            if told is error:
                raise
            raise told from error

    def _run(self, *args, **kwargs):
        state = self.__dict__
        if state["_hooks"] is not None:
            return _calls.with_hooks(self, args, kwargs)
        return self._compute(*args, **kwargs)

    def _compute(self, *args, **kwargs):
        state = self.__dict__
        if state["_cast_to"] is not None and not state["_casting"]:
            args = _calls.cast_floats(args, state["_cast_to"])
            kwargs = _calls.cast_floats(kwargs, state["_cast_to"])
            state["_casting"] = True  # parameters are converted where `construct` reads them
            try:
                return self._compute(*args, **kwargs)
            finally:
                state["_casting"] = False
        if _core.in_gradient_scope():
            bprop = getattr(self, "bprop", None)
            if bprop is not None:
                return _autograd.custom_bprop(self.construct, bprop, args)
            if "_recompute" in state:
                return _autograd.recomputed(self.construct, args, kwargs)
        elif type(self)._with_loops is not None and _core.in_boundary():
            return construct_of(self)(*args, **kwargs)
        return self.construct(*args, **kwargs)

    def compile(self, *args, **kwargs):
        """Does nothing: compilation starts by itself at the second call of a signature."""

    def compile_and_run(self, *args, **kwargs):
        """Calls the cell."""
        return self(*args, **kwargs)

    def _add_hook(self, kind, hook):
        if not callable(hook):
            raise TypeError(
                f"{kind}: 'hook_fn' has the wrong type: got {type(hook).__name__}, need a function"
            )
        if self._hooks is None:
            self.__dict__["_hooks"] = _calls.Hooks()
        return self._hooks.add(kind, hook, self)

    def register_forward_pre_hook(self, hook_fn, with_kwargs=False):
        """`hook_fn(cell, inputs)` before each call; what it returns replaces the inputs."""
        return self._add_hook("forward_pre_kwargs" if with_kwargs else "forward_pre", hook_fn)

    def register_forward_hook(self, hook_fn, with_kwargs=False):
        """`hook_fn(cell, inputs, output)` after each call; what it returns replaces the output."""
        return self._add_hook("forward_kwargs" if with_kwargs else "forward", hook_fn)

    def register_backward_hook(self, hook_fn):
        """`hook_fn(cell, grad_input, grad_output)` in the backward pass; what it returns replaces
        grad_input. Where no input has a gradient, as those of a first layer, grad_input is (None,).
        """
        return self._add_hook("backward", hook_fn)

    def register_backward_pre_hook(self, hook_fn):
        """`hook_fn(cell, grad_output)` in the backward pass; what it returns replaces grad_output."""
        return self._add_hook("backward_pre", hook_fn)

    # --------------------------------------------------------------------------------------------------- text

    @property
    def param_prefix(self):
        """Name under which the parent holds this cell."""
        return self._param_prefix

    @property
    def cell_init_args(self):
        """The class name."""
        return type(self).__name__

    def extend_repr(self):
        """What a layer shows of itself between the brackets."""
        return ""

    def __repr__(self):
        extra = self.extend_repr()
        children = [f"({name}): {_indented(repr(cell))}" for name, cell in self._cells.items()]
        if not children:
            return f"{type(self).__name__}({extra})"
        lines = ([extra] if extra else []) + children
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


def _is_castable(parameter):
    """Weights are converted; running statistics and the like keep their dtype."""
    return parameter is not None and parameter.requires_grad and parameter.dtype.is_floating_point


def _indented(text):
    return text.replace("\n", "\n  ")


class GraphCell(Cell):
    """A cell that runs a loaded graph."""

    def __init__(self, graph, params_init=None, obf_random_seed=None):  # noqa: ARG002
        super().__init__()
        self.graph = graph

    def construct(self, *args):
        """Runs the graph."""
        return self.graph(*args)


_core.set_cell_call(Cell.__call__.__code__, _errors.place_in_cells)
