# SPDX-License-Identifier: Apache-2.0
"""The encoders of images: JPEG has libjpeg-turbo's bytes, PNG and lossless WebP come back exactly."""

import io

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import penstock
from penstock import Function, Pipeline, fn, pipeline_def

EXTENTS = [1, 2, 7, 8, 15, 16, 17, 33, 64, 131]


def picture(draw, channels, dtype=np.uint8):
    """Smooth with some noise, so that codes of all lengths occur."""
    h, w, seed = draw(st.sampled_from(EXTENTS)), draw(st.sampled_from(EXTENTS)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    top = np.iinfo(dtype).max
    wave = (np.sin(np.arange(h)[:, None] / 9) + np.cos(np.arange(w)[None] / 7))[..., None] * np.arange(1, channels + 1)
    x = (wave + rng.normal(0, draw(st.sampled_from([0.0, 0.1, 1.0])), wave.shape)) * top / 8 + top / 2
    return np.clip(x, 0, top).astype(dtype)


def read(file):
    return np.array(Image.open(io.BytesIO(np.asarray(file).tobytes())))


@given(st.data())
def test_jpeg_has_the_bytes_of_pillow(data):
    channels = data.draw(st.sampled_from([1, 3]))
    xs = [picture(data.draw, channels) for _ in range(data.draw(st.integers(1, 3)))]
    qualities = [data.draw(st.integers(1, 100)) for _ in xs]
    subsampling = data.draw(st.sampled_from(["444", "422", "420", "gray"]))
    how = {name: data.draw(st.booleans()) for name in ("optimize", "progressive")}
    restart = data.draw(st.sampled_from([0, 1, 3, 100]))
    each = penstock.batch([np.int32(q) for q in qualities])
    files = fn.encoders.jpeg(xs, quality=each, subsampling=subsampling, restart_interval=restart, **how)
    for x, quality, file in zip(xs, qualities, files, strict=True):
        image = Image.fromarray(x if channels == 3 else x[..., 0])
        more = {} if channels == 1 or subsampling == "gray" else {"subsampling": ":".join(subsampling)}
        if subsampling == "gray":
            image = image.convert("L")
        wanted = io.BytesIO()
        image.save(wanted, "jpeg", quality=quality, restart_marker_blocks=restart, **how, **more)
        assert np.asarray(file).tobytes() == wanted.getvalue()


def test_jpeg_has_the_bytes_of_opencv():
    x = np.random.default_rng(0).integers(0, 256, (67, 45, 3), np.uint8)
    got = fn.encoders.jpeg(x, quality=91)
    np.testing.assert_array_equal(got, cv2.imencode(".jpg", x[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 91])[1])


@given(st.data())
def test_png_comes_back(data):
    channels, dtype = data.draw(st.sampled_from([0, 1, 2, 3, 4])), data.draw(st.sampled_from([np.uint8, np.uint16]))
    xs = [picture(data.draw, channels or 1, dtype) for _ in range(data.draw(st.integers(1, 3)))]
    xs = xs if channels else [x[..., 0] for x in xs]
    levels = [data.draw(st.integers(0, 9)) for _ in xs]
    how = {"filter": data.draw(st.sampled_from(["none", "sub", "up", "average", "paeth", "adaptive"]))}
    if data.draw(st.booleans()):
        how["strategy"] = data.draw(st.sampled_from(["default", "filtered", "huffman", "rle", "fixed"]))
    files = fn.encoders.png(xs, level=penstock.batch([np.int32(v) for v in levels]), **how)
    own = fn.decoders.image(files, output_type=penstock.types.ANY_DATA, dtype=np.dtype(dtype).name)
    for x, file, decoded in zip(xs, files, own, strict=True):
        np.testing.assert_array_equal(np.asarray(decoded), x if channels else x[..., None])
        if dtype == np.uint8 or channels < 2:  # Pillow has 16 bits for gray alone
            np.testing.assert_array_equal(read(file), x[..., 0] if channels == 1 else x)


@given(st.data())
def test_webp_without_loss_comes_back(data):
    channels = data.draw(st.sampled_from([3, 4]))
    x = picture(data.draw, channels)
    file = fn.encoders.webp(x, lossless=True, quality=data.draw(st.sampled_from([0, 30, 100])), method=1)
    if channels == 4 and x[..., 3].min() == 255:
        x = x[..., :3]  # such a file has no alpha
    np.testing.assert_array_equal(fn.decoders.image(file, output_type=penstock.types.ANY_DATA), x)
    np.testing.assert_array_equal(read(file), x)


def test_webp_is_as_near_as_that_of_pillow():
    wave = np.sin(np.arange(131)[:, None, None] / 9) * 60 + np.arange(64)[None, :, None] + 90 + np.arange(3) * 9
    x = wave.astype(np.uint8)
    for quality in (10, 80):
        wanted = io.BytesIO()
        Image.fromarray(x).save(wanted, "webp", quality=quality)
        file = np.asarray(fn.encoders.webp(x, quality=quality))
        near = lambda decoded: float(((decoded.astype(float) - x) ** 2).mean())
        assert near(read(file)) <= near(read(np.frombuffer(wanted.getvalue(), np.uint8))) * 1.2 + 0.5
        assert file.size <= len(wanted.getvalue()) * 1.2 + 100


def test_views_with_strides_are_encoded():
    x = np.random.default_rng(1).integers(0, 256, (40, 60, 4), np.uint8)
    for view in (x[::2, 5:31, :3], x[::-1, ::-1, 2::-1], x[..., 1:2], x[:, ::3, 0]):
        np.testing.assert_array_equal(fn.encoders.jpeg(view), fn.encoders.jpeg(view.copy()))
        np.testing.assert_array_equal(read(fn.encoders.png(view)), view if view.ndim == 2 else view.squeeze())


def test_a_pipeline_gives_what_a_call_gives():
    rng = np.random.default_rng(2)
    batches = [[rng.integers(0, 256, (150 + 10 * i, 200, 3), np.uint8) for i in range(3)] for _ in range(3)]
    qualities = [np.int32(q) for q in (10, 50, 90)]
    pipe = Pipeline(batch_size=3, num_threads=2)
    with pipe:
        x = fn.external_source(iter(batches), batch=True, layout="HWC")
        pipe.set_outputs(fn.encoders.jpeg(x, quality=fn.external_source(lambda: qualities, batch=True)))
    for xs in batches:
        (files,) = pipe.run()
        for file, x, quality in zip(files, xs, qualities, strict=True):
            np.testing.assert_array_equal(np.asarray(file), fn.encoders.jpeg(x, quality=int(quality)))


def test_a_function_gives_what_a_call_gives():
    @pipeline_def(batch_size=2, num_threads=1)
    def program():
        return fn.encoders.png(fn.flip(fn.external_source(name="x", layout="HWC")))

    xs = [np.random.default_rng(k).integers(0, 256, (20 + k, 30, 3), np.uint8) for k in range(2)]
    files = Function(program())(x=xs)
    for file, x in zip(files[0] if isinstance(files, tuple) else files, xs, strict=True):
        np.testing.assert_array_equal(read(file), x[:, ::-1])


def test_a_bad_sample_is_named():
    good, bad = np.zeros((20, 30, 3), np.uint8), np.zeros((20, 30, 2), np.uint8)
    with pytest.raises(ValueError, match=r"JPEG has 1 or 3 channels of uint8, got 2 .*\(sample 1\)"):
        fn.encoders.jpeg([good, bad, good])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: fn.encoders.jpeg(np.zeros((4, 4, 3), np.float32)), TypeError, "expected uint8, got float32: convert"),
        (lambda: fn.encoders.jpeg(np.zeros((1, 65501, 1), np.uint8)), ValueError, "from 1 to 65500 .* 1 x 65501"),
        (lambda: fn.encoders.jpeg(np.zeros((0, 5, 3), np.uint8)), ValueError, "got 0 x 5"),
        (lambda: fn.encoders.jpeg(np.zeros((4, 4, 3), np.uint8), subsampling="411"), ValueError, '"444", "422"'),
        (lambda: fn.encoders.webp(np.zeros((16384, 1, 3), np.uint8)), ValueError, "from 1 to 16383 .* 16384 x 1"),
        (lambda: fn.encoders.webp(np.zeros((4, 5), np.uint8)), ValueError, "3 or 4 channels .* got 1"),
        (lambda: fn.encoders.png(np.zeros((4, 4, 5), np.uint8)), ValueError, "from 1 to 4 channels, got 5"),
        (lambda: fn.encoders.png(np.zeros((4, 5), np.int16)), TypeError, "expected uint8 or uint16, got int16"),
        (lambda: fn.encoders.png(np.zeros((4, 5), np.uint8), filter="best"), ValueError, "filter must be one of none"),
        (
            lambda: fn.encoders.png(penstock.tensor(np.zeros((3, 4, 4), np.uint8), layout="CHW")),
            TypeError,
            "'CHW': transpose",
        ),
    ],
)
def test_what_a_format_does_not_hold_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
