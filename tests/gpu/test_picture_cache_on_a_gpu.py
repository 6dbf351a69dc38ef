# SPDX-License-Identifier: Apache-2.0
"""decoders.image with cache_size and device="mixed": pictures stay in the GPU's memory."""

import cv2
import numpy as np
import pytest

from penstock import fn, pipeline_def

COUNT, BATCH = 10, 4


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for k in range(COUNT):
        noise = rng.integers(0, 256, (30 + 7 * k, 40, 3), np.uint8)
        name = folder / f"{k}.{'png' if k == 3 else 'jpg'}"  # the engine declines PNG: a thread of the host decodes it
        cv2.imwrite(str(name), cv2.GaussianBlur(noise, (0, 0), 2))
    return sorted(map(str, folder.iterdir()))


def pipeline(files, rest, **cache):
    @pipeline_def(batch_size=BATCH, num_threads=2, device_id=0, seed=5)
    def pipe():
        encoded, _ = fn.readers.file(files=files, random_shuffle=True, name="reader")
        return rest(fn.decoders.image(encoded, device="mixed", **cache))

    return pipe()


CHAINS = {
    "alone": lambda x: x,
    "resized": lambda x: fn.resize(x, size=[16, 16]),
    "a part": lambda x: fn.crop(x, crop=[20, 10], crop_pos_x=0.9),
    "random": lambda x: fn.flip(fn.random_resized_crop(x, size=[9, 9]), horizontal=fn.random.coin_flip()),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_the_bytes_are_those_without_a_cache(files, chain):
    plain = pipeline(files, CHAINS[chain])
    expected = [[np.array(t.cpu()) for t in plain.run()[0]] for _ in range(12)]
    for cache in ({"cache_size": 64}, {"cache_size": 64, "cache_type": "largest", "cache_threshold": 6000}):
        pipe = pipeline(files, CHAINS[chain], **cache)
        got = [[np.array(t.cpu()) for t in pipe.run()[0]] for _ in range(12)]
        assert all(np.array_equal(a, b) for one, other in zip(expected, got) for a, b in zip(one, other))
        (found,) = [s["cache"] for s in pipe.stats()["stages"] if sum(s["cache"].values())]
        kept = COUNT if "cache_type" not in cache else sum((30 + 7 * k) * 120 >= 6000 for k in range(COUNT))
        assert found["pictures"] == kept and found["hits"] > 0
