# SPDX-License-Identifier: Apache-2.0
"""JPEG XL beside Pillow's plug-in, which has a libjxl of its own, and OpenEXR beside OpenEXR's package and the arrays written."""

import io
import os
import subprocess
import sys

import image_files
import image_files_exr
import image_files_jxl
import numpy as np
import OpenEXR
import pillow_jxl  # noqa: F401  Pillow reads JPEG XL with it
import pytest
from PIL import Image, ImageOps

import penstock
from penstock import fn, types

RGBA = image_files.ramp()
RGB = np.ascontiguousarray(RGBA[..., :3])
JXL = image_files_jxl.files()


def decode(file, kind=types.ANY_DATA, **options):
    return np.asarray(fn.decoders.image(np.frombuffer(file, np.uint8), output_type=kind, **options))


def shape(file, **options):
    return tuple(int(n) for n in np.asarray(fn.peek_image_shape(np.frombuffer(file, np.uint8), **options)))


def refuses(file, message, **options):
    with pytest.raises(penstock.DataError, match=message):
        decode(file, **options)


# --- JPEG XL -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, pixels",
    [("jxl", RGB), ("jxl gray", RGB[..., :1]), ("jxl alpha", RGBA), ("jxl container", RGB)],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_lossless_jpeg_xl_is_what_was_written(name, pixels):
    np.testing.assert_array_equal(decode(JXL[name]), pixels)
    color = np.broadcast_to(pixels, RGB.shape) if pixels.shape[2] == 1 else pixels[..., :3]
    np.testing.assert_array_equal(decode(JXL[name], types.RGB), color)
    assert shape(JXL[name], image_type=types.ANY_DATA) == pixels.shape


