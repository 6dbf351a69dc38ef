# SPDX-License-Identifier: Apache-2.0
"""elastic_transform: the reference and random calls. tests/test_elastic_transform.py looks at the displacements."""

from hypothesis import strategies as st
from operator_calls import Case
from operators.picture_draws import per_sample, pictures, some


def elastic_transform(x, alpha=0.0, sigma=5.0):
    assert alpha == 0
    return x


def draw_elastic_transform(draw):
    xs, layout, dtype = pictures(draw, ["HWC", "HW", "CHW", "FHWC"])
    constants = {"alpha": 0.0, **some(draw, interp_type=st.integers(0, 2))}
    c, each, at = per_sample(draw, len(xs), "sigma", st.sampled_from([0.0, 0.7, 3.0]))
    return Case(
        [xs], [layout], {**constants, **c}, each, dtype=dtype, error=0.0, expected=lambda i: elastic_transform(xs[i])
    )


CASES = {"elastic_transform": draw_elastic_transform}
