# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs in CUDA shared memory: the server's own protocol, with a stand-in for its CUDA runtime and the emulated GPU, or
with a real one (gpu_regions.py)."""

import base64
import contextlib
import warnings
from multiprocessing import shared_memory

import numpy as np
import pytest
from gpu_regions import REAL, Region, surroundings
from penstock import fn, pipeline_def, types
from served_pipelines import classification, decoded, of_pipeline, photograph, photographs
from triton_server import RequestError, Server, bytes_elements, save_model


@pipeline_def(batch_size=16, num_threads=2)
def gray_and_cut(device="cpu"):
    """Of pictures: gray ones, whose shape is known, and the upper part, whose shape is not known; of the host: their shapes."""
    images = fn.external_source(name="images", dtype=types.UINT8, ndim=3, layout="HWC", device=device)
    rows = fn.external_source(name="rows", dtype=types.INT32, ndim=0)
    part = fn.slice(images, end=rows, axes=[0])
    gray = fn.color_space_conversion(images, image_type=types.RGB, output_type=types.GRAY)
    return fn.resize(gray, size=[16, 24]), part, fn.shapes(images)


@pipeline_def(batch_size=16, num_threads=2)
def bright_ones(device="cpu"):
    """The pictures that are bright: another number of samples."""
    images = fn.external_source(name="images", dtype=types.UINT8, ndim=3, layout="HWC", device=device)
    keep = fn.external_source(name="keep", dtype=types.BOOL, ndim=0)
    return fn.filter(fn.flip(images), keep=keep)


@pipeline_def(batch_size=64, num_threads=2)
def decoded_there(device="cpu"):
    mixed = "mixed" if device == "gpu" else "cpu"
    images = fn.decoders.image(fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1), device=mixed)
    return fn.resize(images, size=[24, 40])


@pytest.fixture(scope="module")
def gpu_server(backends, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuda")
    with warnings.catch_warnings(action="ignore"):  # this process has no GPU
        for name, made in (("gray_and_cut", gray_and_cut), ("bright_ones", bright_ones), ("there", decoded_there)):
            save_model(folder / "models", f"{name}.penstock", made(device="gpu"))
    save_model(folder / "models", "host.penstock", classification())
    save_model(folder / "models", "any.penstock", decoded())
    (folder / "gpu").touch()
    options = ["--cuda-memory-pool-byte-size=0:0", "--pinned-memory-pool-byte-size=0"]
    variables = surroundings(folder / "gpu")
    with Server(folder / "models", backends, folder / "log", *options, environment=variables) as running:
        running.folder = folder
        yield running


@pytest.fixture
def gpu_client(gpu_server):
    with gpu_server.client() as one:
        yield one


@pytest.fixture
def regions(gpu_server, gpu_client):
    """regions(name, bytes): memory of a GPU that the server knows, as the client sees it."""
    with contextlib.ExitStack() as stack:

        def one(name, content):
            size = content if isinstance(content, int) else len(content)
            memory = Region(size)
            stack.callback(memory.close)
            handle = base64.b64encode(memory.handle).decode()
            path = f"/v2/cudasharedmemory/region/{name}"
            gpu_client.json(
                "POST", f"{path}/register", {"raw_handle": {"b64": handle}, "device_id": 0, "byte_size": size}
            )
            stack.callback(gpu_client.json, "POST", f"{path}/unregister")
            if not isinstance(content, int):
                memory.write(content)
            return memory

        yield one


def inside(region, size, offset=0):
    return {"shared_memory_region": region, "shared_memory_byte_size": size, "shared_memory_offset": offset}


def given(name, region, array):
    kinds = {"uint8": "UINT8", "int32": "INT32", "bool": "BOOL"}
    parameters = inside(region, array.nbytes)
    return {"name": name, "datatype": kinds[array.dtype.name], "shape": list(array.shape), "parameters": parameters}


def read(memory, like, offset=0):
    like = np.asarray(like)
    return np.frombuffer(memory.read(like.nbytes, offset), like.dtype).reshape(like.shape)


def pictures(count):
    return np.random.default_rng(count).integers(0, 256, (count, 20, 30, 3)).astype(np.uint8)


def test_arrays_stay_on_the_gpu(gpu_server, gpu_client, regions):
    for count, offset in ((1, 0), (5, 64), (16, 4)):
        images, rows = pictures(count), np.full((count, 1), 7, np.int32)
        expected = of_pipeline(gray_and_cut(), images=list(images), rows=list(rows[:, 0]))
        names = [f"{name}{count}" for name in ("images", "rows", "OUTPUT0", "OUTPUT1", "OUTPUT2")]
        regions(names[0], images.tobytes())
        regions(names[1], rows.tobytes())
        sizes = [np.asarray(e).nbytes for e in expected]
        got = [regions(name, size + offset) for name, size in zip(names[2:], sizes)]
        outputs = [
            {"name": f"OUTPUT{k}", "parameters": inside(names[2 + k], size, offset)} for k, size in enumerate(sizes)
        ]
        (gpu_server.folder / "gpu").write_text("")
        gpu_client.send(
            "gray_and_cut.penstock", [given("images", names[0], images), given("rows", names[1], rows)], b"", outputs
        )
        for memory, array in zip(got, expected):
            np.testing.assert_array_equal(read(memory, array, offset), array)
        if REAL:
            continue  # it keeps no log
        log = (gpu_server.folder / "gpu").read_text()
        assert "gpu 0: launch" in log
        for bytes_ in (
            images.nbytes,
            images[0].nbytes,
            16 * 24 * 3,
        ):  # of the input, and of OUTPUT0 that a kernel writes
            assert f"copy {bytes_} bytes" not in log


def test_another_number_of_samples(gpu_client, regions):
    images, keep = pictures(6), np.array([[1], [0], [1], [1], [0], [1]], bool)
    (expected,) = of_pipeline(bright_ones(), images=list(images), keep=list(keep[:, 0]))
    regions("images", images.tobytes())
    got = regions("bright", np.asarray(expected).nbytes)
    header, data = given("images", "images", images), keep.tobytes()
    kept = {"name": "keep", "datatype": "BOOL", "shape": [6, 1], "parameters": {"binary_data_size": len(data)}}
    outputs = [{"name": "OUTPUT0", "parameters": inside("bright", np.asarray(expected).nbytes)}]
    gpu_client.send("bright_ones.penstock", [header, kept], data, outputs)
    np.testing.assert_array_equal(read(got, expected), expected)


@pytest.mark.parametrize("model, made", [("there", decoded_there), ("host", classification), ("any", decoded)])
def test_files_come_to_the_host(gpu_client, regions, model, made):
    """BYTES are read by the host; outputs of either device are written to the GPU."""
    files = photographs(1) * 3
    expected = of_pipeline(made(), jpegs=files)[0]
    sent, size = bytes_elements(files), np.asarray(expected).nbytes
    regions("files", sent)
    got = regions("answer", size)
    entry = {"name": "jpegs", "datatype": "BYTES", "shape": [3, 1], "parameters": inside("files", len(sent))}
    gpu_client.send(f"{model}.penstock", [entry], b"", [{"name": "OUTPUT0", "parameters": inside("answer", size)}])
    np.testing.assert_array_equal(read(got, expected), expected)


def test_half_on_each_device(gpu_client, regions):
    """A GPU's output in the response, one of the host in a region, the inputs in the request."""
    images, rows = pictures(4), np.full((4, 1), 3, np.int32)
    expected = of_pipeline(gray_and_cut(), images=list(images), rows=list(rows[:, 0]))
    got = regions("shapes", np.asarray(expected[2]).nbytes)
    outputs = [
        {"name": "OUTPUT0", "parameters": {"binary_data": True}},
        {"name": "OUTPUT2", "parameters": inside("shapes", np.asarray(expected[2]).nbytes)},
    ]
    answer = gpu_client.infer("gray_and_cut.penstock", {"images": images, "rows": rows}, outputs)
    np.testing.assert_array_equal(answer["OUTPUT0"], expected[0])
    np.testing.assert_array_equal(read(got, expected[2]), expected[2])


