# SPDX-License-Identifier: Apache-2.0
"""AVIF and HEIC against planes that were coded without loss, and AVIF against Pillow."""

import functools
import io
import os
import struct
import subprocess
import sys

import heif_files
import image_files
import numpy as np
import pytest
from damaged_bytes import damaged
from PIL import Image, ImageOps

import penstock
from penstock import fn, pipeline_def, types

RGBA = image_files.ramp()
RGB = np.ascontiguousarray(RGBA[..., :3])


def decode(file, kind=types.RGB, **options):
    return np.asarray(fn.decoders.image(np.frombuffer(file, np.uint8), output_type=kind, **options))


def shape(file, **options):
    return tuple(int(n) for n in np.asarray(fn.peek_image_shape(np.frombuffer(file, np.uint8), **options)))


@functools.lru_cache(None)
def made(codec, chroma, bits, height, width, matrix="bt709", full_range=True, alpha=False):
    planes = heif_files.planes_of(height, width, chroma, bits)
    opacity = heif_files.planes_of(height, width, "400", bits, 7)[0] if alpha else None
    return (
        planes,
        opacity,
        heif_files.picture(planes, chroma, bits, codec, matrix=matrix, full_range=full_range, alpha=opacity),
    )


def assert_rounded(got, real):
    """`got` is `real`, rounded: float32 has a few units of 2^-24 of the range."""
    assert got.shape == real.shape
    top = 255 if got.dtype == np.uint8 else 65535
    assert np.abs(got - real).max() <= 0.5 + top * 2.0**-20


KINDS = [
    (codec, chroma, bits, *size)
    for codec in ("av1", "hevc")
    for chroma in ("400", "420", "422", "444")
    for bits in (8, 10, 12)
    for size in (
        [(37, 53), (1, 1)]
        if codec == "av1" and bits == 10
        else [(37, 53)]
        if codec == "av1" or chroma in ("400", "444")
        else [(38, 54)]
    )
]


@pytest.mark.parametrize("codec, chroma, bits, height, width", KINDS)
def test_planes_become_colors(codec, chroma, bits, height, width):
    planes, _, file = made(codec, chroma, bits, height, width)
    real = heif_files.colors(planes, chroma, bits)
    stored = "uint8" if bits == 8 else "uint16"
    got = decode(file, types.ANY_DATA, dtype=stored)
    assert got.dtype == stored
    assert_rounded(got, real)
    assert shape(file)[:2] == got.shape[:2]
    np.testing.assert_array_equal(decode(file, dtype=stored), np.broadcast_to(got, (height, width, 3)))
    if bits > 8:  # from range to range
        np.testing.assert_array_equal(decode(file, types.ANY_DATA), (got.astype(np.int64) * 255 + 32767) // 65535)
    as_real = decode(file, types.ANY_DATA, dtype="float32")
    np.testing.assert_allclose(as_real, got / np.float32(255 if bits == 8 else 65535), rtol=0, atol=1e-6)


@pytest.mark.parametrize("matrix", ["bt709", "smpte170m", "bt2020nc", "smpte240m", "fcc", "rgb", "ycgco", None])
@pytest.mark.parametrize("full_range", [True, False])
def test_matrices_and_ranges(matrix, full_range):
    full_range |= matrix == "rgb"  # ffmpeg says so
    planes, _, file = made("av1", "444", 8, 20, 31, matrix, full_range)
    assert_rounded(decode(file), heif_files.colors(planes, "444", 8, matrix, full_range))


@pytest.mark.parametrize("matrix, full_range", [("bt709", False), ("smpte170m", True)])
def test_the_range_and_matrix_of_hevc_come_from_its_parameter_set(matrix, full_range):
    planes, _, file = made("hevc", "420", 8, 38, 54, matrix, full_range)
    assert_rounded(decode(file), heif_files.colors(planes, "420", 8, matrix, full_range))


def test_a_color_box_comes_before_the_coded_data():
    planes = heif_files.planes_of(20, 31, "444", 8)
    file = heif_files.picture(planes, "444", 8, "av1", [heif_files.nclx(1, 13, 9, 0)], matrix="bt709")
    assert_rounded(decode(file), heif_files.colors(planes, "444", 8, "bt2020nc", False))
    file = heif_files.picture(planes, "444", 8, "av1", [heif_files.nclx(1, 13, 14, 1)])
    with pytest.raises(penstock.DataError, match="the color matrix 14 is not supported"):
        decode(file)


@pytest.mark.parametrize("codec, bits", [("av1", 8), ("av1", 10), ("hevc", 8)])
def test_alpha_is_kept_for_any_data_alone(codec, bits):
    planes, opacity, file = made(codec, "444", bits, 37, 53, alpha=True)
    stored = "uint8" if bits == 8 else "uint16"
    got = decode(file, types.ANY_DATA, dtype=stored)
    assert got.shape == (37, 53, 4) and shape(file, image_type=types.ANY_DATA) == (37, 53, 4)
    assert_rounded(got[..., :3], heif_files.colors(planes, "444", bits))
    assert_rounded(got[..., 3:], heif_files.colors([opacity], "400", bits))
    np.testing.assert_array_equal(decode(file, dtype=stored), got[..., :3])
    gray = decode(file, types.GRAY)
    assert gray.shape == (37, 53, 1)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (37, 53), (61, 64)])
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0", "4:0:0"])
def test_avif_is_as_pillow_reads_it(size, subsampling):
    """Pillow's libavif counts in fixed point, in steps of 1/64 of the matrix: at most 3 apart."""
    y, x = np.mgrid[: size[0], : size[1]]
    pixels = np.stack([x * 4 % 256, y * 6 % 256, (x + y) * 2], -1).astype(np.uint8)
    file = image_files.saved(pixels, "AVIF", quality=90, subsampling=subsampling, speed=9)
    want = np.asarray(Image.open(io.BytesIO(file)).convert("RGB"))
    assert shape(file)[:2] == size
    assert np.abs(decode(file).astype(int) - want).max() <= 3


