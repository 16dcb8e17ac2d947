"""Modules named `mindspore...`, which look their names up in modules of Sorus."""

import importlib
import importlib.abc
import importlib.util
import sys
import types
from importlib.machinery import ModuleSpec

from .._near import near_names
from ._paths import MODULES

_ROOT = "mindspore"


def _sorus_module(path):
    """The module `sorus.path`, also where it is an attribute such as `sorus.dtype`, or None."""
    module = importlib.import_module("sorus")
    for part in filter(None, path.split(".")):
        below = module.__dict__.get(part)
        if not isinstance(below, types.ModuleType):
            name = f"{module.__name__}.{part}"
            if not hasattr(module, "__path__") or importlib.util.find_spec(name) is None:
                return None
            below = importlib.import_module(name)
        if not below.__name__.startswith("sorus"):
            return None
        module = below
    return module


def _sources(fullname):
    """The modules in which the names of `fullname` are looked up, or None."""
    path = fullname[len(_ROOT) + 1 :]
    if path in MODULES:
        return [_sorus_module(p) for p in MODULES[path]]
    module = _sorus_module(path)
    return None if module is None or path.startswith("mindspore") else [module]


class _Alias(types.ModuleType):
    """A module whose names are those of `sources`, the first that has one."""

    def __init__(self, name, sources):
        super().__init__(name, sources[0].__doc__)
        self.__dict__["_sources"] = sources
        if hasattr(sources[0], "__file__"):
            self.__file__ = sources[0].__file__

    def __getattr__(self, name):
        found = self._public() if name == "__all__" else self._look_up(name)
        self.__dict__[name] = found
        return found

    def _look_up(self, name):
        below = f"{self.__name__}.{name}"
        for source in self._sources:
            found = getattr(source, name, None)
            if found is None:
                continue
            if not isinstance(found, types.ModuleType) or not found.__name__.startswith("sorus"):
                return found
            if _sources(below) is not None:
                return importlib.import_module(below)
        if below[len(_ROOT) + 1 :] in MODULES:
            return importlib.import_module(below)
        # With a name of its own Python adds no second guess.
        raise AttributeError(_lacks(self, name), name=name, obj=None)

    def _public(self):
        """What `from module import *` gives."""
        names = getattr(self._sources[0], "__all__", None)
        if names is None:
            names = [n for n in dir(self) if not n.startswith("_")]
        return [n for n in names if not isinstance(getattr(self, n), types.ModuleType)]

    def __dir__(self):
        return sorted({name for source in self._sources for name in dir(source)})


def _lacks(module, name):
    text = f"Sorus does not have '{module.__name__}.{name}'"
    known = (k for k in dir(module) if k != name and not k.startswith("_"))
    near = [] if name.startswith("_") else near_names(name, known)
    return text + (f": near it are {', '.join(map(repr, near))}" if near else "")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):  # noqa: ARG002
        if fullname != _ROOT and not fullname.startswith(_ROOT + "."):
            return None
        if _sources(fullname) is None:
            raise self._unknown(fullname)
        # A package, for Python asks its loader for names that it lacks: the errors are then ours.
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return _Alias(spec.name, _sources(spec.name))

    def exec_module(self, module):
        """All of it is there."""

    def _unknown(self, fullname):
        parent, _, name = fullname.rpartition(".")
        module = sys.modules.get(parent)
        text = _lacks(module, name) if module else f"Sorus does not have '{fullname}'"
        # `from module import name` drops an error that bears the name of the module that it looked for.
        return ModuleNotFoundError(text, name=parent or fullname)


def install():
    """From now on each `import mindspore...` gives Sorus. Further calls change nothing."""
    there = sys.modules.get(_ROOT)
    if there is not None and not isinstance(there, _Alias):
        raise ImportError(
            f"sorus.mindspore: mindspore was imported before from {getattr(there, '__file__', None)}: "
            "import sorus.mindspore first"
        )
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
