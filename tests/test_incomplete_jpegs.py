# SPDX-License-Identifier: Apache-2.0
"""Progressive JPEG files that lack scans or parts of them: the bytes of libjpeg-turbo 3, and a warning.

Pillow's wheel holds that version, whatever is linked here.
"""

import io
import subprocess
import sys

import cv2
import numpy as np
import pytest
from PIL import Image, features

from conftest import EXAMPLES
from image_files import jpeg_scans
from penstock import DataError, fn, types

END = b"\xff\xd9"
PILLOW = {
    "444": ("RGB", 0),
    "422": ("RGB", 1),
    "420": ("RGB", 2),
    "gray": ("L", 0),
    "gray of 2 x 2 blocks": ("L", 0),
    "cmyk": ("CMYK", 0),
    "ycck": ("CMYK", 0),
}
OPENCV = {"440": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_440, "411": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411}
KINDS = [*PILLOW, *OPENCV]


def progressive(kind, height=75, width=109, quality=85, restart=0):
    """Of such a file the scans; the first one comes with the headers. Blocks between restart markers, or 0."""
    y, x = np.mgrid[0:height, 0:width]
    picture = np.stack(
        [128 + 100 * np.sin(x / 9) * np.cos(y / 13), x * y / 50 % 256, 255 * ((x // 20 + y // 20) % 2)], -1
    )
    picture = picture.astype(np.uint8)
    if kind in OPENCV:
        file = cv2.imencode(
            ".jpg",
            picture,
            [
                cv2.IMWRITE_JPEG_QUALITY,
                quality,
                cv2.IMWRITE_JPEG_PROGRESSIVE,
                1,
                cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
                OPENCV[kind],
                cv2.IMWRITE_JPEG_RST_INTERVAL,
                restart,
            ],
        )[1].tobytes()
    else:
        mode, subsampling = PILLOW[kind]
        out = io.BytesIO()
        Image.fromarray(picture).convert(mode).save(
            out, "JPEG", quality=quality, progressive=True, subsampling=subsampling, restart_marker_blocks=restart
        )
        file = out.getvalue()
    if kind == "ycck":
        at = file.index(b"Adobe") + 11
        file = file[:at] + b"\2" + file[at + 1 :]
    if kind == "gray of 2 x 2 blocks":  # the same bits: without other components blocks come row by row
        at = file.index(b"\xff\xc2\0\x0b") + 11
        file = file[:at] + b"\x22" + file[at + 1 :]
    return jpeg_scans(file)


def decoded(file, **window):
    data = np.frombuffer(file, np.uint8)
    return np.asarray(fn.decoders.image(data) if not window else fn.decoders.image_slice(data, **window)).astype(int)


def by_pillow(file):
    image = Image.open(io.BytesIO(file))
    if image.mode != "CMYK":
        return np.asarray(image.convert("RGB")).astype(int)
    light = 255 - np.asarray(image).astype(int)
    return light[..., :3] * light[..., 3:] // 255


def body(scan):
    """Where the entropy-coded data of a piece begin."""
    at = scan.index(b"\xff\xda")
    return at + 2 + int.from_bytes(scan[at + 2 : at + 4], "big")


def without_a_part(rng, scan):
    """The scan truncated, or without bytes before a restart marker, or without such a marker."""
    start = body(scan)
    marks = [i for i in range(start, len(scan) - 1) if scan[i] == 0xFF and 0xD0 <= scan[i + 1] <= 0xD7]
    if not marks or rng.random() < 0.4:
        end = int(rng.integers(start, len(scan) + 1))
        return scan[: end - (scan[end - 1] == 0xFF)]
    at = marks[rng.integers(len(marks))]
    if rng.random() < 0.3:
        return scan[:at] + scan[at + 2 :]
    return scan[: max(start, at - int(rng.integers(1, 9)))] + scan[at:]


def test_the_oracle_has_version_3():
    assert tuple(map(int, features.version_feature("libjpeg_turbo").split("."))) >= (3, 0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_files_without_their_last_scans_or_one_in_the_middle(kind):
    for height, width in [(75, 109), (1, 1), (2, 33), (8, 17), (9, 7), (16, 16), (17, 9), (33, 16), (40, 3), (24, 24)]:
        scans = progressive(kind, height, width)
        assert len(scans) > 5
        files = {("first", n): scans[:n] for n in range(1, len(scans) + 1)}
        files |= {("without", n): scans[:n] + scans[n + 1 :] for n in range(1, len(scans))}
        for what, kept in files.items():
            file = b"".join(kept) + END
            np.testing.assert_array_equal(decoded(file), by_pillow(file), err_msg=str((height, width, what)))


@pytest.mark.parametrize("kind", KINDS)
def test_any_scans_of_which_the_last_is_damaged(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for case in range(EXAMPLES or 60):
        height, width = rng.integers(1, 18 if case % 2 else 80, 2)
        scans = progressive(kind, height, width, int(rng.integers(10, 96)), int(rng.choice([0, 1, 2, 5])))
        kept = [scans[0]] + [s for s in scans[1:] if rng.random() < 0.6]
        if case % 4:
            kept[-1] = without_a_part(rng, kept[-1])
        file = b"".join(kept) + END
        got = decoded(file)
        np.testing.assert_array_equal(got, by_pillow(file), err_msg=str((case, height, width)))
        y, x = int(rng.integers(height)), int(rng.integers(width))
        down, right = int(rng.integers(1, height - y + 1)), int(rng.integers(1, width - x + 1))
        window = decoded(file, start=[y, x], shape=[down, right], axis_names="HW")
        np.testing.assert_array_equal(
            window, got[y : y + down, x : x + right], err_msg=str((case, height, width, y, x))
        )


@pytest.mark.parametrize("kind", ["420", "440"])
def test_luma_alone(kind):
    for n, scan in enumerate(scans := progressive(kind)):
        file = b"".join(scans[: n + 1]) + END
        image = Image.open(io.BytesIO(file))
        image.draft("L", image.size)
        got = np.asarray(fn.decoders.image(np.frombuffer(file, np.uint8), output_type=types.GRAY))
        np.testing.assert_array_equal(got[..., 0], np.asarray(image))


def test_scans_are_counted():
    scans = progressive("420")
    with pytest.raises(DataError, match="more than 200 scans"):
        decoded(scans[0] + scans[1] * 300 + END)


@pytest.mark.parametrize("left_out, said", [(1, True), (0, False)])
def test_it_is_said_once(left_out, said, tmp_path):
    scans = progressive("420")
    (tmp_path / "a.jpg").write_bytes(b"".join(scans[: len(scans) - left_out]) + END)
    program = (
        "import numpy, sys\nfrom penstock import fn\n"
        "for _ in range(3): fn.decoders.image(numpy.fromfile(sys.argv[1], numpy.uint8))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "a.jpg"], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("ends before its last scans") == said, done.stderr
