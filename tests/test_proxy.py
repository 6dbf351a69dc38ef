# SPDX-License-Identifier: Apache-2.0
"""The proxy: a DataLoader's processes give a pipeline of this process its inputs."""

import collections
import gc
import io
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, IterableDataset, default_collate

import penstock
import penstock.dali
from penstock import fn, pipeline_def
from penstock.dali.plugin.pytorch.experimental import proxy as dali_proxy
from penstock.plugin.pytorch.proxy import DataLoader, Server

EMULATED = pathlib.Path(__file__).parents[1] / "build" / "libpenstock_emulated_gpu.so"


@pipeline_def(num_threads=2, seed=3)
def sum_and_difference():
    a, b = fn.external_source(name="a"), fn.external_source(name="b")
    return a + b, a - b


@pipeline_def(num_threads=2, seed=3)
def drawn():
    return fn.external_source(name="x") + fn.random.uniform(range=[0.0, 0.5])


@pipeline_def(num_threads=2)
def decoded():
    return fn.decoders.image(fn.external_source(name="file"))


class Numbers(Dataset):
    """Calls the proxy with its number; `wrong` says what happens at number 5."""

    def __init__(self, proxy, count=10, wrong=None):
        self.proxy, self.count, self.wrong = proxy, count, wrong

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if i == 5 and self.wrong == "raise":
            raise KeyError("no number 5")
        if i == 5 and self.wrong == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return self.proxy(x=np.float32(i)), i


class Pairs(Numbers):
    def __getitem__(self, i):
        total, difference = self.proxy(a=np.full(2, i, np.float32), b=np.float32([1, 2]))
        return {"total": total, "rest": [difference, i]}


class Files(Numbers):
    def __getitem__(self, i):
        picture = Image.linear_gradient("L").resize((8 + i, 6)).convert("RGB")
        file = io.BytesIO()
        picture.save(file, "png")
        return self.proxy(b"these bytes are not a picture" if i == self.wrong else file.getvalue()), i


def epoch(loader):
    return [(x.tolist(), i.tolist()) for x, i in loader]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("make", [(Server, DataLoader), (dali_proxy.DALIServer, dali_proxy.DataLoader)])
def test_batches_have_the_pipelines_outputs(workers, make):
    with make[0](sum_and_difference(batch_size=4)) as server:
        loader = make[1](server, Pairs(server.proxy), batch_size=4, num_workers=workers)
        assert len(loader) == 3
        for _ in range(2):
            seen = []
            for batch in loader:
                n = batch["rest"][1]
                seen += n.tolist()
                assert torch.equal(batch["total"], n[:, None] + torch.tensor([1.0, 2.0]))
                assert torch.equal(batch["rest"][0], n[:, None] - torch.tensor([1.0, 2.0]))
            assert seen == list(range(10))


@pytest.mark.parametrize(
    "value, want",
    [
        (b"ab", [97, 98]),
        (bytearray(b"ab"), [97, 98]),
        ("ab", [97, 98]),
        (np.int16([3, 4]), [3, 4]),
        (torch.tensor([3.0, 4.0]), [3, 4]),
        ([5, 6], [5, 6]),
        (penstock.tensor(np.int8([1, 2])), [1, 2]),
        (7, 7),
        (2.5, 2.5),
        (True, 1),
        (np.zeros((0, 3), np.float32), []),
        (Image.new("RGB", (2, 1), (1, 2, 3)), [[[1, 2, 3], [1, 2, 3]]]),
    ],
)
def test_kinds_of_inputs(value, want):
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        return fn.copy(fn.external_source(name="x"))

    server = Server(pipe())
    assert server.produce_data(default_collate([server.proxy(value), server.proxy(x=value)])).tolist() == [want, want]


