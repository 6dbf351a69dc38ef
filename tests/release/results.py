# SPDX-License-Identifier: Apache-2.0
"""Prints a checksum of what some operators make, one a line: the same for every processor, system and Python.

    python tests/release/results.py [PICTURE]     PICTURE: where the first picture of the pipeline goes, as PNG

Needs no more than the wheel needs, and takes few operations, so that an emulated processor ends soon.
"""

import base64
import os
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

from penstock import fn, pipeline_def, tensor, types

ROOT = Path(__file__).resolve().parent.parent.parent
PHOTOGRAPH = ROOT / "docs" / "demo.jpg"
DRAWING = ROOT / "docs" / "how_to" / "pictures" / "sound.png"

# The same picture of 16 x 12 as TIFF files of libtiff's compressions, whose libraries the wheel holds without their encoders:
# zlib's form of each file.
TIFF_FILES = {
    "zstd": (
        "eNrz9NRiiGFgYNDYqv+XISGWiYGF+e2Dy8d2rp43saU8M8bfyVRdipfhHUhoDUgoCySkARJ6CBKaDxQSWZGwiL/B+brAtOf//z+P"
        "nWM7xaSgd14T60wuBgZGZgZGoOkCQMwIZfMAMROQzQykbwExM1Q84DADAxuUzQTEgowsYDYHEItCxUF6xJDMEYeqCQFiGag4CDOA"
        "9YEgAN8OLFo="
    ),
    "lzma": (
        "eNrz9NRiqGBgYPhrXhURBaT/C910ZGJkZmRQZBSrVDjy7gGTPYNZLEPZnjemBjH86nd33nXN1c5ZbTs3bPXm4oxzf2rf/D0vIlOl"
        "/U/+gwH7gzWlWTsvPPTc2qE1J2WW1gGgeQyMXgdYgFR000PuFQxcf5hAYgyRUVxAGWYGRiBbAKQIyuYBYqDtDMxA+hsQM0PFczsY"
        "GNigbJAJgowsYDYHEItCxUF6xJDMEYeqKQBiGag4IwMEcIAhAGALLqM="
    ),
    "lerc": (
        "eNrz9NRi8GBiYHj74DIcHdu5Go7mTWyBo/LMGDiitXp/J1M4UpfihSOGdw/gCGgQHNFa/Zp5E+GopTwLjoAOhSNTDSk4orV6oEPh"
        "6OHlY3C0c818OAIaBEe0Vs/FwMDIzMDIwMAgAMSMUDYPEDMB2cxA+hgwlTFDxUGYDcoGCjMIMrKA2RxALAoVB+kRQzJHHKrGAahB"
        "BskcBrA+EAQAspIqMg=="
    ),
    "deflate": (
        "eNrz9NRiSGFgYKiYU/37wadoCattxaYyZ2ffYHJ/OtOw4Mu0Y6/+zvV56BHbJd4ncc+2QXmBY4FL9tfsZ74ti6d90rFgshLp8zFd"
        "8qDj2qtGvtbF7dP7D148Z/r5IUeGgMzFKFsGGTt1CQYuBgZGZgZGoC0CQMwIZfMAMROQzQykHwExM1ScA4jZoGwmIBZkZIGLi0LF"
        "QXrEkMwRh6qJBmIZqDgIM4D1gSAA9yUvgA=="
    ),
}


def image(seed, height=37, width=53, channels=3, dtype=np.uint8):
    """Bytes of a generator of our own: NumPy's stay out of it."""
    count = height * width * channels
    values = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(2654435761 + 2 * seed)) >> np.uint64(13)
    return (values % np.uint64(251)).reshape(height, width, channels).astype(dtype)


@pipeline_def(batch_size=4, num_threads=2, seed=7)
def training(names):
    encoded, labels = fn.readers.file(files=names, labels=list(range(len(names))), name="reader")
    decoded = fn.decoders.image(encoded, output_type=types.RGB)
    cut = fn.random_resized_crop(decoded, size=[64, 64])
    colored = fn.color_twist(cut, hue=fn.random.uniform(range=[-20, 20]), saturation=1.2)
    normal = fn.crop_mirror_normalize(
        colored,
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[120.0, 110.0, 100.0],
        std=[60.0, 58.0, 57.0],
        mirror=fn.random.coin_flip(probability=0.5),
    )
    return cut, normal, labels


