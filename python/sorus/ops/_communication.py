"""Primitives of processes that work together, and of status flags, where there is one process and no flag."""

from .. import _core, _functions as F
from .._core import Tensor
from ..communication.management import GlobalComm, _check
from .primitive import Primitive

_WORLD = GlobalComm.WORLD_COMM_GROUP


class ReduceOp:
    """How values of several processes become one."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"


class _Collective(Primitive):
    """A call that all processes of a group take part in. In a group of one the result is what is given."""

    def __init__(self, group=_WORLD, **attributes):
        super().__init__()
        _check(self.name, group)
        self.add_prim_attr("group", group)
        for name, value in attributes.items():
            self.add_prim_attr(name, value)

    def __call__(self, input_x):
        if not isinstance(input_x, Tensor):
            raise TypeError(
                f"{self.name}: 'input_x' has the wrong type: got {type(input_x).__name__}, need a Tensor"
            )
        return input_x


def _reduction(what, op):
    if op not in ("sum", "max", "min", "prod"):
        raise ValueError(f"{what}: unknown 'op': got {op!r}, need 'sum', 'max', 'min' or 'prod'")
    return op


def _only_rank(what, name, rank):
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"{what}: '{name}' has the wrong type: got {rank!r}, need an int")
    if rank != 0:
        raise ValueError(f"{what}: '{name}' is out of range: got {rank}, need 0, the only rank")
    return rank


class AllReduce(_Collective):
    """The sum, or another reduction, over all processes."""

    def __init__(self, op=ReduceOp.SUM, group=_WORLD):
        super().__init__(group, op=_reduction("AllReduce", op))


class ReduceScatter(_Collective):
    """A reduction of which each process gets its share along the first axis."""

    def __init__(self, op=ReduceOp.SUM, group=_WORLD):
        super().__init__(group, op=_reduction("ReduceScatter", op))


class Reduce(_Collective):
    """A reduction of which one process gets the result."""

    def __init__(self, dest_rank, op=ReduceOp.SUM, group=_WORLD):
        super().__init__(
            group, op=_reduction("Reduce", op), dest_rank=_only_rank("Reduce", "dest_rank", dest_rank)
        )


class AllGather(_Collective):
    """What all processes have, one after the other along the first axis."""


class CollectiveGather(_Collective):
    """What all processes have, for one of them."""

    def __init__(self, dest_rank, group=_WORLD):
        super().__init__(group, dest_rank=_only_rank("CollectiveGather", "dest_rank", dest_rank))


class CollectiveScatter(_Collective):
    """The shares of what one process has, along the first axis."""

    def __init__(self, src_rank=0, group=_WORLD):
        super().__init__(group, src_rank=_only_rank("CollectiveScatter", "src_rank", src_rank))


class Broadcast(_Collective):
    """The tensors that one process has, for all."""

    def __init__(self, root_rank, group=_WORLD):
        super().__init__(group, root_rank=_only_rank("Broadcast", "root_rank", root_rank))

    def __call__(self, input_x):
        return tuple(_Collective.__call__(self, t) for t in input_x)


class AlltoAll(_Collective):
    """The parts of each process' tensor along an axis, exchanged and joined along another."""

    def __init__(self, split_count, split_dim, concat_dim, group=_WORLD):
        if split_count != 1:
            raise ValueError(
                f"AlltoAll: 'split_count' is out of range: got {split_count}, need 1, the group's size"
            )
        super().__init__(group, split_count=split_count, split_dim=split_dim, concat_dim=concat_dim)


class AlltoAllV(_Collective):
    """Parts of each process' flat tensor of the lengths given, exchanged."""

    def __init__(self, group=_WORLD, block_size=1):
        super().__init__(group, block_size=block_size)

    def __call__(self, input_x, send_numel_list, recv_numel_list):
        sent = int(send_numel_list[0]) * self.block_size
        if len(send_numel_list) != 1 or len(recv_numel_list) != 1 or sent > input_x.size:
            raise ValueError(
                f"AlltoAllV: lengths do not fit: got {send_numel_list} and {recv_numel_list} for "
                f"{input_x.size} elements, need one each"
            )
        return F.narrow(F.reshape(input_x, -1), 0, 0, sent)


class Barrier(_Collective):
    """Waits for all processes."""

    def __call__(self):
        return None


class FloatStatus(Primitive):
    """1 where an element is infinite or NaN, else 0: float32 of shape (1,)."""

    def __call__(self, x):
        finite = F.all(F.isfinite(x))
        return F.reshape(F.cast(F.logical_not(finite), _core.dtypes["float32"]), (1,))


class NPUAllocFloatStatus(Primitive):
    """A flag of overflows, which is never set here: float32 of shape (8,)."""

    def __call__(self):
        return F.full((8,), 0.0)


class NPUGetFloatStatus(Primitive):
    """Reads the flag: the tensor that stands for it."""

    def __call__(self, x):
        return x


class NPUClearFloatStatus(Primitive):
    """Clears the flag."""

    def __call__(self, x):
        return F.full_like(x, 0.0)


class Partial(Primitive):
    """A function with its first arguments given: `Partial()(function, *arguments)`."""

    def __call__(self, func, *args):
        import functools

        if not callable(func):
            raise TypeError(f"Partial: 'func' has the wrong type: got {type(func).__name__}, need a function")
        return functools.partial(func, *args)


class RandomChoiceWithMask(Primitive):
    """Places of some of the true elements, drawn without replacement: int32 of shape (count, rank), zeros
    behind the last, and which rows are such places.
    """

    def __init__(self, count=256, seed=0, seed2=0):
        super().__init__()
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"RandomChoiceWithMask: 'count' has the wrong type: got {count!r}, need an int")
        if count <= 0:
            raise ValueError(f"RandomChoiceWithMask: 'count' is out of range: got {count}, need more than 0")
        for name, value in (("count", count), ("seed", seed), ("seed2", seed2)):
            self.add_prim_attr(name, value)

    def __call__(self, input_x):
        from . import randperm

        if input_x.dtype is not _core.dtypes["bool_"]:
            raise TypeError(
                f"RandomChoiceWithMask: 'input_x' has the wrong dtype: got {input_x.dtype}, need bool"
            )
        places = F.cast(F.nonzero(input_x), _core.dtypes["int32"])
        found, count = places.shape[0], self.count
        chosen = F.gather(places, F.narrow(randperm(found), 0, 0, min(found, count)), 0)
        chosen = F.pad(chosen, (0, 0), (max(count - found, 0), 0))
        return chosen, F.less(F.arange(0, count, 1), found)