def test_samples_of_different_shapes_cross_in_shared_memory():
    kept = set(os.listdir("/dev/shm"))
    server = Server(decoded(batch_size=3))
    for images, number in DataLoader(server, Files(server.proxy, 7), batch_size=3, num_workers=2):
        assert [tuple(i.shape) for i in images] == [(6, 8 + n, 3) for n in number.tolist()]
        expected = np.array(Image.linear_gradient("L").resize((8 + int(number[0]), 6)).convert("RGB"))
        assert np.array_equal(images[0].numpy(), expected)
    assert set(os.listdir("/dev/shm")) <= kept

    class Request(Numbers):
        def __getitem__(self, i):
            return self.proxy(x=np.zeros(i + 1, np.float32))

    server = Server(drawn(batch_size=4))
    for output in torch.utils.data.DataLoader(Request(server.proxy), batch_size=4, num_workers=1):
        assert output.request.block.is_shared() and output.request.worker == 0


def test_epochs_draw_the_same_whatever_the_processes_do():
    def epochs(workers, left_after=None, **options):
        server = Server(drawn(batch_size=3))
        loader = DataLoader(server, Numbers(server.proxy, 20), batch_size=3, num_workers=workers, **options)
        for k, _ in enumerate(loader):
            if k == left_after:
                break
        return epoch(loader)

    want = epochs(0)
    assert len({x for xs, _ in want for x in xs}) == 20
    assert all(0 <= x - i < 0.5 for xs, numbers in want for x, i in zip(xs, numbers))
    assert epochs(2) == want
    assert epochs(2, left_after=1) == want
    assert epochs(0, left_after=4) == want
    assert epochs(2, left_after=0, persistent_workers=True) == want


def test_an_epoch_may_be_left_and_loaders_share_a_server():
    server = Server(drawn(batch_size=4))
    training = DataLoader(server, Numbers(server.proxy, 40), batch_size=4, num_workers=2, persistent_workers=True)
    test = DataLoader(server, Numbers(server.proxy, 6), batch_size=4)
    for _ in range(3):
        for k, (_, number) in enumerate(training):
            assert number.tolist() == list(range(4 * k, 4 * k + 4))
            if k == 2:
                break
            assert [i for _, i in epoch(test)] == [[0, 1, 2, 3], [4, 5]]
    assert sum((i for _, i in epoch(training)), []) == list(range(40))
    started = iter(training)
    next(started)
    del training, started, server, test  # work that still runs is dropped
    gc.collect()


def test_a_process_that_dies():
    server = Server(drawn(batch_size=2))
    loader = DataLoader(server, Numbers(server.proxy, 100, "die"), batch_size=2, num_workers=2)
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="DataLoader worker .*(killed|exited)"):
        epoch(loader)
    assert time.monotonic() - began < 30
    assert len(epoch(DataLoader(server, Numbers(server.proxy), batch_size=2, num_workers=2))) == 5


