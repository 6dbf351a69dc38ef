# SPDX-License-Identifier: Apache-2.0
"""Training a ResNet-50 (He et al., 2015) on a folder of photographs, and handing it to C++.

    python examples/resnet50.py [FOLDER] [--steps N] [--size PIXELS] [--export FOLDER] [--picture FILE]

FOLDER has one subfolder a class; without it, small ones are cut from scikit-image's public-domain pictures. With a GPU the pictures are
decoded there. --export writes what examples/resnet50_inference.cpp runs with no Python in the process: both pipelines, the
weights, the names of the classes. Ends with an error where the loss does not fall.
"""

import argparse
import struct
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from penstock import fn, pipeline_def, types
from penstock.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]
JPEG = ["*.jpg", "*.jpeg", "*.JPEG"]


@pipeline_def(num_threads=2, seed=5)
def training(folder, size, device="cpu"):
    jpegs, labels = fn.readers.file(file_root=str(folder), file_filters=JPEG, random_shuffle=True, name="reader")
    images = fn.decoders.image_random_crop(jpegs, device=device, output_type=types.RGB, random_area=[0.25, 1.0])
    images = fn.resize(images, size=[size, size])
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD, mirror=fn.random.coin_flip()
    )
    return images, labels


@pipeline_def(num_threads=2)
def evaluation(folder, size, device="cpu"):
    jpegs, labels = fn.readers.file(file_root=str(folder), file_filters=JPEG, name="reader")
    images = fn.decoders.image(jpegs, device=device, output_type=types.RGB)
    images = fn.resize(images, resize_shorter=size * 8 // 7)
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD, crop=[size, size]
    )
    return images, labels