def operators():
    """(name, result) of single operators on bytes and floats."""
    small = tensor(image(1), "HWC")
    floats = tensor(image(2, dtype=np.float32) / np.float32(16), "HWC")
    yield "resize", fn.resize(small, size=[20, 71])
    yield "resize_cubic", fn.resize(floats, size=[50, 31], interp_type=types.INTERP_CUBIC)
    yield "resize_lanczos", fn.resize(small, size=[64, 64], interp_type=types.INTERP_LANCZOS3)
    yield "rotate", fn.rotate(small, angle=33.0, fill_value=9.0)
    yield "warp_affine", fn.warp_affine(floats, matrix=[0.9, 0.2, 1.5, -0.1, 1.1, 0.25], fill_value=0.0)
    yield "gaussian_blur", fn.gaussian_blur(small, sigma=1.7)
    yield "median_blur", fn.median_blur(small, window_size=[5, 5])
    yield "hsv", fn.hsv(small, hue=40.0, saturation=0.7, value=1.1)
    yield "color_space", fn.color_space_conversion(small, image_type=types.RGB, output_type=types.YCbCr)
    yield "brightness_contrast", fn.brightness_contrast(floats, brightness=1.2, contrast=0.8)
    yield "water", fn.water(small, ampl_x=3.0, ampl_y=2.0)
    yield "sphere", fn.sphere(small)
    yield "jpeg_distortion", fn.jpeg_compression_distortion(small, quality=40)
    yield "normalize", fn.normalize(floats)
    mean = fn.reductions.mean(floats, axes=[0, 1], keep_dims=True)
    yield "mean", mean
    yield "std_dev", fn.reductions.std_dev(floats, mean, axes=[0, 1])
    yield "transpose", fn.transpose(small, perm=[2, 0, 1])
    yield "cast", fn.cast(floats * 70.0 - 300.0, dtype=types.INT8)
    sound = (image(3, 1, 4000, 1).reshape(-1).astype(np.float32) - np.float32(125)) / np.float32(128)
    yield "spectrogram", fn.spectrogram(sound, nfft=256, window_length=200, window_step=100)
    yield "mel", fn.mel_filter_bank(fn.spectrogram(sound, nfft=256, window_length=256), nfilter=20, sample_rate=16000.0)
    yield "decibels", fn.to_decibels(fn.spectrogram(sound, nfft=128, window_length=128))
    yield "resample", fn.audio_resample(sound, in_rate=16000.0, out_rate=11025.0)
    yield "photograph", fn.decoders.image(np.fromfile(PHOTOGRAPH, np.uint8))
    yield "drawing", fn.decoders.image(np.fromfile(DRAWING, np.uint8))
    for compression, file in TIFF_FILES.items():
        encoded = np.frombuffer(zlib.decompress(base64.b64decode(file)), np.uint8)
        yield f"tiff_{compression}", fn.decoders.image(encoded)


def checksum(result):
    array = np.ascontiguousarray(np.asarray(result))
    return f"{array.dtype} {'x'.join(map(str, array.shape))} {zlib.crc32(array.tobytes()):08x}"


def png(pixels):
    """A PNG file of bytes HWC, by the standard library."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def main(picture=None):
    pipeline = training([os.fspath(PHOTOGRAPH), os.fspath(DRAWING), os.fspath(PHOTOGRAPH)])
    pipeline.build()
    for i in range(2):
        cut, normal, labels = pipeline.run()
        for name, batch in (("cut", cut), ("normal", normal), ("labels", labels)):
            for j, sample in enumerate(batch):
                print(f"training.{i}.{name}.{j}", checksum(sample))
        if picture and i == 0:
            Path(picture).write_bytes(png(np.hstack([np.asarray(sample) for sample in cut])))
    for name, result in operators():
        print(name, checksum(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
