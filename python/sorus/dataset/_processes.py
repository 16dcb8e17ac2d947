"""Processes in which Python functions of a pipeline run.

The processes of a `ProcessPool` are forked (or spawned) when the first iterator over its pipeline is made,
and end with the last one. Rows travel in memory without a name that parent and child share; a socket for each
child tells what lies there. When the parent dies, however that happens, the kernel or the closed socket ends
the children.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import multiprocessing
import multiprocessing.reduction
import os
import pickle
import random
import select
import signal
import socket
import struct
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import _core
from . import config

_WORD = struct.Struct("<q")
_ALIGNMENT = 64
_LOOK_SECONDS = 0.1  # between looks at whether to end
_PORTIONS = 4  # of the rows, for each child: so that none waits long for the slowest

_parents: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _close_parents() -> None:
    """In a forked child: only the parent may hold the parent's ends, or their closing would not be seen."""
    for end in list(_parents):
        end.close()


os.register_at_fork(after_in_child=_close_parents)


class ChildTraceback(Exception):
    """The traceback of an error in a child process, as the cause of the error."""

    def __init__(self, text: str):
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n{self.text}"


class _Memory:
    """Memory without a name, shared with a child, that grows as it is needed. Its first word is a counter."""

    def __init__(self, file: int | None = None):
        self.file = os.memfd_create("sorus rows", os.MFD_CLOEXEC) if file is None else file
        if file is None:
            os.ftruncate(self.file, mmap.PAGESIZE)
        self._map = mmap.mmap(self.file, 0)

    def view(self, size: int) -> memoryview:
        """At least `size` bytes behind the counter."""
        need = size + _ALIGNMENT
        if len(self._map) < need:
            if os.fstat(self.file).st_size < need:
                os.ftruncate(self.file, max(need, 2 * len(self._map)))
            self._map = mmap.mmap(self.file, 0)  # views of the old one keep it
        return memoryview(self._map)[_ALIGNMENT:]

    @property
    def counter(self) -> int:
        return _WORD.unpack_from(self._map)[0]

    @counter.setter
    def counter(self, value: int) -> None:
        _WORD.pack_into(self._map, 0, value)

    def close(self) -> None:
        os.close(self.file)

    def __reduce__(self) -> Any:
        """For a child that is spawned."""
        return _attach, (multiprocessing.reduction.DupFd(self.file),)


def _attach(handle: Any) -> _Memory:
    return _Memory(handle.detach())


class _Channel:
    """One end of the way between parent and child. Objects go through memory, their sizes by the socket."""

    def __init__(self, end: socket.socket, outbound: _Memory, inbound: _Memory):
        self.end, self.outbound, self.inbound = end, outbound, inbound

    def send(self, value: Any) -> None:
        buffers: list[pickle.PickleBuffer] = []
        parts = [memoryview(pickle.dumps(value, protocol=5, buffer_callback=buffers.append))]
        parts += [buffer.raw() for buffer in buffers]
        sizes = [part.nbytes for part in parts]
        to = self.outbound.view(sum(_aligned(size) for size in sizes))
        at = 0
        for part, size in zip(parts, sizes):
            to[at : at + size] = part
            at += _aligned(size)
        self.end.sendall(struct.pack(f"<{len(sizes) + 1}q", len(sizes), *sizes))

    def receive(self) -> Any:
        """The next object. Raises EOFError when the other end is closed."""
        (count,) = _WORD.unpack(self._read(_WORD.size))
        sizes = struct.unpack(f"<{count}q", self._read(count * _WORD.size))
        source = self.inbound.view(sum(_aligned(size) for size in sizes))
        parts, at = [], 0
        for size in sizes:
            parts.append(bytearray(source[at : at + size]))
            at += _aligned(size)
        return pickle.loads(parts[0], buffers=parts[1:])

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.end.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class _Child:
    """A child process as its parent sees it."""

    def __init__(self, functions: Sequence[Callable], seed: int):
        self._how = ""  # it ended, once it did
        self.to_child, self.to_parent = _Memory(), _Memory()
        ours, theirs = socket.socketpair()
        _parents.add(ours)
        self.channel = _Channel(ours, self.to_child, self.to_parent)
        channel = _Channel(theirs, self.to_parent, self.to_child)
        if config.get_multiprocessing_start_method() == "spawn":
            context = multiprocessing.get_context("spawn")
            process = context.Process(
                target=_serve, args=(channel, functions, seed, os.getpid()), daemon=True
            )
            process.start()
            self.process, self.pid = process, process.pid
        else:
            self.process, self.pid = None, _fork(channel, functions, seed)
        theirs.close()

    def end(self) -> None:
        """Ends the process."""
        if not self._how:
            os.kill(self.pid, signal.SIGKILL)
        self.wait()
        self.to_child.close()
        self.to_parent.close()

    def wait(self) -> str:
        """How the process ended."""
        self._how = self._how or self._wait()
        return self._how

    def _wait(self) -> str:
        if self.process is not None:
            self.process.join()
            code = self.process.exitcode
        else:
            try:
                code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            except ChildProcessError:  # the program itself has waited for all of its children
                return "an unknown status"
        if code is not None and code < 0:
            return f"signal {signal.Signals(-code).name}"
        return f"exit status {code}"


