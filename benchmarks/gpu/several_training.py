# SPDX-License-Identifier: Apache-2.0
"""Training ResNet-50 on several GPUs by DistributedDataParallel, fed by files and by data that lies there.

    python benchmarks/gpu/several_training.py FOLDER [--gpus 2] [--threads 2] [--rounds 3] [--steps 40]

FOLDER has JPEG files. One process for each GPU, bfloat16, channels last, batches of 256. Each round times as many steps on a batch that
lies on the GPU as on batches of the pipeline, in turn; a row has the median over the rounds of the slowest process, and the cores that
all processes used. Without GPUs a small model trains on the CPU, which shows that the program works.
"""

import argparse
import os
import socket
import statistics
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from several import definition, photographs
from suites.train import classifier, step_of


def train(rank, options, files, port):
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", rank) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("nccl" if gpu else "gloo", rank=rank, world_size=options.gpus)
    model = classifier(smoke=not gpu).to(device, memory_format=torch.channels_last)
    step = step_of(
        torch.nn.parallel.DistributedDataParallel(model, [rank] if gpu else None), torch.nn.CrossEntropyLoss()
    )

    from penstock.plugin.pytorch import DALIGenericIterator

    pipe = definition("penstock", "resnet")(
        files,
        batch_size=options.batch,
        num_threads=options.threads,
        device_id=rank if gpu else None,
        shard_id=rank,
        num_shards=options.gpus,
    )
    loader = DALIGenericIterator(pipe, ["images", "labels"], auto_reset=True)

    def endless():
        while True:
            yield from loader

    batches = endless()

    def fed():
        batch = next(batches)[0]
        return batch["images"].to(device), (batch["labels"].view(-1).long() % 1000).to(device)

    lying = fed()
    ways = {"data on the GPU": lambda: lying, "fed": fed}

    def timed(take, steps):
        if gpu:
            torch.cuda.synchronize()
        dist.barrier()
        cpu, begin = time.process_time(), time.perf_counter()
        for _ in range(steps):
            step(*take())
        if gpu:
            torch.cuda.synchronize()
        wall = time.perf_counter() - begin
        return [wall, time.process_time() - cpu]

    for take in ways.values():
        timed(take, options.steps // 2)
    found = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, take in ways.items():
            found[name].append(timed(take, options.steps))
    everywhere = [None] * options.gpus
    dist.all_gather_object(everywhere, found)
    if rank == 0:
        show(options, everywhere)
    dist.barrier()
    os._exit(0)


def show(options, everywhere):
    print("| GPUs | threads each | | images/s | of data on the GPU | cores |\n|---|---|---|---|---|---|")
    base = None
    for name in everywhere[0]:
        walls = [max(one[name][k][0] for one in everywhere) for k in range(options.rounds)]
        cores = [sum(one[name][k][1] for one in everywhere) / walls[k] for k in range(options.rounds)]
        rate = options.gpus * options.steps * options.batch / statistics.median(walls)
        base = base or rate
        print(
            f"| {options.gpus} | {options.threads} | {name} | {rate:.0f} | {rate / base:.3f} | "
            f"{statistics.median(cores):.2f} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--gpus", type=int, default=max(1, torch.cuda.device_count()))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=256)
    options = parser.parse_args()
    files = photographs(options.folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    torch.multiprocessing.spawn(train, (options, files, port), options.gpus)


if __name__ == "__main__":
    main()
