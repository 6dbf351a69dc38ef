# SPDX-License-Identifier: Apache-2.0
"""Readers with device="gpu" through cuFile: on a stand-in of its library (tests/standin_cufile), which checks the protocol.

Each case is a process of its own: the library is loaded once. What is read is compared with NumPy, or with the same reader on the CPU.
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

    def go(files, wrong="", library=STANDIN, program=PROGRAM, **given):
        log = tmp_path / "calls"
        log.unlink(missing_ok=True)
        env = dict(
            os.environ,
            PENSTOCK_CUFILE=str(library),
            PENSTOCK_STANDIN_CUFILE=wrong,
            PENSTOCK_STANDIN_CUFILE_LOG=str(log),
        )
        given = dict(given, files=[str(f) for f in files], out=str(tmp_path / "out"))
        done = subprocess.run(
            [sys.executable, "-c", program, json.dumps(given)], env=env, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout.splitlines()[-1])
        calls = log.read_text().splitlines() if log.exists() else []
        if program is FILES:
            return said, calls
        outputs = []
        for number in range(len(said["devices"])):
            with np.load(tmp_path / f"out_{number + 1}.npz") as kept:
                outputs.append([kept[k] for k in kept.files])
        return said, calls, outputs

    return go


FILES = """
import json, sys
import numpy as np
from penstock import Pipeline, fn
given = json.loads(sys.argv[1])

def pipeline(device, checkpoint=None):
    pipe = Pipeline(batch_size=given.get("batch", 4), num_threads=2, device_id=0, seed=3, enable_checkpointing=True, checkpoint=checkpoint,
                    **given.get("pipeline", {}))
    with pipe:
        data, label = fn.readers.file(device=device, files=given["files"], name="Reader", **given.get("reader", {}))
        if given.get("use") == "both":
            outputs = (data, label, data + 1, fn.cast(data.cpu(), dtype=4) if device == "gpu" else fn.cast(data, dtype=4))
        elif given.get("use") == "decoded":
            outputs = (fn.decoders.image(data, device="cpu"), label)
        else:
            outputs = (data, label)
        pipe.set_outputs(*outputs)
    pipe.build()
    return pipe

def as_lists(out):
    for o in out:
        said["devices"].append(o.device)
    return [[np.asarray(o.as_cpu()[i]).tolist() for i in range(len(o))] for o in out]

said = {"devices": []}
for device in given.get("devices", ["cpu", "gpu"]):
    said[device] = []
    try:
        pipe = pipeline(device)
        for number in range(given.get("rounds", 5)):
            if number == given.get("resume"):
                state = pipe.checkpoint()
                pipe.close()
                pipe = pipeline(device, state)
            said[device].append(as_lists(pipe.run()))
    except Exception as e:
        said[device].append(f"{type(e).__name__}: {e}")
    pipe.close()
