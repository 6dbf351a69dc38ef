# SPDX-License-Identifier: Apache-2.0
"""One of two processes of JAX: three global batches, a checkpoint, and the rest of the epoch. test_jax.py starts it.

usage: two_processes.py ADDRESS RANK FOLDER
"""

import json
import sys
from pathlib import Path

import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from penstock import fn, pipeline_def
from penstock.plugin.jax import data_iterator
from penstock.plugin.jax.checkpoints import IteratorSave

address, rank, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(address, num_processes=2, process_id=rank)


@pipeline_def(batch_size=8, num_threads=1, seed=7)
def numbers(shard_id=0, num_shards=1):
    index = fn.readers.indices(size=44, random_shuffle=True, name="reader", shard_id=shard_id, num_shards=num_shards)
    return index, fn.random.uniform(range=[0.0, 1.0], shape=[16])


sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), PartitionSpec("data"))
iterator = data_iterator(numbers, ["index", "values"], reader_name="reader", sharding=sharding)()
total = jax.jit(lambda batch: batch["index"].sum())


def numbers_of(batch):
    array = batch["index"]
    assert array.shape == (8,) and len(array.addressable_shards) == 2 and len(array.sharding.device_set) == 4
    whole = multihost_utils.process_allgather(array, tiled=True)
    assert int(total(batch)) == whole.sum()
    return whole.tolist()


seen = [numbers_of(next(iterator)) for _ in range(3)]
manager = ocp.CheckpointManager(folder)
manager.save(3, args=ocp.args.Composite(data=IteratorSave(iterator)))
manager.wait_until_finished()
rest = [numbers_of(batch) for batch in iterator]
if rank == 0:
    (folder.parent / "seen.json").write_text(json.dumps(seen))
    (folder.parent / "rest.json").write_text(json.dumps(rest))
multihost_utils.sync_global_devices("end")
