# SPDX-License-Identifier: Apache-2.0
"""Trains with DistributedDataParallel over gloo in processes of its own: run by test_loader_frameworks.py.

    python tests/ddp_program.py FOLDER RANKS...     # prints the samples of each rank, for each setting, loop and step; a line for each RANKS

A rank with one batch more than the others would wait for them forever.
"""

import itertools
import json
import os
import sys

import torch
import torch._dynamo  # by DistributedDataParallel: once, before the processes
import torch.distributed as dist

from penstock import fn, pipeline_def
from penstock.torch import DataLoader

SETTINGS = [(80, 13, "partial"), (80, 13, "fill"), (80, 13, "drop"), (7, 2, "partial"), (5, 1, "partial")]


@pipeline_def(num_threads=1, seed=3)
def numbers(n, rank, ranks):
    return fn.readers.indices(size=n, random_shuffle=True, shard_id=rank, num_shards=ranks)


def train(rank, ranks, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting{ranks}", rank=rank, world_size=ranks)
    seen, model = [], torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for n, batch_size, last_batch in SETTINGS:
        loader = DataLoader(numbers(n, rank, ranks, batch_size=batch_size), ["number"], last_batch=last_batch)
        seen.append([])
        for stop in (None, 1, None):  # the second loop is left early, by all ranks
            seen[-1].append([])
            for batch in itertools.islice(loader, stop):
                model(batch["number"].float().reshape(-1, 1)).mean().backward()
                optimizer.step()
                seen[-1][-1].append(batch["number"].tolist())
    everybody = [None] * ranks
    dist.all_gather_object(everybody, seen)
    if rank == 0:
        print(json.dumps(everybody), flush=True)
    dist.barrier()
    dist.destroy_process_group()
    os._exit(0)  # a thread of Gloo may still release a tensor, which fails while the interpreter is shut down


def main(folder, *counts):
    for ranks in map(int, counts):
        children = []
        for rank in range(ranks):
            child = os.fork()  # nothing of Penstock has been used in this process
            if child == 0:
                try:
                    train(rank, ranks, folder)
                except BaseException as error:
                    print(f"rank {rank}: {error!r}", file=sys.stderr, flush=True)
                os._exit(1)
            children.append(child)
        if any([os.waitpid(child, 0)[1] for child in children]):
            sys.exit(f"one of {ranks} ranks has failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
