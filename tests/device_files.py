# SPDX-License-Identifier: Apache-2.0
"""Random calls of operators that take or give the bytes of files, and of those that random arrays do not call, for programs that
run on both devices."""

import io

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case
from PIL import Image

MODES = {"RGB": 3, "L": 1, "RGBA": 4}


def picture(draw, mode="RGB"):
    """A smooth picture of a few pixels, as PIL has it."""
    height, width = (draw(st.sampled_from([1, 2, 7, 8, 16, 33, 50])) for _ in "yx")
    y, x = np.mgrid[:height, :width]
    channels = [(y * draw(st.integers(0, 9)) + x * draw(st.integers(0, 9))) % 256 for _ in range(MODES[mode])]
    pixels = np.stack(channels, -1).astype(np.uint8)
    return Image.fromarray(pixels[..., 0] if mode == "L" else pixels)


def saved(picture, format, **options):
    file = io.BytesIO()
    picture.save(file, format, **options)
    return np.frombuffer(file.getvalue(), np.uint8)


def picture_file(draw):
    format = draw(st.sampled_from(["JPEG", "JPEG", "PNG", "BMP", "TIFF", "WEBP"]))
    mode = draw(st.sampled_from(["RGB", "L"] if format == "JPEG" else ["RGB", "RGB", "RGBA"]))
    options = (
        {"quality": draw(st.sampled_from([30, 90])), "progressive": draw(st.booleans())} if format == "JPEG" else {}
    )
    return saved(picture(draw, mode), format, **options)


def files(draw, make=picture_file):
    return [[make(draw) for _ in range(draw(st.integers(1, 3)))]]


def decoded(**choices):
    """Calls of a decoder of pictures, with some of these arguments."""

    def make(draw):
        types = {"output_type": st.sampled_from(["RGB", "BGR", "GRAY", "YCbCr"])}
        constants = {k: draw(v) for k, v in {**types, **choices}.items() if k in REQUIRED or draw(st.booleans())}
        return Case(files(draw), [""], constants)

    return make


REQUIRED = {"crop", "start", "shape"}
PARTS = st.floats(0, 1, width=16)
SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3)).map(list)


def array_file(draw):
    file = io.BytesIO()
    dtype = draw(st.sampled_from(["u1", "f4", "i8"]))
    shape = draw(st.lists(st.integers(0, 5), min_size=2, max_size=2))
    np.save(file, np.arange(int(np.prod(shape))).reshape(shape).astype(dtype))
    return np.frombuffer(file.getvalue(), np.uint8)


def draw_inflate(draw):
    """A block of LZ4 that has literals alone: their number in the upper half of a byte, then they."""
    count = draw(st.integers(1, 14))
    data = [bytes([count << 4, *(draw(st.integers(0, 255)) for _ in range(count))]) for _ in range(2)]
    return Case([[np.frombuffer(x, np.uint8) for x in data]], [""], {"shape": [count]})


def encoded(draw):
    mode = draw(st.sampled_from(["RGB", "L"]))
    pixels = [np.asarray(picture(draw, mode)) for _ in range(draw(st.integers(1, 3)))]
    return Case([[x.reshape(*x.shape[:2], -1) for x in pixels]], ["HWC"])


def draw_ssd_random_crop(draw):
    boxes = np.array([[0.1, 0.1, 0.6, 0.7], [0.4, 0.3, 0.9, 0.8]], np.float32)
    pixels = np.asarray(picture(draw))
    return Case([[pixels], [boxes], [np.array([1, 2], np.int32)]], ["HWC", "", ""])


FILES = {
    "decoders.image": decoded(),
    "decoders.image_crop": decoded(crop=SIZES, crop_pos_x=PARTS),
    "decoders.image_random_crop": decoded(random_area=st.just([0.2, 1.0])),
    "decoders.image_slice": decoded(start=st.just([0, 0]), shape=SIZES),
    "decoders.inflate": draw_inflate,
    "decoders.numpy": lambda draw: Case(
        [[array_file(draw)]], [""], {"dtype": draw(st.sampled_from(["uint8", "float", "int64"]))}
    ),
    "encoders.png": encoded,
    "encoders.jpeg": encoded,
    "peek_image_shape": lambda draw: Case(files(draw), [""]),
    "ssd_random_crop": draw_ssd_random_crop,
}
