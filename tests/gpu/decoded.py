# SPDX-License-Identifier: Apache-2.0
"""What tests of decoding on a GPU share."""

import os
import subprocess
import sys

import numpy as np


def batches(pipe, rounds=5):
    """(images, numbers) of each batch of a pipeline that gives both."""
    result = []
    for _ in range(rounds):
        images, numbers = pipe.run()
        result.append(([np.array(i) for i in images.as_cpu()], np.array(numbers.as_cpu().as_array()).ravel().tolist()))
    return result


def equal(got, want):
    for (images, numbers), (wanted, wanted_numbers) in zip(got, want, strict=True):
        assert numbers == wanted_numbers
        for a, b in zip(images, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def run(script, module, **environment):
    """In a process of its own, since the library reads its environment once; with the names of a module of tests."""
    head = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\nfrom {module} import *\n"
    done = subprocess.run(
        [sys.executable, "-c", head + script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
