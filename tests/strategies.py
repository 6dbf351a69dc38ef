# SPDX-License-Identifier: Apache-2.0
"""Random calls of every operator of the registry, from the files of tests/operators."""

from hypothesis import strategies as st
from operators import gathered

CASES, NO_ARRAYS, RANDOM = gathered("CASES"), gathered("NO_ARRAYS"), gathered("RANDOM")


def case_of(name):
    return st.composite(lambda draw: CASES[name](draw))()
