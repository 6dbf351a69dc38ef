# SPDX-License-Identifier: Apache-2.0
"""The arguments of Pipeline: which values are refused, and which stand for those that are omitted."""

from __future__ import annotations

import os

from ..base import limits, unseeded
from ..base.element_types import check_policies

# What a pipeline keeps elsewhere, or not at all.
_NOT_KEPT = ("checkpoint", "output_dtype", "output_ndim", "output_layout", "experimental_exec_dynamic")


def accepted_options(given):
    """The arguments that a pipeline keeps, of all that Pipeline got. Raises for values that later code would refuse in its
    own words."""
    _check_numbers(given)
    _check_choices(given)
    seed = given["seed"]
    if seed is None or seed < 0:
        seed = unseeded.of_pipeline()
    _check_depths(given["prefetch_queue_depth"])
    if given["py_start_method"] not in ("fork", "spawn"):
        raise ValueError(f"py_start_method must be 'fork' or 'spawn', got {given['py_start_method']!r}")
    kept = {name: value for name, value in given.items() if name not in _NOT_KEPT}
    kept.update(
        seed=seed,
        max_streams=-1 if given["max_streams"] is None else given["max_streams"],
        default_cuda_stream_priority=given["default_cuda_stream_priority"] or 0,
        exec_dynamic=bool(given["exec_dynamic"]) if given["exec_dynamic"] is not None else True,
        entropy_index="" if given["entropy_index"] is None else os.fspath(given["entropy_index"]),
        max_trips=int(given["max_trips"]),
        mixed_outputs=bool(given["mixed_outputs"]),
    )
    if given["debug"] not in (False, True, "times"):
        raise ValueError(f"debug must be True, False or 'times', got {given['debug']!r}")
    check_policies(given["stream_policy"], given["concurrency"])
    return kept


def queue_depth(given):
    """The number of batches that the pipeline makes ahead."""
    if getattr(given["concurrency"], "name", "") == "NONE":
        return 1
    return int(max(_depths(given["prefetch_queue_depth"]).values()))


def _check_numbers(given):
    for name in ("batch_size", "num_threads"):
        limits.check_number(name, given[name], 2**31 - 1)
    for name in limits.NAMES:
        limits.check_number(name, given[name], limits.LARGEST)
    limits.check_number("memory_limit", given["memory_limit"], 2**63 - 1, least=0)


def _check_choices(given):
    device, seed, policy = given["device_id"], given["seed"], given["on_error"]
    if device is not None and not hasattr(device, "__index__"):
        raise TypeError(f"device_id is the number of a GPU or None, got {device!r}")
    if seed is not None and not hasattr(seed, "__index__"):
        raise TypeError(f"seed is an integer or None, got {seed!r}")
    if policy not in ("raise", "skip", "replace"):
        raise ValueError(f"on_error must be 'raise', 'skip' or 'replace', got {policy!r}")


def _depths(depth):
    return depth if isinstance(depth, dict) else {"cpu_size": depth}


def _check_depths(given):
    depths = _depths(given)
    if set(depths) - {"cpu_size", "gpu_size"} or any(int(d) < 1 for d in depths.values()):
        raise ValueError(
            f"prefetch_queue_depth must be a positive integer or a dict of cpu_size and gpu_size, got {given!r}"
        )
