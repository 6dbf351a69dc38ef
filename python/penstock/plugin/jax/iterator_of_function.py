# SPDX-License-Identifier: Apache-2.0
"""data_iterator: a pipeline's function as a function that makes iterators."""

from __future__ import annotations

import functools
import inspect

from ..._pipeline import pipeline_def
from ..interface import LastBatchPolicy
from .arrays import check_sharding, rows_of_processes
from .iterator import DALIGenericIterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ParamSpec

    _P = ParamSpec("_P")


def data_iterator(
    pipeline_fn: Callable[..., Any] | None = None,
    output_map: Sequence[str] = (),
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: Any = False,
    last_batch_padded: bool = False,
    last_batch_policy: Any = LastBatchPolicy.FILL,
    prepare_first_batch: bool = False,
    sharding: Any = None,
    devices: Sequence[Any] | None = None,
    pmap_compatible: bool | None = None,
) -> Any:
    """Makes of a pipeline's function one that returns iterators of jax.Array.

    The result takes the arguments of the function and those of Pipeline. `batch_size` counts the samples of a batch on
    all processes and devices together. With `sharding` or `devices` the function gets `shard_id` and `num_shards`,
    which its reader must take: on the CPU there is one pipeline and one shard for each process, on GPUs one for each
    device.

    Args:
        pipeline_fn: The function, decorated with pipeline_def or not; None: data_iterator is used as a decorator.
        output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch, sharding,
            pmap_compatible: As those of DALIGenericIterator.
        devices: Devices of this process with a pipeline each; arrays have them along a new first axis. Instead of
            `sharding`.

    Returns:
        A function that returns a DALIGenericIterator.

    Raises:
        ValueError: sharding and devices are both given, or batch_size cannot be divided.
        TypeError: The function takes no shard_id and num_shards, sharding is not a Sharding, or devices are not
            Devices.

    Example:
        >>> from penstock.plugin.jax import data_iterator
        >>> @data_iterator(output_map=["index"], reader_name="reader")
        ... def numbers(size):
        ...     return fn.readers.indices(size=size, name="reader")
        >>> len(numbers(6, batch_size=2, num_threads=1))
        3
    """
    return iterators_of(DALIGenericIterator, **locals())


def with_parameters_of(model: Callable[_P, Any]) -> Callable[[Callable[..., Any]], Callable[_P, Any]]:
    """Gives a function of **options the parameters of another: it gets all of them by name."""
    signature = inspect.signature(model)

    def decorate(function):
        @functools.wraps(function)
        def called(*args, **kwargs):
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            return function(**given.arguments)

        called.__signature__ = signature
        return called

    return decorate


def iterators_of(kind, pipeline_fn, *, devices, **options):
    """What data_iterator returns. kind: the class of the iterators; the others: the arguments of data_iterator."""
    if options["sharding"] is not None and devices is not None:
        raise ValueError("give sharding or devices, not both")
    check_sharding(options["sharding"])
    _check_devices(devices)
    if pipeline_fn is None:
        return functools.partial(iterators_of, kind, devices=devices, **options)
    if devices is not None and options["pmap_compatible"] is None:
        options["pmap_compatible"] = True
    make = pipeline_fn if getattr(pipeline_fn, "_is_pipeline_def", False) else pipeline_def(pipeline_fn)

    @functools.wraps(pipeline_fn)
    def iterator(*args, checkpoints=None, **kwargs):
        shards = _shards(options["sharding"], devices)
        checkpoints = list(checkpoints) if checkpoints else [None] * len(shards)
        if shards != [{}]:
            _check_shards(pipeline_fn)
            whole = kwargs.get("batch_size") or make(*args, **shards[0], **kwargs).max_batch_size
            count = shards[0]["num_shards"]
            if whole % count:
                raise ValueError(f"batch_size={whole} cannot be divided among {count} shards")
            kwargs["batch_size"] = whole // count
        pipelines = [make(*args, **shard, checkpoint=c, **kwargs) for shard, c in zip(shards, checkpoints)]
        return kind(pipelines, **options)

    return iterator


def _check_devices(devices):
    if devices is None:
        return
    import jax

    listed = list(devices) if hasattr(devices, "__len__") else []
    if not listed or not all(isinstance(device, jax.Device) for device in listed):
        raise TypeError(f"devices must be devices of JAX, as jax.local_devices() has them, got {devices!r}")


def _check_shards(function):
    found = inspect.signature(inspect.unwrap(function)).parameters
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in found.values())
    missing = [name for name in ("shard_id", "num_shards") if name not in found and not takes_all]
    if missing:
        raise TypeError(
            f"'{function.__name__}' must take {' and '.join(missing)} and give them to its reader, because there are several "
            "processes or devices"
        )


def _shards(sharding, devices):
    """The arguments of each pipeline of this process; [{}]: one pipeline that reads all."""
    if sharding is None and devices is None:
        return [{}]
    if devices is not None:
        return [{"shard_id": k, "num_shards": len(devices), **_device_of(device)} for k, device in enumerate(devices)]
    local = sorted(sharding.addressable_devices, key=lambda device: device.id)
    share, shares = rows_of_processes(sharding, 1)
    if local[0].platform == "cpu":
        return [{"shard_id": share, "num_shards": shares}]
    count = len(local)
    return [
        {"shard_id": share * count + k, "num_shards": shares * count, **_device_of(device)}
        for k, device in enumerate(local)
    ]


def _device_of(device):
    return {} if device.platform == "cpu" else {"device_id": device.local_hardware_id}
