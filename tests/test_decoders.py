# SPDX-License-Identifier: Apache-2.0
"""The image decoders against Pillow and DALI, their windows against the whole picture, and files that are not images."""

import io
import random
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import penstock
from penstock import fn, pipeline_def, types

COLORS = {"RGB": types.RGB, "BGR": types.BGR, "GRAY": types.GRAY, "YCbCr": types.YCbCr}
seeds = st.integers(0, 2**32 - 1)


def picture(height, width, channels=3, seed=0):
    small = np.random.default_rng(seed).integers(0, 255, (height // 9 + 2, width // 9 + 2, channels)).astype(np.uint8)
    planes = [Image.fromarray(small[..., c]).resize((width, height), Image.BICUBIC) for c in range(channels)]
    return np.stack([np.asarray(p) for p in planes], -1)


def encoded(pixels, format="JPEG", **options):
    file = io.BytesIO()
    Image.fromarray(pixels if pixels.shape[-1] > 1 else pixels[..., 0]).save(file, format, **options)
    return np.frombuffer(file.getvalue(), np.uint8)


def png16(pixels):
    """A PNG file of 16 bits, gray or RGB, which Pillow cannot write."""
    height, width, channels = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, 1 + 2 * width * channels), np.uint8)
    rows[:, 1:] = pixels.astype(">u2").reshape(height, -1).view(np.uint8)
    header = struct.pack(">IIBBBBB", width, height, 16, 2 if channels == 3 else 0, 0, 0, 0)
    file = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows.tobytes()))
        + chunk(b"IEND", b"")
    )
    return np.frombuffer(file, np.uint8)


JPEG = encoded(picture(203, 301), quality=85)
PNG = encoded(picture(203, 301), "PNG")


def pillow(file, mode="RGB"):
    return np.asarray(Image.open(io.BytesIO(file.tobytes())).convert(mode))


def test_jpeg_and_png_are_pillow():
    y = fn.decoders.image([JPEG, PNG])
    assert y.layout() == "HWC" and y.dtype == types.UINT8
    np.testing.assert_array_equal(y[0].numpy(), pillow(JPEG))
    np.testing.assert_array_equal(y[1].numpy(), pillow(PNG))
    np.testing.assert_array_equal(fn.decoders.image(JPEG, output_type=types.BGR), pillow(JPEG)[..., ::-1])
    for options in ({"subsampling": 0}, {"subsampling": 1}, {"progressive": True}, {"optimize": True}, {"quality": 30}):
        file = encoded(picture(77, 131), **options)
        np.testing.assert_array_equal(fn.decoders.image(file), pillow(file), str(options))


DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"]


