"""Iterators over running pipelines. Each `for` loop over one takes an epoch."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ._processes import ProcessPool, pools_of

__all__ = ["DictIterator", "Iterator", "TupleIterator"]

_running: weakref.WeakSet[Iterator] = weakref.WeakSet()
_ending = False  # of the interpreter: what runs beside the main thread are daemon threads


@atexit.register
def _stop_all() -> None:
    """Ends the threads of pipelines before the interpreter goes: they may be in Python functions."""
    global _ending
    _ending = True
    for iterator in list(_running):
        iterator.stop()


def _begin_processes(iterator: Iterator, pools: list[ProcessPool]) -> Callable[[], Any]:
    """Starts the processes of a pipeline; gives what ends them, at the latest with the iterator."""
    begun: list[ProcessPool] = []

    def end() -> None:
        while begun:
            begun.pop().end()

    ending = weakref.finalize(iterator, end)
    for pool in pools:
        pool.begin()
        begun.append(pool)
    return ending


def _stopped() -> RuntimeError:
    """The error of an iterator that was stopped. While the interpreter ends, a daemon thread ends here
    instead, without a word, as Python itself is about to do with it.
    """
    if _ending and threading.current_thread() is not threading.main_thread():
        raise SystemExit
    return RuntimeError("dataset iterator: it was stopped: need a new one")


class Iterator:
    """A running pipeline. `stop()` ends it at once; so does letting go of it."""

    def __init__(self, dataset: Any, num_epochs: int = -1, output_numpy: bool = False):
        self._names = dataset.get_col_names()
        self._end_processes = _begin_processes(self, pools_of(dataset))
        self._running = dataset.pipeline.iterate(num_epochs, output_numpy)
        _running.add(self)
        if _ending:  # perhaps too late for _stop_all
            _stopped()

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        running = self._running
        if running is None:
            raise _stopped()
        try:
            row = running.next()
        except StopIteration as error:
            # From here it would end the loop over the rows as if there were no more.
            raise RuntimeError(
                "dataset iterator: Python code of a pipeline ended wrongly: got StopIteration, need a value "
                "or another error"
            ) from error
        except RuntimeError as error:
            if self._running is None:  # stopped by another thread meanwhile
                raise _stopped() from error
            raise
        if row is None:
            raise StopIteration
        return self._arrange(row)

    def _arrange(self, row: list[Any]) -> Any:
        return row

    def state_dict(self) -> dict[str, Any]:
        """Where the reader stands, for load_state_dict() of an iterator over such a pipeline: a dict that
        JSON and pickle take, when what sources say of themselves is so. Rows made ahead do not count.
        """
        if self._running is None:
            raise _stopped()
        return self._running.state()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where another iterator stood, with the rows that it would have got, in any process and with
        any number of workers. The rows up to there are passed over, and read only where nothing else tells
        what follows. A pipeline of other steps is refused.

        >>> import sorus.dataset as ds
        >>> data = ds.NumpySlicesDataset([0, 1, 2, 3, 4, 5], "x").shuffle(4).batch(2)
        >>> first = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        >>> row = next(first)
        >>> other = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        >>> other.load_state_dict(first.state_dict())
        >>> [x.tolist() for (x,) in first] == [x.tolist() for (x,) in other]
        True
        """
        if self._running is None:
            raise _stopped()
        if not isinstance(state, dict) or state.get("version") != 1:
            raise ValueError(
                "load_state_dict: this is no state: got "
                f"{type(state).__name__}, need what state_dict() of an iterator gives"
            )
        try:
            self._running.load(state)
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"load_state_dict: the state is damaged: got {error!r}") from error

    def statistics(self) -> dict[str, Any]:
        """Where the time goes: "steps" with "step", "rows" and "seconds" of each step itself; "seconds" since
        the run began, those in which the reader waited for rows ("reader_waited") or the pipeline for the
        reader ("pipeline_waited"); and a "verdict" in words, which names the slowest steps.

        >>> import time
        >>> import sorus.dataset as ds
        >>> def slow(x):
        ...     time.sleep(0.01)
        ...     return x
        >>> data = ds.NumpySlicesDataset([1, 2, 3, 4], "x").map(slow, "x").batch(2)
        >>> iterator = data.create_tuple_iterator(num_epochs=1)
        >>> for row in iterator:
        ...     pass
        >>> statistics = iterator.statistics()
        >>> [(s["step"], s["rows"]) for s in statistics["steps"][1:]]
        [('map(slow; x)', 4), ('batch(2)', 2)]
        >>> "Its slowest step is map(slow; x)" in statistics["verdict"]
        True
        """
        if self._running is None:
            raise _stopped()
        return self._running.statistics()

    def stop(self) -> None:
        """Ends the pipeline; its thread has ended when this returns."""
        running, self._running = self._running, None
        self._end_processes()
        if running is not None:
            running.stop()

    def release(self) -> None:
        """As stop()."""
        self.stop()


class TupleIterator(Iterator):
    """Rows as lists with a value for each column."""


class DictIterator(Iterator):
    """Rows as dicts by column name."""

    def _arrange(self, row: list[Any]) -> dict[str, Any]:
        return dict(zip(self._names, row))
