# SPDX-License-Identifier: Apache-2.0
"""Training a ResNet-50 (He et al., 2015) of Flax on a folder of photographs, over all devices, and going on from a checkpoint.

    python examples/frameworks/resnet50_jax.py [FOLDER] [--steps N] [--batch N] [--size PIXELS] [--checkpoint FOLDER]

FOLDER has one subfolder a class; without it, small pictures are made. The checkpoint holds the weights, the optimizer and the position
in the data, and any number of processes goes on from it. Ends with an error where the loss does not fall.
"""

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from textures import write_folder

from penstock import fn, pipeline_def, types
from penstock.plugin.jax import LastBatchPolicy, data_iterator
from penstock.plugin.jax.checkpoints import IteratorRestore, IteratorSave

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]


@pipeline_def(num_threads=2, seed=5)
def training(folder, size, shard_id=0, num_shards=1):
    files, labels = fn.readers.file(
        file_root=str(folder), random_shuffle=True, name="reader", shard_id=shard_id, num_shards=num_shards
    )
    images = fn.random_resized_crop(fn.decoders.image(files), size=[size, size], random_area=[0.25, 1.0])
    images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="HWC", mean=MEAN, std=STD)
    return images, labels


class Bottleneck(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x):
        norm = partial(nn.BatchNorm, use_running_average=False)
        y = nn.relu(norm()(nn.Conv(self.width, (1, 1), use_bias=False)(x)))
        y = nn.relu(norm()(nn.Conv(self.width, (3, 3), self.stride, use_bias=False)(y)))
        y = norm(scale_init=nn.initializers.zeros)(nn.Conv(4 * self.width, (1, 1), use_bias=False)(y))
        if x.shape != y.shape:
            x = norm()(nn.Conv(4 * self.width, (1, 1), self.stride, use_bias=False)(x))
        return nn.relu(x + y)


class ResNet50(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x):
        x = nn.BatchNorm(use_running_average=False)(nn.Conv(64, (7, 7), 2, use_bias=False)(x))
        x = nn.max_pool(nn.relu(x), (3, 3), (2, 2), "SAME")
        for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
            for i in range(count):
                x = Bottleneck(width, 2 if i == 0 and width > 64 else 1)(x)
        return nn.Dense(self.classes)(x.mean((1, 2)))


def make_step(model, optimizer):
    @partial(jax.jit, donate_argnums=0)
    def step(state, batch):
        def loss_of(params):
            variables = {"params": params, "batch_stats": state["batch_stats"]}
            logits, changed = model.apply(variables, batch["images"], mutable=["batch_stats"])
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch["labels"].ravel())
            return losses.mean(), changed["batch_stats"]

        (loss, stats), gradients = jax.value_and_grad(loss_of, has_aux=True)(state["params"])
        updates, optimizer_state = optimizer.update(gradients, state["optimizer"])
        params = optax.apply_updates(state["params"], updates)
        return {"params": params, "batch_stats": stats, "optimizer": optimizer_state}, loss

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--checkpoint", metavar="FOLDER")
    options = parser.parse_args()
    devices = Mesh(np.array(jax.devices()), ("data",))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.folder or write_folder(made))
        batches = data_iterator(
            training,
            ["images", "labels"],
            reader_name="reader",
            auto_reset=True,
            last_batch_policy=LastBatchPolicy.DROP,
            sharding=NamedSharding(devices, PartitionSpec("data")),
        )(folder, options.size, batch_size=options.batch)
        model, optimizer = ResNet50(sum(path.is_dir() for path in folder.iterdir())), optax.adam(1e-3)
        like = jax.ShapeDtypeStruct((1, options.size, options.size, 3), jnp.float32)
        variables = jax.jit(lambda key: model.lazy_init(key, like))(jax.random.key(0))
        state = {**variables, "optimizer": optimizer.init(variables["params"])}
        state = jax.device_put(state, NamedSharding(devices, PartitionSpec()))  # a copy on each device
        manager = ocp.CheckpointManager(Path(options.checkpoint or f"{made}/checkpoint").absolute())
        if (last := manager.latest_step()) is not None:
            arguments = {"state": ocp.args.StandardRestore(state), "data": IteratorRestore(batches)}
            state = manager.restore(last, args=ocp.args.Composite(**arguments))["state"]
            print(f"goes on after step {last}")
        step, losses, first, begin = make_step(model, optimizer), [], (last or 0), time.perf_counter()
        while len(losses) < options.steps:
            for batch in batches:
                state, loss = step(state, batch)
                losses.append(float(loss))
                if len(losses) == options.steps:
                    break
        arguments = {"state": ocp.args.StandardSave(state), "data": IteratorSave(batches)}
        manager.save(first + len(losses), args=ocp.args.Composite(**arguments))
        manager.wait_until_finished()
    rate = options.steps * options.batch / (time.perf_counter() - begin)
    print(
        f"{options.steps} steps, {rate:.0f} pictures a second; loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last"
    )
    if not np.mean(losses[-3:]) < 0.9 * losses[0] and not options.checkpoint:
        raise SystemExit(f"the loss did not fall: {losses}")


if __name__ == "__main__":
    main()