print(json.dumps(said))
"""


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
    for region, cut in (
        ({"roi_start": [3], "roi_shape": [20], "roi_axes": [0]}, np.s_[3:23]),  # one piece
        ({"roi_start": [2, 5], "roi_end": [30, 69], "roi_axes": [0, 1]}, np.s_[2:30, 5:69]),  # small pieces
        ({"roi_start": [7], "roi_end": [50], "roi_axes": [2]}, np.s_[..., 7:50]),
    ):
        for cached in (False, True):
            said, calls, outputs = run(
                [files[0], files[2], fortran], reader=dict(region, cache_header_information=cached)
            )
            equal(outputs[1], [made[0][cut], made[2][cut], made[0][cut]])
            assert any(c.startswith("read") for c in calls) == (cut == np.s_[3:23])
    large = np.arange(4 * 300 * 400, dtype=np.float64).reshape(4, 300, 400)
    np.save(tmp_path / "large.npy", large)
    said, calls, outputs = run(
        [tmp_path / "large.npy"], reader={"roi_start": [1, 50], "roi_end": [4, 250], "roi_axes": [0, 1]}
    )
    equal(outputs[0], [large[1:4, 50:250]])
    pieces = sum(c.startswith("read 640000 bytes") for c in calls)  # also of what is read ahead
    assert pieces >= 6 and pieces % 3 == 0
    padded = dict(roi_start=[-2], roi_shape=[50], roi_axes=[0], out_of_bounds_policy="pad", fill_value=9)
    said, calls, outputs = run([files[0]], reader=padded)
    equal(outputs[0], [np.pad(made[0], ((2, 8), (0, 0), (0, 0)), constant_values=9)])
    equal(run([empty])[2][0], [np.zeros((0, 70, 60), np.int32)])


@pytest.mark.parametrize(
    "wrong, words", [("read", "error 5027"), ("errno", "Input/output error"), ("end", "bytes too early")]
)
def test_a_read_that_fails_names_its_file(run, arrays, wrong, words):
    _, files = arrays
    region = {"roi_start": [30], "roi_axes": [0]}  # after byte 100,000, where the stand-in ends files
    said, _, outputs = run(files[:1], wrong, rounds=1, reader=region if wrong == "end" else {})
    assert said["error"].startswith("DataError") and words in said["error"] and str(files[0]) in said["error"]
    assert not outputs


def test_samples_that_cannot_be_read_are_left_out(run, arrays, tmp_path):
    made, files = arrays
    damaged = tmp_path / "damaged.npy"
    damaged.write_bytes(files[0].read_bytes()[:-8])
    said, _, outputs = run([files[0], damaged, files[2]], pipeline={"on_error": "skip"}, rounds=1)
    equal(outputs[0], [made[0], made[2]])


# --- files ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    draw = np.random.default_rng(4)
    out = []
    for number, length in enumerate([70_001, 1, 4096, 250_000, 333, 65_536, 12_345, 5]):
        out.append(tmp_path / f"{number}.bin")
        out[-1].write_bytes(draw.integers(0, 256, length, np.uint8).tobytes())
    return out


def reads_of(calls):
    return [c for c in calls if c.startswith("read")]


@pytest.mark.parametrize("wrong", ["", "short", "memory"])
def test_files_go_straight_to_the_device(run, files, wrong):
    said, calls = run(files, wrong, program=FILES)
    assert said["gpu"] == said["cpu"] and len(said["gpu"]) == 5
    assert said["cpu"][0][0][1] == list(files[1].read_bytes()) and said["cpu"][1][1] == [[4], [5], [6], [7]]
    assert said["devices"] == ["cpu"] * 10 + ["gpu:0"] * 10
    assert len(reads_of(calls)) >= 5 * 4  # also what is read ahead
    assert all(f" {f.stat().st_size} bytes" in " ".join(reads_of(calls)) for f in files)
    for what in ("memory", "file"):
        assert sum(c.startswith(f"add {what}") for c in calls) == sum(c.startswith(f"drop {what}") for c in calls)


@pytest.mark.parametrize("library, wrong", [("off", ""), (STANDIN, "start"), (STANDIN, "files")])
def test_files_that_cufile_does_not_take_are_read_and_uploaded(run, files, library, wrong):
    said, calls = run(files, wrong, library, program=FILES)
    assert said["gpu"] == said["cpu"] and len(said["gpu"]) == 5 and not reads_of(calls)


@pytest.mark.parametrize(
    "reader",
    [
        {"random_shuffle": True, "seed": 9},
        {"num_shards": 3, "shard_id": 1, "pad_last_batch": True},
        {"random_shuffle": True, "num_shards": 2, "shard_id": 1, "stick_to_shard": True},
    ],
)
def test_order_shards_and_checkpoints_are_those_of_the_cpu(run, files, reader):
    said, calls = run(files, program=FILES, reader=reader, batch=3, rounds=8, resume=3)
    assert said["gpu"] == said["cpu"] and len(said["gpu"]) == 8 and reads_of(calls)
    whole, _ = run(files, program=FILES, reader=reader, batch=3, rounds=8, devices=["gpu"])
    assert whole["gpu"] == said["gpu"]


def test_files_that_the_host_reads_too_are_read_there(run, files):
    said, calls = run(files, program=FILES, use="both")
    assert said["gpu"] == said["cpu"] and len(said["gpu"]) == 5 and not reads_of(calls)


def test_files_that_are_decoded_are_read_by_the_decoder(run, tmp_path):
    import cv2

    pictures = []
    for number in range(4):
        pictures.append(tmp_path / f"{number}.png")
        cv2.imwrite(str(pictures[-1]), np.full((3, 5 + number, 3), 40 * number, np.uint8))
    said, calls = run(pictures, program=FILES, use="decoded")
    assert said["gpu"] == said["cpu"] and len(said["gpu"]) == 5 and not reads_of(calls)


@pytest.mark.parametrize(
    "damage, words", [("missing", "FileNotFoundError"), ("empty", "the file is empty"), ("folder", "is a folder")]
)
def test_files_that_cannot_be_read(run, files, damage, words):
    """The same error as the CPU's, and the same samples if they are omitted or replaced."""
    files[2].unlink()
    if damage == "empty":
        files[2].touch()
    elif damage == "folder":
        files[2].mkdir()
    said, _ = run(files, program=FILES, rounds=1)
    assert said["gpu"] == said["cpu"] and words in said["gpu"][0] and str(files[2]) in said["gpu"][0]
    for policy in ("skip", "replace"):
        said, calls = run(files, program=FILES, reader={"random_shuffle": True}, pipeline={"on_error": policy})
        assert said["gpu"] == said["cpu"] and len(said["gpu"]) == 5 and reads_of(calls)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ("read", "error 5027"),
        ("errno", "Input/output error"),
        ("end", "the file shrank while it was read: 100000 of 250000 bytes"),
    ],
)
def test_a_file_whose_read_fails_is_named(run, files, wrong, words):
    said, _ = run(files[3:], wrong, program=FILES, rounds=1, devices=["gpu"])
    assert said["gpu"][0].startswith("DataError") and words in said["gpu"][0] and str(files[3]) in said["gpu"][0]
