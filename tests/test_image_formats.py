# SPDX-License-Identifier: Apache-2.0
"""BMP, PNM, GIF, WebP, TIFF and JPEG 2000 against Pillow, against DALI and against the arrays they were written from."""
import io

import cv2
import image_files
import numpy as np
import pytest
from damaged_bytes import damaged
from PIL import Image

import penstock
from penstock import fn, pipeline_def, types

FILES = {name: np.frombuffer(file, np.uint8) for name, file in image_files.all_files().items()}
RAMP = image_files.ramp()
WIDE = RAMP[..., :3].astype(np.uint16) * 251 + 7
# Where DALI 2.4 does otherwise: it refuses plain text (and then takes it for raw), BMP with 555 words, alpha or 4-bit runs,
# rows from above, uncompressed bits and LZMA of TIFF, GIF; it spreads 565 words by shifts, takes a PNM file's values as if its maximum were 255,
# reads planes of TIFF as if interleaved, does not invert "white is zero", rounds halves of floating point up.
NOT_AS_DALI = ("pnm 1", "pnm 2", "pnm 3", "pnm 5 of 100", "bmp alpha", "bmp nibbles", "bmp core", "bmp 555", "bmp 565",
               "tiff bits", "tiff planes", "tiff tiles of planes", "tiff white", "tiff real", "tiff lab", "tiff seven", "tiff lzma", "bmp down", "gif")
# Where Pillow does: it rounds 5 and 6 bits down, cuts palettes of 16 bits off, or does not read the file.
NOT_AS_PILLOW = ("bmp 555", "bmp 565", "bmp core", "bmp nibbles", "bmp runs", "tiff palette", "tiff turned", "tiff 16 bits", "tiff real",
                 "tiff planes", "tiff tiles of planes", "tiff seven", "tiff white", "tiff lab", "pnm 5 of 100", "pnm 6 of 16 bits",
                 "jpeg2000 of 16 bits")


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
    """By hand: what neither Pillow nor DALI reads, or reads otherwise."""
    any_data = lambda name, **options: decode(FILES[name], types.ANY_DATA, **options)
    np.testing.assert_array_equal(any_data("bmp alpha"), RAMP)
    np.testing.assert_array_equal(any_data("bmp down"), RAMP[..., :3])
    np.testing.assert_array_equal(any_data("bmp core")[1, 0], [2, 1, 0])
    color = lambda i: [5 * i, 255 - 10 * i, 10 * i]
    colors_of = lambda row: [list(p) for p in row]
    runs, nibbles = any_data("bmp runs"), any_data("bmp nibbles")
    assert colors_of(runs[2]) == [color(3)] * 5
    assert colors_of(runs[1]) == [color(i) for i in (1, 2, 4, 0, 0)] and colors_of(runs[0]) == [color(i) for i in (0, 7, 9, 9, 0)]
    assert [colors_of(row) for row in nibbles] == [[color(i) for i in row] for row in ((3, 4, 5, 6, 7), (1, 2, 1, 2, 1))]
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
    np.testing.assert_array_equal(decode(FILES["pnm 5 of 100"], types.GRAY)[..., 0], (RAMP[..., 0].astype(int) // 3 * 255 + 50) // 100)
    np.testing.assert_array_equal(decode(FILES["tiff turned"]), np.rot90(RAMP[..., :3], -1))
    alpha = any_data("gif transparent")
    np.testing.assert_array_equal(alpha, np.asarray(Image.open(io.BytesIO(FILES["gif transparent"].tobytes())).convert("RGBA")))
    # OpenCV asks libtiff for RGBA too: a floor on nothing but how it is asked.
    np.testing.assert_array_equal(decode(FILES["tiff lab"]), cv2.imdecode(FILES["tiff lab"], cv2.IMREAD_COLOR)[..., ::-1])


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
            part = fn.decoders.image_slice(file, start=[int(y), int(x)], shape=[int(h), int(w)], axes=[0, 1], output_type=kind)
            np.testing.assert_array_equal(np.asarray(part), whole[y:y + h, x:x + w])


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


@pytest.mark.parametrize("file, message", [
    (b"BM" + bytes(60), "BMP: a header of 0 bytes"), (b"P6 4 4 70000\n", "PNM: a maximum of 70000"), (b"P6 9 x", "PNM: a number is expected"),
    (b"P6 4 4 255\n123", "PNM: premature end of file at row 0 of 4"), (b"GIF89a\x05\0\x05\0\0\0\0;", "GIF: the file holds no picture"),
    (b"II*\0\x08\0\0\0\0\0", "TIFF"), (b"RIFF\0\0\0\0WEBPVP8 aaaa", "WebP"), (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000: the file holds no codestream"),
    (b"\xff\x4f\xff\x51\0\x29" + bytes(50), "JPEG 2000: the header says an area"),
    (image_files.bmp(70000, 70000, 24, b""), "4900000000|70000 x 70000 pixels are more than the limit"),
])
def test_messages(file, message):
    with pytest.raises(penstock.DataError, match=message):
        decode(np.frombuffer(file, np.uint8))


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


@pytest.mark.parametrize("marker, precision, message", [
    (0xC1, 12, "12 bits per sample instead of 8"), (0xC0, 12, "12 bits per sample instead of 8"), (0xC3, 8, "frame type C3 .lossless"),
    (0xC7, 8, "frame type C7"), (0xCB, 8, "frame type CB")])
def test_jpeg_of_12_bits_and_lossless_jpeg_are_refused(marker, precision, message):
    """By what their frame header says: no such file is taken for another."""
    file = io.BytesIO()
    Image.fromarray(RAMP[..., :3]).save(file, "JPEG")
    jpeg = bytearray(file.getvalue())
    at = jpeg.index(b"\xff\xc0")
    jpeg[at + 1], jpeg[at + 4] = marker, precision
    with pytest.raises(penstock.DataError, match=message):
        fn.decoders.image(np.frombuffer(bytes(jpeg), np.uint8))
