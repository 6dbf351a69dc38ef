# SPDX-License-Identifier: Apache-2.0
"""Draws of samples on the CPU are replayed on a GPU, and the other way, bit for bit."""

import json

import numpy as np
import pytest

from penstock import augment, fn, pipeline_def


@pipeline_def(batch_size=4, num_threads=1)
def augmented(device):
    image = fn.external_source(name="images", layout="HWC")
    if device == "gpu":
        image = image.gpu()
    image = fn.random_resized_crop(image, size=[20, 22])
    image = augment.maybe(image, lambda x: augment.color_jitter(x, 0.4, 0.4, 0.4), p=0.5)
    image = fn.rotate(image, angle=fn.random.uniform(range=[-30.0, 30.0]), fill_value=0, keep_size=True)
    image = augment.repeat(image, lambda x: augment.coarse_dropout(x, p=1.0), times=(0, 3))
    return fn.noise.gaussian(image, stddev=fn.random.uniform(range=[1.0, 9.0]))


@pytest.mark.parametrize("first, second", [("cpu", "gpu"), ("gpu", "cpu"), ("gpu", "gpu")])
def test_devices_draw_the_same_again(first, second):
    rng = np.random.default_rng(2)
    images = [rng.integers(0, 256, (24, 30 + k, 3), np.uint8) for k in range(4)]
    pipe = augmented(first, seed=5).log_steps()
    expected = pipe.run(images=images)[0].cpu()
    params = json.loads(json.dumps(pipe.params))
    assert all(-30 <= step["arguments"]["angle"] <= 30 for p in params for step in p["steps"] if step["op"] == "rotate")
    windows = [step["window"] for p in params for step in p["steps"] if step["op"] == "random_resized_crop"]
    assert len(windows) == 4 and all(
        0 <= left < right and 0 <= top < bottom <= 24 for left, top, right, bottom in windows
    )
    order = [3, 0, 0, 2]
    again = augmented(second, seed=6).replay([params[k] for k in order]).run(images=[images[k] for k in order])[0].cpu()
    for k, of in enumerate(order):
        np.testing.assert_array_equal(again[k].numpy(), expected[of].numpy())
