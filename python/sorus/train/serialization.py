"""Checkpoints: parameters to and from files."""

import os

from .. import _core
from .._core import Tensor
from .._warn import warn
from ..common.parameter import Parameter
from ..nn.cell import Cell

_FLOATS = ("float16", "float32", "float64", "bfloat16")
_INTS = ("int8", "int16", "int32", "int64")


def _entries(save_obj, choice_func):
    """Pairs (name, value) of a network, a dict or a list of {"name", "data"}."""
    if isinstance(save_obj, Cell):
        pairs = [(p.name, p) for p in save_obj.get_parameters()]
    elif isinstance(save_obj, dict):
        pairs = save_obj.items()
    elif isinstance(save_obj, (list, tuple)):
        for item in save_obj:
            if not isinstance(item, dict) or not {"name", "data"} <= item.keys():
                got = sorted(map(str, item)) if isinstance(item, dict) else type(item).__name__
                raise ValueError(
                    f"save_checkpoint: element of 'save_obj' is not usable: got {got}, "
                    "need a dict with 'name' and 'data'"
                )
        pairs = [(item["name"], item["data"]) for item in save_obj]
    else:
        raise TypeError(
            f"save_checkpoint: 'save_obj' has the wrong type: got {type(save_obj).__name__}, "
            "need a Cell, a list or a dict"
        )
    chosen, seen = [], {}
    for name, value in pairs:
        if name in seen:
            if seen[name] is value:
                continue
            raise ValueError(
                f"save_checkpoint: two parameters have one name: got '{name}' again, need distinct names"
            )
        seen[name] = value
        keep = True if choice_func is None else choice_func(name)
        if isinstance(keep, str):
            chosen.append((keep, value))
        elif keep:
            chosen.append((name, value))
    return chosen


def _storable(name, value):
    if isinstance(value, Tensor):
        return value
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return Tensor(value)
    raise TypeError(
        f"save_checkpoint: '{name}' has the wrong type: got {type(value).__name__}, "
        "need a Tensor, a number or a str"
    )


def _path(name, format_, what):
    if not isinstance(name, (str, os.PathLike)) or not os.fspath(name):
        raise ValueError(f"{what}: 'ckpt_file_name' is not usable: got {name!r}, need a path")
    if format_ != "ckpt":
        raise ValueError(f"{what}: unsupported 'format': got {format_!r}, need 'ckpt'")
    return os.path.abspath(os.path.expanduser(os.fspath(name)))


def save_checkpoint(
    save_obj,
    ckpt_file_name,
    integrated_save=True,  # noqa: ARG001
    async_save=False,  # noqa: ARG001
    append_dict=None,
    enc_key=None,
    enc_mode="AES-GCM",  # noqa: ARG001
    choice_func=None,
    crc_check=False,
    format="ckpt",  # noqa: A002
    **kwargs,
):
    """Writes the parameters of a network (or a dict, or a list of {"name", "data"}) and `append_dict` to a
    `.ckpt` file.

    The file appears when it is complete; a link stays a link to it. `async_save` is accepted; writing is done
    when the call returns.
    """
    if enc_key is not None:
        raise ValueError("save_checkpoint: encryption is not supported: got 'enc_key', need None")
    if kwargs:
        raise TypeError(f"save_checkpoint: unknown argument: got {sorted(kwargs)}")
    path = _path(ckpt_file_name, format, "save_checkpoint")
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"save_checkpoint: 'ckpt_file_name' is a folder: got {ckpt_file_name!r}, need the name of a file"
        )
    if not path.endswith(".ckpt"):
        path += ".ckpt"
    entries = [(name, _storable(name, value)) for name, value in _entries(save_obj, choice_func)]
    entries += [(name, _storable(name, value)) for name, value in (append_dict or {}).items()]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.chmod(path, 0o600)
    _core.write_checkpoint(path, entries, crc_check)
    os.chmod(path, 0o400)


def _prefixes(value, what):
    if value is None:
        return ()
    found = (value,) if isinstance(value, str) else tuple(value)
    if not all(isinstance(p, str) and p for p in found):
        raise ValueError(f"load_checkpoint: '{what}' is not usable: got {value!r}, need names' beginnings")
    return found


def load_checkpoint(
    ckpt_file_name,
    net=None,
    strict_load=False,
    filter_prefix=None,
    dec_key=None,
    dec_mode="AES-GCM",  # noqa: ARG001
    specify_prefix=None,
    choice_func=None,
    crc_check=False,
    remove_redundancy=False,  # noqa: ARG001
    format="ckpt",  # noqa: A002
):
    """Parameters (and texts) of a `.ckpt` file by name; with `net` they are loaded into it as well."""
    if dec_key is not None:
        raise ValueError("load_checkpoint: encryption is not supported: got 'dec_key', need None")
    path = _path(ckpt_file_name, format, "load_checkpoint")
    if not path.endswith(".ckpt"):
        raise ValueError(f"load_checkpoint: file has another ending: got {path}, need '.ckpt'")
    if not os.path.isfile(path):
        raise ValueError(f"load_checkpoint: there is no such file: got {path}")
    only, leave_out = _prefixes(specify_prefix, "specify_prefix"), _prefixes(filter_prefix, "filter_prefix")

    def choose(name):
        if only or leave_out:
            return (not only or name.startswith(only)) and not (leave_out and name.startswith(leave_out))
        return choice_func is None or bool(choice_func(name))

    try:
        pairs = _core.read_checkpoint(path, crc_check, choose)
    except OSError as error:
        raise ValueError(f"load_checkpoint: file cannot be read: {error}") from error
    found = {name: Parameter(v, name=name) if isinstance(v, Tensor) else v for name, v in pairs}
    if not found:
        chosen = only or leave_out or choice_func is not None
        why = "no name passes the choice" if chosen else "it holds no parameter"
        raise ValueError(f"load_checkpoint: nothing is left of {path}: {why}")
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