@pytest.mark.parametrize("workers", [0, 2])
def test_the_loader_continues_after_errors(workers):
    server = Server(drawn(batch_size=2))
    batches = iter(DataLoader(server, Numbers(server.proxy, wrong="raise"), batch_size=2, num_workers=workers))
    assert [next(batches)[1].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(KeyError, match="no number 5"):
        next(batches)
    assert [i for _, i in epoch(batches)] == [[6, 7], [8, 9]]
    with pytest.raises(StopIteration):
        next(batches)

    server = Server(decoded(batch_size=2))
    batches = iter(
        DataLoader(
            server, Files(server.proxy, 8, wrong=5), batch_size=2, sampler=[7, 6, 5, 4, 3, 2], num_workers=workers
        )
    )
    assert next(batches)[1].tolist() == [7, 6]
    with pytest.raises(penstock.DataError, match=r"\[decoders.image\] not an image.*\(sample 5 of the data set\)"):
        next(batches)
    assert next(batches)[1].tolist() == [3, 2]


def test_several_proxies():
    class Both(Dataset):
        def __init__(self, first, second):
            self.first, self.second = first, second

        def __len__(self):
            return 5

        def __getitem__(self, i):
            return (
                self.first(np.float32(i)),
                self.second(a=np.float32(i), b=np.float32(1))[0],
                self.first(np.float32(-i)),
            )

    one, other = Server(drawn(batch_size=3)), Server(sum_and_difference(batch_size=3))
    for workers in (0, 2):
        for k, (x, total, y) in enumerate(
            DataLoader([one, other], Both(one.proxy, other.proxy), batch_size=3, num_workers=workers)
        ):
            number = torch.arange(3 * k, min(3 * k + 3, 5))
            assert (
                torch.equal(total, number + 1.0) and torch.equal(x.floor(), number) and torch.equal(y.floor(), -number)
            )
    with pytest.raises(ValueError, match="whose server was not given"):
        next(iter(DataLoader(one, Both(one.proxy, other.proxy), batch_size=3)))


def test_torchs_own_loader():
    server = dali_proxy.DALIServer(sum_and_difference(batch_size=4), deterministic=True)
    server.start_thread()
    batches = [
        server.produce_data(b) for b in torch.utils.data.DataLoader(Pairs(server.proxy), batch_size=4, num_workers=2)
    ]
    assert sum((b["rest"][1].tolist() for b in batches), []) == list(range(10))
    assert batches[2]["total"].tolist() == [[9, 10], [10, 11]]
    server.stop_thread()
    samples = [server.proxy(a=np.float32([i]), b=np.float32([1])) for i in range(3)]
    total, difference = server.produce_data(default_collate(samples))
    assert total.tolist() == [[1], [2], [3]] and difference.tolist() == [[-1], [0], [1]]


def test_what_a_batch_may_be():
    Named = collections.namedtuple("Named", "x y")

    class Holder:
        def __init__(self, x):
            self.x, self.me = x, self

    server = Server(drawn(batch_size=2))
    make = lambda: default_collate([server.proxy(np.float32(i)) for i in range(2)])  # noqa: E731
    got = server.produce_data([Named(make(), 3), {"k": (make(), "text")}, Holder(make()), None])
    assert got[0].y == 3 and got[1]["k"][1] == "text" and got[3] is None
    for x in (got[0].x, got[1]["k"][0], got[2].x):
        assert x.floor().tolist() == [0, 1]
    unchanged = [1, (2, "3")]
    assert server.produce_data(unchanged) is unchanged


class Stream(IterableDataset):
    def __init__(self, proxy):
        self.proxy = proxy

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return ((self.proxy(np.float32(i)), i) for i in range(first, 11, step))


@pytest.mark.parametrize("workers", [0, 2])
def test_iterable_data_sets(workers):
    server = Server(drawn(batch_size=3))
    got = epoch(DataLoader(server, Stream(server.proxy), batch_size=3, num_workers=workers))
    assert sorted(sum((i for _, i in got), [])) == list(range(11))
    assert all(int(x) == i for xs, numbers in got for x, i in zip(xs, numbers))


def test_processes_that_are_spawned():
    server = Server(drawn(batch_size=5))
    loader = DataLoader(server, Numbers(server.proxy), batch_size=5, num_workers=1, multiprocessing_context="spawn")
    assert [i for _, i in epoch(loader)] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_wrong_uses():
    server = Server(sum_and_difference(batch_size=2))
    call = lambda a, b=np.float32(1): server.proxy(a=a, b=b)  # noqa: E731
    with pytest.raises(TypeError, match="the pipeline's inputs are a, b"):
        server.proxy(np.float32(1), np.float32(2))
    with pytest.raises(TypeError, match=r"input 'a' must be an array of numbers.*got dict"):
        call({})
    with pytest.raises(
        ValueError, match="differ in input 'a': sample 0 is float32 with 0 dimensions, sample 1 is uint8 with 1"
    ):
        default_collate([call(np.float32(1)), call(b"1")])
    with pytest.raises(ValueError, match="the loader's batch has 3 samples, the pipeline's batch_size is 2"):
        server.produce_data(default_collate([call(np.float32(i)) for i in range(3)]))
    calls = [call(np.float32(i)) for i in range(2)]
    server.produce_data(default_collate([c[0] for c in calls]))
    with pytest.raises(ValueError, match="collated in one order"):
        default_collate([c[1] for c in calls[::-1]])
    with pytest.raises(ValueError, match="collated for 2 samples, another for 1"):
        default_collate([calls[0][1]])
    with pytest.raises(ValueError, match="of another proxy"):
        default_collate([calls[0][0], calls[1][1]])
    for workers in (0, 1):
        other = Server(drawn(batch_size=2))
        with pytest.raises(TypeError, match="default_collate"):
            next(iter(DataLoader(other, Numbers(other.proxy), batch_size=2, num_workers=workers, collate_fn=list)))
    with pytest.raises(ValueError, match="no inputs"):
        Server(pipeline_def(batch_size=2, num_threads=1)(lambda: fn.random.uniform())())
    with pytest.raises(ValueError, match="debug=True"):
        Server(drawn(batch_size=2, debug=True))
    with pytest.raises(TypeError, match="a pipeline was expected, got int"):
        Server(3)
    with pytest.raises(TypeError, match="servers must be a Server"):
        DataLoader(server.pipeline, Numbers(None))


def test_an_operator_that_refuses_its_inputs():
    server = Server(sum_and_difference(batch_size=2))
    batch = default_collate([server.proxy(a=np.zeros(2 + i, np.float32), b=np.zeros(2, np.float32)) for i in range(2)])
    with pytest.raises(ValueError, match=r"\[_add\].*sample 1 of a batch|\[_sub\].*sample 1 of a batch"):
        server.produce_data(batch)
    good = default_collate([server.proxy(a=np.ones(2, np.float32), b=np.zeros(2, np.float32)) for i in range(2)])
    assert server.produce_data(good)[0].tolist() == [[1, 1]] * 2


def test_nothing_is_left():
    gc.collect()
    gc.disable()  # nothing waits for it
    try:
        with Server(drawn(batch_size=2)) as server:
            loader = DataLoader(server, Numbers(server.proxy), batch_size=2, num_workers=2, persistent_workers=True)
            epoch(loader)
            next(iter(loader))
            (_, pulling), thread, processes = loader._last, server._thread, loader._iterator._workers
            del loader
            pulling.join(20)
            for process in processes:
                process.join(20)
            assert not pulling.is_alive() and not any(process.is_alive() for process in processes) and thread.is_alive()
        assert not thread.is_alive()
        server = Server(drawn(batch_size=2))
        server.produce_data(default_collate([server.proxy(np.float32(1))]))
        thread = server._thread
        del server
        thread.join(20)
        assert not thread.is_alive()
    finally:
        gc.enable()


LEFT = """
    import numpy as np, torch
    from penstock import fn, pipeline_def
    from penstock.plugin.pytorch.proxy import DataLoader, Server

    @pipeline_def(batch_size=2, num_threads=2, device_id=0)
    def pipe():
        x = fn.external_source(name="x", layout="HWC")
        return fn.flip(DEVICE(x), vertical=1, horizontal=0).cpu()

    class Data(torch.utils.data.Dataset):
        def __init__(self, proxy): self.proxy = proxy
        def __len__(self): return 50
        def __getitem__(self, i): return self.proxy(np.arange(8 * 9 * 3, dtype=np.uint8).reshape(8, 9, 3) + np.uint8(i)), i

    server = Server(pipe())
    loader = DataLoader(server, Data(server.proxy), batch_size=2, num_workers=2)
    for x, i in loader:
        assert x[1].flip(0).numpy().ravel().tolist() == [(v + int(i[1])) % 256 for v in range(216)]
        if i[0] == 20: break
    kept = iter(loader)
    next(kept)
    print("good", flush=True)
"""


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_program_that_ends_in_the_middle(device, tmp_path):
    """And, with the emulated GPU, work of the trainer's process on a device that the loader's processes know nothing of."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    if device == "gpu":
        if not EMULATED.exists():
            pytest.skip("the emulated GPU is not built")
        environment.update(PENSTOCK_GPU_LIBRARY=str(EMULATED), PENSTOCK_REQUIRE_GPU="1")
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(LEFT).replace("DEVICE(x)", "x.gpu()" if device == "gpu" else "x"))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, timeout=240)
    assert (done.returncode, done.stdout.strip()) == (0, "good"), done.stderr
