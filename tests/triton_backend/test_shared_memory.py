# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs in system shared memory."""

import contextlib
from multiprocessing import shared_memory

import numpy as np
import pytest
from served_pipelines import classification, decoded, of_pipeline, photographs
from triton_server import RequestError, bytes_elements


@pytest.fixture
def regions(client):
    """regions(name, size): memory that the server knows."""
    with contextlib.ExitStack() as stack:

        def one(name, size):
            memory = shared_memory.SharedMemory(create=True, size=size)
            stack.callback(memory.unlink)
            stack.callback(memory.close)
            path = f"/v2/systemsharedmemory/region/{name}"
            client.json("POST", f"{path}/register", {"key": f"/{memory.name}", "offset": 0, "byte_size": size})
            stack.callback(client.json, "POST", f"{path}/unregister")
            return memory

        yield one


def inside(name, size, offset=0):
    return {"shared_memory_region": name, "shared_memory_byte_size": size, "shared_memory_offset": offset}


def output(name, size, offset=0):
    return {"name": "OUTPUT0", "parameters": inside(name, size, offset)}


def test_both_ways(client, load, regions):
    model = load("photos.penstock", classification())
    for count, offset in ((1, 0), (17, 64), (64, 4)):
        files = photographs(count)
        (expected,) = of_pipeline(classification(), jpegs=files)
        given, size = bytes_elements(files), np.asarray(expected).nbytes
        of_this = (f"sent{count}", f"got{count}")
        sent, got = regions(of_this[0], len(given)), regions(of_this[1], size + offset)
        sent.buf[:] = given
        entry = {
            "name": "jpegs",
            "datatype": "BYTES",
            "shape": [count, 1],
            "parameters": inside(of_this[0], len(given)),
        }
        client.send(model, [entry], b"", [output(of_this[1], size, offset)])
        answer = np.frombuffer(got.buf, np.float32, size // 4, offset).reshape(np.shape(expected)).copy()
        np.testing.assert_array_equal(answer, expected)


def test_an_output_that_is_copied(client, load, regions):
    """Its size is known only when it has been computed."""
    model = load("any.penstock", decoded())
    files = photographs(1)
    (image,), _ = of_pipeline(decoded(), jpegs=files)
    got = regions("image", image.nbytes)
    client.infer(model, {"jpegs": files}, [output("image", image.nbytes)])
    np.testing.assert_array_equal(np.frombuffer(got.buf, np.uint8).reshape(image.shape).copy(), image)


@pytest.mark.parametrize("pipeline", [classification, decoded])
def test_memory_that_is_too_small_is_an_error(client, load, regions, pipeline):
    model = load("small.penstock", pipeline())
    regions("small", 100)
    with pytest.raises(RequestError, match="shared memory size specified with the request|insufficient|too small|100"):
        client.infer(model, {"jpegs": photographs(2)[:1]}, [output("small", 100)])


@pytest.mark.parametrize("cut", [1, 3, 2000])
def test_bytes_that_are_cut(client, load, regions, cut):
    model = load("photos.penstock", classification())
    given = bytes_elements(photographs(3))
    sent = regions("cut", len(given))
    sent.buf[:] = given
    entry = {"name": "jpegs", "datatype": "BYTES", "shape": [3, 1], "parameters": inside("cut", len(given) - cut)}
    with pytest.raises(RequestError, match="element|incomplete"):
        client.send(model, [entry], b"")
