# SPDX-License-Identifier: Apache-2.0
"""Loads the plug-in of examples/plugin and uses all that it has, on the CPU and on a GPU. Arguments: the library, a scratch
folder. tests/test_plugin_libraries.py runs it in a process of its own, where the plug-in comes after Penstock was used."""

import pathlib
import sys

import numpy as np
import penstock
from penstock import fn, pipeline_def, types

library, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
random = np.random.default_rng(3)
SHADOWS, HIGHLIGHTS = [10, 20, 130], [250, 210, 30]


def duotone(x, amount=1.0):
    bright = x.astype(np.float64) @ [0.299, 0.587, 0.114] / 255
    color = np.array(SHADOWS) + (np.array(HIGHLIGHTS) - SHADOWS) * bright[..., None]
    return x + (color - x) * amount


def emboss(x, depth):
    mode = [(1, 1), (1, 1), (0, 0)]
    axes = [np.pad(np.arange(n), 1, mode="reflect") if n > 1 else np.zeros(3, int) for n in x.shape[:2]]
    wide = x[axes[0]][:, axes[1]].astype(np.float64)
    assert len(mode) == x.ndim
    return np.clip(128 + (wide[2:, 2:] - wide[:-2, :-2]) * depth, 0, 255)


def qoi(pixels):
    """A file with all kinds of pieces but the one of alpha."""
    out = bytearray(b"qoif" + np.array(pixels.shape[1::-1], ">u4").tobytes() + bytes([3, 0]))
    before, seen, run = (0, 0, 0), [None] * 64, 0
    for pixel in map(tuple, pixels.reshape(-1, 3).tolist()):
        if pixel == before and run < 62:
            run += 1
            continue
        if run:
            out.append(0xC0 | run - 1)
        run = 1 if pixel == before else 0
        if run:
            continue
        at = (pixel[0] * 3 + pixel[1] * 5 + pixel[2] * 7 + 255 * 11) % 64
        r, g, b = ((p - q + 128) % 256 - 128 for p, q in zip(pixel, before))
        if seen[at] == pixel:
            out.append(at)
        elif all(-2 <= d <= 1 for d in (r, g, b)):
            out.append(0x40 | r + 2 << 4 | g + 2 << 2 | b + 2)
        elif -32 <= g <= 31 and all(-8 <= d - g <= 7 for d in (r, b)):
            out += bytes([0x80 | g + 32, r - g + 8 << 4 | b - g + 8])
        else:
            out += bytes([0xFE, *pixel])
        seen[at] = before = pixel
    return bytes(out + bytes([0xC0 | run - 1] * bool(run)) + b"\0" * 7 + b"\1")


def pictures(n):
    return [random.integers(0, 256, (*random.integers(1, 70, 2), 3), np.uint8) for _ in range(n)]


def same(got, wanted, error):
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(g), w, atol=error, rtol=0)


# --- before: a GPU has been used, names are not there
images = penstock.batch(pictures(5), layout="HWC")
on_gpu = images.gpu()
fn.brightness(on_gpu, brightness=0.5).cpu()
for path in ("duotone", "effects"):
    assert not hasattr(fn, path) and path not in dir(fn)
for _ in range(2):
    penstock.load_library(library)
assert {"duotone", "effects"} <= set(dir(fn)) and dir(fn.effects)[-1] == "emboss"
assert {"readers.cifar", "effects.emboss"} <= set(penstock._core.operators())
assert "two colors" in fn.duotone.__doc__ and fn.effects.emboss.__module__ == "penstock.fn.effects"

# --- calls, on both devices, with one value and with one a sample
color = {"shadows": SHADOWS, "highlights": HIGHLIGHTS}
plain = [s.as_array() for s in images]
amounts = penstock.per_sample([0.0, 0.25, 0.5, 0.75, 1.0])
numbers = [0.0, 0.25, 0.5, 0.75, 1.0]
one, each = fn.duotone(images, **color), fn.duotone(images, **color, amount=amounts)
same(one, map(duotone, plain), 0.5001)
same(each, map(duotone, plain, numbers), 0.5001)
relief = fn.effects.emboss(images, depth=amounts)
same(relief, map(emboss, plain, numbers), 0.5001)
for got, wanted in (
    (fn.duotone(on_gpu, **color), one),
    (fn.duotone(on_gpu, **color, amount=amounts), each),
    (fn.effects.emboss(on_gpu, depth=amounts), relief),
):
    assert got.device.startswith("gpu") if isinstance(got.device, str) else True
    same(got.cpu(), [s.as_array() for s in wanted], 0)
