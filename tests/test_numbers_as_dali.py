# SPDX-License-Identifier: Apache-2.0
"""Results at the edge cases of DALI's own tests, compared with DALI and NumPy."""

import numpy as np
import pytest
from penstock import fn, math, pipeline_def, tensor, types

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize(
    "x, options",
    [
        ([1, 3], dict(ddof=2, epsilon=0.25)),
        ([5], dict(mean=1.0, ddof=1, epsilon=0.25)),
        ([1, 3], dict(ddof=3, epsilon=0.25)),
        ([1, 3], dict(ddof=2)),
        ([5], dict(mean=1.0, ddof=1)),
    ],
)
def test_normalize_of_few_elements_divides_by_what_epsilon_leaves(oracle, x, options):
    x = np.float32(x)
    np.testing.assert_allclose(fn.normalize(x, **options), oracle.call("normalize", [x], **options)[0])


def test_normalize_of_a_batch_takes_both_numbers(oracle):
    xs = [np.float32([1, 3]), np.float32([4, 8, 9])]
    got = fn.normalize(xs, batch=True, mean=1.0, stddev=2.0)
    for a, b in zip(got, oracle.call("normalize", xs, batch=True, mean=1.0, stddev=2.0)):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("op, options", [("crop", {}), ("crop_mirror_normalize", {"output_layout": "FHWC"})])
@pytest.mark.parametrize(
    "window",
    [
        dict(crop_d=5, crop_h=10, crop_w=12),
        dict(crop=(5, 10, 12)),
        dict(crop=(10, 12)),
        dict(crop_d=5, crop_h=10, crop_w=12, crop_pos_z=0.0),
    ],
)
def test_the_depth_of_a_sequence_is_its_frames(oracle, op, options, window):
    x = RANDOM.integers(0, 255, (10, 20, 30, 3), np.uint8)
    want = oracle.call(op, [x], layout="FHWC", **window, **options)[0]
    np.testing.assert_array_equal(getattr(fn, op)(tensor(x, "FHWC"), **window, **options), want)


def test_the_depth_of_a_volume_leaves_the_frames():
    x = RANDOM.integers(0, 255, (4, 6, 8, 9, 1), np.uint8)
    np.testing.assert_array_equal(fn.crop(tensor(x, "FDHWC"), crop=(2, 4, 5)), x[:, 2:4, 2:6, 2:7])


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_functions_of_far_angles(name):
    x = np.concatenate(
        [10.0 ** RANDOM.uniform(8, 308, 4000), -(10.0 ** RANDOM.uniform(8, 20, 500)), [2.0**30, 2.0**52, 1e22]]
    )
    want = getattr(np, name)(x)
    np.testing.assert_allclose(getattr(math, name)(x), want, atol=2.0**-51, rtol=2.0**-50)
    near = x[:8] / x[:8]  # a tile without far angles, and one whose last angle is far
    np.testing.assert_allclose(
        getattr(math, name)(np.append(near, 1e18)), getattr(np, name)(np.append(near, 1e18)), rtol=2.0**-50
    )
    np.testing.assert_allclose(
        getattr(math, name)(np.float32([1e30, 7e37])),
        getattr(np, name)(np.float64(np.float32([1e30, 7e37]))),
        rtol=1e-6,
    )
    assert np.isnan(getattr(math, name)(np.float64([np.inf, -np.inf, np.nan]))).all()


@pytest.mark.parametrize("reference", [0.0, -1.0])
def test_decibels_need_a_positive_reference(reference):
    with pytest.raises(ValueError, match="reference must be positive"):
        fn.to_decibels(np.float32([1, 2]), reference=reference)


@pytest.mark.parametrize("samples, center", [(2, False), (0, True)])
def test_a_signal_shorter_than_its_window_is_refused(samples, center):
    with pytest.raises(ValueError, match=f"the signal has {samples} samples, but a window needs"):
        fn.spectrogram(np.ones(samples, np.float32), nfft=16, window_length=16, window_step=8, center_windows=center)


@pytest.mark.parametrize("border", ["101", "1001"])
def test_short_names_of_borders(border):
    x, weights = RANDOM.random((6, 7)).astype(np.float32), np.float32([[1, 2, 3]])
    np.testing.assert_array_equal(
        fn.correlate(tensor(x, "HW"), weights, border=border),
        fn.correlate(tensor(x, "HW"), weights, border="reflect_" + border),
    )


