# SPDX-License-Identifier: Apache-2.0
"""Blurs the background of a person: a network gets the picture resized, and its mask, resized back, composes the result.

    python examples/background_blur.py [FOLDER] [--steps N] [--picture FILE]

One pipeline does all of it, the network inside: resize, pad, normalize, the network, crop, resize, blur, composite. A small
U-Net (Ronneberger et al., 2015) is trained first, on views of two public-domain pictures whose outlines are below. The same
chain in OpenCV must give the same picture except for rounding, and device="gpu" the CPU's; without a GPU it runs on the CPU
too, with a warning. FOLDER: JPEG files to blur; without one, three views of the two pictures.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
import torch
import torch.nn.functional as F

from penstock import fn, pipeline_def, types
from penstock.plugin.pytorch import fn as torch_fn

SIZE, MEAN, STD, GRAY = 128, 127.5, 64.0, 114  # of the network's input
WINDOW = 31  # of the blur, in pixels
MOST_DIFFERENCE, MEAN_DIFFERENCE = 2, 0.05  # from OpenCV, which blurs and resizes uint8 in fixed point
OUTLINES = {  # polygons and ellipses in units of the picture
    "astronaut": [
        (
            "polygon",
            [
                (0, 1),
                (0.03, 0.9),
                (0.05, 0.72),
                (0.1, 0.56),
                (0.2, 0.45),
                (0.24, 0.34),
                (0.31, 0.29),
                (0.36, 0.28),
                (0.33, 0.2),
                (0.3, 0.12),
                (0.34, 0.06),
                (0.42, 0.02),
                (0.52, 0.04),
                (0.58, 0.1),
                (0.58, 0.18),
                (0.53, 0.25),
                (0.52, 0.3),
                (0.58, 0.36),
                (0.59, 0.47),
                (0.67, 0.52),
                (0.71, 0.62),
                (0.72, 0.7),
                (0.8, 0.67),
                (0.9, 0.71),
                (0.97, 0.82),
                (1, 0.9),
                (1, 1),
            ],
        )
    ],
    "coffee": [
        ("ellipse", [(0.12, 0.19), (0.81, 0.96)]),
        ("ellipse", [(0.29, 0.05), (0.68, 0.53)]),
        ("polygon", [(0.6, 0.3), (0.69, 0.16), (0.71, 0.2), (0.65, 0.4)]),
    ],
}


def to_network(pictures):
    """(3, SIZE, SIZE) float32 of pictures of any size, and which part of it they fill: (height, width)."""
    small = fn.resize(pictures, size=[SIZE, SIZE], mode="not_larger", antialias=False, subpixel_scale=False)
    square = fn.pad(small, axis_names="HW", shape=[SIZE, SIZE], fill_value=GRAY)
    return fn.crop_mirror_normalize(
        square, dtype=types.FLOAT, output_layout="CHW", mean=[MEAN] * 3, std=[STD] * 3
    ), small.shape()[:2]


def composite(pictures, masks, extents):
    """The picture where its mask (SIZE, SIZE, 1) is 1, its blurred form where it is 0."""
    masks = fn.slice(masks, start=[0, 0], end=extents, axis_names="HW")
    masks = fn.resize(masks, size=pictures.shape()[:2], antialias=False)
    blurred = fn.gaussian_blur(pictures, window_size=[WINDOW, WINDOW])
    return fn.cast((fn.cast(pictures, dtype=types.FLOAT) - blurred) * masks + blurred, dtype=types.UINT8)


@pipeline_def(num_threads=2)
def blur_background(files, network, device="cpu"):
    jpegs, _ = fn.readers.file(files=files, name="reader")
    pictures = fn.decoders.image(jpegs, device="mixed" if device == "gpu" else "cpu", output_type=types.RGB)
    tensors, extents = to_network(pictures)
    masks = torch_fn.torch_python_function(
        tensors, function=network, batch_processing=True, output_layouts="HWC", device=device
    )
    return composite(pictures, masks, extents), masks, pictures


def opencv_to_network(picture):
    height, width = picture.shape[:2]
    scale = SIZE / max(height, width)
    small = cv2.resize(picture, (int(width * scale + 0.5), int(height * scale + 0.5)), interpolation=cv2.INTER_LINEAR)
    h, w = small.shape[:2]
    square = cv2.copyMakeBorder(small, 0, SIZE - h, 0, SIZE - w, cv2.BORDER_CONSTANT, value=(GRAY,) * 3)
    return cv2.dnn.blobFromImage(square, 1 / STD, mean=(MEAN,) * 3, ddepth=cv2.CV_32F)[0], (h, w)


def opencv_composite(picture, mask, extents):
    mask = cv2.resize(mask[: extents[0], : extents[1], 0], picture.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    return cv2.blendLinear(picture, cv2.GaussianBlur(picture, (WINDOW, WINDOW), 0), mask, 1 - mask)


class UNet(torch.nn.Module):
    """Two steps down, two up: a number for each pixel, positive in the foreground."""

    def __init__(self, widths=(16, 32, 64)):
        super().__init__()
        block = lambda a, b: torch.nn.Sequential(
            torch.nn.Conv2d(a, b, 3, padding=1), torch.nn.BatchNorm2d(b), torch.nn.ReLU()
        )
        a, b, c = widths
        self.down = torch.nn.ModuleList([block(3, a), block(a, b), torch.nn.Sequential(block(b, c), block(c, c))])
        self.up = torch.nn.ModuleList([block(b + c, b), block(a + b, a)])
        self.last = torch.nn.Conv2d(a, 1, 1)

    def forward(self, x):
        x = F.avg_pool2d(x, 2)  # at half of its resolution
        first = self.down[0](x)
        second = self.down[1](F.max_pool2d(first, 2))
        x = self.down[2](F.max_pool2d(second, 2))
        x = self.up[0](torch.cat([F.interpolate(x, scale_factor=2), second], 1))
        x = self.up[1](torch.cat([F.interpolate(x, scale_factor=2), first], 1))
        return F.interpolate(self.last(x), scale_factor=2, mode="bilinear")


@pipeline_def(num_threads=2, seed=9)
def training(pictures):
    """Random views of pictures whose fourth channel is their mask, so that it moves with them."""
    views = fn.external_source(lambda: pictures, layout="HWC")
    views = fn.random_resized_crop(views, size=[SIZE, SIZE], random_area=[0.3, 1.0])
    views = fn.rotate(views, angle=fn.random.uniform(range=[-12, 12]), keep_size=True, fill_value=GRAY)
    views = fn.flip(views, horizontal=fn.random.coin_flip())
    colors = fn.brightness_contrast(views[:, :, :3], brightness=fn.random.uniform(range=[0.8, 1.2]))
    tensors = fn.crop_mirror_normalize(colors, dtype=types.FLOAT, output_layout="CHW", mean=[MEAN] * 3, std=[STD] * 3)
    return tensors, fn.cast(views[:, :, 3:] > 127, dtype=types.FLOAT)


def with_mask(name, picture, width=320):
    """(height, width, 4): a picture and its outline, filled."""
    from PIL import Image, ImageDraw

    picture = picture.resize((width, width * picture.height // picture.width))
    mask = Image.new("L", picture.size)
    for kind, points in OUTLINES[name]:
        getattr(ImageDraw.Draw(mask), kind)([(x * picture.width, y * picture.height) for x, y in points], fill=255)
    return np.dstack([np.asarray(picture), np.asarray(mask)])


def train(sources, steps, device, batch=8):
    torch.manual_seed(0)
    pictures = [with_mask(name, sources[name]) for name in OUTLINES]
    net = UNet().to(device)
    optimizer = torch.optim.Adam(net.parameters(), 5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    pipeline, losses = training([pictures[i % len(pictures)] for i in range(batch)], batch_size=batch), []
    for _ in range(steps):
        tensors, masks = (output.torch().to(device) for output in pipeline.run())
        loss = F.binary_cross_entropy_with_logits(net(tensors), masks.permute(0, 3, 1, 2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    print(f"{steps} steps of {batch} views; loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last")
    if not losses[-1] < 0.6 * losses[0]:
        raise SystemExit(f"the loss did not fall: {losses}")
    return net.eval()


def masks_by(net):
    """The function that the pipeline calls: a list of (3, SIZE, SIZE) to a list of (SIZE, SIZE, 1)."""

    def network(tensors):
        with torch.no_grad():
            return list(net(torch.stack(tensors)).sigmoid().permute(0, 2, 3, 1).contiguous())

    return network


def compare_with_opencv(pictures, results, net, device):
    """The largest and the mean difference between the pipeline's results and the same chain in OpenCV."""
    largest, means = 0, []
    for picture, result in zip(pictures, results):
        tensor, extents = opencv_to_network(picture)
        mask = masks_by(net)([torch.from_numpy(tensor).to(device)])[0].cpu().numpy()
        difference = np.abs(opencv_composite(picture, mask, extents).astype(int) - result)
        largest, means = max(largest, int(difference.max())), [*means, difference.mean()]
    return largest, float(np.mean(means))


