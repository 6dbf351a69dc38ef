# SPDX-License-Identifier: Apache-2.0
"""fn.filter, fn.expand, fn.flatten_batch and fn.rebatch of values on a GPU give the CPU's bytes."""

import numpy as np
import pytest

from penstock import _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

IMAGES = [np.random.default_rng(k).integers(0, 256, (20 + k, 24, 3), np.uint8) for k in range(12)]
TILES = [np.random.default_rng(k).integers(0, 256, (k % 3 + 1, 9, 8, 3), np.uint8) for k in range(12)]


def run(body, device, batch_size=6, **options):
    @pipeline_def(batch_size=batch_size, num_threads=2, seed=3, device_id=0, **options)
    def pipe():
        image = fn.external_source(lambda i: IMAGES[i.idx_in_epoch % 12], batch=False, dtype=types.UINT8, layout="HWC")
        tiles = fn.external_source(lambda i: TILES[i.idx_in_epoch % 12], batch=False, dtype=types.UINT8, layout="NHWC")
        k = fn.external_source(lambda i: np.int32(i.idx_in_epoch % 12), batch=False, dtype=types.INT32, ndim=0)
        if device == "gpu":
            image, tiles = image.gpu(), tiles.gpu()
        return body(image, tiles, k)

    p = pipe()
    got = [[[np.array(t.numpy()) for t in b.as_cpu()] for b in p.run()] for _ in range(3)]
    return got, p.text(planned=True)


def same_on_both(body, **options):
    host, _ = run(body, "cpu", **options)
    gpu, text = run(body, "gpu", **options)
    assert "on the GPU" in text, text
    for a, b in zip(host, gpu):
        for x, y in zip(a, b):
            assert len(x) == len(y)
            for s, t in zip(x, y):
                np.testing.assert_array_equal(s, t)
    return host


def test_filter():
    def body(image, tiles, k):
        image, k = fn.filter(image, k, keep=k % 3 != 1)
        return fn.flip(fn.brightness_contrast(image, brightness=1.2), horizontal=1), k

    host = same_on_both(body)
    assert [len(b[0]) for b in host] == [4, 4, 4]


def test_filter_by_a_value_on_the_gpu():
    def body(image, tiles, k):
        bright = fn.reductions.mean(fn.cast(image, dtype=types.FLOAT))
        image, k = fn.filter(image, k, keep=bright > 126.5)
        return fn.resize(image, size=[10, 12]), k

    same_on_both(body)


def test_expand_draws_for_each_child():
    def body(image, tiles, k):
        image, k = fn.expand(image, k, k=3)
        angle = fn.random.uniform(range=[-30.0, 30.0])
        x = fn.crop(image, crop=[8, 8], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]))
        return fn.flip(x, horizontal=fn.random.coin_flip()), angle

    host = same_on_both(body)
    assert len({float(a) for b in host for a in b[1]}) == 54


def test_flatten_batch():
    def body(image, tiles, k):
        tiles, k = fn.flatten_batch(tiles, repeat=k)
        y = fn.brightness_contrast(tiles, brightness=0.7)
        if k > 3:
            y = fn.flip(y, horizontal=1)
        return y, tiles, k

    same_on_both(body)


def test_batches_without_samples():
    def body(image, tiles, k):
        image, k = fn.filter(image, k, keep=k > 6, min_batch=0)
        x = fn.resize(image, size=[10, 12])
        return (
            fn.crop_mirror_normalize(fn.brightness_contrast(x, brightness=1.5), crop=[8, 8]),
            fn.reductions.mean(x),
            k,
        )

    host = same_on_both(body)
    assert [len(b[0]) for b in host] == [0, 5, 0]


def test_large_transfers_that_were_not_requested_warn_once(recwarn):
    big = [np.zeros((1500, 1000, 3), np.uint8) for _ in range(2)]

    def pipe(asked):
        @pipeline_def(batch_size=2, num_threads=1, device_id=0)
        def define():
            x = fn.external_source(lambda: big, dtype=types.UINT8, layout="HWC").gpu()
            y = fn.flip(x, horizontal=1)
            mask = fn.external_source(lambda: big, dtype=types.UINT8, layout="HWC")
            return y + (mask.gpu() if asked else mask)

        return define()

    p = pipe(True)
    for _ in range(8):
        p.run()
    assert "as asked" in p.text(planned=True)
    assert not recwarn.list
    p = pipe(False)
    for _ in range(10):
        p.run()
    (text,) = [str(w.message) for w in recwarn.list]
    assert text.startswith("[_add] each batch of its inputs is copied from the CPU to the GPU: 9000000 bytes"), text
    assert "test_changing_batches.py:" in text


def test_stream_policy():
    def body(image, tiles, k):
        return fn.resize(image, size=[10, 12]), k

    for policy in types.StreamPolicy:
        for concurrency in types.OperatorConcurrency:
            same_on_both(body, stream_policy=policy, concurrency=concurrency)


def test_rebatch():
    def body(image, tiles, k):
        image, k = fn.filter(image, k, keep=k % 2 == 1)
        return fn.rebatch(fn.resize(image, size=[10, 12]), k, batch_size=5)

    host = same_on_both(body)
    assert [len(b[0]) for b in host] == [5, 5, 5]
    assert [int(k) for b in host for k in b[1]] == [1, 3, 5, 7, 9, 11, 1, 3, 5, 7, 9, 11, 1, 3, 5]


def test_in_bodies():
    def body(image, tiles, k):
        x = fn.brightness_contrast(image, brightness=1.2)
        if k % 3 == 0:
            x, k = fn.expand(x, k, k=2)
            if fn.random.uniform(range=[0.0, 1.0]) > 0.5:
                x = fn.flip(x, horizontal=1)
        else:
            x, k = fn.filter(x, k, keep=fn.reductions.mean(fn.cast(x, dtype=types.FLOAT)) > 152.0)
            x = fn.brightness_contrast(x, contrast=0.5)
        return fn.cast(x, dtype=types.UINT8), k

    host = same_on_both(body)
    assert all(len(images) == len(numbers) for images, numbers in host)


def test_tiles_in_a_loop():
    def body(image, tiles, k):
        light = fn.reductions.mean(fn.cast(tiles, dtype=types.FLOAT))
        for trip in range(k % 3):
            parts = fn.flatten_batch(tiles)
            parts = fn.filter(parts, keep=fn.reductions.mean(fn.cast(parts, dtype=types.FLOAT)) > 120.0)
            light = light * 0.5
        return light, k

    same_on_both(body)