def load_checkpoint_async(
    ckpt_file_name, net=None, strict_load=False, filter_prefix=None, dec_key=None, **kwargs
):
    """load_checkpoint whose `result()` gives the parameters."""
    loaded = load_checkpoint(ckpt_file_name, net, strict_load, filter_prefix, dec_key, **kwargs)

    class Loaded:
        """What has been loaded."""

        @staticmethod
        def result():
            """Parameters by name."""
            return loaded

    return Loaded()


def _only_ones_differ(one, other):
    """Whether two shapes are the same up to further ones at the end."""
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return longer[: len(shorter)] == shorter and all(n == 1 for n in longer[len(shorter) :])


def _misfit(p, value, strict):
    """What keeps a value from a parameter, or None. Its shape may have further ones at the end, and its dtype
    may be of the same family unless `strict`.
    """
    if value.shape != p.shape and not _only_ones_differ(value.shape, p.shape):
        return f"another shape: got {value.shape}, need {p.shape}"
    if value.dtype is not p.dtype:
        names = {value.dtype.name, p.dtype.name}
        if strict or not any(names <= set(kind) for kind in (_FLOATS, _INTS)):
            return f"another dtype: got {value.dtype}, need {p.dtype}"
    return None


def _fitted(p, value):
    """A value that fits a parameter, in its shape and dtype."""
    if value.dtype is not p.dtype:
        warn(f"load_param_into_net: '{p.name}' is converted from {value.dtype} to {p.dtype}")
        value = value.astype(p.dtype)
    return value.reshape(p.shape) if value.shape != p.shape else value


def _not_loaded(missing, unexpected, misfits):
    """Names by what is wrong with them, a line each."""
    lines = []
    for name in missing:
        near = _core.near_names(name, unexpected)
        lines.append(f"  missing     {name}" + (f" (near: {', '.join(near)})" if near else ""))
    lines += [f"  unexpected  {name}" for name in unexpected]
    lines += [f"  misshaped   {name}: {why}" for name, why in misfits.items()]
    return "\n".join(lines)


def load_param_into_net(net, parameter_dict, strict_load=False, remove_redundancy=False):  # noqa: ARG001
    """Gives the parameters of a network the values of their names.

    Gives (names the checkpoint lacks, names the network lacks). Names of the checkpoint may have a prefix in
    front that the network's lack. Where a value does not fit, nothing is loaded: throws RuntimeError with one
    list of all names that are missing, unexpected or of another shape or dtype.
    """
    if not isinstance(net, Cell):
        raise TypeError(
            f"load_param_into_net: 'net' has the wrong type: got {type(net).__name__}, need a Cell"
        )
    if not isinstance(parameter_dict, dict):
        raise TypeError(
            "load_param_into_net: 'parameter_dict' has the wrong type: "
            f"got {type(parameter_dict).__name__}, need a dict"
        )
    values = {name: v for name, v in parameter_dict.items() if isinstance(v, Tensor)}
    wrong = [name for name, v in parameter_dict.items() if not isinstance(v, (Tensor, str))]
    if wrong:
        raise TypeError(
            f"load_param_into_net: '{wrong[0]}' is no Parameter: "
            f"got {type(parameter_dict[wrong[0]]).__name__}"
        )
    parameters = {p.name: p for p in net.get_parameters()}
    source = {name: name for name in parameters if name in values}
    if not strict_load:
        _match_prefixed(parameters, values, source)
    missing = [name for name in parameters if name not in source and not name.startswith("accu_grads")]
    used = set(source.values())
    unexpected = [name for name in values if name not in used]
    found = {name: values[taken] for name, taken in source.items()}
    found = {name: v.value() if isinstance(v, Parameter) else v for name, v in found.items()}
    misfits = {name: _misfit(parameters[name], v, strict_load) for name, v in found.items()}
    misfits = {name: why for name, why in misfits.items() if why}
    if misfits:
        raise RuntimeError(
            f"load_param_into_net: the values do not fit the network, none is loaded: got\n"
            f"{_not_loaded(missing, unexpected, misfits)}\nneed those of this network"
        )
    for name, value in found.items():
        parameters[name].set_data(_fitted(parameters[name], value))
    if missing:
        warn(
            f"load_param_into_net: {len(missing)} parameters of the network are not in the checkpoint:\n"
            + _not_loaded(missing, unexpected, {})
        )
    return missing, unexpected


def _match_prefixed(parameters, values, source):
    """Finds names of the checkpoint that have a prefix in front of the network's names."""
    tried = set()
    while True:
        left = [name for name in parameters if name not in source]
        taken = set(source.values())
        prefix = next(
            (
                c[: -len(name)]
                for name in left
                for c in values
                if c.endswith("." + name) and c not in taken and c[: -len(name)] not in tried
            ),
            None,
        )
        if prefix is None:
            return
        tried.add(prefix)
        for name in left:
            if prefix + name in values and prefix + name not in taken:
                source[name] = prefix + name
        warn(f"load_param_into_net: names are taken without the prefix '{prefix}'")


def checksum(parameters):
    """A hash of the values of parameters (or of a network's), in order: equal for equal bits."""
    return _core.checksum(parameters.get_parameters() if isinstance(parameters, Cell) else parameters)
