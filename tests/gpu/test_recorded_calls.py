# SPDX-License-Identifier: Apache-2.0
"""Calls of a function while their stream records a CUDA graph: the graph does later, and again, what the call would do."""

import gc

import numpy as np
import pytest
from conftest import REAL

from penstock import fn, pipeline_def, types

torch = pytest.importorskip("torch", reason="machine: torch is not installed")
if not REAL:
    pytest.skip("machine: only CUDA records graphs", allow_module_level=True)

BATCH = 8


def to_torch(results):
    return torch.from_dlpack(results[0].as_tensor())


@pytest.fixture(autouse=True)
def stream():
    with torch.cuda.stream(torch.cuda.Stream()):
        yield torch.cuda.current_stream()
    torch.cuda.synchronize()


def compiled(body, **inputs):
    @pipeline_def(batch_size=64, num_threads=1, device_id=0)
    def p():
        given = [fn.external_source(name=n, device="gpu", **how) for n, how in inputs.items()]
        return body(*given)

    return p().compile()


IMAGES = {"layout": "HWC", "dtype": types.UINT8}


def images(seed, count=BATCH, side=100):
    generator = torch.Generator("cuda").manual_seed(seed)
    shape = (count, side, side + 20, 3)
    return torch.randint(0, 256, shape, dtype=torch.uint8, device="cuda", generator=generator)


def resized(x):
    y = fn.resize(x, size=(64, 64))
    return fn.crop_mirror_normalize(y, mean=[1.0, 2, 3], std=[2.0, 3, 4], output_layout="CHW", dtype=types.FLOAT)


def blurred(x):  # several kernels, and memory between them
    y = fn.gaussian_blur(x, sigma=2.0)
    return fn.median_blur(fn.equalize(fn.resize(y, size=(64, 64))), window_size=3)


def by_sample(x):  # the table is larger than what a launch takes as parameters
    angle = fn.random.uniform(range=[-30.0, 30.0])
    return fn.resize(fn.rotate(x, angle=angle, keep_size=True), size=(64, 64))


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("body", [resized, blurred, by_sample])
@pytest.mark.parametrize("count", [1, 64])
def test_a_graph_does_what_the_call_does(body, count, warm, stream):
    f = compiled(body, x=IMAGES)
    x, y = images(1, count), images(2, count)
    out = torch.empty_like(to_torch(f(x, stream=stream))) if warm else None
    if out is None:
        out = torch.empty_like(to_torch(compiled(body, x=IMAGES)(x, stream=stream)))
    graph = torch.cuda.CUDAGraph()
    stream.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        f(x, into=out, stream=stream, epoch=3, first_sample=5)
    wanted = []
    for given in (x, y):
        f(given, into=out, stream=stream, epoch=3, first_sample=5)
        wanted.append(out.clone())
    assert not torch.equal(*wanted)
    for k in range(40):  # these take the memory of tables again
        f(images(k, count), into=out, stream=stream, epoch=k, first_sample=k)
    for given, want in ((y, wanted[1]), (x.clone(), wanted[0])):
        x.copy_(given)
        out.zero_()
        graph.replay()
        stream.synchronize()
        assert torch.equal(out, want)


def test_memory_of_a_graph_that_is_gone_comes_back(stream):
    f = compiled(by_sample, x=IMAGES)
    x = images(1, 64)
    out = torch.empty_like(to_torch(f(x, stream=stream)))
    want = None
    for k in range(30):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            f(x, into=out, stream=stream)
        out.zero_()
        graph.replay()
        stream.synchronize()
        want = out.clone() if want is None else want
        assert torch.equal(out, want)
        del graph
        gc.collect()


def test_a_graph_writes_only_memory_of_the_program(stream):
    f = compiled(resized, x=IMAGES)
    x = images(1)
    f(x, stream=stream)
    with (
        pytest.raises(ValueError, match="no memory for output 0"),
        torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream),
    ):
        f(x, stream=stream)
    assert to_torch(f(x, stream=stream)).shape == (BATCH, 3, 64, 64)


def test_a_graph_reads_only_memory_of_the_gpu(stream):
    f = compiled(resized, x=IMAGES)
    x = images(1)
    out = torch.empty_like(to_torch(f(x, stream=stream)))
    given = np.zeros((BATCH, 100, 120, 3), np.uint8)
    with (
        pytest.raises(ValueError, match="the input 'x' is copied between the host and the GPU"),
        torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream),
    ):
        f(given, into=out, stream=stream)


def test_a_step_that_the_host_waits_for_is_refused(stream):
    f = compiled(lambda x: fn.resize(x.cpu(), size=(8, 8)), x=IMAGES)
    x = images(1)
    out = np.zeros((BATCH, 8, 8, 3), np.uint8)
    f(x, into=out, stream=stream)
    with pytest.raises(ValueError, match="CUDA graph"), torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream):
        f(x, into=out, stream=stream)


def test_pipelines_run_while_another_thread_records(stream):
    @pipeline_def(batch_size=8, num_threads=2, device_id=0, prefetch_queue_depth=2)
    def p():
        x = fn.external_source(
            lambda: [np.random.randint(0, 255, (200, 300, 3), np.uint8) for _ in range(8)], layout="HWC"
        )
        return fn.resize(x.gpu(), size=(64, 64))

    pipe = p()
    x = torch.ones(1000, device="cuda")
    for _ in range(20):
        pipe.run()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):  # of the mode that refuses unsafe calls of all threads
            for _ in range(50):
                x += 1
    graph.replay()
    stream.synchronize()
    assert float(x[0]) == 51
