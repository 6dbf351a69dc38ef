# SPDX-License-Identifier: Apache-2.0
"""Training on several GPUs: one process per GPU, each reading its own shard of the shuffled order.

    python examples/several_gpus.py [FOLDER] [--processes N] [--epochs N] [--batch N]
    torchrun --nproc-per-node=N examples/several_gpus.py FOLDER

The first form starts the processes itself; if one of them is killed, it ends the others and names the one. Without a folder a few pictures are drawn. With fewer GPUs than processes, the same program runs on the CPU. At the end
of every epoch the processes compare their lists: exactly one of them must have read each picture, once.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing

from penstock import fn, pipeline_def, types
from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

SIZE = 64


@pipeline_def(num_threads=2, seed=12)
def training(files, rank, ranks, gpu):
    # The shards of one epoch are disjoint because every process computes the same shuffled order, from the seed of the reader.
    jpegs, number = fn.readers.file(
        files=files,
        labels=list(range(len(files))),
        random_shuffle=True,
        seed=12,
        name="reader",
        shard_id=rank,
        num_shards=ranks,
        pad_last_batch=False,
    )
    images = fn.decoders.image(jpegs, device="mixed" if gpu else "cpu", output_type=types.RGB)
    images = fn.random_resized_crop(images, size=[SIZE, SIZE])
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=[127.5] * 3, std=[127.5] * 3, mirror=fn.random.coin_flip()
    )
    return images, number.gpu() if gpu else number


def draw_pictures(folder, count=45):
    from PIL import Image

    for i in range(count):
        picture = Image.linear_gradient("L").rotate(8 * i).resize((96 + i, 80 + i % 7)).convert("RGB")
        picture.save(folder / f"{i:03d}.jpg", quality=90)


def train(rank, ranks, files, options, meeting):
    local = int(os.environ.get("LOCAL_RANK", rank))
    gpu = torch.cuda.device_count() >= int(os.environ.get("LOCAL_WORLD_SIZE", ranks))
    device = torch.device("cuda", local) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo", init_method=meeting, rank=rank, world_size=ranks)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, 4),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(4),
        torch.nn.Flatten(),
        torch.nn.Linear(128, 2),
    ).to(device)
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    # The threads of a pipeline run near its GPU.
    pipeline = training(
        files, rank, ranks, gpu, batch_size=options.batch, device_id=device.index if gpu else None, set_affinity=gpu
    )
    batches = DALIGenericIterator(
        pipeline, ["images", "number"], reader_name="reader", auto_reset=True, last_batch_policy=LastBatchPolicy.PARTIAL
    )
    for epoch in range(options.epochs):
        seen = torch.zeros(len(files), dtype=torch.int64, device=device)
        for (
            batch,
        ) in batches:  # the same number in all processes; if a shard has ended before others, its last one is empty
            number = batch["number"].flatten().to(torch.int64)
            loss = torch.nn.functional.cross_entropy(model(batch["images"]), number % 2, reduction="sum") / max(
                1, len(number)
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.index_add_(0, number, torch.ones_like(number))
        own = int(seen.sum())
        dist.all_reduce(seen)
        if not bool((seen == 1).all()):
            raise SystemExit(
                f"epoch {epoch}: seen never {int((seen == 0).sum())}, more than once {int((seen > 1).sum())}"
            )
        print(
            f"epoch {epoch}, process {rank} of {ranks} on {device}: {own} of {len(files)} pictures, each seen once",
            flush=True,
        )
    dist.barrier()
    dist.destroy_process_group()
    # A thread of Gloo may still release a tensor, which fails in an interpreter that is being shut down.
    sys.stdout.flush()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="with JPEG files in it or below")
    parser.add_argument("--processes", type=int, default=max(2, torch.cuda.device_count()))
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    options = parser.parse_args()
    if "TORCHELASTIC_RUN_ID" in os.environ:  # torchrun has started this process
        files = sorted(str(path) for path in (options.folder or parser.error("name a folder")).rglob("*.jpg"))
        return train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), files, options, "env://")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder
        if not folder:
            folder = Path(scratch) / "pictures"
            folder.mkdir()
            draw_pictures(folder)
        files = sorted(str(path) for path in folder.rglob("*.jpg"))
        meeting = f"file://{scratch}/meeting"
        torch.multiprocessing.spawn(train, (options.processes, files, options, meeting), options.processes)


if __name__ == "__main__":
    main()
