"""The world of processes and its groups, for one process.

A program that asks for its rank and the size of its group runs as it stands, alone. Where the environment
says that several processes were started, `init` refuses: each of them would train by itself.
"""

import os

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"
_WORLDS = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)
_BACKENDS = ("hccl", "nccl", "mccl")
_SIZES = ("RANK_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")
_groups = {}  # made by create_group: name -> ranks


class GlobalComm:
    """What is known of the world: the backend's name, that of the group of all, and whether `init` ran."""

    BACKEND = "mccl"
    WORLD_COMM_GROUP = MCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


def init(backend_name=None):
    """Begins the work together. Throws RuntimeError when the environment speaks of several processes."""
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(
            f"init: 'backend_name' has the wrong type: got {type(backend_name).__name__}, need a str"
        )
    name = GlobalComm.BACKEND if backend_name is None else backend_name
    if name not in _BACKENDS:
        raise ValueError(f"init: unknown backend: got {name!r}, need one of {_BACKENDS}")
    for variable in _SIZES:
        size = os.environ.get(variable, "1")
        if size.isdigit() and int(size) > 1:
            raise RuntimeError(f"init: only one process works: got {variable}={size}, need 1")
    GlobalComm.BACKEND = name
    GlobalComm.WORLD_COMM_GROUP = f"{name}_world_group"
    GlobalComm.INITED = True


def release():
    """Ends the work together."""
    GlobalComm.INITED = False
    _groups.clear()


def _check(what, group):
    if group is not None and not isinstance(group, str):
        raise TypeError(f"{what}: 'group' has the wrong type: got {type(group).__name__}, need a str")
    if group is not None and group not in _WORLDS and group not in _groups:
        raise ValueError(f"{what}: unknown group: got {group!r}, need the world's or one of {list(_groups)}")


def get_rank(group=None):
    """The number of this process: 0."""
    _check("get_rank", group)
    return 0


def get_local_rank(group=None):
    """The number of this process on its machine: 0."""
    _check("get_local_rank", group)
    return 0


def get_group_size(group=None):
    """How many processes there are: 1."""
    _check("get_group_size", group)
    return 1


def get_local_rank_size(group=None):
    """How many processes there are on this machine: 1."""
    _check("get_local_rank_size", group)
    return 1


def get_process_group_ranks(group=None):
    """The processes of a group: [0]."""
    _check("get_process_group_ranks", group)
    return [0]


def _only_rank(what, rank):
    if rank != 0 or isinstance(rank, bool):
        raise ValueError(f"{what}: rank is out of range: got {rank!r}, need 0, the only process")
    return 0


def get_world_rank_from_group_rank(group, group_rank_id):
    """The number in the world of a process of a group."""
    _check("get_world_rank_from_group_rank", group)
    return _only_rank("get_world_rank_from_group_rank", group_rank_id)


def get_group_rank_from_world_rank(world_rank_id, group):
    """The number in a group of a process of the world."""
    _check("get_group_rank_from_world_rank", group)
    return _only_rank("get_group_rank_from_world_rank", world_rank_id)


def create_group(group, rank_ids, options=None):  # noqa: ARG001
    """Makes a group of the only process there is: `rank_ids` is [0]."""
    if not isinstance(group, str) or not group:
        raise TypeError(f"create_group: 'group' is not usable: got {group!r}, need a name")
    if list(rank_ids) != [0]:
        raise ValueError(f"create_group: ranks are out of range: got {list(rank_ids)}, need [0]")
    _groups[group] = [0]


def destroy_group(group):
    """Forgets a group that create_group made."""
    if group not in _groups:
        raise ValueError(f"destroy_group: unknown group: got {group!r}, need one of {list(_groups)}")
    del _groups[group]
