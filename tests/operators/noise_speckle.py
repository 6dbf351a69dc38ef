# SPDX-License-Identifier: Apache-2.0
"""noise.speckle: the reference and random calls; the distribution of its noise is in test_noise.py."""

import numpy as np
from hypothesis import strategies as st
from operator_calls import Case

from operators.picture_draws import per_sample, pictures


def speckle(x, mean=0.0, stddev=0.0):
    assert stddev == 0
    return x.astype(np.float64) * (1 + mean)


def draw_speckle(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "CHW", "FHWC"])
    constants, each, at = per_sample(draw, len(xs), "mean", st.integers(-12, 12).map(lambda v: v / 8))
    return Case(
        [xs], [layout], {**constants, "stddev": 0.0}, each, dtype=dtype, expected=lambda i: speckle(xs[i], **at(i))
    )


CASES = {"noise.speckle": draw_speckle}