def test_choice_keeps_the_layout_of_rows():
    rows = fn.random.choice(tensor(np.arange(24, dtype=np.int32).reshape(4, 6), "HW"), shape=[2], seed=1)

    @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
    def drawn():
        return fn.random.choice(types.Constant(np.arange(24, dtype=np.int32).reshape(4, 6), layout="HW"), shape=[2])

    assert np.asarray(rows).shape == (2, 6) and drawn().run()[0].layout() == "HW"


def test_choice_of_ranges_beyond_32_bits():
    n = 2**62
    got = np.asarray(fn.random.choice(np.int64(n), shape=[4000], seed=3))
    assert got.dtype == np.int64 and 0 <= got.min() and got.max() < n
    np.testing.assert_allclose(np.quantile(got / n, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.04)
    assert len(np.unique(got & 0xFFFF)) > 3500  # the low bits are drawn as well


def test_no_axes(oracle):
    x = np.float32([1, 2, 3])
    np.testing.assert_array_equal(fn.expand_dims(x, axes=[]), x)
    np.testing.assert_array_equal(
        fn.slice(x, start=[], end=[], axes=[]), oracle.call("slice", [x], start=[], end=[], axes=[])[0]
    )


def test_paths_of_signed_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    got = fn.io.file.read(np.frombuffer(str(tmp_path / "a").encode(), np.int8))
    assert bytes(np.asarray(got)) == b"abc"


def test_a_canvas_with_its_channels(oracle):
    x, ids = RANDOM.integers(0, 255, (4, 5, 3), np.uint8), np.int32([0])
    two, three = (fn.multi_paste(tensor(x, "HWC"), in_ids=ids, output_size=size) for size in ([6, 7], [6, 7, 3]))
    np.testing.assert_array_equal(three, two)
    with pytest.raises(ValueError, match="output_size requests 2 channels, but the images have 3"):
        fn.multi_paste(tensor(x, "HWC"), in_ids=ids, output_size=[6, 7, 2])


@pytest.mark.parametrize("size", [25, 31])
def test_long_windows_of_a_laplacian(oracle, size):
    x = RANDOM.random((40, 50, 1)).astype(np.float32)
    want = oracle.call("laplacian", [x], layout="HWC", window_size=size)[0]
    np.testing.assert_allclose(
        fn.laplacian(tensor(x, "HWC"), window_size=size), want, rtol=1e-4, atol=1e-5 * np.abs(want).max()
    )


@pytest.mark.parametrize("layout", ["CFDHW", "CFHW", "FCHW"])
def test_blur_with_channels_before_frames(oracle, layout):
    x = RANDOM.random([2, 3, 4, 5, 6][: len(layout)]).astype(np.float32)
    want = oracle.call("gaussian_blur", [x], layout=layout, window_size=3)[0]
    np.testing.assert_allclose(fn.gaussian_blur(tensor(x, layout), window_size=3), want, rtol=1e-5)


BOXES = np.float32(
    [
        [0.1, 0.1, 0.1, 0.3, 0.4, 0.5],
        [0.2, 0.3, 0.1, 0.6, 0.9, 0.8],
        [0.5, 0.5, 0.5, 0.7, 0.6, 0.9],
        [0, 0, 0, 0.2, 0.2, 0.2],
        [0.4, 0.1, 0.3, 0.9, 0.5, 0.4],
    ]
)


@pytest.mark.parametrize(
    "scaling, ratios",
    [
        ([0.3, 0.5], [0.5, 0.5, 0.25, 0.25, 0.5, 0.5]),
        ([0.3, 1.0], [0.5, 2.0]),
        ([0.5, 1.0], [0.25, 0.25]),
        ([0.3, 1.0], [0.5, 2.0, 0.25, 4.0, 0.5, 2.0]),
    ],
)
def test_windows_stay_inside_of_a_volume(scaling, ratios):
    shapes = []
    for seed in range(200):
        anchor, shape, _ = fn.random_bbox_crop(
            BOXES,
            bbox_layout="xyzXYZ",
            scaling=scaling,
            aspect_ratio=ratios,
            seed=seed,
            thresholds=[0, 0.01, 0.05, 0.1, 0.15],
            total_num_attempts=200,
            quiet=True,
        )
        anchor, shape = np.asarray(anchor), np.asarray(shape)
        assert (anchor >= -1e-6).all() and (anchor + shape <= 1 + 1e-6).all(), (anchor, shape)
        if not (shape == 1).all():
            shapes.append(shape)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for k, (a, b) in enumerate(pairs):
        low, high = (ratios * 3)[2 * k : 2 * k + 2]
        for s in shapes:
            if low < high or k == 0 or len(ratios) == 6:
                assert low * (1 - 1e-3) <= s[a] / s[b] <= high * (1 + 1e-3)