def test_avif_with_alpha_is_as_pillow_reads_it():
    file = image_files.saved(RGBA, "AVIF", quality=100, subsampling="4:4:4", speed=9)
    want = np.asarray(Image.open(io.BytesIO(file)))
    got = decode(file, types.ANY_DATA)
    np.testing.assert_array_equal(got[..., 3], want[..., 3])
    assert np.abs(got.astype(int) - want).max() <= 3


def test_the_first_picture_of_a_sequence():
    first, second = (Image.fromarray(p) for p in (RGB, RGB[::-1]))
    file = image_files.saved(
        first, "AVIF", quality=100, subsampling="4:4:4", save_all=True, append_images=[second], speed=9
    )
    want = np.asarray(Image.open(io.BytesIO(file)).convert("RGB"))
    assert np.abs(decode(file).astype(int) - want).max() <= 3


@pytest.mark.parametrize("orientation", range(1, 9))
def test_turned_pictures(orientation):
    """Pillow writes EXIF's orientation as the boxes irot and imir."""
    exif = Image.Exif()
    exif[0x112] = orientation
    file = image_files.saved(RGB, "AVIF", quality=90, subsampling="4:4:4", exif=exif.tobytes(), speed=9)
    plain = image_files.saved(RGB, "AVIF", quality=90, subsampling="4:4:4", speed=9)
    stored = decode(plain)
    np.testing.assert_array_equal(decode(file, adjust_orientation=False), stored)
    probe = Image.fromarray(stored)
    probe.getexif()[0x112] = orientation
    want = np.asarray(ImageOps.exif_transpose(probe))
    np.testing.assert_array_equal(decode(file), want)
    assert shape(file) == want.shape and shape(file, adjust_orientation=False) == stored.shape
    part = fn.decoders.image_slice(np.frombuffer(file, np.uint8), start=[5, 3], shape=[20, 11], axes=[0, 1])
    np.testing.assert_array_equal(np.asarray(part), want[5:25, 3:14])


@pytest.mark.parametrize("codec", ["av1", "hevc"])
def test_turns_and_crops_of_the_boxes(codec):
    planes = heif_files.planes_of(38, 54, "420", 8)
    whole = decode(heif_files.picture(planes, "420", 8, codec))
    for quarters in range(4):
        for axis in (None, 0, 1):
            properties = [heif_files.clap(31, 20, 3, -4), heif_files.irot(quarters)] + (
                [heif_files.imir(axis)] if axis is not None else []
            )
            file = heif_files.picture(planes, "420", 8, codec, properties)
            left, top = (54 - 31 + 3) // 2, (38 - 20 - 4) // 2
            want = np.rot90(whole[top : top + 20, left : left + 31], quarters)
            want = want if axis is None else want[::-1] if axis == 0 else want[:, ::-1]
            np.testing.assert_array_equal(decode(file), want)
            assert shape(file) == want.shape
        if codec == "hevc":
            break


