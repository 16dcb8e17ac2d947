"""Memory, streams and events under MindSpore's names."""

import time

import numpy as np
import pytest

import sorus as ms
from sorus import Tensor, hal, ops, runtime

MANY = 1 << 22


def test_memory():
    runtime.empty_cache()
    before = runtime.memory_allocated()
    x = ops.ones((MANY,)) + 1
    held = runtime.memory_allocated()
    assert held - before >= 4 * MANY
    assert runtime.max_memory_allocated() >= held and runtime.memory_reserved() >= held
    stats = runtime.memory_stats()
    assert stats["total_allocated_memory"] == held == hal.memory_allocated("CPU")
    assert stats["total_reserved_memory"] == held + stats["total_idle_memory"]
    assert f"total allocated memory: {held} bytes" in runtime.memory_summary()
    del x
    assert runtime.memory_allocated() <= held - 4 * MANY
    assert runtime.max_memory_allocated() >= held
    reserved = runtime.memory_reserved()
    runtime.empty_cache()
    assert runtime.memory_reserved() <= reserved - 4 * MANY
    hal.reset_peak_memory_stats()
    assert runtime.max_memory_allocated() < held
    runtime.reset_max_memory_allocated()
    assert hal.max_memory_allocated() == runtime.max_memory_allocated() == runtime.memory_allocated()


def test_limit():
    size = ms.get_context("max_device_memory")
    try:
        runtime.set_memory(max_size="3GB")
        assert ms.get_context("max_device_memory") == "3GB"
    finally:
        ms.set_context(max_device_memory=size)
    with pytest.raises(ValueError, match="unknown 'optimize_level'"):
        runtime.set_memory(optimize_level="O5")


def test_streams_and_events():
    stream = runtime.Stream()
    assert stream == runtime.current_stream() == hal.default_stream() == runtime.communication_stream()
    begin, end = runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    with runtime.StreamCtx(stream):
        begin.record()
        time.sleep(0.02)
        assert stream.record_event(end) is end
        y = Tensor(np.ones(3)) * 2
    stream.wait_event(end)
    stream.wait_stream(runtime.Stream())
    end.synchronize()
    runtime.synchronize()
    hal.synchronize()
    runtime.launch_blocking()
    assert stream.query() and end.query() and y.tolist() == [2, 2, 2]
    assert 15 < begin.elapsed_time(end) < 5000
    for bad in (runtime.Event(), runtime.Event(enable_timing=True)):
        with pytest.raises(RuntimeError, match="time is not known"):
            begin.elapsed_time(bad)
    for bad in (
        lambda: runtime.Event(enable_timing=1),
        lambda: runtime.Stream("high"),
        lambda: runtime.StreamCtx(3),
        lambda: runtime.set_cur_stream(3),
        lambda: begin.record(3),
    ):
        with pytest.raises(TypeError, match="has the wrong type"):
            bad()


def test_devices():
    assert hal.is_available("CPU") and not hal.is_available("Ascend") and hal.is_initialized("CPU")
    assert (hal.device_count(), hal.device_count("GPU")) == (1, 0)
    assert hal.get_device_name(0) == "CPU" and hal.get_device_properties(0)
    for bad in (
        lambda: hal.is_available("TPU"),
        lambda: hal.get_device_name(1),
        lambda: hal.memory_stats("TPU"),
        lambda: runtime.dispatch_threads_num(0),
    ):
        with pytest.raises(ValueError, match="got"):
            bad()
