# SPDX-License-Identifier: Apache-2.0
"""decoders.image(partial=True): of a file that ends early the rows that are there, with a warning that names it."""

import io
import warnings

import cv2
import numpy as np
import pytest
from PIL import Image

from penstock import DataError, fn, pipeline_def

KINDS = {
    "444": dict(subsampling=0),
    "420": dict(subsampling=2),
    "restarts": dict(subsampling=2, restart_marker_blocks=4),
    "progressive": dict(subsampling=2, progressive=True),
    "gray": dict(mode="L"),
}


def picture(height=90, width=117):
    y, x = np.mgrid[0:height, 0:width]
    colors = [128 + 100 * np.sin(x / 9) * np.cos(y / 13), x * y / 50 % 256, 255 * ((x // 20 + y // 20) % 2)]
    return np.uint8(np.stack(colors, -1))


def saved(format="JPEG", mode="RGB", image=None, **how):
    out = io.BytesIO()
    Image.fromarray(picture() if image is None else image).convert(mode).save(out, format, **how)
    return out.getvalue()


def bytes_of(data):
    return np.frombuffer(data, np.uint8)


def partly(data, **given):
    """The picture, and the text of the warning or ""."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        image = np.array(fn.decoders.image(bytes_of(data), partial=True, **given))
    return image, "".join(str(w.message) for w in told)


def by_opencv(data, path):
    path.write_bytes(data)
    return cv2.imread(str(path), cv2.IMREAD_COLOR_RGB)


@pytest.mark.parametrize("kind", KINDS)
def test_a_jpeg_file_is_what_opencv_reads_of_it(kind, tmp_path):
    good = saved(**KINDS[kind])
    whole = np.array(fn.decoders.image(bytes_of(good)))
    begin = good.index(b"\xff\xda") + 40
    for size in np.linspace(begin, len(good) - 3, 12).astype(int):
        got, told = partly(good[:size])
        assert got.shape == whole.shape and (told or (got == whole).all())
        want = by_opencv(good[:size], tmp_path / "cut.jpg")
        if want is None:  # the file ends in the tables of a scan: the scans before it are there
            assert kind == "progressive" and np.abs(got - whole.astype(float)).mean() < 40
        else:
            np.testing.assert_array_equal(got, want, err_msg=f"{size}")
    image, told = partly(good)
    np.testing.assert_array_equal(image, whole)
    assert told == ""


def test_rows_before_the_end_are_the_pictures_and_the_rest_is_gray():
    image = np.uint8(np.random.default_rng(3).integers(0, 256, (160, 64, 3)))
    good = saved(image=image, subsampling=0, quality=90)
    got, told = partly(good[: len(good) // 2 + 5])
    row = int(told.split(" row ")[1].split(" of 160")[0])
    assert 40 < row < 120 and row % 8 == 0
    assert "JPEG: the file ends at row" in told and told.endswith("the rest of the picture is gray")
    whole = np.array(fn.decoders.image(bytes_of(good)))
    np.testing.assert_array_equal(got[:row], whole[:row])
    assert (got[row + 8 :] == 128).all()


def test_a_region_that_is_there_needs_no_warning():
    good = saved(subsampling=0)
    half = good[: len(good) * 2 // 3]
    given = {"crop_h": 16, "crop_w": 40, "crop_pos_y": 0.0, "crop_pos_x": 0.25}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = fn.decoders.image_crop(bytes_of(half), partial=True, **given)
    np.testing.assert_array_equal(got, fn.decoders.image_crop(bytes_of(good), **given))
    with pytest.warns(UserWarning, match="ends at row"):
        below = fn.decoders.image_crop(bytes_of(half), partial=True, **(given | {"crop_pos_y": 0.9}))
    whole, _ = partly(half)
    y, x = round(0.9 * (90 - 16)), round(0.25 * (117 - 40))
    np.testing.assert_array_equal(below, whole[y : y + 16, x : x + 40])


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1"])
def test_whole_rows_of_a_png_file_stay_and_the_rest_is_0(mode):
    good = saved("PNG", mode, np.random.default_rng(5).integers(0, 256, (70, 51, 3), np.uint8))
    whole = np.array(fn.decoders.image(bytes_of(good)))
    known = 0
    for size in np.linspace(good.index(b"IDAT") + 12, len(good) - 1, 17).astype(int):
        got, told = partly(good[:size])
        row = int(told.split(" row ")[1].split(" of 70")[0]) if " row " in told else 70
        assert told and row >= known
        known = row
        np.testing.assert_array_equal(got[:row], whole[:row], err_msg=f"{size}")
        assert not got[row:].any()
        if mode == "RGB":  # noise is stored as it is: no row that is there is lost
            assert abs(row - (size - good.index(b"IDAT") - 11) / (51 * 3 + 1)) < 1.2 or row == 70
    assert known == 70


def test_an_interlaced_png_file_keeps_its_coarse_pixels():
    image = np.random.default_rng(6).integers(1, 256, (40, 33, 3), np.uint8)
    good = interlaced(image)
    got, told = partly(good[: len(good) // 2])
    assert "pixels of its last passes are 0" in told
    there = (got == image).all(-1)
    assert there[::8, ::8].all() and 0.3 < there.mean() < 0.7
    assert not got[~there].any()


def interlaced(image):
    """A PNG file in the seven passes of Adam7."""
    import struct
    import zlib

    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    rows = b"".join(b"\0" + row.tobytes() for y, x, dy, dx in passes for row in image[y::dy, x::dx] if row.size)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 2, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("orientation", [3, 6, 8])
@pytest.mark.parametrize("format", ["JPEG", "PNG"])
def test_what_is_there_is_turned_as_the_whole_picture(format, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    good = saved(format, exif=exif.tobytes())
    cut = good[: len(good) * 3 // 4]
    turns = {3: 2, 6: 3, 8: 1}[orientation]
    stored, _ = partly(cut, adjust_orientation=False)
    np.testing.assert_array_equal(partly(cut)[0], np.rot90(stored, turns))


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def reading(files, **given):
    encoded, labels = fn.readers.file(files=files)
    return fn.resize(fn.decoders.image(encoded, **given), size=[32, 48]), labels


def test_a_pipeline_warns_of_the_file_by_name(tmp_path):
    good = saved()
    names = [tmp_path / f"{k}.jpg" for k in range(4)]
    for k, name in enumerate(names):
        name.write_bytes(good[: len(good) // 2] if k == 2 else good)
    with pytest.warns(UserWarning, match=r"2\.jpg: JPEG: the file ends at row \d+ of 90"):
        images, _ = reading([str(n) for n in names], partial=True).run()
    whole = fn.decoders.image([bytes_of(n.read_bytes()) for n in names], partial=True)
    for k in range(4):
        np.testing.assert_array_equal(images[k].numpy(), fn.resize(whole[k].numpy(), size=[32, 48]))
    with pytest.raises(DataError, match=r"premature end of file at row .*2\.jpg"):
        reading([str(n) for n in names]).run()


def test_a_batch_and_a_function_name_the_sample():
    good, cut = bytes_of(saved()), bytes_of(saved()[:-500])
    with pytest.warns(UserWarning, match="sample 1: JPEG: the file ends at row"):
        images = fn.decoders.image([good, cut, good], partial=True)
    assert [i.shape() for i in images] == [[90, 117, 3]] * 3

    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def decoding():
        return fn.decoders.image(fn.external_source(name="files", dtype="uint8", ndim=1), partial=True)

    function = decoding().compile()
    with pytest.warns(UserWarning, match="sample 2: JPEG: the file ends at row"):
        results, errors = function.attempt([good, good, cut])
    assert errors == [None] * 3
    np.testing.assert_array_equal(results[0][2].numpy(), images[1].numpy())


def test_pictures_that_are_kept_warn_once(tmp_path):
    (tmp_path / "a.png").write_bytes(saved("PNG")[:-600])

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def cached():
        return fn.decoders.image(fn.readers.file(files=[str(tmp_path / "a.png")])[0], partial=True, cache_size=10)

    pipe = cached()
    with pytest.warns(UserWarning, match=r"a\.png: PNG: the file ends at row"):
        first = pipe.run()[0][0].numpy()
    np.testing.assert_array_equal(pipe.run()[0][0].numpy(), first)


@pytest.mark.parametrize(
    "data, words",
    [
        (saved()[:100], "JPEG: the file of 100 bytes ends before the frame header"),
        (saved("PNG")[:30], "PNG"),
        (saved("GIF", "P")[:600], "partial=True keeps the rows of JPEG and PNG files"),
        (saved("BMP")[:600], "partial=True keeps the rows of JPEG and PNG files"),
        (b"", "empty"),
    ],
)
def test_what_cannot_be_kept(data, words):
    with pytest.raises(DataError, match=words):
        partly(data)
