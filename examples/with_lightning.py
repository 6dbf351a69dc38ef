# SPDX-License-Identifier: Apache-2.0
"""Training and validation under Lightning: a DataModule whose loaders are Penstock's, and that resumes in the middle of an epoch.

    python examples/with_lightning.py [FOLDER] [--epochs N] [--batch N]

FOLDER has one folder of JPEG files a class; without it squares, disks and triangles are drawn. Each process of Lightning's
strategy reads its shard. Training stops in the middle of the last epoch, as if a job were cancelled, and a new Trainer resumes
from Lightning's checkpoint. Ends with an error if a picture of that epoch was used twice or never, if a validation missed one,
or if nothing was learned.
"""

import argparse
import collections
import logging
import sys
import tempfile
import warnings
from pathlib import Path

import lightning
import torch
import torch.nn.functional as F

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


@pipeline_def(num_threads=2)
def unchanged(files, rank, ranks, gpu):
    encoded, number = fn.readers.file(
        files=files, labels=list(range(len(files))), shard_id=rank, num_shards=ranks, name="reader"
    )
    images = fn.resize(
        fn.decoders.image(encoded, device="mixed" if gpu else "cpu", output_type=types.RGB), size=[SIZE, SIZE]
    )
    images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=[110.0] * 3, std=[70.0] * 3)
    return images, number.gpu() if gpu else number


class Pictures(lightning.LightningDataModule):
    """The loader has state_dict() and load_state_dict(), so Lightning's checkpoints hold the place in the order of the samples."""

    def __init__(self, files, batch_size):
        super().__init__()
        self.files, self.batch_size = files, batch_size

    def train_dataloader(self):
        return self.loader(pictures)

    def val_dataloader(self):
        return self.loader(unchanged)

    def loader(self, made_by):
        trainer, device = self.trainer, self.trainer.strategy.root_device
        gpu = device.type == "cuda"
        pipeline = made_by(
            self.files,
            trainer.global_rank,
            trainer.world_size,
            gpu,
            batch_size=self.batch_size,
            device_id=device.index if gpu else None,
        )
        return penstock.torch.DataLoader(pipeline, ["images", "number"])  # numbers as labels: int64, one a sample


class Classifier(lightning.LightningModule):
    def __init__(self, classes):
        super().__init__()
        self.model = shape_folders.model(int(classes.max()) + 1)
        self.register_buffer("classes", classes)
        self.losses, self.seen, self.validated, self.right = [], collections.Counter(), [], 0

    def training_step(self, batch, _):
        number = batch["number"]
        loss = F.cross_entropy(self.model(batch["images"]), self.classes[number])
        self.losses.append(float(loss.detach()))
        self.seen.update((self.current_epoch, n) for n in number.tolist())
        return loss

    def on_validation_epoch_start(self):  # the one before was whole, except for Lightning's sanity check of two batches
        self.validated, self.right = [], 0

    def validation_step(self, batch, _):
        self.validated += batch["number"].tolist()
        self.right += int((self.model(batch["images"]).argmax(1) == self.classes[batch["number"]]).sum())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.003)


class TakenAway(lightning.Callback):
    """Saves at a step and lets the job end there."""

    def __init__(self, step, path):
        self.step, self.path = step, path

    def on_train_batch_end(self, trainer, *_):
        if trainer.global_step == self.step:
            trainer.save_checkpoint(self.path)
            trainer.should_stop = True


def trainer(epochs, *callbacks):
    return lightning.Trainer(
        max_epochs=epochs,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=list(callbacks),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="with one folder of JPEG files a class")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")  # about processes of torch's own loader
    lightning.seed_everything(1)
    with tempfile.TemporaryDirectory() as scratch:
        files, classes = shape_folders.listed(options.folder or shape_folders.draw(Path(scratch), 150))
        steps = -(-len(files) // options.batch)
        half = (options.epochs - 1) * steps + steps // 2
        model = Classifier(torch.tensor(classes))
        saved = f"{scratch}/taken_away.ckpt"
        trainer(options.epochs, TakenAway(half, saved)).fit(model, Pictures(files, options.batch))
        again = Classifier(torch.tensor(classes))
        trainer(options.epochs).fit(again, Pictures(files, options.batch), ckpt_path=saved)
    last = {n: c for (epoch, n), c in (model.seen + again.seen).items() if epoch == options.epochs - 1}
    if sorted(last) != list(range(len(files))) or set(last.values()) != {1}:
        raise SystemExit(
            f"the epoch that was interrupted had {len(last)} of {len(files)} pictures, some {max(last.values())} times"
        )
    if sorted(again.validated) != list(range(len(files))):
        raise SystemExit(f"the last validation saw {len(again.validated)} of {len(files)} pictures")
    begun, ended = sum(model.losses[:5]) / 5, sum(again.losses[-3:]) / 3
    print(
        f"{options.epochs} epochs of {len(files)} pictures, the last one in two runs ({len(last) - len(again.seen)} and "
        f"{len(again.seen)} pictures, each seen once): loss {begun:.3f} -> {ended:.3f}, {again.right} of {len(files)} right"
    )
    if ended > 0.7 * begun:
        raise SystemExit("nothing was learned")


if __name__ == "__main__":
    main()
