# SPDX-License-Identifier: Apache-2.0
"""JPEG 2000 and TIFF with device="mixed": by nvJPEG2000 and nvTIFF what they take, by the CPU what they decline or fail on, JPEG
beside them in one batch.

On the emulated GPU stand-in libraries replace them and decode on the CPU; "inverts" shows which files went through them.
"""

import io

import pytest
from decoded import batches, equal, run
from test_decoding import EMULATED, picture, saved

from penstock import fn, pipeline_def

KINDS = {
    "color": ({}, "RGB", True),
    "tiles": ({"tile_size": (48, 32)}, "RGB", True),
    "gray": ({}, "L", False),
    "alpha": ({}, "RGBA", False),
    "codestream": ({"no_jp2": True}, "RGB", True),
    "16 bits": ({}, "I;16", False),
    "lzw": ({"format": "TIFF", "compression": "tiff_lzw"}, "RGB", True),
    "plain": ({"format": "TIFF"}, "RGB", True),
    "deflate": ({"format": "TIFF", "compression": "tiff_adobe_deflate"}, "RGB", True),
    "cmyk": ({"format": "TIFF"}, "CMYK", False),
    "in jpeg": ({"format": "TIFF", "compression": "jpeg"}, "RGB", False),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, paths = tmp_path_factory.mktemp("files"), []
    for i, (kind, (options, mode, _)) in enumerate(list(KINDS.items()) * 3):
        out = io.BytesIO()
        image = picture(i, 70 + 5 * i, 90 + 3 * i)
        image = image.convert("L").point(lambda v: v).convert("I;16") if mode == "I;16" else image.convert(mode)
        image.save(out, **{"format": "JPEG2000", **options})
        for name, content in (
            (f"{i:02} {kind}.{'tiff' if 'format' in options else 'jp2'}", out.getvalue()),
            (f"{i:02}.jpg", saved(i, 60, 80)),
        ):
            path = folder / name
            path.write_bytes(content)
            paths.append(str(path))
    return paths


@pipeline_def(num_threads=3, device_id=0, batch_size=12, seed=7)
def decoding(files, device="mixed", **arguments):
    data, number = fn.readers.file(files=files, labels=list(range(len(files))), name="reader")
    return fn.decoders.image(data, device=device, **arguments), number


@pipeline_def(num_threads=3, device_id=0, batch_size=12, seed=7)
def cropping(files, device="mixed", **arguments):
    data, number = fn.readers.file(files=files, labels=list(range(len(files))), name="reader")
    return fn.resize(fn.decoders.image_random_crop(data, device=device, **arguments), size=[30, 40]), number


def through(files):
    """Whether each file is one that nvJPEG2000 or nvTIFF takes."""
    return [any(f" {kind}." in path and taken for kind, (_, _, taken) in KINDS.items()) for path in files]


def test_pixels_are_those_of_the_cpu(files):
    """Lossless, so a real nvJPEG2000 decodes the same; JPEG is compared only if the CPU decodes it."""
    jp2 = [path for path in files if not path.endswith("jpg")]
    for pipeline in (decoding, cropping):
        equal(batches(pipeline(files if EMULATED else jp2)), batches(pipeline(files if EMULATED else jp2, "cpu")))
    if EMULATED:
        for how in ("decodes", "fails"):
            script = (
                f"files = {files!r}\nfor p in (decoding, cropping): equal(batches(p(files)), batches(p(files, 'cpu')))"
            )
            run(script, __name__, PENSTOCK_EMULATED_NVJPEG2000=how, PENSTOCK_EMULATED_NVTIFF=how)


@pytest.mark.skipif(not EMULATED, reason="machine: a real library does not invert")
@pytest.mark.parametrize("decoder", ["cuda", "hardware"])
def test_which_files_go_through_it(files, decoder):
    script = f"""
import numpy as np
files = {files!r}
taken = through(files)
for pixels, numbers in batches(decoding(files, decoder={decoder!r}), 3):
    for image, number in zip(pixels, numbers, strict=True):
        cpu = np.asarray(fn.decoders.image(np.fromfile(files[number], np.uint8)))
        np.testing.assert_array_equal(image, 255 - cpu if taken[number] else cpu, err_msg=files[number])
encoded = [np.fromfile(f, np.uint8) for f in files[:12]]
at_once = fn.decoders.image(encoded, device="mixed", decoder={decoder!r})
for i, image in enumerate(at_once.as_cpu()):
    cpu = np.asarray(fn.decoders.image(encoded[i]))
    np.testing.assert_array_equal(np.asarray(image), 255 - cpu if taken[i] else cpu)
"""
    run(script, __name__, PENSTOCK_EMULATED_NVJPEG2000="inverts", PENSTOCK_EMULATED_NVTIFF="inverts")


@pytest.mark.skipif(not EMULATED, reason="machine: the emulation alone")
def test_a_damaged_file_is_an_error_that_names_it(files, tmp_path):
    whole = open(next(path for path in files if "color" in path), "rb").read()
    (tmp_path / "cut.jp2").write_bytes(whole[: len(whole) // 2])
    tiff = open(next(path for path in files if "lzw" in path), "rb").read()
    (tmp_path / "cut.tiff").write_bytes(tiff[: len(tiff) // 2])
    script = f"""
import penstock
for path in {[str(tmp_path / "cut.jp2"), str(tmp_path / "cut.tiff")]!r}:
    with pytest.raises(penstock.DataError, match=path):
        decoding([path] * 12).run()
"""
    run(script, __name__, PENSTOCK_EMULATED_NVJPEG2000="decodes", PENSTOCK_EMULATED_NVTIFF="decodes")
