# SPDX-License-Identifier: Apache-2.0
"""readers.numpy(device="gpu") through cuFile: on a stand-in of its library (tests/standin_cufile), which checks the protocol.

Each case is a process of its own: the library is loaded once. What is read is compared with NumPy.
"""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

BUILD = pathlib.Path(os.environ.get("PENSTOCK_GPU_LIBRARY", "build/none")).parent
STANDIN = BUILD / "libstandin_cufile.so"
PROGRAM = """
import json, sys, warnings
import numpy as np
from penstock import Pipeline, fn
given = json.loads(sys.argv[1])
pipe = Pipeline(batch_size=len(given["files"]), num_threads=2, device_id=0, **given.get("pipeline", {}))
with pipe:
    x = fn.readers.numpy(device="gpu", files=given["files"], name="Reader", **given.get("reader", {}))
    outputs = (x, x + 1) if given.get("used") else (x,)
    pipe.set_outputs(*outputs)
pipe.build()
said = {"arrays": [], "devices": []}
try:
    for round in range(given.get("rounds", 2)):
        out = pipe.run()
        for o in out:
            said["devices"].append(type(o).__name__)
            np.savez(f"{given['out']}_{len(said['devices'])}.npz", *[np.asarray(o.as_cpu()[i]) for i in range(len(o))])
except Exception as e:
    said["error"] = f"{type(e).__name__}: {e}"
print(json.dumps(said))
"""


@pytest.fixture
def run(tmp_path, real):
    if real:
        pytest.skip("machine: the stand-in reads into an emulated GPU's memory")

    def go(files, wrong="", library=STANDIN, **given):
        log = tmp_path / "calls"
        log.unlink(missing_ok=True)
        env = dict(os.environ, PENSTOCK_CUFILE=str(library), PENSTOCK_STANDIN_CUFILE=wrong, PENSTOCK_STANDIN_CUFILE_LOG=str(log))
        given = dict(given, files=[str(f) for f in files], out=str(tmp_path / "out"))
        done = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(given)], env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout.splitlines()[-1])
        calls = log.read_text().splitlines() if log.exists() else []
        outputs = []
        for number in range(len(said["devices"])):
            with np.load(tmp_path / f"out_{number + 1}.npz") as kept:
                outputs.append([kept[k] for k in kept.files])
        return said, calls, outputs
    return go


@pytest.fixture
def arrays(tmp_path):
    draw = np.random.default_rng(3)
    made, files = [], []
    for number, shape in enumerate([(40, 70, 60), (1, 2, 3), (33, 90, 61)]):
        made.append(draw.integers(0, 1 << 15, shape).astype(np.int32))
        files.append(tmp_path / f"{number}.npy")
        np.save(files[-1], made[-1])
    return made, files


def equal(got, wanted):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("wrong", ["", "short", "memory"])
def test_whole_arrays_go_straight_to_the_device(run, arrays, wrong):
    made, files = arrays
    said, calls, outputs = run(files, wrong, used=True)
    assert "error" not in said
    for k in (0, 2):
        equal(outputs[k], made)
        equal(outputs[k + 1], [a + 1 for a in made])
    reads = [c for c in calls if c.startswith("read")]
    assert len(reads) >= 6 and all(str(a.nbytes) in " ".join(reads) for a in made)
    assert sum(c.startswith("add memory") for c in calls) == sum(c.startswith("drop memory") for c in calls)
    assert sum(c == "add file" for c in calls) == sum(c == "drop file" for c in calls)
    assert all("unknown" in r for r in reads) == (wrong == "memory")


def test_memory_is_not_made_known_where_that_is_not_wanted(run, arrays):
    made, files = arrays
    said, calls, outputs = run(files, reader={"register_buffers": False})
    equal(outputs[0], made)
    assert not any(c.startswith("add memory") for c in calls)


@pytest.mark.parametrize("wrong", ["start", "files"])
def test_what_cufile_refuses_is_read_and_uploaded(run, arrays, wrong):
    made, files = arrays
    said, calls, outputs = run(files, wrong)
    assert "error" not in said and not any(c.startswith("read") for c in calls)
    equal(outputs[0], made)


def test_without_cufile(run, arrays):
    made, files = arrays
    said, calls, outputs = run(files, library="off")
    assert not calls
    equal(outputs[1], made)


def test_regions_and_orders(run, arrays, tmp_path):
    made, files = arrays
    fortran = tmp_path / "fortran.npy"
    np.save(fortran, np.asfortranarray(made[0]))
    empty = tmp_path / "empty.npy"
    np.save(empty, np.zeros((0, 70, 60), np.int32))
    for region, cut in (({"roi_start": [3], "roi_shape": [20], "roi_axes": [0]}, np.s_[3:23]),                    # one piece
                        ({"roi_start": [2, 5], "roi_end": [30, 69], "roi_axes": [0, 1]}, np.s_[2:30, 5:69]),      # small pieces
                        ({"roi_start": [7], "roi_end": [50], "roi_axes": [2]}, np.s_[..., 7:50])):
        for cached in (False, True):
            said, calls, outputs = run([files[0], files[2], fortran], reader=dict(region, cache_header_information=cached))
            equal(outputs[1], [made[0][cut], made[2][cut], made[0][cut]])
            assert any(c.startswith("read") for c in calls) == (cut == np.s_[3:23])
    large = np.arange(4 * 300 * 400, dtype=np.float64).reshape(4, 300, 400)
    np.save(tmp_path / "large.npy", large)
    said, calls, outputs = run([tmp_path / "large.npy"], reader={"roi_start": [1, 50], "roi_end": [4, 250], "roi_axes": [0, 1]})
    equal(outputs[0], [large[1:4, 50:250]])
    pieces = sum(c.startswith("read 640000 bytes") for c in calls)  # of what is read ahead too
    assert pieces >= 6 and pieces % 3 == 0
    padded = dict(roi_start=[-2], roi_shape=[50], roi_axes=[0], out_of_bounds_policy="pad", fill_value=9)
    said, calls, outputs = run([files[0]], reader=padded)
    equal(outputs[0], [np.pad(made[0], ((2, 8), (0, 0), (0, 0)), constant_values=9)])
    equal(run([empty])[2][0], [np.zeros((0, 70, 60), np.int32)])


@pytest.mark.parametrize("wrong, words", [("read", "error 5027"), ("errno", "Input/output error"), ("end", "bytes too early")])
def test_a_read_that_fails_names_its_file(run, arrays, wrong, words):
    _, files = arrays
    region = {"roi_start": [30], "roi_axes": [0]}  # behind byte 100,000, where the stand-in ends files
    said, _, outputs = run(files[:1], wrong, rounds=1, reader=region if wrong == "end" else {})
    assert said["error"].startswith("DataError") and words in said["error"] and str(files[0]) in said["error"]
    assert not outputs


def test_samples_that_cannot_be_read_are_left_out(run, arrays, tmp_path):
    made, files = arrays
    damaged = tmp_path / "damaged.npy"
    damaged.write_bytes(files[0].read_bytes()[:-8])
    said, _, outputs = run([files[0], damaged, files[2]], pipeline={"on_error": "skip"}, rounds=1)
    equal(outputs[0], [made[0], made[2]])
