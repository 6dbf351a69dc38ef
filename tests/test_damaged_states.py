# SPDX-License-Identifier: Apache-2.0
"""Saved pipelines and checkpoints with bytes that are wrong: a typed error, or a pipeline that can be made."""
import numpy as np
import pytest
from damaged_bytes import damaged

from penstock import Pipeline, fn, pipeline_def


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for k in range(5):
        (folder / f"{k}.bin").write_bytes(bytes([k]) * 10)
    files = [str(folder / f"{k}.bin") for k in range(5)]

    @pipeline_def(batch_size=2, num_threads=1, seed=3)
    def pipe():
        data, label = fn.readers.file(files=files, random_shuffle=True)
        return data, fn.cast(label, dtype="float32") * 2 + 1

    p = pipe()
    p.run()
    texts = p.to_json().encode(), p.checkpoint()
    p.close()
    return pipe, *(np.frombuffer(t, np.uint8) for t in texts)


def test_damaged_saved_pipelines(made):
    refused = 0
    for bad in damaged(made[1], 150, 300, 1):
        try:
            p = Pipeline.deserialize(bad.tobytes(), num_threads=1, batch_size=2, prefetch_queue_depth=1)
            p.build()
            p.close()
        except (ValueError, TypeError, RuntimeError, OSError) as error:
            refused += 1
            assert "internal" not in str(error)
    assert refused > 60


def test_damaged_checkpoints(made):
    refused = 0
    for bad in damaged(made[2], 150, 200, 2):
        p = made[0](checkpoint=bad.tobytes())
        try:
            p.build()
        except (ValueError, TypeError, RuntimeError) as error:
            refused += 1
            assert "internal" not in str(error)
        p.close()
    assert refused > 60
