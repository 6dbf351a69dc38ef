# SPDX-License-Identifier: Apache-2.0
"""Training under Accelerate: one process or many, and a state that resumes in the middle of an epoch.

    python examples/with_accelerate.py [FOLDER] [--epochs N] [--batch N]
    torchrun --nproc_per_node 2 examples/with_accelerate.py          # or accelerate launch, as it was configured

FOLDER has one folder of JPEG files a class; without it squares, disks and triangles are drawn. Each process reads its shard, so
the loader is not prepared by Accelerate, but registered for its checkpoints. Training stops in the middle of the last epoch and
resumes from the saved state. Ends with an error if a picture of that epoch was never used, or twice though no process had to fill
a step with it, or if nothing was learned.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list, set_seed

import penstock.torch
from penstock import fn, pipeline_def, types

sys.path.append(str(Path(__file__).resolve().parent / "demo"))
import shape_folders  # noqa: E402

SIZE = 48


@pipeline_def(num_threads=2, seed=4)
def pictures(files, rank, ranks, gpu):
    encoded, number = fn.readers.file(
        files=files, labels=list(range(len(files))), random_shuffle=True, shard_id=rank, num_shards=ranks, name="reader"
    )
    images = fn.decoders.image(encoded, device="mixed" if gpu else "cpu", output_type=types.RGB)
    images = fn.random_resized_crop(images, size=[SIZE, SIZE], random_area=[0.6, 1.0])
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=[110.0] * 3, std=[70.0] * 3, mirror=fn.random.coin_flip()
    )
    return images, number.gpu() if gpu else number


class Training:
    """What a run has: model, optimizer, loader."""

    def __init__(self, accelerator, files, classes, batch_size):
        gpu = accelerator.device.type == "cuda"
        pipeline = pictures(
            files,
            accelerator.process_index,
            accelerator.num_processes,
            gpu,
            batch_size=batch_size,
            device_id=accelerator.device.index if gpu else None,
        )
        self.accelerator, self.classes = accelerator, torch.tensor(classes, device=accelerator.device)
        self.loader = penstock.torch.DataLoader(pipeline, ["images", "number"])
        model = shape_folders.model(max(classes) + 1)
        self.model, self.optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=0.003))
        accelerator.register_for_checkpointing(self.loader)

    def epoch(self, stop=None):
        """(losses, how often each picture was used), of this process, up to step `stop`."""
        losses, seen = [], torch.zeros_like(self.classes)
        for step, batch in enumerate(self.loader, 1):  # as many steps in all processes
            number = batch["number"]
            loss = F.cross_entropy(self.model(batch["images"]), self.classes[number])
            self.optimizer.zero_grad()
            self.accelerator.backward(loss)
            self.optimizer.step()
            losses.append(float(loss.detach()))
            seen.index_add_(0, number, torch.ones_like(number))
            if step == stop:
                break
        return losses, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="with one folder of JPEG files a class")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    set_seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        (scratch,) = broadcast_object_list([scratch])  # the first process's
        if not options.folder and accelerator.is_main_process:
            shape_folders.draw(Path(scratch), 150)
        accelerator.wait_for_everyone()
        files, classes = shape_folders.listed(options.folder or scratch)
        run = Training(accelerator, files, classes, options.batch)
        begun = run.epoch()[0][:5]
        for _ in range(options.epochs - 2):
            run.epoch()
        _, before = run.epoch(
            stop=len(files) // (2 * options.batch * accelerator.num_processes)
        )  # the same in all processes
        accelerator.save_state(f"{scratch}/state")
        accelerator.free_memory(run.model, run.optimizer)
        accelerator._custom_objects.clear()
        again = Training(accelerator, files, classes, options.batch)
        accelerator.load_state(f"{scratch}/state")
        ended, after = again.epoch()
        seen = accelerator.reduce(before + after, "sum")
        accelerator.wait_for_everyone()
    if not bool((seen >= 1).all()) or int((seen - 1).sum()) >= accelerator.num_processes:
        raise SystemExit(
            f"the interrupted epoch: seen never {int((seen == 0).sum())}, more than once {int((seen > 1).sum())}"
        )
    begun, ended = sum(begun) / len(begun), sum(ended[-3:]) / 3
    accelerator.print(
        f"{options.epochs} epochs of {len(files)} pictures by {accelerator.num_processes} process(es), the last one in "
        f"two runs, {int((seen == 1).sum())} pictures seen once: loss {begun:.3f} -> {ended:.3f}",
        flush=True,
    )
    if ended > 0.7 * begun:
        raise SystemExit("nothing was learned")
    if accelerator.num_processes > 1:
        accelerator.end_training()
        sys.stdout.flush()
        os._exit(0)  # a thread of Gloo may still release a tensor, which fails while the interpreter is shut down


if __name__ == "__main__":
    main()
