"""Functions, primitives and what composes them."""

import importlib as _importlib

from .. import _composites
from .._rows import Table as _Table
from ._function_rows import FUNCTIONS as _FUNCTIONS

_functions = _Table(_FUNCTIONS, __name__, _composites)
_PLACES = {
    "GradOperation": "sorus._autograd",
    "grad": "sorus._autograd",
    "value_and_grad": "sorus._autograd",
    "vjp": "sorus._autograd",
    "jvp": "sorus._autograd",
    "get_grad": "sorus._autograd",
    "jacrev": "sorus._jacobians",
    "jacfwd": "sorus._jacobians",
    "cond": "sorus._control",
    "while_loop": "sorus._control",
    "fori_loop": "sorus._control",
    "scan": "sorus._control",
    "WhileLoop": "sorus._control",
    "ForiLoop": "sorus._control",
    "Scan": "sorus._control",
    "HyperMap": "sorus.ops.composite",
    "Map": "sorus.ops.composite",
    "MultitypeFuncGraph": "sorus.ops.composite",
    "partial": "sorus.ops.composite",
    "constexpr": "sorus.ops.composite",
    "HookBackward": "sorus.ops._gradient_primitives",
    "InsertGradientOf": "sorus.ops._gradient_primitives",
    "Primitive": "sorus.ops.primitive",
    "prim_attr_register": "sorus.ops.primitive",
    "PrimitiveWithInfer": "sorus.ops.primitive",
    "PrimitiveWithCheck": "sorus.ops.primitive",
}
_PLACES.update(
    dict.fromkeys(
        "AllGather AllReduce AlltoAll AlltoAllV Barrier Broadcast CollectiveGather CollectiveScatter "
        "FloatStatus NPUAllocFloatStatus NPUClearFloatStatus NPUGetFloatStatus Partial RandomChoiceWithMask "
        "Reduce ReduceOp ReduceScatter".split(),
        "sorus.ops._communication",
    )
)
_PLACES.update(
    dict.fromkeys("HistogramSummary ImageSummary ScalarSummary TensorSummary".split(), "sorus.ops._summary")
)
_MODULES = ("composite", "function", "functional", "operations", "primitive")


def __getattr__(name):
    if name in _functions:
        found = _functions.build(name)
    elif name in _MODULES:
        found = _importlib.import_module("." + name, __name__)
    elif name in _PLACES:
        found = getattr(_importlib.import_module(_PLACES[name]), name)
    else:
        primitives = _importlib.import_module("sorus.ops.primitive")
        if name not in primitives.table:
            from .._near import unknown_name

            raise unknown_name(__name__, name, __dir__())
        found = primitives.build(name)
    globals()[name] = found
    return found


def __dir__():
    primitives = _importlib.import_module("sorus.ops.primitive")
    return sorted({*globals(), *_functions.names(), *primitives.table.names(), *_PLACES, *_MODULES})
