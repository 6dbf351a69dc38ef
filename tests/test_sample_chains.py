# SPDX-License-Identifier: Apache-2.0
"""Boxes, masks and points against brute force: each part is drawn into a picture, the picture is moved, and measured.

A chain is random operators on one Sample. Its parts are drawn as channels of a picture of float32: an instance as a rectangle, a
point as a smooth spot around it. The same calls move this picture, and what is seen in it says where the parts must be."""

import os

import pytest
from sample_chains import calls_of, check, moved, parts_of

from penstock.sample import Sample

CHAINS = 40 if os.environ.get("PENSTOCK_TEST_COUNT") is None else 1000


@pytest.mark.parametrize("part", range(8))
def test_parts_are_where_brute_force_sees_them(part):
    found = 0
    for seed in range(part, CHAINS, 8):
        calls = calls_of(seed)
        about = f"chain {seed}: {[name for name, _ in calls]}"
        found += check(moved(Sample(**parts_of(seed)), calls), calls, about)
    assert found > CHAINS // 8
