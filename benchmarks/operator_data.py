# SPDX-License-Identifier: Apache-2.0
"""The batches that the tables of operators are made with: the same arrays in every process, from NumPy alone.

`samples(kind, dtype, count, ragged)` gives a list of arrays. Uniform images are 512 x 512; ragged ones are between 384 and 640 in
each direction, so a batch has about as many pixels. Sound is 10 s (ragged: 7 to 13 s) at 16 kHz.
"""

import functools

import numpy as np

SIDE, RATE, SECONDS = 512, 16000, 10
LAYOUTS = {
    "image": "HWC",
    "gray": "HWC",
    "plane": "HW",
    "nv12": "HWC",
    "yuyv": "HWC",
    "rgba": "HWC",
    "mask": "HWC",
    "regions": "HWC",
    "chosen": "HWC",
    "frames": "FHWC",
    "spectrum": "ft",
    "pairs": "ftc",
}
SCALE = {"uint8": 1, "uint16": 257, "float32": 1}


def stretched(coarse, height, width):
    """The coarse image, interpolated linearly to height x width."""
    for axis, length in enumerate((height, width)):
        at = np.linspace(0, coarse.shape[axis] - 1, length)
        below = np.minimum(at.astype(int), coarse.shape[axis] - 2)
        part = (at - below).reshape([-1 if k == axis else 1 for k in range(coarse.ndim)])
        coarse = np.take(coarse, below, axis) * (1 - part) + np.take(coarse, below + 1, axis) * part
    return coarse


def picture(random, height, width, channels, dtype):
    """Large soft areas with grain, as a photograph has."""
    soft = stretched(random.uniform(0, 255, (20, 20, channels)), height, width)
    values = np.clip(soft + random.integers(-12, 13, soft.shape), 0, 255).astype(np.uint8)
    return values.astype(dtype) * np.dtype(dtype).type(SCALE[dtype])


def blobs(random, height, width):
    """A map of classes: rectangles of 1 to 5 on 0."""
    found = np.zeros((height, width, 1), np.int32)
    for k in range(12):
        y, x = random.integers(0, height - 60), random.integers(0, width - 60)
        found[y : y + random.integers(20, 60), x : x + random.integers(20, 60)] = 1 + k % 5
    return found


def holes(random, height, width):
    """A mask: a few rectangles."""
    return np.uint8(blobs(random, height, width) % 8 == 1)


def boxes(random, count):
    low = random.uniform(0, 0.6, (count, 2))
    return np.concatenate([low, low + random.uniform(0.05, 0.4, (count, 2))], 1).astype(np.float32)


def npy(array):
    import io

    file = io.BytesIO()
    np.save(file, array)
    return np.frombuffer(file.getvalue(), np.uint8)


def one(kind, dtype, shapes, random, ragged):
    """A sample: its sizes come from `shapes`, its values from `random`, so the batches of all kinds have the same sizes."""
    height, width = shapes.integers(384, 641, 2).tolist() if ragged else (SIDE, SIDE)
    part = shapes.uniform(0.7, 1.3) if ragged else 1.0
    image = functools.partial(picture, random, height, width, dtype=dtype)
    many = lambda n: max(int(n * part), 1)
    makers = {
        "image": lambda: image(3),
        "gray": lambda: image(1),
        "plane": lambda: picture(random, height & ~1, width & ~1, 1, dtype)[..., 0].copy(),
        "nv12": lambda: picture(random, (height & ~3) * 3 // 2, width & ~1, 1, dtype),
        "yuyv": lambda: picture(random, height, width & ~1, 2, dtype),
        "rgba": lambda: image(4),
        "frames": lambda: np.stack([picture(random, height // 2, width // 2, 3, dtype) for _ in range(4)]),
        "npy": lambda: npy(image(3)),
        "mask": lambda: blobs(random, height, width),
        "chosen": lambda: picture(random, height, width, 3, "uint8") > 127,
        "indices": lambda: random.integers(0, 384, 200),
        "few": lambda: random.integers(0, 5, (height, width, 3)).astype(dtype),
        "unit": lambda: random.uniform(0.01, 0.99, (height, width, 3)).astype(np.float32),
        "more": lambda: random.uniform(1.01, 9, (height, width, 3)).astype(np.float32),
        "audio": lambda: sound(random, many(SECONDS * RATE)),
        "spectrum": lambda: random.exponential(1, (257, many(626))).astype(np.float32),
        "pairs": lambda: random.standard_normal((257, many(626), 2)).astype(np.float32),
        "frame": lambda: random.standard_normal((1024, many(64))).astype(np.float32),
        "boxes": lambda: boxes(random, many(64)),
        "many_boxes": lambda: boxes(random, 1000) * 512,
        "pixel_boxes": lambda: np.round(boxes(random, 16) * 380),
        "scores": lambda: random.random(1000).astype(np.float32),
        "box_labels": lambda: random.integers(1, 80, many(64)).astype(np.int32),
        "classes": lambda: random.integers(0, 80, many(4096)).astype(np.int32),
        "descriptors": lambda: random.integers(0, 256, (many(1000), 128)).astype(np.float32),
        "bits": lambda: random.integers(0, 256, (many(1000), 32), np.uint8),
        "moved_points": lambda: moved_points(random, many(4096)),
        "holes": lambda: holes(random, height, width),
        "regions": lambda: np.uint8(blobs(random, height, width) != 0) * np.uint8(255),
        "points": lambda: random.uniform(0, 512, (many(4096), 2)).astype(np.float32),
        "matrix": lambda: random.uniform(-1, 1, (2, 3)).astype(np.float32),
        "value": lambda: np.float32(random.uniform(1, 2)),
        "mean": lambda: np.full(3, 127, np.float32),
        "size": lambda: np.array([height, width, 3], np.int64),
        "corners": lambda: np.array([[0, 0], [60, 60]], np.int32),
        "window": lambda: np.array([[100, 120], [200, 240]], np.int32),
        "polygon_ids": lambda: np.arange(0, 40, 2, dtype=np.int32),
        "polygons": lambda: np.array([[k, 20 * k, 20 * k + 20] for k in range(40)], np.int32),
        "vertices": lambda: random.uniform(0, 1, (800, 2)).astype(np.float32),
        "map_x": lambda: waves(height, width)[0],
        "map_y": lambda: waves(height, width)[1],
    }
    return makers[kind]()


def moved_points(random, count):
    """The points of a generator of its own, which "points" draws too, doubled; every fifth is wrong."""
    moved = random.uniform(0, 512, (count, 2)) * 2
    moved[::5] = random.uniform(0, 1024, moved[::5].shape)
    return moved.astype(np.float32)


def sound(random, length):
    t = np.arange(length) / RATE
    wave = 0.3 * np.sin(2 * np.pi * 220 * t) * (np.sin(t) > -0.5) + 0.02 * random.standard_normal(length)
    return wave.astype(np.float32)


def waves(height, width):
    y, x = np.mgrid[:height, :width].astype(np.float32)
    return x + 6 * np.sin(y / 20, dtype=np.float32), y + 6 * np.cos(x / 20, dtype=np.float32)


@functools.lru_cache(maxsize=12)
def samples(kind, dtype, count, ragged):
    """Kinds with a prime, such as "image'", are a second batch of the same shapes."""
    made = []
    for i in range(count):
        shapes, values = np.random.default_rng([1, i]), np.random.default_rng([2, i, kind.count("'")])
        made.append(one(kind.rstrip("'"), dtype, shapes, values, ragged))
    return made
