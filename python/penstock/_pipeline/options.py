# SPDX-License-Identifier: Apache-2.0
"""The options of a pipeline: which there are, values that are wrong, and what omitted ones mean."""

import os

from .._base import limits, unseeded
from .._base.element_types import check_policies
from . import tuning

# In the order in which pickles and saved pipelines have them.
NAMES = (
    "batch_size",
    "num_threads",
    "device_id",
    "seed",
    "exec_pipelined",
    "prefetch_queue_depth",
    "exec_async",
    "bytes_per_sample",
    "set_affinity",
    "max_streams",
    "default_cuda_stream_priority",
    "enable_memory_stats",
    "enable_checkpointing",
    "py_num_workers",
    "py_start_method",
    "exec_dynamic",
    "stream_policy",
    "concurrency",
    "on_error",
    "error_budget",
    "uneven",
    "late",
    "memory_limit",
    "entropy_index",
    "py_callback_pickler",
    "max_trips",
    "mixed_outputs",
    "debug",
    *limits.NAMES,
)
# Those that are read as an option and not as an attribute of Pipeline of that name.
_NO_PROPERTIES = (
    "prefetch_queue_depth",
    "error_budget",
    "uneven",
    "late",
    "memory_limit",
    "entropy_index",
    "py_callback_pickler",
    "max_trips",
    "mixed_outputs",
    *limits.NAMES,
)
_INTEGERS = ("bytes_per_sample", "max_streams", "default_cuda_stream_priority", "error_budget", "max_trips")
_FLAGS = ("exec_pipelined", "exec_async", "set_affinity", "enable_memory_stats", "enable_checkpointing", "exec_dynamic")
_FLAGS += ("uneven", "mixed_outputs")


def _is_flag(value):
    """Whether it is True, False, or one of them as NumPy and C write it."""
    return isinstance(value, (bool, int)) or type(value).__name__ in ("bool_", "bool")


def _check(given):
    """Raises for values that later code would refuse in its own words."""
    for name in ("batch_size", "num_threads", "py_num_workers"):
        if not (given[name] == tuning.AUTO and name != "batch_size"):
            limits.check_number(name, given[name], 2**31 - 1)
    for name in limits.NAMES:
        limits.check_number(name, given[name], limits.LARGEST)
    limits.check_number("memory_limit", given["memory_limit"], 2**63 - 1, least=0)
    device, seed, policy = given["device_id"], given["seed"], given["on_error"]
    if device is not None and not hasattr(device, "__index__"):
        raise TypeError(f"device_id is the number of a GPU or None, got {device!r}")
    if seed is not None and not hasattr(seed, "__index__"):
        raise TypeError(f"seed is an integer or None, got {seed!r}")
    if seed is not None and seed >= 2**64:
        raise ValueError(f"seed must be less than 2**64, got {seed}")
    if policy not in ("raise", "skip", "replace"):
        raise ValueError(f"on_error must be 'raise', 'skip' or 'replace', got {policy!r}")
    if given["late"] not in ("wait", "swap"):
        raise ValueError(f"late must be 'wait' or 'swap', got {given['late']!r}")
    if given["late"] == "swap" and given["debug"]:
        raise ValueError("debug=True runs whole batches, in which no sample is late: omit late='swap'")
    depth = tuning.number(given["prefetch_queue_depth"], 1)
    depths = depth if isinstance(depth, dict) else {"cpu_size": depth}
    numbers = [limits.integer("prefetch_queue_depth", d) for d in depths.values()]
    if set(depths) - {"cpu_size", "gpu_size"} or any(d < 1 for d in numbers):
        raise ValueError(
            f"prefetch_queue_depth must be a positive integer, 'auto' or a dict of cpu_size and gpu_size, got {depth!r}"
        )
    for name in _INTEGERS:
        if given[name] is not None:
            limits.integer(name, given[name])
    for name in _FLAGS:
        if given[name] is not None and not _is_flag(given[name]):
            raise TypeError(f"{name}: expected True or False, got {given[name]!r}")
    if given["entropy_index"] is not None and not isinstance(given["entropy_index"], (str, os.PathLike)):
        raise TypeError(
            f"entropy_index: expected 'auto', 'read', 'off', a path or None, got {given['entropy_index']!r}"
        )
    method, debug = given["py_start_method"], given["debug"]
    if method not in ("fork", "spawn"):
        raise ValueError(f"py_start_method must be 'fork' or 'spawn', got {method!r}")
    if debug not in (False, True, "times"):
        raise ValueError(f"debug must be True, False or 'times', got {debug!r}")
    check_policies(given["stream_policy"], given["concurrency"])


def accepted(given):
    """Returns the options of a pipeline.

    Args:
        given: The arguments of Pipeline, by name.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: An argument has a value that it cannot have.
    """
    _check(given)
    seed, index = given["seed"], given["entropy_index"]
    meant = dict(
        seed=unseeded.of_pipeline() if seed is None or seed < 0 else seed,
        max_streams=-1 if given["max_streams"] is None else given["max_streams"],
        default_cuda_stream_priority=given["default_cuda_stream_priority"] or 0,
        exec_dynamic=True if given["exec_dynamic"] is None else bool(given["exec_dynamic"]),
        entropy_index="" if index is None else os.fspath(index),
        max_trips=int(given["max_trips"]),
        mixed_outputs=bool(given["mixed_outputs"]),
    )
    return {name: meant.get(name, given[name]) for name in NAMES}


def depth_of(options):
    """How many batches are made ahead."""
    depth = tuning.number(options["prefetch_queue_depth"], tuning.MOST_DEPTH)
    if getattr(options["concurrency"], "name", "") == "NONE":
        return 1
    return int(max(depth.values()) if isinstance(depth, dict) else depth)


def _property(name):
    return property(lambda self: self.definition.options[name], doc=f"The argument {name}.")


def add_properties(pipelines):
    """Gives a class of pipelines an attribute for each option.

    Args:
        pipelines: The class.
    """
    for name in NAMES:
        if name not in _NO_PROPERTIES:
            setattr(pipelines, name, _property(name))
