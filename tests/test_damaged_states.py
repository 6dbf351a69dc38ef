# SPDX-License-Identifier: Apache-2.0
"""Saved pipelines and checkpoints with bytes that are wrong: a typed error, or a pipeline that can be made."""

import json

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


def changed(text, path, value):
    saved = json.loads(text)
    at = saved
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return json.dumps(saved).encode()


NODE = ("graph", "nodes", 1)
DEEP = json.loads("[" * 70 + "]" * 70)


@pytest.mark.parametrize(
    "path, value, said",
    [
        (("batch_size",), 1.5, "batch_size must be a whole number"),
        (("batch_size",), 2**40, "batch_size must be a whole number"),
        (("batch_size",), 0, "batch_size"),
        (("threads",), -1, "threads"),
        (("prefetch",), 1e300, "prefetch"),
        (("device",), 2**33, "device"),
        (("memory_limit",), -1, "memory_limit"),
        (("on_error",), 7, "on_error"),
        (("graph", "seed"), -1, "seed"),
        (("graph", "penstock_graph"), True, "not a pipeline saved by this version"),
        (("penstock_pipeline",), "1", "not a saved pipeline"),
        ((*NODE, "outputs"), 10**6, "outputs"),
        ((*NODE, "outputs"), -1, "outputs"),
        ((*NODE, "seed"), 2**64 - 1, "seed"),
        ((*NODE, "region"), 5, "body"),
        ((*NODE, "inputs"), [[2**32, 0]], "node"),
        ((*NODE, "inputs"), [[1, 0]], "does not exist"),
        ((*NODE, "op"), "casts", "casts"),
        ((*NODE, "inputs"), [], "input"),
        ((*NODE, "constants", "dtype"), [2, [3]], "cannot be read"),
        ((*NODE, "constants", "dtype"), 2**63, "whole number"),
        ((*NODE, "control"), "branches", "branches"),
        (("graph", "regions"), [[7, "then"]], "body"),
        (("graph", "outputs"), [[0, 9]], "is not a value of this pipeline"),
        (("graph", "nodes"), DEEP, "not a saved pipeline"),
    ],
)
def test_saved_pipelines_that_cannot_be(made, path, value, said):
    with pytest.raises((ValueError, TypeError, LookupError), match=said):
        Pipeline.deserialize(changed(made[1].tobytes(), path, value), num_threads=1).build()


def test_what_a_saved_pipeline_says_of_its_types_is_not_believed(made):
    p = Pipeline.deserialize(changed(made[1].tobytes(), (*NODE, "types"), [[9, 3, "HWC"]]), num_threads=1)
    p.build()
    assert np.asarray(p.run()[1].as_array()).dtype == np.float32
    p.close()


@pytest.mark.parametrize(
    "path, value, said",
    [
        (("seed",), -1, "seed"),
        (("skip",), 2**31, "skip"),
        (("skip",), 0.5, "skip"),
        (("sources",), DEEP, "not a checkpoint"),
        (("sources",), {"nobody": "{}"}, "nobody"),
        (("sources",), {"__readers_file_0": DEEP[0]}, "cannot be read|not a checkpoint"),
        (("penstock_checkpoint",), None, "not a checkpoint"),
    ],
)
def test_checkpoints_that_cannot_be(made, path, value, said):
    p = made[0](checkpoint=changed(made[2].tobytes(), path, value))
    with pytest.raises((ValueError, TypeError), match=said):
        p.build()
    p.close()


def test_a_readers_state_that_nests_too_deep(made):
    saved = json.loads(made[2].tobytes())
    name, state = saved["sources"].popitem()
    state = state.replace('"every_epoch"', "[" * 100000 + "]" * 100000)
    p = made[0](checkpoint=json.dumps({**saved, "sources": {name: state}}).encode())
    with pytest.raises(ValueError, match="not a JSON object"):
        p.build()
    p.close()