def _fork(channel: _Channel, functions: Sequence[Callable], seed: int) -> int:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # or both would write what waits
    parent = os.getpid()
    # The kernel tells of the end of the thread that forked, not of the process.
    follows = threading.current_thread() is threading.main_thread()
    pid = os.fork()
    if pid == 0:
        try:
            _serve(channel, functions, seed, parent if follows else 0)
        finally:
            os._exit(1)
    return pid


def _serve(channel: _Channel, functions: Sequence[Callable], seed: int, parent: int) -> None:
    """The life of a child. `parent`: its process, when this child may end with the thread that made it."""
    if parent:
        death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the children
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(channel.end,), daemon=True).start()
    _core.set_num_threads(1)  # the other cores have children of their own
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    while True:
        try:
            number, calls = channel.receive()
        except (EOFError, OSError):
            os._exit(0)
        reply = _answer(functions[number], calls, channel.outbound)
        try:
            channel.send(reply)
        except OSError:
            os._exit(0)
        except Exception as error:  # a result that cannot travel
            channel.send(([], _portable(error)))
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()


def _end_with(end: socket.socket) -> None:
    """Ends this process when the other end is closed, also while a function runs."""
    closed = select.poll()
    closed.register(end, 0)
    closed.poll()
    os._exit(0)


def _answer(function: Callable, calls: list[tuple], progress: _Memory) -> tuple[list, Any]:
    """Results up to the first call that fails, and its error."""
    results: list[Any] = []
    for number, arguments in enumerate(calls):
        progress.counter = number
        try:
            results.append(function(*arguments))
        except BaseException as error:
            return results, _portable(error)
    return results, None


