# SPDX-License-Identifier: Apache-2.0
"""What test_control_in_place.py says of assignments, on a GPU."""

import numpy as np
import pytest
from test_control_in_place import BODIES, of_the_program, run

from penstock import _core

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


@pytest.mark.parametrize("body", BODIES)
def test_what_is_copied_on_a_gpu(body):
    bytes_copied, out = run(body, "gpu")
    for value, expected in zip(out, run(body, "cpu")[1], strict=True):
        for a, b in zip(value, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    assert bytes_copied == (0 if body is of_the_program else BODIES[body])  # what it gave has been copied to the GPU
