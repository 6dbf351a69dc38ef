# SPDX-License-Identifier: Apache-2.0
"""Arrays and files by NVIDIA's own cuFile, on a machine that has it: the GPU has the contents of the files.

The protocol, errors and fall-backs are tested on a stand-in (test_direct_storage.py). Where cuFile refuses this machine's files (it
asks udev about the disk) they are copied through the host, with the same bytes; with PENSTOCK_TEST_CUFILE=1 that is a failure.
"""

import os

import numpy as np
import pytest

from penstock import Pipeline, _core, fn

if os.environ.get("PENSTOCK_TEST_CUFILE"):
    pytestmark = pytest.mark.filterwarnings("error:files are read into host memory")  # the path without cuFile


@pytest.fixture(autouse=True)
def library(real):
    if not real:
        pytest.skip("machine: cuFile needs a GPU")
    said = _core.gpu_direct_storage()
    print(said)
    if said.startswith("none"):
        pytest.skip(f"machine: {said}")


def batches(reader, rounds, batch=4):
    pipe = Pipeline(batch_size=batch, num_threads=4, device_id=0)
    with pipe:
        outputs = reader()
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else (outputs,)))
    pipe.build()
    for _ in range(rounds):
        out = pipe.run()
        assert out[0].device == "gpu:0"
        yield [[np.asarray(o.as_cpu()[i]) for i in range(len(o))] for o in out]
    pipe.close()


@pytest.fixture
def drawn():
    return np.random.default_rng(7)


def test_arrays(tmp_path, drawn):
    made = [
        drawn.normal(size=shape).astype(np.float32)
        for shape in [(300, 200, 70), (1, 2, 3), (33, 90, 61), (1000, 999, 4)]
    ]
    files = [str(tmp_path / f"{k}.npy") for k in range(len(made))]
    for path, array in zip(files, made):
        np.save(path, array)
    for (got,) in batches(lambda: fn.readers.numpy(device="gpu", files=files, name="Reader"), 6):
        for a, b in zip(got, made):
            np.testing.assert_array_equal(a, b)


def test_regions_of_arrays(tmp_path, drawn):
    made = [drawn.integers(0, 255, (600 + k, 500, 80), np.uint8) for k in range(4)]
    files = [str(tmp_path / f"{k}.npy") for k in range(len(made))]
    for path, array in zip(files, made):
        np.save(path, array)
    region = {"roi_start": [17, 0, 0], "roi_end": [590, 500, 80]}
    for (got,) in batches(lambda: fn.readers.numpy(device="gpu", files=files, name="Reader", **region), 4):
        for a, b in zip(got, made):
            np.testing.assert_array_equal(a, b[17:590])


def test_whole_files(tmp_path, drawn):
    sizes = [1, 511, 512, 4096, 4097, 65_536, 1_000_003, 30_000_000]
    files = []
    for k, size in enumerate(sizes):
        files.append(tmp_path / f"{k}.bin")
        files[-1].write_bytes(drawn.integers(0, 256, size, np.uint8).tobytes())
    names = [str(f) for f in files]
    seen = []
    for data, labels in batches(
        lambda: fn.readers.file(device="gpu", files=names, random_shuffle=True, name="Reader"), 8
    ):
        for bytes_, label in zip(data, labels):
            seen.append(int(label[0]))
            assert bytes_.tobytes() == files[seen[-1]].read_bytes()
    assert sorted(seen) == sorted(list(range(len(sizes))) * 4)
