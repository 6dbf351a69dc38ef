# SPDX-License-Identifier: Apache-2.0
"""Progressive JPEG files that end before their last scans: libjpeg-turbo's bytes, and a word about it."""
import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from penstock import fn


def pieces(file):
    """The file cut after each of its scans; the first piece holds the headers as well."""
    cuts, i, in_scan = [], 2, False
    while i < len(file) - 1:
        marker = file[i + 1]
        if file[i] != 0xFF or marker == 0 or 0xD0 <= marker <= 0xD7:
            i += 1
            continue
        if in_scan:
            cuts.append(i)
        in_scan = marker == 0xDA
        i += 2 if marker == 0xD9 else 2 + int.from_bytes(file[i + 2:i + 4], "big")
    return [file[a:b] for a, b in zip([0, *cuts], cuts)]


def progressive(subsampling):
    y, x = np.mgrid[0:75, 0:109]
    picture = np.stack([128 + 100 * np.sin(x / 9) * np.cos(y / 13), x * y / 50 % 256, 255 * ((x // 20 + y // 20) % 2)], -1)
    file = io.BytesIO()
    Image.fromarray(picture.astype(np.uint8)).save(file, "JPEG", quality=85, progressive=True, subsampling=subsampling)
    return pieces(file.getvalue())


def decoded(file, **window):
    data = np.frombuffer(file, np.uint8)
    return np.asarray(fn.decoders.image(data) if not window else fn.decoders.image_slice(data, **window)).astype(int)


# Versions of libjpeg-turbo smooth subsampled components differently (docs/explanation/jpeg_decoding.md).
@pytest.mark.parametrize("subsampling, most", [(0, 0), (1, 0), (2, 12)])
def test_files_without_their_last_scans(subsampling, most):
    scans = progressive(subsampling)
    assert len(scans) > 5
    for kept in range(1, len(scans)):
        file = b"".join(scans[:kept]) + b"\xff\xd9"
        want = np.asarray(Image.open(io.BytesIO(file)).convert("RGB")).astype(int)
        got = decoded(file)
        assert np.abs(got - want).max() <= most, kept
        np.testing.assert_array_equal(decoded(file, start=[16, 24], shape=[30, 41], axis_names="HW"), got[16:46, 24:65])


def test_a_scan_that_is_missing_in_the_middle():
    scans = progressive(0)
    for gone in range(1, len(scans)):
        file = b"".join(scans[:gone] + scans[gone + 1:]) + b"\xff\xd9"
        np.testing.assert_array_equal(decoded(file), np.asarray(Image.open(io.BytesIO(file)).convert("RGB")))


@pytest.mark.parametrize("left_out, said", [(1, True), (0, False)])
def test_it_is_said_once(left_out, said, tmp_path):
    scans = progressive(2)
    (tmp_path / "a.jpg").write_bytes(b"".join(scans[:len(scans) - left_out]) + b"\xff\xd9")
    program = ("import numpy, sys\nfrom penstock import fn\n"
               "for _ in range(3): fn.decoders.image(numpy.fromfile(sys.argv[1], numpy.uint8))")
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "a.jpg"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("ends before its last scans") == said, done.stderr
