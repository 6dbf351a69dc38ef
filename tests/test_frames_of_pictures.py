# SPDX-License-Identifier: Apache-2.0
"""Arguments with one value for each frame, of operators on pictures: a sequence gives what its frames give by themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_frames import MARKED, OF_IMAGES

import penstock
from penstock import fn


def odd(rng, n, most):
    return np.int32(rng.integers(0, most // 2 + 1, n) * 2 + 1)


def perspective(rng, n):
    return np.float32(np.eye(3) + rng.normal(0, [[0.1, 0.1, 2], [0.1, 0.1, 2], [0.001, 0.001, 0.01]], (n, 3, 3)))


# Values of one sample of n frames, by argument.
CASES = {
    "laplacian": {
        "window_size": lambda rng, n: odd(rng, n, 7) + 2,
        "smoothing_size": lambda rng, n: odd(rng, n, 9),
        "scale": lambda rng, n: np.float32(rng.uniform(0.1, 2, n)),
    },
    "dilate": {
        "mask_size": lambda rng, n: np.int32(rng.integers(1, 5, (n, 2))),
        "anchor": lambda rng, n: np.int32(rng.integers(-1, 1, (n, 2))),
    },
    "erode": {
        "mask_size": lambda rng, n: np.int32(rng.integers(1, 5, (n, 2))),
        "anchor": lambda rng, n: np.int32(rng.integers(-1, 1, (n, 2))),
    },
    "morphology": {
        "mask_size": lambda rng, n: np.int32(rng.integers(1, 5, (n, 2))),
        "anchor": lambda rng, n: np.int32(rng.integers(-1, 1, (n, 2))),
    },
    "threshold": {
        "threshold": lambda rng, n: np.float32(rng.uniform(0, 255, n)),
        "max_value": lambda rng, n: np.float32(rng.uniform(0, 255, n)),
    },
    "warp_perspective": {"matrix": perspective},
    "debayer": {"blue_position": lambda rng, n: np.int32(rng.integers(0, 2, (n, 2)))},
    "correlate": {"anchor": lambda rng, n: np.int32(rng.integers(0, 3, (n, 2)))},
}


def test_every_operator_has_a_case():
    elsewhere = {"coord_transform", "multi_paste", *OF_IMAGES}  # multi_paste: below, its numbers depend on one another
    assert {o for o in MARKED if not o.startswith("transforms.")} == elsewhere | set(CASES)
    assert all(set(CASES[o]) == MARKED[o] for o in CASES)


@pytest.mark.parametrize("operator", sorted(CASES))
@given(st.integers(0, 2**32 - 1))
def test_a_sequence_is_its_frames(operator, seed):
    rng = np.random.default_rng(seed)
    channels, dtype = 1 if operator == "debayer" else 3, rng.choice([np.uint8, np.uint16])
    xs = [
        rng.integers(0, 255, (n, 2 * h, 2 * w, channels)).astype(dtype)
        for n, h, w in rng.integers([1, 2, 2], [6, 9, 17], (3, 3))
    ]
    names = [
        name for k, name in enumerate(sorted(CASES[operator])) if k == seed % len(CASES[operator]) or rng.random() < 0.5
    ]
    values = {name: [CASES[operator][name](rng, len(x)) for x in xs] for name in names}
    others = [penstock.batch([rng.normal(0, 1, (3, 3)).astype(np.float32)] * 3)] if operator == "correlate" else []
    more = {"blue_position": [0, 1]} if operator == "debayer" and not names else {}
    if operator == "threshold" and "threshold" not in names:
        more = {"threshold": 100.0}
    got = getattr(fn, operator)(
        penstock.batch(xs, layout="FHWC"),
        *others,
        **more,
        **{name: fn.per_frame(penstock.batch(v)) for name, v in values.items()},
    )
    for i, x in enumerate(xs):
        for k, frame in enumerate(x):
            arguments = {name: v[i][k].tolist() for name, v in values.items()}
            alone = getattr(fn, operator)(
                penstock.tensor(frame, layout="HWC"), *[o[0] for o in others], **more, **arguments
            )
            np.testing.assert_array_equal(got[i].numpy()[k], alone.numpy(), err_msg=f"{arguments}")


@given(st.integers(0, 2**32 - 1))
def test_regions_that_move_from_frame_to_frame(seed):
    rng = np.random.default_rng(seed)
    size, regions = rng.integers(4, 12, 2), int(rng.integers(1, 4))
    xs = [rng.integers(0, 255, (n, h, w, 3), np.uint8) for n, h, w in rng.integers([1, 3, 3], [6, 9, 9], (3, 3))]

    def numbers_of(x):  # one row for each frame and region: where it begins, how large it is, where it is put
        extent = rng.integers(0, np.minimum(x.shape[1:3], size) + 1, (len(x), regions, 2))
        return {
            "shapes": np.int32(extent),
            "in_anchors": np.int32(rng.integers(0, np.array(x.shape[1:3]) - extent + 1)),
            "out_anchors": np.int32(rng.integers(0, size - extent + 1)),
        }

    values = [numbers_of(x) for x in xs]
    inputs = [penstock.batch(xs, layout="FHWC")] * regions
    got = fn.multi_paste(
        *inputs,
        output_size=size.tolist(),
        **{name: fn.per_frame(penstock.batch([v[name] for v in values])) for name in values[0]},
    )
    for i, x in enumerate(xs):
        expected = np.zeros((len(x), *size, 3), np.uint8)
        for k in range(len(x)):
            for r in range(regions):
                (h, w), (y, a), (z, b) = (values[i][name][k, r] for name in ("shapes", "in_anchors", "out_anchors"))
                expected[k, z : z + h, b : b + w] = x[k, y : y + h, a : a + w]
        np.testing.assert_array_equal(got[i].numpy(), expected)
