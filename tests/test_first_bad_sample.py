# SPDX-License-Identifier: Apache-2.0
"""Several samples of a batch fail: which one an error names, whatever runs the batch."""

import os

import bad_samples
import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def, types

COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "8"))
WAYS = {
    "pipeline": bad_samples.piped,
    "step by step": lambda *given: bad_samples.piped(*given, executor="simple"),
    "debug": lambda *given: bad_samples.piped(*given, debug=True),
    "calls": bad_samples.called,
    "function": bad_samples.compiled,
}


@pytest.mark.parametrize("name", bad_samples.PROGRAMS)
def test_the_first_sample_of_the_first_operator_that_fails(name):
    failed = 0
    for seed in range(COUNT):
        files = bad_samples.batch(seed)
        wanted = bad_samples.expected(name, files)
        failed += wanted is not None
        for way, run in WAYS.items():
            assert run(name, files) == wanted, (way, seed, len(files))
    assert failed > COUNT / 2


def test_a_damaged_file_of_a_size_that_is_wrong_is_left_out():
    """It is not the window that is to blame: on_error="skip" skips it."""
    good, bad = bad_samples.encoded(30, 40), bad_samples.encoded(9, 40)
    files = [np.frombuffer(f, np.uint8) for f in (good, bad[: len(bad) // 2], good)]

    @pipeline_def(batch_size=3, num_threads=1, on_error="skip")
    def pipe():
        x = fn.decoders.image(fn.external_source(lambda: files, dtype=types.UINT8))
        return fn.crop(x, crop=[10, 10], out_of_bounds_policy="error")

    made = pipe()
    assert len(made.run()[0]) == 2
    assert [left.position for left in made.left_out(last_batch=True)] == [1]
    _, errors = pipe(on_error="raise").compile().attempt(files)
    assert [type(e) for e in errors] == [type(None), penstock.DataError, type(None)]


@pytest.mark.parametrize("executor", ["", "simple"])
def test_what_stands_in_for_a_damaged_file_is_no_better(tmp_path, monkeypatch, executor):
    """A picture that is too small for the window ends the batch, also where it replaces another one; it was passed over."""
    monkeypatch.setenv("PENSTOCK_EXEC", executor)
    good, small = bad_samples.encoded(30, 40), bad_samples.encoded(9, 40)
    for k, file in enumerate([good, good[: len(good) // 2], *[small] * 12]):
        (tmp_path / f"{k:02}.jpg").write_bytes(file)

    @pipeline_def(batch_size=2, num_threads=1, on_error="replace", seed=1)
    def pipe():
        x, _ = fn.readers.file(files=[str(p) for p in sorted(tmp_path.iterdir())], name="reader")
        return bad_samples.cropped(fn.decoders.image(x))

    made = pipe()
    with pytest.raises(ValueError, match=r"\[crop\] the window -1 to 9 .*(0[2-9]|1.)\.jpg"):
        made.run()
    made.close()