@pytest.mark.parametrize(
    "codec, chroma, bits, tile",
    [
        ("av1", "420", 8, (16, 32)),
        ("av1", "444", 10, (13, 21)),
        ("hevc", "420", 8, (32, 32)),
        ("av1", "400", 8, (64, 16)),
    ],
)
def test_grids(codec, chroma, bits, tile):
    """Their planes are joined before chroma is interpolated: no seams."""
    planes = heif_files.planes_of(45, 71, chroma, bits)
    file = heif_files.grid(planes, chroma, bits, codec, tile)
    stored = "uint8" if bits == 8 else "uint16"
    whole = decode(file, types.ANY_DATA, dtype=stored)
    assert_rounded(whole, heif_files.colors(planes, chroma, bits))
    random = np.random.default_rng(3)
    for _ in range(12):
        h, w = random.integers(1, 46), random.integers(1, 72)
        y, x = random.integers(0, 46 - h), random.integers(0, 72 - w)
        part = fn.decoders.image_slice(
            np.frombuffer(file, np.uint8),
            start=[int(y), int(x)],
            shape=[int(h), int(w)],
            axes=[0, 1],
            output_type=types.ANY_DATA,
            dtype=stored,
        )
        np.testing.assert_array_equal(np.asarray(part), whole[y : y + h, x : x + w])


def test_a_grid_has_the_colors_of_its_first_tile():
    """Whichever tiles a window touches."""
    planes = heif_files.planes_of(16, 16, "400", 8)
    items = [(b"grid", [heif_files.ispe(16, 32)], struct.pack(">BBBBHH", 0, 0, 0, 1, 32, 16))]
    for full_range in (True, False):
        configuration, data = heif_files.coded(planes, "400", 8, "av1", full_range=full_range)
        items.append((b"av01", [heif_files.ispe(16, 16), configuration], data))
    file = heif_files.heif(items, [(b"dimg", 1, [2, 3])])
    whole = decode(file, types.GRAY)
    np.testing.assert_array_equal(whole, np.concatenate([planes[0]] * 2, 1)[..., None])
    part = fn.decoders.image_slice(
        np.frombuffer(file, np.uint8), start=[1, 20], shape=[9, 8], axes=[0, 1], output_type=types.GRAY
    )
    np.testing.assert_array_equal(np.asarray(part), whole[1:10, 20:28])


@pytest.mark.parametrize("codec, chroma", [("av1", "420"), ("av1", "422"), ("hevc", "420"), ("hevc", "444")])
def test_windows_are_those_of_the_whole_picture(codec, chroma):
    _, _, file = made(codec, chroma, 8, 38, 54, alpha=True)
    whole = decode(file, types.ANY_DATA)
    random = np.random.default_rng(4)
    for _ in range(12):
        h, w = random.integers(1, 39), random.integers(1, 55)
        y, x = random.integers(0, 39 - h), random.integers(0, 55 - w)
        part = fn.decoders.image_slice(
            np.frombuffer(file, np.uint8),
            start=[int(y), int(x)],
            shape=[int(h), int(w)],
            axes=[0, 1],
            output_type=types.ANY_DATA,
        )
        np.testing.assert_array_equal(np.asarray(part), whole[y : y + h, x : x + w])


@pytest.mark.parametrize("codec", ["av1", "hevc"])
def test_a_file_that_is_cut_is_an_error(codec):
    _, _, file = made(codec, "420", 8, 38, 54)
    for length in [*range(0, 700), *range(700, len(file), 41), len(file) - 1]:
        with pytest.raises(penstock.DataError) as caught:
            decode(file[:length])
        assert len(str(caught.value)) > 20


@pytest.mark.parametrize("codec", ["av1", "hevc"])
def test_damaged_boxes_end_in_a_typed_error_or_in_pixels(codec):
    """Up to the coded data, which is the decoder's business."""
    _, _, file = made(codec, "420", 8, 38, 54)
    end = file.index(b"mdat")
    refused = 0
    for bad in damaged(np.frombuffer(file[:end], np.uint8), 400, 300, 5):
        whole = bad.tobytes() + file[end:]
        try:
            decode(whole), shape(whole)
        except penstock.DataError as error:
            refused += 1
            assert len(str(error)) > 20
    assert refused > 100


def replaced(file, kind, body):
    at = file.index(kind) + 4
    return file[:at] + body + file[at + len(body) :]


