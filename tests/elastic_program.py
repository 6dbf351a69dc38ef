# SPDX-License-Identifier: Apache-2.0
"""Trains nothing, in processes of torch.distributed that come and go: run by test_elastic.py with a plan in JSON.

A plan has phases, one after the other: how many processes there are, how many batches each takes of each epoch (null: those
that are left), which iterator returns them, and whether it is a fresh start. The samples of the processes and their checkpoint go
through torch.distributed; the next phase resumes from the checkpoint of rank 0.
"""

import json
import os
import sys

import torch
import torch.distributed as dist

from penstock import fn, pipeline_def, tfrecord
from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy
from penstock.torch import DataLoader


@pipeline_def(num_threads=1, seed=11, enable_checkpointing=True)
def numbers(kind, path, files, rank, ranks, options):
    common = dict(name="reader", shard_id=rank, num_shards=ranks, **options)
    if kind == "file":
        data = fn.readers.file(files=files, **common)[0]
    elif kind == "tfrecord":
        return fn.readers.tfrecord(
            path=path, features={"n": tfrecord.FixedLenFeature([1], tfrecord.int64, 0)}, **common
        )["n"]
    elif kind == "lmdb":
        data = fn.readers.lmdb(path=path, **common)
        data = data[0] if isinstance(data, list) else data
    else:
        data = fn.readers.webdataset(paths=path, ext=["bin"], **common)
    return data[0:1]


def with_loader(pipeline, state, plan, uneven=True, whole=False):
    """(numbers of each epoch's part, of whole batches a list of each; state after it)"""
    loader = DataLoader(pipeline, last_batch="partial", uneven=uneven)
    if state is not None:
        loader.load_state_dict(state)
    seen = []
    for batches in plan:
        seen.append([])
        for k, (batch,) in enumerate(loader, 1):
            numbers = batch.flatten().tolist()
            seen[-1] += [numbers] if whole else numbers
            if k == batches:
                break
    return seen, loader.state_dict()


def with_even_loader(pipeline, state, plan):
    return with_loader(pipeline, state, plan, uneven=False)


def with_whole_batches(pipeline, state, plan):
    return with_loader(pipeline, state, plan, whole=True)


def with_iterator(pipeline, state, plan):
    iterator = DALIGenericIterator(
        pipeline, ["n"], reader_name="reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    seen = []
    for batches in plan:
        seen.append([])
        for k, (batch,) in enumerate(iterator, 1):
            seen[-1] += batch["n"].flatten().tolist()
            if k == batches:
                break
    return seen, iterator.checkpoints()[0].decode()


def phase(rank, ranks, plan, state, data, folder, number):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting{number}", rank=rank, world_size=ranks)
    options = dict(plan.get("reader", {}))
    given = {"checkpoint": state} if plan.get("iterator") and state is not None else {}
    pipeline = numbers(
        data["kind"], data["path"], data["files"], rank, ranks, options, batch_size=plan["batch_size"], **given
    )
    take = with_iterator if plan.get("iterator") else with_even_loader if plan.get("even") else with_loader
    take = with_whole_batches if plan.get("whole") else take
    mine = take(pipeline, state, plan["batches"])
    everybody = [None] * ranks
    dist.all_gather_object(everybody, mine)
    if rank == 0:
        with open(f"{folder}/phase{number}.json", "w") as file:
            json.dump({"seen": [seen for seen, _ in everybody], "states": [state for _, state in everybody]}, file)
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.flush()
    os._exit(0)  # a thread of Gloo may still release a tensor, which fails while the interpreter is shut down


def main(path, folder):
    with open(path) as file:
        plan = json.load(file)
    results, state = [], None
    for number, part in enumerate(plan["phases"]):
        children, state = [], None if part.get("fresh") else state
        for rank in range(part["ranks"]):
            child = os.fork()  # nothing of Penstock has been used in this process
            if child == 0:
                try:
                    phase(rank, part["ranks"], part, state, plan["data"], folder, number)
                except BaseException as error:
                    print(f"phase {number}, rank {rank}: {error!r}", file=sys.stderr, flush=True)
                os._exit(1)
            children.append(child)
        if any(os.waitpid(child, 0)[1] for child in children):
            sys.exit(f"phase {number} has failed")
        with open(f"{folder}/phase{number}.json") as file:
            results.append(json.load(file))
        state = results[-1]["states"][0]
    with open(
        1, "w", closefd=False
    ) as to:  # Python's unbuffered standard output loses what a pipe does not take at once
        print(json.dumps(results), file=to)


if __name__ == "__main__":
    main(*sys.argv[1:])
