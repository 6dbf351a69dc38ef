# SPDX-License-Identifier: Apache-2.0
"""Training Keras' ResNet-50 (He et al., 2015) on a folder of photographs, and going on from a checkpoint.

    python examples/frameworks/resnet50_tensorflow.py [FOLDER] [--steps N] [--batch N] [--size PIXELS] [--checkpoint FOLDER]

FOLDER has one subfolder a class; without it, small pictures are made. The checkpoint holds the model, the optimizer and the position in
the data: a second run with the same --checkpoint goes on with the next batch. Ends with an error where the loss does not fall.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from textures import write_folder

from penstock import fn, pipeline_def, types
from penstock.plugin.tf import PenstockDataset

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]


@pipeline_def(num_threads=2, seed=5)
def training(folder, size):
    files, labels = fn.readers.file(file_root=str(folder), random_shuffle=True, name="reader")
    images = fn.random_resized_crop(fn.decoders.image(files), size=[size, size], random_area=[0.25, 1.0])
    images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="HWC", mean=MEAN, std=STD)
    return images, labels


def make_model(classes, size):
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.applications.ResNet50(weights=None, classes=classes, input_shape=(size, size, 3))
    model.compile(tf.keras.optimizers.Adam(3e-4), "sparse_categorical_crossentropy")
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--checkpoint", metavar="FOLDER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.folder or write_folder(made))
        classes = sum(path.is_dir() for path in folder.iterdir())
        data = iter(PenstockDataset(training(folder, options.size, batch_size=options.batch)))
        model = make_model(classes, options.size)
        saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer, data=data)
        manager = tf.train.CheckpointManager(saved, options.checkpoint or f"{made}/checkpoint", max_to_keep=2)
        if manager.restore_or_initialize():
            print(f"goes on from {manager.latest_checkpoint}")
        losses, begin = [], time.perf_counter()
        for _ in range(options.steps):
            images, labels = next(data)
            losses.append(float(model.train_on_batch(images, labels)))
        manager.save()
    rate = options.steps * options.batch / (time.perf_counter() - begin)
    print(
        f"{options.steps} steps, {rate:.0f} pictures a second; loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last"
    )
    if not np.mean(losses[-3:]) < 0.9 * losses[0] and not options.checkpoint:
        raise SystemExit(f"the loss did not fall: {losses}")


if __name__ == "__main__":
    main()