def test_sizes_are_checked_before_memory_is_taken():
    _, _, file = made("av1", "420", 8, 38, 54)
    for height, width, message in (
        (60000, 60000, "more than the limit"),
        (0, 5, "0 x 5 pixels"),
        (2**32 - 1, 1, "pixels"),
        (200, 54, "the coded data says 38 x 54"),
    ):
        bad = replaced(file, b"ispe", struct.pack(">III", 0, width, height))
        with pytest.raises(penstock.DataError, match=message):
            decode(bad)
    large = replaced(made("av1", "420", 8, 38, 200)[2], b"ispe", struct.pack(">III", 0, 38, 38))
    with pytest.raises(penstock.DataError, match="say 38 x 38 pixels, but the coded data says 38 x 200"):
        decode(large)
    planes = heif_files.planes_of(16, 16, "400", 8)
    configuration, data = heif_files.coded(planes, "400", 8, "av1")
    tile = (b"av01", [heif_files.ispe(16, 16), configuration], data)
    grid = lambda rows, columns, w, h: (
        b"grid",
        [heif_files.ispe(16, 16)],
        struct.pack(">BBBBII", 0, 1, rows - 1, columns - 1, w, h),
    )
    for first, count, message in (
        (grid(256, 256, 4096, 4096), 1, "a grid of 256 x 256 tiles lists 1 tile"),
        (grid(1, 2, 400, 16), 2, "do not cover"),
        (grid(1, 2, 32, 1 << 30), 2, "do not cover"),
    ):
        with pytest.raises(penstock.DataError, match=message):
            decode(heif_files.heif([first, tile], [(b"dimg", 1, [2] * count)]))
    assert shape(heif_files.heif([grid(2, 2, 30, 30), tile], [(b"dimg", 1, [2] * 4)])) == (30, 30, 3)


@pytest.mark.parametrize(
    "file, message",
    [
        (heif_files.box(b"ftyp", b"avif", bytes(4), b"avif"), "the file of 20 bytes contains no box 'meta'"),
        (heif_files.box(b"ftyp", b"isom", bytes(4), b"mp42"), "it looks like MP4"),
        (heif_files.heif([(b"jpeg", [heif_files.ispe(4, 4)], b"x")]), "of type 'jpeg' is not supported"),
        (heif_files.heif([(b"av01", [heif_files.ispe(4, 4)], b"x")]), "has no decoder configuration"),
        (
            heif_files.heif(
                [(b"av01", [heif_files.ispe(4, 4), heif_files.box(b"lsel", bytes(2))], b"x")], essential=(b"lsel",)
            ),
            "needs the unknown property 'lsel'",
        ),
    ],
)
def test_messages(file, message):
    with pytest.raises(penstock.DataError, match=message):
        decode(file)


def test_without_libheif_a_file_says_so_and_its_size_is_known():
    program = (
        "import sys, numpy as np; from penstock import fn\n"
        "file = np.frombuffer(sys.stdin.buffer.read(), np.uint8)\n"
        "print(np.asarray(fn.peek_image_shape(file)))\n"
        "try: fn.decoders.image(file)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    for codec, kind in (("av1", "AVIF"), ("hevc", "HEIC")):
        for setting, message in (("off", "PENSTOCK_HEIF is off"), ("/no/such.so", "/no/such.so")):
            done = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                input=made(codec, "420", 8, 38, 54)[2],
                env={**os.environ, "PENSTOCK_HEIF": setting},
                check=True,
            )
            said = done.stdout.decode()
            assert (
                "[38 54  3]" in said
                and f"{kind} files need libheif" in said
                and message in said
                and "DataError" in said
            )


def test_many_threads_decode(tmp_path):
    files = [
        made("av1", "420", 8, 37, 53)[2],
        made("hevc", "420", 8, 38, 54)[2],
        heif_files.grid(heif_files.planes_of(45, 71, "420", 8), "420", 8, "av1", (16, 32)),
    ]
    for i in range(24):
        (tmp_path / f"{i:02}").write_bytes(files[i % 3])

    @pipeline_def(batch_size=24, num_threads=8, device_id=None)
    def pipe():
        read, _ = fn.readers.file(files=sorted(str(p) for p in tmp_path.iterdir()))
        return fn.decoders.image(read)

    p = pipe()
    p.build()
    for _ in range(3):
        (images,) = p.run()
        for i in range(24):
            np.testing.assert_array_equal(np.asarray(images[i]), decode(files[i % 3]))
    del p


@pytest.mark.parametrize("codec", ["av1", "hevc"])
def test_threads_may_run_where_they_might_before(codec):
    """Decoding holds a thread to one processor for a while. In a process that has no other threads than these; those of the library
    are gone soon after they have ended."""
    program = (
        "import os, sys, time, numpy as np; from penstock import fn\n"
        "mine = os.sched_getaffinity(0)\n"
        "file = np.frombuffer(sys.stdin.buffer.read(), np.uint8)\n"
        "fn.decoders.image([file] * 8)\n"
        "def elsewhere(thread):\n"
        "    try: return os.sched_getaffinity(int(thread)) != mine\n"
        "    except ProcessLookupError: return False\n"
        "until = time.monotonic() + 60\n"
        "while any(map(elsewhere, os.listdir('/proc/self/task'))):\n"
        "    assert time.monotonic() < until\n"
        "    time.sleep(0.01)\n"
    )
    subprocess.run([sys.executable, "-c", program], input=made(codec, "420", 8, 38, 54)[2], check=True)
