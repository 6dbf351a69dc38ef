# SPDX-License-Identifier: Apache-2.0
"""Each program of must_fail/ ends with its exact message, which names the wrong line."""

import importlib.util
import pathlib
import re

import numpy as np
import pytest

from penstock import fn, pipeline_def, types

PROGRAMS = sorted(p for p in (pathlib.Path(__file__).parent / "must_fail").glob("*.py"))
X = [np.arange(4, dtype=np.float32) + i for i in range(3)]
N = [np.int32(v) for v in (1, 4, 7)]
IMAGES = [np.full((8, 8, 3), i, np.uint8) for i in range(3)]


def outcome(path):
    """Type and text of what the program ends with, lines of its file as LINE."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    @pipeline_def(batch_size=3, num_threads=1, seed=1, max_trips=100)
    def pipe():
        x = fn.external_source(lambda: X, dtype=types.FLOAT, ndim=1)
        n = fn.external_source(lambda: N, dtype=types.INT32, ndim=0)
        image = fn.external_source(lambda: IMAGES, dtype=types.UINT8, layout="HWC")
        return module.program(x, n, image)

    try:
        p = pipe()
        p.run()
    except Exception as error:
        assert not re.search(r"control_flow|item_assignment", str(error)), f"shows a line of the library: {error}"
        text = re.sub(re.escape(str(path)) + r":\d+", "LINE", str(error))
        text = re.sub('File "' + re.escape(str(path)) + r'", line \d+', "File LINE", text)
        return f"{type(error).__name__}: {text}".replace("\n", " | ")
    raise AssertionError(f"{path.name} ran")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_ends_with_its_message(path):
    expected = re.search(r"^# error: (.*)$", path.read_text(), re.M).group(1)
    assert outcome(path) == expected


def test_there_are_many():
    assert len(PROGRAMS) >= 85