@pytest.fixture
def host_regions(gpu_client):
    """host_regions(name, bytes): memory of the host that the server knows."""
    with contextlib.ExitStack() as stack:

        def one(name, size):
            memory = shared_memory.SharedMemory(create=True, size=size)
            stack.callback(memory.unlink)
            stack.callback(memory.close)
            path = f"/v2/systemsharedmemory/region/{name}"
            gpu_client.json("POST", f"{path}/register", {"key": f"/{memory.name}", "offset": 0, "byte_size": size})
            stack.callback(gpu_client.json, "POST", f"{path}/unregister")
            return memory

        yield one


def test_memory_of_both_devices(gpu_client, regions, host_regions):
    """A GPU's model reads the one input in the host's memory and the other in the GPU's, and writes an output to each."""
    images, rows = pictures(5), np.full((5, 1), 9, np.int32)
    expected = [np.asarray(e) for e in of_pipeline(gray_and_cut(), images=list(images), rows=list(rows[:, 0]))]
    host_regions("from_host", images.nbytes).buf[: images.nbytes] = images.tobytes()
    regions("from_gpu", rows.tobytes())
    got = [host_regions("to_host", expected[0].nbytes), regions("to_gpu", expected[1].nbytes)]
    outputs = [
        {"name": f"OUTPUT{k}", "parameters": inside(name, expected[k].nbytes)}
        for k, name in enumerate(("to_host", "to_gpu"))
    ]
    inputs = [given("images", "from_host", images), given("rows", "from_gpu", rows)]
    gpu_client.send("gray_and_cut.penstock", inputs, b"", outputs)
    on_host = np.frombuffer(bytes(got[0].buf[: expected[0].nbytes]), np.uint8).reshape(expected[0].shape)
    np.testing.assert_array_equal(on_host, expected[0])
    np.testing.assert_array_equal(read(got[1], expected[1]), expected[1])