for call, said in (
    (lambda: fn.duotone(images, shadow=[1, 2, 3]), "did you mean 'shadows'"),
    (lambda: fn.duotone(images, shadows=[1, 2]), "a color has 3 numbers, got 2"),
    (lambda: fn.duotone(np.zeros((2, 2, 3), np.float32)), "expected uint8, got float32"),
    (lambda: fn.duotone(images, amount=1.5), "amount"),
):
    try:
        call()
    except (TypeError, ValueError) as error:
        assert "[duotone]" in str(error) and said in str(error), error
    else:
        raise AssertionError(said)

# --- the image format
for pixels in (*pictures(3), np.zeros((9, 200, 3), np.uint8), random.integers(0, 3, (40, 30, 3), np.uint8)):
    file = np.frombuffer(qoi(pixels), np.uint8)
    np.testing.assert_array_equal(fn.decoders.image(file), pixels)
    assert fn.peek_image_shape(file).tolist() == list(pixels.shape)
    window = fn.decoders.image_slice(
        file, start=[0, 0], shape=pixels.shape[:2], axes=[0, 1], normalized_anchor=False, normalized_shape=False
    )
    np.testing.assert_array_equal(window, pixels)
try:
    fn.decoders.image(np.frombuffer(qoi(plain[0])[:30], np.uint8))
except penstock.DataError as error:
    assert "QOI: premature end of file" in str(error), error
try:
    fn.decoders.image(np.zeros(9, np.uint8))
except penstock.DataError as error:
    assert "and QOI)" in str(error), error
(scratch / "a.qoi").write_bytes(qoi(plain[0]))

# --- the reader, in a pipeline where the operators are fused; saved for another process
records = random.integers(0, 256, (20, 3073), np.uint8)
records[:, 0] %= 10
records.tofile(scratch / "data.bin")


@pipeline_def(batch_size=20, num_threads=2, device_id=0)
def train(device):
    image, label = fn.readers.cifar(path=str(scratch / "*.bin"), name="r")
    if device == "gpu":
        image = image.gpu()
    big = fn.resize(fn.transpose(image, perm=[1, 2, 0]), size=[48, 48])
    return fn.cast(fn.duotone(big, **color), dtype=types.FLOAT), fn.effects.emboss(image), label


def outputs(pipe):
    return [np.stack([np.asarray(s) for s in o.cpu()]) for o in pipe.run()]


on_cpu = train("cpu")
found = outputs(on_cpu)
assert found[2].ravel().tolist() == records[:, 0].tolist()
big = fn.resize(
    penstock.batch(list(records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)), layout="HWC"), size=[48, 48]
)
same(found[0], map(duotone, (s.as_array() for s in big)), 1.1)
assert any("resize" in line and "duotone" in line and "cast" in line for line in str(on_cpu.plan()).splitlines()), (
    on_cpu.plan()
)
there = train("gpu")
assert any("resize" in line and "duotone" in line for line in str(there.plan()).splitlines()), there.plan()
for a, b in zip(found, outputs(there), strict=True):
    np.testing.assert_array_equal(a, b)
train("cpu").save(str(scratch / "saved.json"))
np.save(scratch / "saved.npy", found[0])

# --- the modules with DALI's names
import penstock.dali  # noqa: E402

penstock.dali.install()
import nvidia.dali.fn as theirs  # noqa: E402
import nvidia.dali.ops as classes  # noqa: E402
import nvidia.dali.plugin_manager as plugin_manager  # noqa: E402

plugin_manager.load_library(library)
same(theirs.duotone(images, **color), [s.as_array() for s in one], 0)
assert classes.Duotone.__name__ == "Duotone" and classes.effects.Emboss.__name__ == "Emboss"
print("used")
