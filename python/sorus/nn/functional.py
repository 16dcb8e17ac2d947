"""Functions where some programs look for them: those of `mint.nn.functional`, then those of `ops`."""


def __getattr__(name):
    from .. import ops
    from ..mint.nn import functional

    for module in (functional, ops):
        if name in dir(module):
            return getattr(module, name)
    from .._near import unknown_name

    raise unknown_name(__name__, name, __dir__())


def __dir__():
    from .. import ops
    from ..mint.nn import functional

    return sorted({*dir(functional), *dir(ops)})