def views(sources, folder):
    """Three pictures of different shapes."""
    box = {
        "portrait": ("astronaut", (40, 0, 330, 400)),
        "wide": ("astronaut", (0, 10, 512, 340)),
        "table": ("coffee", (60, 0, 600, 400)),
    }
    files = []
    for name, (source, part) in box.items():
        files.append(f"{folder}/{name}.jpg")
        sources[source].crop(part).save(files[-1], quality=95)
    return files


def draw(pictures, masks, results, target):
    """Pictures, masks, results."""
    import shapes
    from PIL import Image

    rows = [
        [Image.fromarray(p) for p in pictures],
        [Image.fromarray((m[:, :, 0] * 255).astype(np.uint8)) for m in masks],
        [Image.fromarray(r) for r in results],
    ]
    shapes.sheet(
        [
            picture.resize((picture.width * 256 // max(picture.size), picture.height * 256 // max(picture.size)))
            for row in rows
            for picture in row[:3]
        ],
        3,
        256,
    ).save(target, quality=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    sys.path.append(str(Path(__file__).resolve().parent / "demo"))
    from data import load_sources

    torch_device, sources = "cuda" if torch.cuda.is_available() else "cpu", load_sources()
    net = train(sources, options.steps, torch_device)
    with tempfile.TemporaryDirectory() as made:
        files = sorted(map(str, options.folder.glob("*.jpg"))) if options.folder else views(sources, made)
        for device in ("cpu", "gpu"):
            net.to(torch_device if device == "gpu" else "cpu")
            pipeline = blur_background(
                files, masks_by(net), device, batch_size=len(files), device_id=0 if device == "gpu" else None
            )
            results, masks, pictures = [[sample.numpy() for sample in output.cpu()] for output in pipeline.run()]
            largest, mean = compare_with_opencv(pictures, results, net, torch_device if device == "gpu" else "cpu")
            print(
                f'device="{device}": {len(files)} pictures; from the same chain in OpenCV at most {largest}, on average {mean:.4f} of 255'
            )
            if largest > MOST_DIFFERENCE or mean > MEAN_DIFFERENCE:
                raise SystemExit("that is more than rounding")
        if options.picture:
            draw(pictures, masks, results, options.picture)


if __name__ == "__main__":
    main()
