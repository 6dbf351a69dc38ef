# SPDX-License-Identifier: Apache-2.0
"""JPEG files of all kinds become the tensors of transformers: ten files, with PENSTOCK_TEST_COUNT two hundred and all classes."""

import io
import os

import numpy as np
import pytest
import transformers_oracle as oracle
from PIL import Image
from varied_photographs import photographs

from penstock.plugin.transformers import processor

LONG = "PENSTOCK_TEST_COUNT" in os.environ
NAMES = list(oracle.CLASSES) if LONG else ["CLIPImageProcessor", "Qwen2VLImageProcessor"]
TOGETHER = 5


@pytest.fixture(scope="module")
def files():
    return [file for _, file in photographs(200 if LONG else 10)]


@pytest.mark.parametrize("name", NAMES)
def test_no_pixel_differs_by_more_than_a_step(name, files):
    theirs = oracle.fast(name)
    call = processor(theirs, num_threads=1)
    for begin in range(0, len(files), TOGETHER):
        part = files[begin : begin + TOGETHER]
        pictures = [np.array(Image.open(io.BytesIO(file)).convert("RGB")) for file in part]
        made = call(part)
        for key, expected in oracle.prepared(theirs, pictures).items():
            got = np.asarray(made[key])
            assert got.shape == expected.shape, (key, begin)
            if key != "pixel_values":
                np.testing.assert_array_equal(got, expected, key)
                continue
            steps = np.abs(got - expected).max() * 255 * min(theirs.image_std)
            assert steps < 1.01, (begin, steps)