class Convolution(torch.nn.Module):
    """A convolution without a bias, and batch normalization."""

    def __init__(self, inside, out, kernel=1, stride=1):
        super().__init__()
        self.conv = torch.nn.Conv2d(inside, out, kernel, stride, kernel // 2, bias=False)
        self.norm = torch.nn.BatchNorm2d(out)

    def forward(self, x):
        return self.norm(self.conv(x))


class Bottleneck(torch.nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        self.first, self.second = Convolution(inside, width), Convolution(width, width, 3, stride)
        self.third = Convolution(width, 4 * width)
        self.shortcut = (
            Convolution(inside, 4 * width, 1, stride) if stride > 1 or inside != 4 * width else torch.nn.Identity()
        )
        torch.nn.init.zeros_(self.third.norm.weight)  # a block starts as its shortcut, so that few steps have an effect

    def forward(self, x):
        return F.relu(self.third(F.relu(self.second(F.relu(self.first(x))))) + self.shortcut(x))


class ResNet50(torch.nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem, blocks, inside = Convolution(3, 64, 7, 2), [], 64
        for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
            for i in range(count):
                blocks.append(Bottleneck(inside, width, 2 if i == 0 and width > 64 else 1))
                inside = 4 * width
        self.blocks, self.last = torch.nn.Sequential(*blocks), torch.nn.Linear(inside, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.stem(x)), 3, 2, 1)
        return self.last(self.blocks(x).mean((2, 3)))


def train(folder, options, device):
    """Some steps; returns the model and the losses."""
    torch.manual_seed(0)
    model = ResNet50(len(class_names(folder))).to(device).train()
    optimizer = torch.optim.SGD(model.parameters(), 0.02, momentum=0.9, nesterov=True)
    pipeline = training(
        folder,
        options.size,
        "mixed" if device == "cuda" else "cpu",
        batch_size=options.batch,
        device_id=0 if device == "cuda" else None,
    )
    batches = DALIClassificationIterator(
        pipeline, reader_name="reader", auto_reset=True, last_batch_policy=LastBatchPolicy.DROP
    )
    losses, begin = [], time.perf_counter()
    while len(losses) < options.steps:
        for (batch,) in batches:
            loss = F.cross_entropy(model(batch["data"]), batch["label"].flatten().to(device, torch.int64))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == options.steps:
                break
    rate = len(losses) * options.batch / (time.perf_counter() - begin)
    print(
        f"{options.steps} steps of {options.batch} pictures of {options.size} x {options.size}, {rate:.0f} a second; "
        f"loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last"
    )
    return model, losses


def settle(model, folder, options, device):
    """After few steps the running means of batch normalization are still wrong: take them from one pass over the files."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.reset_running_stats()
            module.momentum = None  # the mean of all batches
    with torch.no_grad():
        for images, _ in batches_of(evaluation(folder, options.size, batch_size=options.batch)):
            model(torch.from_dlpack(images.as_tensor()).to(device))
    return model.eval()


def batches_of(pipeline):
    """The batches that hold one epoch. The last one continues with the next epoch, because run() does not end."""
    pipeline.build()
    for _ in range(-(-pipeline.epoch_size("reader") // pipeline.max_batch_size)):
        yield pipeline.run()


def class_names(folder):
    return sorted(path.name for path in Path(folder).iterdir() if path.is_dir())


def export_weights(model, path):
    """Convolutions in the order of their use, batch normalization folded in: 4 numbers, (out, in, height, width), the bias."""
    with open(path, "wb") as file:

        def write(weight, bias, stride):
            out, inside, kernel, _ = weight.shape
            file.write(struct.pack("<4i", out, inside, kernel, stride))
            file.write(
                weight.detach().cpu().numpy().astype("<f4").tobytes()
                + bias.detach().cpu().numpy().astype("<f4").tobytes()
            )

        for module in model.modules():
            if isinstance(module, Convolution):
                norm = module.norm
                scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
                write(
                    module.conv.weight * scale[:, None, None, None],
                    norm.bias - norm.running_mean * scale,
                    module.conv.stride[0],
                )
        write(model.last.weight[:, :, None, None], model.last.bias, 1)


def export(model, folder, options):
    """What resnet50_inference takes, in options.export."""
    target = Path(options.export)
    target.mkdir(parents=True, exist_ok=True)
    training(folder, options.size, batch_size=options.batch).save(target / "training.json")
    evaluation(folder, options.size, batch_size=options.batch).save(target / "evaluation.json")
    export_weights(model, target / "weights.bin")
    (target / "classes.txt").write_text("\n".join(class_names(folder)) + "\n")


def predict(model, folder, options, device):
    """[(file, class, class that was found, its score), ...] of the whole folder."""
    names, found = class_names(folder), []
    with torch.no_grad():
        for images, labels in batches_of(evaluation(folder, options.size, batch_size=options.batch)):
            scores = model(torch.from_dlpack(images.as_tensor()).to(device)).cpu()
            best = scores.max(1)
            found += [
                (source, names[label], names[k], value)
                for source, label, k, value in zip(
                    images.sources(), labels.as_array().ravel(), best.indices.tolist(), best.values.tolist()
                )
            ]
    return list({row[0]: row for row in found}.values())


def draw(model, folder, options, device, path, pictures=18):
    """Augmented pictures as the model gets them, with its predictions."""
    from PIL import ImageDraw

    images, labels = training(folder, options.size, batch_size=pictures).run()
    with torch.no_grad():
        guesses = model(torch.from_dlpack(images.as_tensor()).to(device)).argmax(1).tolist()
    size, gap, columns, names = 144, 4, 6, class_names(folder)
    seen = fn.crop_mirror_normalize(
        images,
        dtype=types.UINT8,
        output_layout="HWC",  # normalization by its own inverse
        mean=[-m / s for m, s in zip(MEAN, STD)],
        std=[1 / s for s in STD],
    )
    sheet = fn.resize(seen, size=[size, size]).show(columns=columns, size=size)
    pen = ImageDraw.Draw(sheet)
    for k, (guess, label) in enumerate(zip(guesses, labels.as_array().ravel().tolist())):
        x, y = gap + k % columns * (size + gap), gap + k // columns * (size + gap)
        pen.rectangle([x, y, x + size - 1, y + 15], fill="#1d6b3a" if guess == label else "#9b2226")
        pen.text(
            (x + 4, y + 2), names[guess] if guess == label else f"{names[guess]}, not {names[label]}", fill="white"
        )
    sheet.save(path, quality=80)


def photographs(folder, count=48):
    """Six classes of small photographs (docs/data_licenses.md)."""
    sys.path.append(str(Path(__file__).resolve().parent / "demo"))
    from data import write_folder

    return write_folder(folder, count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--export", metavar="FOLDER")
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or photographs(made)
        model, losses = train(folder, options, device)
        settle(model, folder, options, device)
        found = predict(model, folder, options, device)
        right = sum(label == name for _, label, name, _ in found)
        print(f"{right} of {len(found)} pictures are taken for what they are")
        if options.export:
            export(model, folder, options)
        if options.picture:
            draw(model, folder, options, device, options.picture)
    if not np.mean(losses[-3:]) < 0.8 * losses[0]:
        raise SystemExit(f"the loss did not fall: {losses}")


if __name__ == "__main__":
    main()
