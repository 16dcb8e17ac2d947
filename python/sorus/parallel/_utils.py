"""What programs import from `parallel._utils`: the settings of `set_auto_parallel_context`."""

from .._context import ParallelMode
from .._context import get_auto_parallel_context as _setting


def _get_parallel_mode():
    """One of ParallelMode's names."""
    return _setting("parallel_mode")


def _is_in_auto_parallel_mode():
    """Whether the mode is one that cuts tensors over devices."""
    return _get_parallel_mode() in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)


def _is_in_data_parallel_mode():
    """Whether each process has rows of its own."""
    return _get_parallel_mode() == ParallelMode.DATA_PARALLEL


def _is_in_hybrid_parallel_mode():
    """Whether the program itself cuts what it wants cut."""
    return _get_parallel_mode() == ParallelMode.HYBRID_PARALLEL


def _is_sharding_propagation():
    """Whether shardings spread from those that are given."""
    return _setting("search_mode") == "sharding_propagation"


def _get_full_batch():
    """Whether each process reads whole batches."""
    return _setting("full_batch")


def _get_pipeline_stages():
    """The number of stages, 1 without a pipeline."""
    return _setting("pipeline_stages")


def _get_gradients_mean():
    """Whether gradients of processes are averaged rather than summed."""
    return _setting("gradients_mean")


def _get_device_num():
    """The number of processes."""
    return _setting("device_num")


def _get_stage_device_num():
    """The number of processes of a stage of the pipeline."""
    return _get_device_num() // _get_pipeline_stages()


def _get_global_rank():
    """The rank of this process."""
    return _setting("global_rank")


def _get_parameter_broadcast():
    """Whether rank 0 gives its initial parameters to the others."""
    return _setting("parameter_broadcast")


def _get_enable_parallel_optimizer():
    """Whether states of optimizers are spread over processes."""
    return _setting("enable_parallel_optimizer")


def _get_grad_accumulation_shard():
    """Whether gradients that are accumulated are spread over processes."""
    return _setting("parallel_optimizer_config").get("gradient_accumulation_shard", False)


def _device_number_check(parallel_mode, device_number):
    """A mode without parallel parts has one process: ValueError for more."""
    if parallel_mode == ParallelMode.STAND_ALONE and device_number != 1:
        raise ValueError(
            f"set_auto_parallel_context: device_num does not fit: got {device_number} with parallel_mode "
            f"'{parallel_mode}', need 1"
        )


def _parameter_broadcast_check(parallel_mode, parameter_broadcast):
    """A mode without parallel parts broadcasts nothing: ValueError for True."""
    if parallel_mode == ParallelMode.STAND_ALONE and parameter_broadcast:
        raise ValueError(
            "set_auto_parallel_context: parameter_broadcast does not fit: got True with parallel_mode "
            f"'{parallel_mode}', need False"
        )