def test_jpeg_xl_of_16_bits_and_of_floating_point():
    wide = RGB.astype(np.uint16) * 251 + 7
    np.testing.assert_array_equal(decode(JXL["jxl of 16 bits"], dtype="uint16"), wide)
    np.testing.assert_array_equal(decode(JXL["jxl of 16 bits"]), (wide.astype(np.int64) * 255 + 32767) // 65535)
    reals = RGB[:9, :11] / np.float32(200)
    np.testing.assert_array_equal(decode(JXL["jxl of reals"], dtype="float32"), reals)
    np.testing.assert_array_equal(decode(JXL["jxl of reals"]), np.rint(np.minimum(reals, 1).astype(np.float64) * 255))


@pytest.mark.parametrize("options", [{"quality": 90}, {"quality": 50}, {"quality": 80, "effort": 3}])
@pytest.mark.parametrize("size", [(1, 1), (7, 300), (130, 61)])
def test_lossy_jpeg_xl_is_as_another_libjxl_reads_it(size, options):
    """Rounding differs between versions, by 1 of 255."""
    file = io.BytesIO()
    Image.fromarray(image_files.ramp(*size)[..., :3].copy()).save(file, "JXL", **options)
    want = np.asarray(Image.open(file))
    assert np.abs(decode(file.getvalue()).astype(int) - want).max() <= 1


def test_the_orientation_of_jpeg_xl_is_applied():
    picture = Image.open(io.BytesIO(JXL["jxl turned"]))
    upright, stored = decode(JXL["jxl turned"]), decode(JXL["jxl turned"], adjust_orientation=False)
    assert upright.shape == (53, 37, 3) == shape(JXL["jxl turned"]) and stored.shape == (37, 53, 3)
    np.testing.assert_array_equal(upright, np.rot90(stored, -1))
    assert np.abs(upright.astype(int) - np.asarray(ImageOps.exif_transpose(picture))).max() <= 2


def test_of_an_animation_the_first_frame():
    got = decode(JXL["jxl moving"])
    np.testing.assert_array_equal(got[..., :3], np.asarray(Image.fromarray(RGB).quantize(200).convert("RGB")))


@pytest.mark.parametrize("name", JXL)
def test_jpeg_xl_that_ends_early(name):
    first = len(JXL[name]) // 2 + 1 if name == "jxl moving" else len(JXL[name])  # only the first frame is read
    for length in (14, first // 2, first * 3 // 4, first - 1):
        refuses(JXL[name][:length], "JPEG XL: premature end of file in the (header|picture)")
    refuses(JXL[name][: len(JXL[name]) // 2], "partial=True keeps the rows of JPEG and PNG", partial=True)


def test_damaged_jpeg_xl_names_the_library(capfd):
    bad = bytearray(JXL["jxl"])
    bad[40:60] = bytes(20)
    refuses(bytes(bad), r"JPEG XL: libjxl \d+\.\d+\.\d+ finds the picture damaged")
    capfd.readouterr()  # Debian's library says what is wrong


# --- OpenEXR -----------------------------------------------------------------------------------------------------------


def written(tmp_path, channels, **header):
    path = str(tmp_path / "a.exr")
    usual = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File({**usual, **header}, channels).write(path)
    return open(path, "rb").read()


def tiles(width, height):
    made = OpenEXR.TileDescription()
    made.xSize, made.ySize = width, height
    return {"type": OpenEXR.tiledimage, "tiles": made}


@pytest.mark.parametrize("compression", ["NO", "RLE", "ZIPS", "ZIP", "PIZ", "PXR24"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_openexr_is_as_its_own_package_reads_it(tmp_path, compression, dtype):
    random = np.random.default_rng(len(compression))
    for size in ((1, 1), (1, 9), (40, 3), (33, 70)):
        for names in ("Y", "YA", "RGB", "RGBA"):
            for layout in ({}, tiles(16, 8)):
                planes = {n: random.normal(size=size).astype(dtype) for n in names}
                file = written(tmp_path, planes, compression=getattr(OpenEXR, f"{compression}_COMPRESSION"), **layout)
                read = OpenEXR.File(str(tmp_path / "a.exr"), separate_channels=True).channels()  # PXR24 rounds
                want = np.stack([read[n].pixels for n in names], -1).astype(np.float32)
                got = decode(file, dtype="float32")
                np.testing.assert_array_equal(got, want)
                assert shape(file, image_type=types.ANY_DATA) == want.shape
                color = np.broadcast_to(want[..., :1], (*size, 3)) if names[0] == "Y" else want[..., :3]
                np.testing.assert_array_equal(decode(file, types.RGB, dtype="float32"), color)


def test_files_by_hand_are_what_was_written():
    """Also with a data window that does not begin at 0."""
    files = image_files_exr.files()
    reals = RGBA / np.float32(200)
    for name, channels, dtype in (
        ("exr", 3, np.float16),
        ("exr gray", 1, np.float32),
        ("exr tiles", 4, np.float16),
        ("exr window", 3, np.float32),
    ):
        want = reals[..., :channels].astype(dtype).astype(np.float32)
        np.testing.assert_array_equal(decode(files[name], dtype="float32"), want)
        np.testing.assert_array_equal(decode(files[name]), np.rint(np.clip(want, 0, 1).astype(np.float64) * 255))


def test_layers_and_other_channels(tmp_path):
    plane = {
        name: np.full((4, 5), k, np.float32) for k, name in enumerate(("Z", "left.R", "left.G", "left.B", "left.A"))
    }
    file = written(tmp_path, plane)
    assert decode(file, dtype="float32")[0, 0].tolist() == [1, 2, 3, 4, 0]
    assert decode(file, types.RGB, dtype="float32")[0, 0].tolist() == [1, 2, 3]
    depth = written(tmp_path, {"Z": plane["left.B"]})
    assert decode(depth, types.RGB, dtype="float32")[0, 0].tolist() == [3, 3, 3]


def test_values_of_floating_point_do_not_change(tmp_path):
    special = np.array([[np.inf, -np.inf, np.nan, -2.5, 1e30]], np.float32)
    np.testing.assert_array_equal(decode(written(tmp_path, {"Y": special}), dtype="float32")[..., 0], special)


def test_openexr_that_ends_early():
    for name, file in image_files_exr.files().items():
        for length in (len(file) - 1, len(file) * 3 // 4, len(file) // 2):
            refuses(file[:length], r"OpenEXR: premature end of file (in|at) row \d+ of 37", dtype="float32")
        refuses(file[:20], "OpenEXR: premature end of file in the header")


@pytest.mark.parametrize(
    "more, message",
    [
        ({"compression": image_files_exr.B44}, "the compression 6 .B44, .* is not supported"),
        ({"compression": image_files_exr.DWAA}, "the compression 8 .* is not supported"),
        ({"claim": (0, 5)}, r"OpenEXR: .*(damaged|0 x 5)"),
        ({"claim": (70000, 70000)}, "70000 x 70000 pixels are more than the limit"),
        ({"claim": (4000, 4000)}, "OpenEXR: "),
    ],
)
def test_openexr_that_is_refused(more, message):
    refuses(image_files_exr.exr(image_files_exr.reals("RGB"), **more), message)


def test_channels_that_are_refused():
    plane = np.zeros((4, 6), np.float32)
    refuses(image_files_exr.exr({"id": plane.astype(np.uint32)}), "the channel id has integers of 32 bits")
    half = image_files_exr.exr({"Y": plane}, sampling=2, at=(0, 0), claim=(4, 6))
    refuses(half, "OpenEXR: ")


def test_a_library_that_is_off(tmp_path):
    program = (
        "import sys, numpy as np\nfrom penstock import fn\n"
        "for path in sys.argv[1:]:\n"
        "    for call in (fn.decoders.image, fn.peek_image_shape):\n"
        "        try: call(np.fromfile(path, np.uint8))\n"
        "        except Exception as e: print(type(e).__name__, e)\n"
    )
    paths = [tmp_path / "a.jxl", tmp_path / "a.exr"]
    paths[0].write_bytes(JXL["jxl"]), paths[1].write_bytes(image_files_exr.files()["exr"])
    settings = {**os.environ, "PENSTOCK_JXL": "off", "PENSTOCK_OPENEXR": "nothing.so"}
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, env=settings)
    lines = done.stdout.splitlines()
    assert len(lines) >= 4, done
    told = "\n".join(lines)
    assert told.count("JPEG XL files need libjxl of version 0.7 or later (Debian 12: libjxl0.7)") == 2
    assert told.count("OpenEXR files need the library of OpenEXR 3.1 (Debian: libopenexr-3-1-30)") == 2
    assert told.count("PENSTOCK_JXL is off") == 2 and told.count("DataError") == 4
