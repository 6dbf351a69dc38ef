# SPDX-License-Identifier: Apache-2.0
"""tensor_resize: against DALI, along axes that images do not have, and its refusals."""

import dali_oracle
import numpy as np
import pytest
from operators.tensor_sizes import tensor_resize

from penstock import batch, fn, pipeline_def, tensor

X = np.random.default_rng(0).random((5, 6, 7, 4)).astype(np.float32)
ROI = {"roi_start": [1.0, 2.0], "roi_end": [4.5, 4.0]}
CALLS = [
    {"sizes": [3.0, 4.0, 5.0], "axes": [0, 1, 2]},
    {"sizes": [3.0, 4.0], "axes": [2, 0]},
    {"scales": [0.5, 0.3], "axes": [0, 1], "size_rounding": "ceil"},
    {"scales": [0.5, 0.3], "axes": [0, 1], "size_rounding": "truncate", "alignment": [0.0]},
    {"scales": [-0.5, 1.3], "axes": [0, 1], "alignment": [1.0, 0.2]},
    {"sizes": [3.0, 0.0], "axes": [0, 1], "mode": "stretch"},
    {"sizes": [2.6], "axes": [0], "alignment": [0.0]},
    {"sizes": [2.6], "axes": [0], "subpixel_scale": False},
    {"sizes": [-3.0], "axes": [-1]},
    {"sizes": [3.0, 3.0], "max_size": [2.0, 5.0], "axes": [1, 2]},
    {"scales": [0.01], "axes": [1], "size_rounding": "truncate"},
    {"sizes": [3.0, 4.0], "axes": [2, 0], **ROI},
    {"scales": [1.7, 0.6], "axes": [2, 0], **ROI},
    {"scales": [1.7], "axes": [2], "roi_start": [0.8], "roi_end": [0.1], "roi_relative": True, "alignment": [0.1]},
    {"sizes": [5.0, 6.0, 7.0, 9.0]},
    {"sizes": [3.0], "axes": []},
]


@pytest.fixture(scope="module")
def oracle():
    return dali_oracle.Oracle()


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_as_dali(oracle, call):
    expected = oracle.call("tensor_resize", [X], **call)[0]
    got = fn.tensor_resize(X, **call)
    assert got.shape == expected.shape and np.abs(got - expected).max() < 1e-5


def test_bytes_of_all_axes_and_names():
    x = np.random.default_rng(1).integers(0, 256, (9, 8, 3), np.uint8)
    for axes in ([2], [0, 2], [2, 1, 0]):
        sizes = [5.0, 11.0, 4.0][: len(axes)]
        expected = tensor_resize(x, axes=axes, sizes=sizes)
        got = fn.tensor_resize(tensor(x, layout="HWC"), sizes=sizes, axes=axes)
        assert got.layout() == "HWC" and np.abs(got.numpy() - expected).max() < 0.51
        named = fn.tensor_resize(tensor(x, layout="HWC"), sizes=sizes, axis_names="".join("HWC"[a] for a in axes))
        assert (named.numpy() == got.numpy()).all()
    assert fn.tensor_resize(np.arange(4, dtype=np.float32), scales=[2.0]).shape == (8,)


def test_many_channels_and_empty_samples():
    x = np.random.default_rng(2).random((3, 4, 300)).astype(np.float32)  # more planes than a stage has
    got = fn.tensor_resize(tensor(x, layout="HWC"), sizes=[77.0], axes=[2]).numpy()
    assert np.abs(got - tensor_resize(x, axes=[2], sizes=[77.0])).max() < 1e-5
    assert fn.tensor_resize(np.zeros((0, 4), np.float32), sizes=[2.0], axes=[1]).shape == (0, 2)
    assert fn.tensor_resize(np.zeros((1, 1), np.float32), sizes=[3.0, 2.0]).shape == (3, 2)


def test_after_and_before_operators_of_channels():
    images = [np.random.default_rng(i).integers(0, 256, (6 + i, 7, 3), np.uint8) for i in range(4)]

    @pipeline_def(batch_size=4, num_threads=1)
    def pipe():
        x = fn.external_source([images], layout="HWC")
        x = fn.hue(x, hue=30.0)
        x = fn.tensor_resize(x, sizes=[3.0, 5.0], axes=[1, 2])
        return fn.brightness(x, brightness=0.5)

    (got,) = pipe().run()
    for i, image in enumerate(images):
        expected = fn.brightness(
            fn.tensor_resize(fn.hue(tensor(image, layout="HWC"), hue=30.0), sizes=[3.0, 5.0], axes=[1, 2]),
            brightness=0.5,
        )
        assert (got.at(i) == expected.numpy()).all()


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("either sizes or scales", {}),
        ("either sizes or scales", {"sizes": [1.0], "scales": [1.0]}),
        ("axis 4 is out of range for 4 dimensions", {"sizes": [3.0], "axes": [4]}),
        ("axis 1 is given twice", {"sizes": [3.0, 3.0], "axes": [1, 1]}),
        ("sizes must have 1 or 4 values, got 3", {"sizes": [3.0, 3.0, 3.0]}),
        ("at most 3 axes", {"sizes": [3.0, 3.0, 3.0, 3.0]}),
        ("size_rounding must be", {"scales": [3.0], "size_rounding": "floor"}),
        ("needs sizes instead of scales", {"scales": [3.0], "axes": [0], "mode": "not_larger"}),
        ("must be given together", {"sizes": [3.0], "axes": [0], "roi_start": [0.0]}),
    ],
)
def test_refusals(message, call):
    with pytest.raises(ValueError, match=message):
        fn.tensor_resize(batch([X]), **call)