def _portable(error: BaseException) -> tuple[bytes, str]:
    """An error and its traceback as they travel."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        packed = pickle.dumps(error)
        pickle.loads(packed)
    except Exception:
        packed = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return packed, text


class ProcessPool:
    """Processes for the functions of one step. Those of iterators that run at the same time are shared."""

    def __init__(self, op: str, functions: Sequence[Callable], workers: int | None):
        cores = len(os.sched_getaffinity(0))
        self.op = op
        self.functions = [f.at_row if getattr(f, "draws_by_row", False) else f for f in functions]
        self.workers = min(workers or cores, cores)
        self._children: list[_Child] = []
        self._owner = 0  # the process whose children they are
        self._users = 0
        self._stops = False
        self._lock = threading.Lock()  # of what is here
        self._turn = threading.Lock()  # to use the children

    def __deepcopy__(self, memo: dict) -> ProcessPool:
        return self

    def begin(self) -> None:
        """Called for each iterator."""
        with self._lock:
            self._owner = os.getpid()
            self._users += 1
            if self._children or config.get_debug_mode():
                return
            self._stops = False
            seeds = numpy.random.SeedSequence(config.get_seed() if config.get_seed() != 5489 else None)
            for seed in seeds.generate_state(self.workers):
                self._children.append(_Child(self.functions, int(seed)))

    def end(self) -> None:
        """Called when an iterator ends; the last one ends the processes, whatever they do."""
        if self._owner != os.getpid():  # this process was forked by the program: they are its parent's
            return
        with self._lock:
            self._users -= 1
            if self._users > 0:
                return
            self._stops = True
            children, self._children = self._children, []
        for child in children:
            child.end()

    def run(self, number: int, calls: list[tuple], rows: list[int]) -> tuple[list, BaseException | None]:
        """Results in order, up to the first call that fails, and its error. `rows`: their numbers."""
        with self._turn:
            with self._lock:
                children = list(self._children)
            if not children and not self._stops:
                return self._run_here(self.functions[number], calls)
            return self._run(children, number, calls, rows)

    @staticmethod
    def _run_here(function: Callable, calls: list[tuple]) -> tuple[list, BaseException | None]:
        results: list[Any] = []
        try:
            for arguments in calls:
                results.append(function(*arguments))
        except BaseException as error:
            return results, error
        return results, None

    def _run(
        self, children: list[_Child], number: int, calls: list[tuple], rows: list[int]
    ) -> tuple[list, BaseException | None]:
        size = max(1, math.ceil(len(calls) / (_PORTIONS * max(len(children), 1))))
        starts = list(range(0, len(calls), size))
        replies: dict[int, tuple[list, BaseException | None]] = {}
        busy: dict[int, tuple[_Child, int]] = {}
        idle = list(children)
        ready = select.poll()
        failed = False  # what comes after an error is not needed
        while True:
            while idle and starts and not failed and not self._stops:
                child, start = idle.pop(), starts.pop(0)
                self._send(child, number, calls[start : start + size])
                busy[child.channel.end.fileno()] = (child, start)
                ready.register(child.channel.end, select.POLLIN)
            if self._stops:
                return [], RuntimeError(f"{self.op}: the iterator was stopped")
            if not busy:
                break
            for file, _ in ready.poll(_LOOK_SECONDS * 1000):
                child, start = busy.pop(file)
                ready.unregister(file)
                replies[start] = self._receive(child, number, rows[start : start + size])
                failed = failed or replies[start][1] is not None
                idle.append(child)
        results: list[Any] = []
        for start in sorted(replies):
            results += replies[start][0]
            if replies[start][1] is not None:
                return results, replies[start][1]
        return results, None

    @staticmethod
    def _send(child: _Child, number: int, calls: list[tuple]) -> None:
        try:
            child.channel.send((number, calls))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has died, which shows when its answer is awaited

    def _receive(self, child: _Child, number: int, rows: list[int]) -> tuple[list, BaseException | None]:
        try:
            results, failure = child.channel.receive()
        except (EOFError, ConnectionResetError):
            return [], self._death_of(child, number, rows)
        if failure is None:
            return results, None
        error = pickle.loads(failure[0])
        error.__cause__ = ChildTraceback(failure[1])
        return results, error

    def _death_of(self, child: _Child, number: int, rows: list[int]) -> RuntimeError:
        at = min(child.to_parent.counter, len(rows) - 1)
        how = "it was ended" if self._stops else child.wait()
        return RuntimeError(
            f"{self.op}: a process died while '{name_of(self.functions[number])}' ran on row {rows[at]}: "
            f"got {how}, need a process that lives"
        )


def name_of(function: Callable) -> str:
    """The name of a function, or of the class of an object."""
    return getattr(function, "__qualname__", type(function).__qualname__)


class InProcesses:
    """A function of a pipeline that runs in the processes of a pool; called, it runs here."""

    def __init__(self, pool: ProcessPool, number: int, draws_by_row: bool = False):
        self.draws_by_row = draws_by_row  # the engine then gives a key first
        self.pool = pool
        self._number = number
        self.__qualname__ = name_of(pool.functions[number])

    @property
    def sorus_processes(self) -> int:
        """How many; the engine looks for this."""
        return self.pool.workers

    def __call__(self, *arguments: Any) -> Any:
        return self.pool.functions[self._number](*arguments)

    def run(self, calls: list[tuple], rows: list[int]) -> tuple[list, BaseException | None]:
        """See ProcessPool.run()."""
        return self.pool.run(self._number, calls, rows)


def pools_of(dataset: Any) -> list[ProcessPool]:
    """The pools of a pipeline."""
    found: dict[int, ProcessPool] = {}
    waiting = [dataset]
    while waiting:
        node = waiting.pop()
        pool = getattr(node, "pool", None)
        if pool is not None:
            found[id(pool)] = pool
        waiting += node.children
    return list(found.values())
