# SPDX-License-Identifier: Apache-2.0
"""Batches as arrays of JAX, over the same memory."""

import logging

import numpy as np

_log = logging.getLogger("penstock.plugin")
ALIGNED = 64  # bytes: what JAX on the CPU takes without a copy begins at a multiple


def _uniform(batch, name):
    if not batch.is_uniform():
        raise ValueError(
            f"the samples of output '{name}' differ in shape, and an array has one: resize, crop or pad them (fn.resize, "
            "fn.crop, fn.pad)"
        )
    return batch


def on_one_device(batch, keep, name):
    """An array of a batch where it lies. keep: how many samples count; None: all."""
    import jax

    array = jax.dlpack.from_dlpack(_uniform(batch, name).as_tensor())
    return array if keep is None or keep >= len(batch) else array[:keep]


def for_rank(sharding, rank):
    """A sharding for arrays of this rank: a specification may name more axes than the labels of a batch have."""
    import jax

    if not isinstance(sharding, jax.sharding.NamedSharding) or len(sharding.spec) <= rank:
        return sharding
    return jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec(*sharding.spec[:rank]))


def check_sharding(sharding):
    """Refuses what is taken for a sharding: a mesh, a device, a specification without a mesh."""
    if sharding is None:
        return
    import jax

    if not isinstance(sharding, jax.sharding.Sharding):
        raise TypeError(
            f"sharding must be a jax.sharding.Sharding, got {sharding!r}: for a mesh with the axis 'data', "
            "NamedSharding(mesh, PartitionSpec('data'))"
        )


def check_rows(sharding, rows):
    """Refuses batches of so many rows, of all processes, that the sharding cannot divide."""
    rows_of = for_rank(sharding, 1)
    count = len(rows_of.device_set)
    parts = count // rows_of.shard_shape((count,))[0]
    if rows % parts:
        raise ValueError(f"batch_size={rows} cannot be divided among the {parts} parts of {sharding}")


class GlobalArrays:
    """Makes arrays over all devices of a sharding of what each process has."""

    def __init__(self, sharding):
        self._sharding, self._told = sharding, set()

    def of(self, batches, name):
        """An array of the batches of this process: one, or one for each of its devices, in the order of their rows."""
        import jax

        for batch in batches:
            _uniform(batch, name)
        sharding = for_rank(self._sharding, 1 + batches[0].ndim())
        if len(batches) == 1 and batches[0].device == "cpu":
            array = batches[0].as_array()
            self._tell_of_copies(array, sharding, name)
            return jax.make_array_from_process_local_data(sharding, array)
        parts = [jax.dlpack.from_dlpack(batch.as_tensor()) for batch in batches]
        rows = len(parts[0]) * rows_of_processes(sharding, 1)[1] * len(parts)
        shape = (rows, *parts[0].shape[1:])
        places = sharding.addressable_devices_indices_map(shape)
        devices = sorted(places, key=lambda device: places[device][0].start or 0)
        if len(devices) != len(parts):
            raise ValueError(
                f"the sharding has {len(devices)} devices in this process, and there are {len(parts)} pipelines"
            )
        parts = [jax.device_put(part, device) for part, device in zip(parts, devices)]
        return jax.make_array_from_single_device_arrays(shape, sharding, parts)

    def _tell_of_copies(self, array, sharding, name):
        local = len(sharding.addressable_devices)
        size = array.nbytes // max(local, 1)
        if local < 2 or name in self._told or size % ALIGNED == 0 or not array.nbytes:
            return
        self._told.add(name)
        _log.info(
            "the part of output '%s' that a device gets has %d bytes, no multiple of %d: JAX copies it",
            name,
            size,
            ALIGNED,
        )


def rows_of_processes(sharding, batch_size):
    """(number of this process's share of a batch, number of shares): processes that hold the same rows have the same one.

    batch_size: samples of a batch over all processes.
    """
    import jax

    rows = for_rank(sharding, 1)
    unit = len(sharding.device_set) if batch_size == 1 else batch_size
    held = {}
    for device, (part, *_) in rows.devices_indices_map((unit,)).items():
        begin, end, _ = part.indices(unit)
        held.setdefault(device.process_index, set()).add((begin, end))
    shares = sorted({tuple(sorted(parts)) for parts in held.values()})
    covered = [np.arange(begin, end) for share in shares for begin, end in share]
    if len(np.concatenate(covered)) != unit:
        raise ValueError(f"the sharding gives processes parts of a batch that overlap: {sharding}")
    return shares.index(tuple(sorted(held[jax.process_index()]))), len(shares)
