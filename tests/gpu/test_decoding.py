# SPDX-License-Identifier: Apache-2.0
"""decoders.image with device="mixed": the engine's pixels compared with the CPU's, files that the engine declines, damage, order.

On an emulated GPU the engine gives the CPU's pixels, so that the path through the executor is tested to the byte.
"""

import io
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import _core, fn, pipeline_def, types

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # children that import this file lack it
from image_files import jpeg_scans  # noqa: E402

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

EMULATED = "emulated" in _core.gpu_name(0)
KINDS = {  # how files are saved, and whether an engine takes them
    "420": (dict(subsampling=2), True),
    "422": (dict(subsampling=1), True),
    "444": (dict(subsampling=0), True),
    "optimized": (dict(subsampling=2, optimize=True), True),
    "progressive": (dict(progressive=True), False),
    "gray": (dict(mode="L"), False),
    "turned": (dict(orientation=6), False),
    "png": (dict(format="PNG"), False),
    "cmyk": (dict(mode="CMYK"), False),
    "incomplete": (dict(progressive=True, scans=3), False),
}


def picture(seed, height, width):
    """Smooth, so that upsampling of chroma and rounding matter little: engines repeat chroma samples, the CPU blends them."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(64, 192, (3, 3, 3), np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)


def saved(seed, height=120, width=160, format="JPEG", mode="RGB", orientation=None, scans=None, **how):
    out, image = io.BytesIO(), picture(seed, height, width).convert(mode)
    if orientation:
        exif = image.getexif()
        exif[0x0112] = orientation
        how["exif"] = exif.tobytes()
    image.save(out, format, **({"quality": 92} if format == "JPEG" else {}), **how)
    return out.getvalue() if scans is None else b"".join(jpeg_scans(out.getvalue())[:scans]) + b"\xff\xd9"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of 60 files of all kinds and many sizes, with two of the engine's for one that it declines."""
    folder = tmp_path_factory.mktemp("files")
    taken = [k for k, (_, engine) in KINDS.items() if engine]
    declined = [k for k, (_, engine) in KINDS.items() if not engine]
    paths = []
    for i in range(60):
        kind = declined[i // 3 % len(declined)] if i % 3 == 2 else taken[i % len(taken)]
        path = folder / f"{i:02d}_{kind}.{'png' if kind == 'png' else 'jpg'}"
        path.write_bytes(saved(i, 64 + 7 * i % 200, 80 + 11 * i % 150, **KINDS[kind][0]))
        paths.append(str(path))
    return paths


@pipeline_def(num_threads=3, device_id=0)
def decoding(files, device, output_type=types.RGB, more=None, decoder="auto", **reader):
    data, number = fn.readers.file(files=files, labels=list(range(len(files))), name="reader", **reader)
    images = fn.decoders.image(data, device=device, output_type=output_type, decoder=decoder)
    return (more(images) if more else images), number


def pictures(files, device, batch_size=12, rounds=5, **options):
    pipe = decoding(files, device, batch_size=batch_size, **options)
    got = []
    for _ in range(rounds):
        images, numbers = pipe.run()
        got += [np.array(image) for image in images.as_cpu()]
    return got


def close(got, want, path, decoder="auto"):
    """Equal where kernels or the CPU decode; else the engine's own transform and upsampling show, a little."""
    assert got.shape == want.shape and got.dtype == want.dtype
    if EMULATED or decoder == "cuda" or not KINDS[os.path.basename(path)[3:].split(".")[0]][1]:
        np.testing.assert_array_equal(got, want, err_msg=path)
        return
    most, mean = (3, 1.0) if "_444." in path else (16, 1.5)
    difference = np.abs(got.astype(int) - want.astype(int))
    assert difference.max() <= most and difference.mean() < mean, (path, difference.max(), difference.mean())


@pytest.mark.parametrize("decoder", ["cuda", "hardware"])
@pytest.mark.parametrize("output_type", [types.RGB, types.BGR])
def test_all_kinds_of_files_in_one_batch(files, output_type, decoder):
    want = pictures(files, "cpu", output_type=output_type)
    try:
        got = pictures(files, "mixed", output_type=output_type, decoder=decoder)
    except ValueError as error:
        if EMULATED or "is not available" not in str(error):
            raise
        pytest.skip(f"machine: {error}")
    for g, w, path in zip(got, want, files):
        close(g, w, path, decoder)


@pytest.mark.parametrize("output_type", [types.GRAY, types.YCbCr])
def test_types_that_the_engine_does_not_give_equal_the_cpu(files, output_type):
    for g, w in zip(pictures(files, "mixed", output_type=output_type), pictures(files, "cpu", output_type=output_type)):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("batch_size", [1, 7, 60])
def test_any_size_of_batch_gives_the_same_pixels(files, batch_size):
    want = pictures(files, "mixed")
    got = pictures(files, "mixed", batch_size=batch_size, rounds=-(-60 // batch_size))
    for g, w in zip(got, want):
        np.testing.assert_array_equal(g, w)


def test_what_follows_on_the_stream_sees_the_pixels(files):
    """The engine may write at any time; a stage directly after it must stay right over many iterations."""
    files = [f for f in files if KINDS[os.path.basename(f)[3:].split(".")[0]][1]] * 4

    def stage(images):
        return fn.crop_mirror_normalize(
            fn.resize(images, size=[64, 64]), dtype=types.FLOAT, output_layout="CHW", mean=[128.0] * 3, std=[64.0] * 3
        )

    pipe = decoding(files, "mixed", batch_size=len(files), more=stage, prefetch_queue_depth=3)
    first = np.array(pipe.run()[0].as_cpu().as_array())
    for _ in range(40):
        again = pipe.run()[0]
        np.testing.assert_array_equal(np.array(again.as_cpu().as_array()), first)
    quarter = len(files) // 4
    for k in range(1, 4):  # the same file anywhere in the group
        np.testing.assert_array_equal(first[k * quarter : (k + 1) * quarter], first[:quarter])


def test_a_damaged_file_is_named_and_the_pipeline_continues(files, tmp_path):
    bad = tmp_path / "cut.jpg"
    whole = saved(1)
    bad.write_bytes(whole[: len(whole) // 2])
    pipe = decoding([files[0], str(bad), files[1]], "mixed", batch_size=3)
    with pytest.raises(penstock.DataError, match="cut.jpg"):
        pipe.run()
    good = decoding(files[:3], "mixed", batch_size=3).run()[0]
    assert len(good) == 3


def test_what_is_there_of_a_file_is_the_cpus(tmp_path):
    paths = []
    for k, kind in enumerate(["420", "444", "progressive", "png", "420"]):
        whole = saved(k, **KINDS[kind][0])
        paths.append(tmp_path / f"{k}_{kind}")
        paths[-1].write_bytes(whole[: len(whole) * 2 // 3] if k < 4 else whole)

    @pipeline_def(batch_size=5, num_threads=2, device_id=0)
    def partly(device):
        encoded = fn.readers.file(files=[str(p) for p in paths])[0]
        return fn.decoders.image(encoded, device=device, decoder="cuda", partial=True)

    got = {}
    for device in ("cpu", "mixed"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            got[device] = [np.array(image) for image in partly(device).run()[0].as_cpu()]
        assert all(any(str(p) in str(w.message) for w in told) for p in paths[:4])
    for cpu, mixed in zip(got["cpu"], got["mixed"]):
        np.testing.assert_array_equal(mixed, cpu)
    encoded = [p.read_bytes() for p in paths]
    for cpu, there in zip(got["cpu"], fn.decoders.image(encoded, partial=True, device="gpu", decoder="cuda").as_cpu()):
        np.testing.assert_array_equal(np.array(there), cpu)


def test_noise_instead_of_entropy_coded_data_does_not_crash(files, tmp_path):
    """What libjpeg skips is an image on the CPU; an engine may give an image or fall back, but never crash."""
    rng, paths = np.random.default_rng(5), []
    for i in range(12):
        data = bytearray(saved(i))
        begin = data.index(b"\xff\xda") + 14
        for at in rng.integers(begin, len(data) - 2, 8):
            data[at] = int(rng.integers(0, 255))
        path = tmp_path / f"noise{i}.jpg"
        path.write_bytes(bytes(data))
        paths.append(str(path))
    for path in paths:
        pipe = decoding([files[0], path, files[1]], "mixed", batch_size=3)
        try:
            assert len(pipe.run()[0]) == 3
        except penstock.DataError as error:
            assert os.path.basename(path) in str(error)
    for g, w, path in zip(pictures(files[:12], "mixed", rounds=1), pictures(files[:12], "cpu", rounds=1), files):
        close(g, w, path)


def test_without_the_engine_the_cpu_decodes(files):
    """nvJPEG absent: the same batches, with the CPU's pixels."""
    script = f"""
import sys; sys.path[:0] = {sys.path!r}
import numpy as np, test_decoding as t
files = {files!r}
for g, w in zip(t.pictures(files, "mixed"), t.pictures(files, "cpu")):
    np.testing.assert_array_equal(g, w)
print("equal")
"""
    environment = {**os.environ, "PENSTOCK_NVJPEG": "off", "PENSTOCK_EMULATED_DECODER": "0"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "equal" in done.stdout, done.stderr[-2000:]