@pytest.mark.parametrize("name", [*COLORS, "ANY_DATA"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_colors_and_types_are_dali(oracle, name, dtype):
    """Bit for bit, 16-bit files with all their values included; but DALI does not round the gray of color PNGs to the
    nearest, and it crashes on ANY_DATA of gray JPEGs."""
    gray, deep = picture(50, 60, 1), png16(np.arange(65536).reshape(256, 256, 1))
    deep_color = png16(np.random.default_rng(1).integers(0, 65536, (64, 64, 3)))
    top = 1 if dtype == "float32" else np.iinfo(dtype).max
    for file in (JPEG, PNG, encoded(gray, "PNG"), deep, deep_color) + (() if name == "ANY_DATA" else (encoded(gray),)):
        y = fn.decoders.image(file, output_type=COLORS.get(name, types.ANY_DATA), dtype=dtype)
        d = oracle.call("decoders.image", [file], output_type=name, dtype=dtype)[0]
        assert y.dtype == d.dtype == dtype and y.shape == d.shape
        if name == "GRAY" and (file is PNG or file is deep_color):
            step = 1 / 255 if file is PNG else 4 / 65535
            assert np.abs(y / top - d / top).max() <= step + (1 / top if dtype in ("int8", "uint8", "int16") else 1e-7)
        else:
            np.testing.assert_array_equal(y, d)


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_of_windows_are_dali(oracle, dtype):
    for file in (JPEG, PNG, png16(np.arange(65536).reshape(256, 256, 1))):
        crop = dict(crop=[40, 50], crop_pos_x=0.3, crop_pos_y=0.7)
        np.testing.assert_array_equal(
            fn.decoders.image_crop(file, dtype=dtype, **crop),
            oracle.call("decoders.image_crop", [file], dtype=dtype, **crop)[0],
        )
        window = dict(start=[20, 30], end=[70, 90], axes=[0, 1])
        np.testing.assert_array_equal(
            fn.decoders.image_slice(file, dtype=dtype, **window),
            oracle.call("decoders.image_slice", [file], dtype=dtype, **window)[0],
        )
        y = fn.decoders.image_random_crop(file, dtype=dtype, seed=3)
        assert y.dtype == dtype


def test_floating_point_that_dali_lacks():
    for file in (JPEG, png16(np.arange(65536).reshape(256, 256, 1))):
        whole = fn.decoders.image(file, dtype="uint16").astype(np.float64) / 65535
        np.testing.assert_allclose(fn.decoders.image(file, dtype="float64"), whole, rtol=1e-15)
        np.testing.assert_array_equal(
            fn.decoders.image(file, dtype="float16"), fn.decoders.image(file, dtype="float32").astype(np.float16)
        )


def test_type_of_a_fused_stage():
    """A decoder of another type before maps and arithmetic equals the steps one by one."""
    for dtype in [*DTYPES, "float16", "float64"]:

        @penstock.pipeline_def(batch_size=1, num_threads=1)
        def pipe():
            x = fn.decoders.image(fn.external_source(lambda: [JPEG]), dtype=dtype)
            return fn.crop(x, crop=[40, 50]), fn.flip(fn.resize(x, size=[30, 30]))

        whole = fn.decoders.image(JPEG, dtype=dtype)
        crop, resized = pipe().run()
        np.testing.assert_array_equal(crop[0].numpy(), fn.crop(whole, crop=[40, 50]))
        np.testing.assert_array_equal(resized[0].numpy(), fn.flip(fn.resize(whole, size=[30, 30])))


def test_fast_idct_and_any_data(oracle):
    d = oracle.call("decoders.image", [JPEG], use_fast_idct=True)[0]
    np.testing.assert_array_equal(fn.decoders.image(JPEG, use_fast_idct=True), d)
    np.testing.assert_array_equal(fn.decoders.image(JPEG, jpeg_fancy_upsampling=True), fn.decoders.image(JPEG))
    rgba = encoded(picture(20, 30, 4), "PNG")
    assert fn.decoders.image(rgba, output_type=types.ANY_DATA).shape == (20, 30, 4)
    assert fn.decoders.image(rgba).shape == (20, 30, 3)
    assert fn.decoders.image(encoded(picture(20, 30, 1)), output_type=types.ANY_DATA).shape == (20, 30, 1)


def test_the_fast_transform_is_as_far_away_as_documented():
    """docs/explanation/jpeg_decoding.md: near on ramps and noise of usual qualities, without a bound on hard edges."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:256, :256]
    kinds = {
        "ramps": np.stack([x, y, (x + y) % 256], -1),
        "noise": rng.integers(0, 256, (256, 256, 3)),
        "black and white": rng.integers(0, 2, (256, 256, 1)).repeat(3, 2) * 255,
    }
    limits = {
        "ramps": {50: 3, 75: 3, 90: 5, 95: 5},
        "noise": {50: 5, 75: 6, 90: 7, 95: 11},
        "black and white": {90: 9, 95: 16},
    }
    away = lambda kind, q: int(
        np.abs(
            np.subtract(
                *(
                    np.asarray(
                        fn.decoders.image(encoded(kinds[kind].astype(np.uint8), quality=q), use_fast_idct=fast)
                    ).astype(int)
                    for fast in (False, True)
                )
            )
        ).max()
    )
    for kind, of in limits.items():
        for quality, limit in of.items():
            assert 0 < away(kind, quality) <= limit, (kind, quality)
    assert away("black and white", 50) > 200 and away("black and white", 100) > 200


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(orientation, oracle):
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = encoded(picture(40, 60), exif=exif)
    y = fn.decoders.image(file)
    np.testing.assert_array_equal(y, oracle.call("decoders.image", [file])[0])
    assert tuple(fn.peek_image_shape(file)) == y.shape
    np.testing.assert_array_equal(
        fn.decoders.image_crop(file, crop=[11, 13], crop_pos_x=0.2), fn.crop(y, crop=[11, 13], crop_pos_x=0.2)
    )
    plain = fn.decoders.image(file, adjust_orientation=False)
    assert plain.shape == (40, 60, 3) == tuple(fn.peek_image_shape(file, adjust_orientation=False))


@given(seeds)
def test_windows_are_those_of_the_whole_picture(seed):
    pick = random.Random(seed)
    height, width = pick.choice([17, 64, 203]), pick.choice([16, 33, 301])
    options = {"subsampling": pick.choice([0, 1, 2]), "progressive": pick.random() < 0.3}
    jpeg = pick.random() < 0.7
    file = encoded(picture(height, width, seed=seed), **options) if jpeg else encoded(picture(height, width), "PNG")
    whole = fn.decoders.image(file)
    size = [pick.randint(1, height), pick.randint(1, width)]
    position = {
        "crop_pos_x": pick.random(),
        "crop_pos_y": pick.random(),
        "rounding": pick.choice(["round", "truncate"]),
    }
    np.testing.assert_array_equal(
        fn.decoders.image_crop(file, crop=size, **position), fn.crop(whole, crop=size, **position)
    )
    y, x = pick.randint(0, height - size[0]), pick.randint(0, width - size[1])
    window = np.s_[y : y + size[0], x : x + size[1]]
    np.testing.assert_array_equal(fn.decoders.image_slice(file, start=[x, y], shape=size[::-1]), whole[window])
    np.testing.assert_array_equal(
        fn.decoders.image_slice(file, start=[y, x], end=[y + size[0], x + size[1]], axes=[0, 1]), whole[window]
    )
    relative = fn.decoders.image_slice(
        file, rel_start=[(x + 0.01) / width], rel_end=[(x + size[1] + 0.01) / width], axis_names="W"
    )
    np.testing.assert_array_equal(relative, whole[:, x : x + size[1]])


def test_slices_by_inputs():
    whole = pillow(JPEG)
    y = fn.decoders.image_slice([JPEG], [np.float32([0.25, 0.5])], [np.float32([0.5, 0.25])])[0].numpy()
    np.testing.assert_array_equal(y, whole[round(101.5 + 0.01) : round(152.25), 75:226])
    y = fn.decoders.image_slice([JPEG], [np.int32([10, 20])], [np.int32([30, 40])])[0].numpy()
    np.testing.assert_array_equal(y, whole[20:60, 10:40])


def test_random_windows_are_windows():
    whole = pillow(JPEG)
    rows, columns = np.mgrid[:203, :301]
    code = encoded(np.stack([rows, columns % 256, columns // 256], -1).astype(np.uint8), "PNG")
    seen = set()
    for seed in range(20):
        place = fn.decoders.image_random_crop(code, seed=seed).astype(int)
        y = fn.decoders.image_random_crop(JPEG, seed=seed)
        (y0, x0), (h, w) = (place[0, 0, 0], place[0, 0, 1] + 256 * place[0, 0, 2]), place.shape[:2]
        np.testing.assert_array_equal(y, whole[y0 : y0 + h, x0 : x0 + w])
        assert 0.07 < h * w / whole[..., 0].size <= 1 and 0.7 < w / h < 1.4
        seen.add((y0, x0, h, w))
    assert len(seen) == 20


def test_peek_image_shape():
    assert fn.peek_image_shape(JPEG).dtype == np.int64
    for file, shape in ((JPEG, (203, 301, 3)), (PNG, (203, 301, 3)), (encoded(picture(20, 30, 1)), (20, 30, 3))):
        for dtype in ("int32", "uint32", "int64", "uint64", "float32", "float64"):
            y = fn.peek_image_shape(file, dtype=dtype)
            assert tuple(y) == shape and y.dtype == dtype
    assert tuple(fn.peek_image_shape(JPEG, image_type=types.GRAY)) == (203, 301, 1)
    with pytest.raises(TypeError, match="32 or 64 bits"):
        fn.peek_image_shape(JPEG, dtype="uint8")


@pytest.mark.parametrize(
    "file, message",
    [
        (JPEG[:50], "ends before the frame header"),
        (JPEG[:3000], "premature end"),
        (JPEG[:0], "empty"),
        (PNG[:500], "PNG"),
        (np.arange(100, dtype=np.uint8), "not an image in a supported format"),
        (np.frombuffer(b"%PDF" + b"0" * 99, np.uint8), "looks like PDF"),
    ],
)
def test_files_that_are_not_pictures(file, message):
    for call in (fn.decoders.image, fn.decoders.image_random_crop):
        with pytest.raises(penstock.DataError, match=message):
            call(file)


def test_wrong_arguments_are_named():
    for call, arguments, error, message in [
        (fn.decoders.image, {"output_type": 7}, ValueError, "output_type must be"),
        (fn.decoders.image, {"dtype": "int64"}, TypeError, "of 8, 16 or 32 bits"),
        (fn.decoders.image_crop, {"crop": [1000, 5]}, ValueError, "extends beyond the 203"),
        (fn.decoders.image_slice, {}, ValueError, "is required"),
        (fn.decoders.image_slice, {"start": [0, 0], "rel_start": [0, 0]}, ValueError, "at most one"),
        (fn.decoders.image_slice, {"start": [0], "shape": [1], "axes": [2]}, ValueError, "H and W"),
        (fn.decoders.image_slice, {"start": [5, 5], "end": [2, 9]}, ValueError, "ends before"),
        (fn.decoders.image_random_crop, {"random_area": [0, 2]}, ValueError, "random_area"),
    ]:
        with pytest.raises(error, match=message):
            call(JPEG, **arguments)


@pytest.mark.parametrize("mirror", [0, 1])
@pytest.mark.parametrize("window", [None, (0.11, 0.23, 0.7, 0.6)])
def test_fast_decoding_keeps_samples_in_their_places(mirror, window):
    y, x = np.mgrid[0:403, 0:517] / 500
    waves = [np.sin(9 * x + 4 * y), np.cos(7 * y - 3 * x), np.sin(20 * x * y)]
    file = encoded((127 + 100 * np.stack(waves, -1)).astype(np.uint8), quality=95, subsampling=0)

    @pipeline_def(batch_size=1, num_threads=1)
    def shrunk(decode, size):
        images = fn.decoders.image(fn.external_source(lambda: [file]), decode=decode)
        if window:
            images = fn.slice(images, window[:2], window[2:], axis_names="HW")
        images = fn.resize(images, size=size, interp_type=types.INTERP_LINEAR)
        return fn.flip(images, horizontal=mirror)

    height, width = (403, 517) if window is None else (0.7 * 403, 0.6 * 517)
    for size in [(150, 160), (37, 41), (11, 300), (400, 500)]:
        exact, fast = (shrunk(decode, size).run()[0].as_array()[0].astype(float) for decode in ("exact", "fast"))
        error, shift = np.abs(exact - fast).mean(), np.abs(np.diff(exact, axis=1)).mean()
        assert error < min(0.6, max(0.25, 0.2 * shift)), (size, error, shift)
        if 2 * size[0] > height or 2 * size[1] > width:  # too large for a picture of half the size
            assert np.abs(exact - fast).max() <= 2  # converted to RGB after the resize: only rounding differs here
