"""What scripts import from `ops._primitive_cache`: primitives that are made once for the same arguments."""

_made = {}


def _get_cache_prim(cls):
    """A function that makes the primitive, or gives the one made before with the same arguments.

    >>> from sorus import ops
    >>> from sorus.ops._primitive_cache import _get_cache_prim
    >>> _get_cache_prim(ops.ReduceSum)(True) is _get_cache_prim(ops.ReduceSum)(True)
    True
    """

    def make(*args, **kwargs):
        key = (cls, repr(args), repr(sorted(kwargs.items())))
        if key not in _made:
            _made[key] = cls(*args, **kwargs)
        return _made[key]

    return make
