# SPDX-License-Identifier: Apache-2.0
"""BMP, PNM, GIF, WebP, TIFF, JPEG 2000, JPEG XL and OpenEXR against Pillow, against DALI and against the arrays they were written from."""

import io
import struct

import cv2
import image_files
import numpy as np
import pillow_jxl  # noqa: F401  Pillow reads JPEG XL with it, by a libjxl of its own
import pytest
from damaged_bytes import damaged
from PIL import Image

import penstock
from penstock import fn, pipeline_def, types

FILES = {name: np.frombuffer(file, np.uint8) for name, file in image_files.all_files().items()}
RAMP = image_files.ramp()
WIDE = RAMP[..., :3].astype(np.uint16) * 251 + 7
# Where DALI 2.4 differs: it refuses plain text (and then reads it as raw), BMP with 555 words, alpha or 4-bit runs,
# rows from above, uncompressed bits and LZMA of TIFF, GIF, PFM, JPEG XL, OpenEXR, lossless JPEG of one component; it spreads 565 words by shifts, takes a PNM file's values as if its maximum were 255,
# reads planes of TIFF as if interleaved, does not invert "white is zero", rounds halves of floating point up.
NOT_AS_DALI = (
    "pnm 1",
    "pnm 2",
    "pnm 3",
    "pnm 5 of 100",
    "bmp alpha",
    "bmp nibbles",
    "bmp core",
    "bmp 555",
    "bmp 565",
    "tiff bits",
    "tiff planes",
    "tiff tiles of planes",
    "tiff white",
    "tiff real",
    "tiff lab",
    "tiff seven",
    "tiff lzma",
    "bmp down",
    "gif",
    "lossless gray",
    "pnm f",
    "pnm F",
    "jxl",
    "exr",
)
# Where Pillow differs: it rounds 5 and 6 bits down, cuts palettes of 16 bits off, or does not read the file.
NOT_AS_PILLOW = (
    "bmp down runs",
    "pnm f",
    "pnm F",
    "bmp 555",
    "bmp 565",
    "bmp core",
    "bmp nibbles",
    "bmp runs",
    "tiff palette",
    "tiff turned",
    "tiff 16 bits",
    "tiff real",
    "tiff planes",
    "tiff tiles of planes",
    "tiff seven",
    "tiff white",
    "tiff lab",
    "pnm 5 of 100",
    "pnm 6 of 16 bits",
    "jpeg2000 of 16 bits",
    "exr",
    "jxl of",
    "jxl moving",
    "jxl lossy",
    "jxl turned",
)


def pillow(file, mode="RGB"):
    return np.asarray(Image.open(io.BytesIO(file.tobytes())).convert(mode))


def decode(file, kind=types.RGB, **options):
    return np.asarray(fn.decoders.image(file, output_type=kind, **options))


@pytest.mark.parametrize("name", [n for n in FILES if not n.startswith(NOT_AS_PILLOW)])
def test_colors_are_pillow(name):
    np.testing.assert_array_equal(decode(FILES[name]), pillow(FILES[name]))


@pytest.mark.parametrize("name", [n for n in FILES if not n.startswith(NOT_AS_DALI)])
def test_dali_gives_the_same(oracle, name):
    for kind in ("RGB",) if name == "tiff cmyk" else ("RGB", "ANY_DATA"):  # there, CMYK stays CMYK for any_data
        want = np.asarray(oracle.call("decoders.image", [FILES[name]], output_type=kind)[0])
        got = decode(FILES[name], getattr(types, kind))
        assert got.shape == want.shape
        np.testing.assert_array_equal(got, want)


