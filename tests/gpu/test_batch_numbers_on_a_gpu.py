# SPDX-License-Identifier: Apache-2.0
"""Batch number i of pipelines that decode and compute on a GPU: the bytes of a run from the beginning, while much is in flight."""

import random

import numpy as np
import pytest
from PIL import Image

from penstock import fn, pipeline_def, types


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    paths = []
    for k in range(14):
        paths.append(str(folder / f"{k}.jpg"))
        pixels = np.repeat(np.repeat(rng.integers(0, 256, (5, 6, 3), np.uint8), 8, 0), 8, 1)
        Image.fromarray(pixels).save(paths[-1])
    return paths


def content(outputs):
    return [[s.tobytes() for s in map(np.asarray, batch.as_cpu())] for batch in outputs]


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("depth", [1, 3])
def test_batches_in_a_random_order(files, tmp_path, broken, depth):
    files = list(files)
    if broken:
        files[4] = str(tmp_path / "broken.jpg")
        with open(files[4], "wb") as file, open(files[5], "rb") as whole:
            file.write(whole.read()[:200])

    @pipeline_def(
        batch_size=3,
        num_threads=2,
        device_id=0,
        seed=5,
        prefetch_queue_depth=depth,
        on_error="replace" if broken else "raise",
    )
    def photos():
        encoded, labels = fn.readers.file(files=files, random_shuffle=True, name="reader")
        images = fn.random_resized_crop(fn.decoders.image(encoded, device="mixed"), size=[16, 12])
        images = fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), dtype=types.FLOAT)
        return images, labels.gpu(), fn.random.uniform(range=[0.0, 1.0])

    whole, pipe, rng = photos(), photos(), random.Random(depth)
    expected, order = [content(whole.run()) for _ in range(10)], list(range(9))
    rng.shuffle(order)
    for i in order:
        assert content(pipe.seek(batch=i).run()) == expected[i]
        if rng.random() < 0.5:
            assert content(pipe.run()) == expected[i + 1]
    pipe.schedule(order)
    for i in order:
        assert content(pipe.run()) == expected[i]
    assert content(pipe.seek(epoch=1).run()) == expected[5]
    assert [s.shape for s in pipe.output_spec] == [(3, 16, 12), (1,), ()]
