# SPDX-License-Identifier: Apache-2.0
"""PENSTOCK_EXEC=stepping on a GPU: the bytes, errors and checkpoints of the threads."""

import os

import numpy as np
import pytest
import stepping_sources as sources
from stepping_programs import program_of
from test_stepping import assert_twins, given, maker_of, story_of

from penstock import _core, fn, pipeline_def

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

PROGRAMS = 200 if os.environ.get("PENSTOCK_TEST_COUNT") else 12


def test_random_programs_run_alike_step_by_step_on_a_gpu(monkeypatch, tmp_path):
    sources.write_files(tmp_path)
    for seed in range(PROGRAMS):
        program, text = program_of(seed)
        source = sources.SAVED[seed % len(sources.SAVED)]
        make = maker_of(monkeypatch, False, program, tmp_path, source, "gpu")
        if make is not None:
            modes = ("", "stepping", "stepping-fused")[: 2 + (seed % 4 == 0)]
            assert_twins(monkeypatch, make, (seed, source.__name__, text), modes)


@pytest.mark.parametrize("policy", ["raise", "replace"])
def test_files_that_a_gpu_decodes(monkeypatch, tmp_path, policy):
    import cv2

    (tmp_path / "a").mkdir()
    for i in range(9):
        picture = np.random.default_rng(i).integers(0, 255, (40 + i, 60, 3), dtype=np.uint8)
        cv2.imwrite(str(tmp_path / "a" / f"{i}.jpg"), picture)
    if policy == "replace":
        (tmp_path / "a" / "4.jpg").write_bytes(b"\xff\xd8 no picture")
    told = {}
    for mode in (None, "stepping", "stepping-fused"):
        given(monkeypatch, mode)

        @pipeline_def(batch_size=4, num_threads=2, seed=3, on_error=policy)
        def pipe():
            jpegs, labels = fn.readers.file(file_root=str(tmp_path), random_shuffle=True, seed=2)
            images = fn.random_resized_crop(fn.decoders.image(jpegs, device="mixed"), size=(24, 20))
            mean = fn.reductions.mean(images).cpu()
            if mean > 126.0:
                images = fn.flip(images)
            return images, labels, mean

        with pipe() as made:
            told[mode] = story_of(made, 3)
            made.close()
    assert told[None] == told["stepping"] == told["stepping-fused"]
    assert all(not isinstance(t, tuple) for t in told[None])