def test_what_is_wrong_is_an_error(gpu_client, regions):
    damaged = bytes_elements([photograph(1), photograph(2)[:70]])
    regions("damaged", damaged)
    entry = {"name": "jpegs", "datatype": "BYTES", "shape": [2, 1], "parameters": inside("damaged", len(damaged))}
    with pytest.raises(RequestError, match=r"decoders.image.*sample 1"):
        gpu_client.send("there.penstock", [entry], b"")
    entry["parameters"] = inside("damaged", len(damaged) - 5)
    with pytest.raises(RequestError, match="element|incomplete"):
        gpu_client.send("there.penstock", [entry], b"")
    images, rows = pictures(2), np.full((2, 1), 3, np.int32)
    regions("small", 100)
    regions("images", images.tobytes())
    header, data = given("images", "images", images), rows.tobytes()
    number = {"name": "rows", "datatype": "INT32", "shape": [2, 1], "parameters": {"binary_data_size": len(data)}}
    for name in ("OUTPUT0", "OUTPUT1", "OUTPUT2"):
        outputs = [{"name": name, "parameters": inside("small", 10)}]
        with pytest.raises(
            RequestError, match="shared memory size specified with the request|insufficient|too small|10"
        ):
            gpu_client.send("gray_and_cut.penstock", [header, number], data, outputs)
    outputs = [{"name": "OUTPUT0", "parameters": {"binary_data": True}}]
    answer = gpu_client.send("gray_and_cut.penstock", [header, number], data, outputs)["OUTPUT0"]
    np.testing.assert_array_equal(answer, of_pipeline(gray_and_cut(), images=list(images), rows=[np.int32(3)] * 2)[0])