def test_what_was_written_is_read():
    """By hand: files that Pillow and DALI do not read, or read differently."""
    any_data = lambda name, **options: decode(FILES[name], types.ANY_DATA, **options)
    np.testing.assert_array_equal(any_data("bmp alpha"), RAMP)
    np.testing.assert_array_equal(any_data("bmp down"), RAMP[..., :3])
    np.testing.assert_array_equal(any_data("bmp core")[1, 0], [2, 1, 0])
    color = lambda i: [5 * i, 255 - 10 * i, 10 * i]
    colors_of = lambda row: [list(p) for p in row]
    runs, nibbles = any_data("bmp runs"), any_data("bmp nibbles")
    assert colors_of(runs[2]) == [color(3)] * 5
    assert colors_of(runs[1]) == [color(i) for i in (1, 2, 4, 0, 0)] and colors_of(runs[0]) == [
        color(i) for i in (0, 7, 9, 9, 0)
    ]
    assert [colors_of(row) for row in nibbles] == [
        [color(i) for i in row] for row in ((3, 4, 5, 6, 7), (1, 2, 1, 2, 1))
    ]
    words = np.random.default_rng(0).integers(0, 1 << 16, (5, 6))[::-1]  # as image_files writes them
    scaled = lambda first, bits: np.floor((words >> first) % (1 << bits) * 255 / ((1 << bits) - 1) + 0.5)
    np.testing.assert_array_equal(any_data("bmp 555"), np.stack([scaled(10, 5), scaled(5, 5), scaled(0, 5)], -1))
    np.testing.assert_array_equal(any_data("bmp 565"), np.stack([scaled(11, 5), scaled(5, 6), scaled(0, 5)], -1))
    np.testing.assert_array_equal(any_data("tiff tiles of planes"), RAMP)
    np.testing.assert_array_equal(any_data("tiff seven channels"), np.concatenate([RAMP, RAMP[..., :3]], -1))
    np.testing.assert_array_equal(any_data("tiff planes", dtype="uint16"), WIDE)
    np.testing.assert_array_equal(any_data("tiff 16 bits", dtype="uint16"), WIDE)
    np.testing.assert_array_equal(any_data("pnm 6 of 16 bits", dtype="uint16"), WIDE)
    np.testing.assert_array_equal(any_data("tiff white is zero", dtype="uint16"), 65535 - WIDE[..., :1])
    np.testing.assert_array_equal(any_data("jpeg2000 of 16 bits", dtype="uint16"), WIDE[..., :1])
    real = RAMP[..., :3] / np.float32(200)
    np.testing.assert_array_equal(any_data("tiff real", dtype="float32"), real)
    np.testing.assert_array_equal(any_data("tiff real"), np.rint(np.minimum(real, 1).astype(np.float64) * 255))
    np.testing.assert_array_equal(
        decode(FILES["pnm 5 of 100"], types.GRAY)[..., 0], (RAMP[..., 0].astype(int) // 3 * 255 + 50) // 100
    )
    np.testing.assert_array_equal(decode(FILES["tiff turned"]), np.rot90(RAMP[..., :3], -1))
    alpha = any_data("gif transparent")
    np.testing.assert_array_equal(
        alpha, np.asarray(Image.open(io.BytesIO(FILES["gif transparent"].tobytes())).convert("RGBA"))
    )
    # OpenCV also requests RGBA from libtiff: this checks only the request.
    np.testing.assert_array_equal(
        decode(FILES["tiff lab"]), cv2.imdecode(FILES["tiff lab"], cv2.IMREAD_COLOR)[..., ::-1]
    )


@pytest.mark.parametrize("name", FILES)
def test_windows_are_those_of_the_whole_picture(name):
    """Some formats read parts of a file for a window."""
    file = FILES[name]
    for kind in (types.RGB, types.ANY_DATA):
        whole = decode(file, kind)
        height, width = whole.shape[:2]
        random = np.random.default_rng(len(name))
        assert tuple(fn.peek_image_shape(file))[:2] == (height, width)
        for _ in range(6):
            h, w = random.integers(1, height + 1), random.integers(1, width + 1)
            y, x = random.integers(0, height - h + 1), random.integers(0, width - w + 1)
            part = fn.decoders.image_slice(
                file, start=[int(y), int(x)], shape=[int(h), int(w)], axes=[0, 1], output_type=kind
            )
            np.testing.assert_array_equal(np.asarray(part), whole[y : y + h, x : x + w])


@pytest.mark.parametrize("name", FILES)
def test_damage_ends_in_a_typed_error_or_in_pixels(name):
    file, refused = FILES[name], 0
    for bad in damaged(file, 60, 120, len(name)):
        try:
            fn.peek_image_shape(bad)
            decode(bad)
        except penstock.DataError as error:
            refused += 1
            assert len(str(error)) > 20
        except MemoryError:
            raise AssertionError("a damaged header took the memory")
    assert refused > 3, "files that end early are errors"


@pytest.mark.parametrize(
    "file, message",
    [
        (b"BM" + bytes(60), "BMP: a header of 0 bytes"),
        (b"P6 4 4 70000\n", "PNM: the maximum 70000"),
        (b"P6 9 x", "PNM: expected a number"),
        (b"P6 4 4 255\n123", "PNM: premature end of file at row 0 of 4"),
        (b"GIF89a\x05\0\x05\0\0\0\0;", "GIF: the file contains no picture"),
        (b"II*\0\x08\0\0\0\0\0", "TIFF"),
        (b"RIFF\0\0\0\0WEBPVP8 aaaa", "WebP"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000: the file contains no codestream"),
        (b"\xff\x4f\xff\x51\0\x29" + bytes(50), "JPEG 2000: the header says an area"),
        (image_files.bmp(70000, 70000, 24, b""), "4900000000|70000 x 70000 pixels are more than the limit"),
    ],
)
def test_messages(file, message):
    with pytest.raises(penstock.DataError, match=message):
        decode(np.frombuffer(file, np.uint8))


def refuses(file, message):
    with pytest.raises(penstock.DataError, match=message):
        decode(np.frombuffer(file, np.uint8))


@pytest.mark.parametrize("predictor", range(1, 8))
def test_lossless_jpeg_is_what_was_written(predictor):
    """Every predictor, edge sizes, point transforms, restarts and scans of one component; Pillow reads the same."""
    random = np.random.default_rng(predictor)
    for height, width in ((1, 1), (1, 9), (9, 1), (7, 13)):
        for channels in (1, 3):
            for options in ({}, {"shift": 3}, {"restart_rows": 1}, {"restart_rows": 2, "together": False}):
                for pixels in (
                    random.integers(0, 256, (height, width, channels), np.uint8),
                    RAMP[:height, :width, :channels],
                ):
                    file = image_files.lossless_jpeg(pixels, predictor, **options)
                    shift = options.get("shift", 0)
                    got = decode(np.frombuffer(file, np.uint8), types.ANY_DATA)
                    np.testing.assert_array_equal(got, pixels >> shift << shift)
                    if not options:
                        np.testing.assert_array_equal(
                            got,
                            pillow(np.frombuffer(file, np.uint8), "L" if channels == 1 else "RGB").reshape(got.shape),
                        )


def test_lossless_jpeg_of_other_colors_and_damaged():
    jfif = b"\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
    adobe = lambda transform: b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0" + bytes([transform])
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    ycc = pixels.astype(np.float64) - [0, 128, 128]
    rgb = ycc @ np.array([[1, 1, 1], [0, -0.344136, 1.772], [1.402, -0.714136, 0]])
    for markers, want in ((jfif, rgb), (adobe(1), rgb), (adobe(0), pixels), (jfif + adobe(0), pixels)):
        got = decode(np.frombuffer(image_files.lossless_jpeg(pixels, 2, markers=markers), np.uint8))
        assert np.abs(got - np.clip(want, 0, 255)).max() <= 0.501
    file = image_files.lossless_jpeg(pixels, 1)
    refuses(file[: len(file) // 2], "JPEG: premature end of file at row")
    scan = file.index(b"\xff\xda")
    refuses(file[:scan] + bytes(300), "JPEG: premature end of file before all components")
    refuses(file[:scan] + b"\xff\xd9" + bytes(300), "the picture ends before all components")
    refuses(file[: scan + 11] + b"\0" + file[scan + 12 :], "predictor 0 is not between 1 and 7")
    refuses(file[: scan + 5] + b"\x09" + file[scan + 6 :], "a scan refers to component 9, which does not exist")
    refuses(file[: scan + 6] + b"\x20" + file[scan + 7 :], "a scan lacks its Huffman table")
    refuses(
        file[:scan] + b"\xff\xdd\0\4\0\7" + file[scan:], "the restart interval of 7 is not a multiple of 30 columns"
    )
    refuses(file[:scan] + b"\xff\xdd\0\4\0\x1e" + file[scan:], "the data is damaged at row 1 of 20")
    table = file.index(b"\xff\xc4")
    refuses(file[: table + 6] + b"\xff" + file[table + 7 :], "a Huffman table is damaged")
    size = file.index(b"\xff\xc3") + 5
    refuses(file[:size] + struct.pack(">HH", 12000, 12000) + file[size + 4 :], "cannot hold 12000 x 12000 pixels")
    refuses(file[: size + 6] + b"\x22" + file[size + 7 :], "lossless with components of different sizes")


def test_a_fast_pipeline_takes_lossless_files(tmp_path):
    """`decode="fast"` decodes JPEG files at fractions of their size, which these do not have."""
    (tmp_path / "a.jpg").write_bytes(FILES["lossless rgb"].tobytes())

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipe():
        return fn.resize(
            fn.decoders.image(fn.readers.file(files=[str(tmp_path / "a.jpg")])[0], decode="fast"), size=[4, 5]
        )

    np.testing.assert_array_equal(np.asarray(pipe().run()[0][0]), np.asarray(fn.resize(RAMP[..., :3], size=[4, 5])))


def test_run_length_rows_from_above():
    for name in ("runs", "nibbles"):
        down, up = decode(FILES[f"bmp down {name}"]), decode(FILES[f"bmp {name}"])
        np.testing.assert_array_equal(down, up[::-1])
        np.testing.assert_array_equal(down, cv2.imdecode(FILES[f"bmp down {name}"], cv2.IMREAD_COLOR)[..., ::-1])


def test_indexes_without_a_palette_are_grays():
    np.testing.assert_array_equal(decode(FILES["gif without palette"]), pillow(FILES["gif without palette"]))
    assert len(np.unique(decode(FILES["gif without palette"]))) > 100


@pytest.mark.parametrize("scale", [b"-1", b"1.0", b"-2.5", b"1e-3", b"+4"])
def test_pfm_is_what_was_written(scale):
    """OpenCV reads the same except for a scale that is not 1, by which it divides; Pillow, like the others, uses only its sign."""
    for height, width, channels in ((1, 1, 1), (1, 5, 3), (6, 1, 1), (17, 23, 3)):
        pixels = np.random.default_rng(width).uniform(-1, 2, (height, width, channels)).astype(np.float32)
        file = np.frombuffer(image_files.pfm(pixels, scale), np.uint8)
        np.testing.assert_array_equal(decode(file, types.ANY_DATA, dtype="float32"), pixels)
        if channels == 1:
            np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(file.tobytes()))), pixels[..., 0])
        np.testing.assert_array_equal(
            decode(file, types.ANY_DATA), np.rint(np.clip(pixels, 0, 1).astype(np.float64) * 255)
        )
    for end in (0, 1, 4 * 23 * 3 - 1, 4 * 23 * 3):
        refuses(file[: len(file) - end - 1].tobytes(), "PNM: premature end of file at row")


def test_damaged_headers_of_pfm():
    for head in (b"PF 2 2 0\n", b"Pf 2 2 nan\n", b"Pf 2 2 inf\n", b"Pf 2 2 x\n", b"Pf 2 2 1e999\n"):
        refuses(head + bytes(48), "PNM: the scale of PFM is not a number other than 0")
    refuses(b"Pf 2 2", "ends in the header")
    refuses(b"PF 0 2 1\n" + bytes(9), "0 pixels|2 x 0")


def test_a_batch_mixes_formats_in_a_pipeline(tmp_path):
    chosen = [n for n in FILES if "turned" not in n and FILES[n].size and not n.startswith("bmp ") or n == "bmp rgb"]
    for i, name in enumerate(chosen):
        (tmp_path / f"{i:02}.{name.split()[0]}").write_bytes(FILES[name].tobytes())

    @pipeline_def(batch_size=len(chosen), num_threads=2, device_id=None)
    def pipe():
        files, _ = fn.readers.file(files=sorted(str(p) for p in tmp_path.iterdir()))
        images = fn.decoders.image(files, device="mixed")
        return images, fn.resize(images, size=[20, 30])

    p = pipe()
    p.build()
    images, small = (o.as_cpu() if hasattr(o, "as_cpu") else o for o in p.run())
    for i, name in enumerate(chosen):
        np.testing.assert_array_equal(np.asarray(images[i]), decode(FILES[name]))
        np.testing.assert_array_equal(np.asarray(small[i]), np.asarray(fn.resize(decode(FILES[name]), size=[20, 30])))


@pytest.mark.parametrize(
    "marker, precision, message",
    [
        (0xC1, 12, "12 bits per sample instead of 8"),
        (0xC0, 12, "12 bits per sample instead of 8"),
        (0xC3, 12, "lossless with 12 bits per sample instead of 8"),
        (0xC7, 8, "frame type C7"),
        (0xCB, 8, "frame type CB"),
    ],
)
def test_kinds_of_jpeg_that_are_refused(marker, precision, message):
    """By what their frame header says: no such file is read as another."""
    file = io.BytesIO()
    Image.fromarray(RAMP[..., :3]).save(file, "JPEG")
    jpeg = bytearray(file.getvalue())
    at = jpeg.index(b"\xff\xc0")
    jpeg[at + 1], jpeg[at + 4] = marker, precision
    with pytest.raises(penstock.DataError, match=message):
        fn.decoders.image(np.frombuffer(bytes(jpeg), np.uint8))


def with_tag(file, tag, value):
    """A TIFF file of little endian whose tag has another value of 32 bits."""
    (directory,) = struct.unpack_from("<I", file, 4)
    for at in range(directory + 2, directory + 2 + 12 * struct.unpack_from("<H", file, directory)[0], 12):
        if struct.unpack_from("<H", file, at)[0] == tag:
            return file[: at + 2] + struct.pack("<HII", 4, 1, value) + file[at + 12 :]
    raise ValueError(tag)


@pytest.mark.parametrize(
    "name", ["tiff tiles", "tiff tiles of planes", "tiff raw", "tiff lab", "tiff tiff_lzw", "tiff jpeg", "tiff bits"]
)
def test_a_tiff_file_that_has_fewer_tiles_or_strips_than_its_size_needs(name):
    """Missing pixels are not invented: libtiff would read them from the start of the file."""
    file = FILES[name].tobytes()
    for tag, value in ((256, 5000), (257, 4000)) if "tiles" in name else ((257, 4000),):
        bad = np.frombuffer(
            with_tag(
                with_tag(file, 278, image_files.HEIGHT) if tag == 257 and "tiles" not in name else file, tag, value
            ),
            np.uint8,
        )
        refuses(bad, "TIFF: a strip or tile is not in the file")
        with pytest.raises(penstock.DataError, match="TIFF: a strip or tile is not in the file"):
            fn.decoders.image_slice(
                bad, start=[value - 60, 3] if tag == 257 else [3, value - 60], shape=[20, 20], axes=[0, 1]
            )
    decode(FILES[name])
