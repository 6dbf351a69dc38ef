# SPDX-License-Identifier: Apache-2.0
"""Pipelines and calls that decode with jpeg/cuda at once, on streams of their own: each gets what it gets by itself, which is what
the CPU gives, and damaged files do not change other pictures."""

import io
import threading

import numpy as np
import pytest
from PIL import Image

from decoded import run
from penstock import fn, pipeline_def, types


def photograph(seed, height, width, **how):
    """Noise over waves: there are many codes of all lengths."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    waves = np.stack([128 + 90 * np.sin(x / (5 + c + seed % 7) + y / (9 - c)) for c in range(3)], -1)
    out = io.BytesIO()
    Image.fromarray(np.clip(waves + rng.normal(0, 20, waves.shape), 0, 255).astype(np.uint8)).save(out, "JPEG", **how)
    return out.getvalue()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(whole files, the same with damaged ones among them)."""
    folder = tmp_path_factory.mktemp("photographs")
    whole, mixed = [], []
    for i in range(48):
        data = photograph(
            i, 60 + 37 * i % 90, 80 + 53 * i % 110, quality=50 + i, subsampling=i % 3, restart_marker_rows=i % 4 == 3
        )
        path = folder / f"{i:02d}.jpg"
        path.write_bytes(data)
        whole.append(str(path))
        mixed.append(str(path))
        if i % 5 == 4:
            bad = bytearray(data)
            bad[len(bad) * 2 // 3 :] = b"\xff\xd9"
            path = folder / f"{i:02d}_bad.jpg"
            path.write_bytes(bytes(bad))
            mixed.append(str(path))
    return whole, mixed


@pipeline_def(num_threads=2, device_id=0, prefetch_queue_depth=3)
def decoding(files, device, crop=None, **decoder):
    data, number = fn.readers.file(files=files, labels=list(range(len(files))), random_shuffle=True, name="reader")
    images = fn.decoders.image(data, device=device, **decoder)
    return (fn.crop(images, crop=crop) if crop else images), number


def check(files, rounds):
    whole, mixed = files
    failures = []

    def guarded(work):
        def body():
            try:
                work()
            except Exception as error:  # noqa: BLE001  (shown by the test's thread)
                failures.append(error)

        return threading.Thread(target=body)

    def pipeline(files, batch, crop, **options):
        def work():
            got = decoding(files, "mixed", crop, decoder="cuda", batch_size=batch, seed=batch, **options)
            want = decoding(files, "cpu", crop, batch_size=batch, seed=batch, **options)
            for _ in range(rounds):
                (a, i), (b, j) = got.run(), want.run()
                assert np.array(i.as_cpu().as_array()).tolist() == np.array(j.as_array()).tolist()
                for x, y in zip(a.as_cpu(), b, strict=True):
                    np.testing.assert_array_equal(np.array(x), np.array(y))

        return guarded(work)

    def calls(seed, output_type):
        def work():
            rng = np.random.default_rng(seed)
            for _ in range(rounds):
                data = [open(whole[k], "rb").read() for k in rng.integers(0, len(whole), 7)]
                want = fn.decoders.image(data, output_type=output_type)
                got = fn.decoders.image(data, device="gpu", decoder="cuda", output_type=output_type)
                for x, y in zip(got.as_cpu(), want, strict=True):
                    np.testing.assert_array_equal(np.array(x), np.array(y))

        return guarded(work)

    threads = [
        pipeline(whole, 12, None),
        pipeline(whole, 31, [50, 60]),
        pipeline(mixed, 16, None, on_error="replace"),
        pipeline(mixed, 9, [40, 44], on_error="replace"),
        calls(1, types.RGB),
        calls(2, types.BGR),
        calls(3, types.GRAY),
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]


def test_pipelines_and_calls_at_once(files, real):
    if real:
        check(files, 60)
        return
    run(f"check({files!r}, 2)", __name__, PENSTOCK_EMULATED_DECODER="own", PENSTOCK_EMULATED_LATENCY="700")
