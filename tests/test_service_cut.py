# SPDX-License-Identifier: Apache-2.0
"""The graph divided between worker and trainer: equal bytes, and the fewest bytes of all cuts."""

import itertools
import random
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import penstock
import pytest
from penstock import fn, pipeline_def, service, types
from penstock.service.cut import crossing, smallest_cut
from PIL import Image
from service_pipelines import checksums, numbers


@pipeline_def(batch_size=4, num_threads=1, seed=5)
def photos(root):
    encoded, label = fn.readers.file(file_root=root, random_shuffle=True, name="reader")
    crops = fn.random_resized_crop(fn.decoders.image(encoded), size=[32, 24])
    mirrored = fn.crop_mirror_normalize(
        crops, dtype=types.FLOAT, output_layout="CHW", mirror=fn.random.coin_flip(), mean=[120.0, 110.0, 100.0]
    )
    return {"images": mirrored, "labels": label, "bright": fn.cast(crops, dtype=types.FLOAT) * 1.5}


@pipeline_def(batch_size=2, num_threads=1, seed=3, output_dtype=[types.FLOAT64], output_ndim=[1])
def declared():
    return fn.cast(fn.cast(fn.random.uniform(range=[0.0, 255.0], shape=[99]), dtype=types.UINT8), dtype=types.FLOAT64)


@pytest.fixture
def folder(tmp_path):
    for label in "ab":
        (tmp_path / label).mkdir()
        for k in range(5):
            pixels = np.random.default_rng(k).integers(0, 256, (40 + k, 50, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / label / f"{k}.png")
    return str(tmp_path)


@pytest.fixture
def serve():
    servers = []

    def start(make, **options):
        servers.append(service.Server(make, log=sys.stdout, **options))
        servers[-1].start()
        return f"{servers[-1].host}:{servers[-1].port}"

    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize("near", [True, False], ids=["shared memory", "sockets"])
@pytest.mark.parametrize("workers", [0, 2])
def test_the_stream_is_that_of_the_pipeline(serve, folder, workers, near):
    expected = checksums(photos(folder), 20)
    addresses = [serve(lambda **options: photos(folder, **options), near=near) for _ in range(workers)]
    with service.loader(addresses, photos(folder), cut="auto", without_workers="error") as batches:
        assert checksums(batches, 10) == expected[:10]
        assert "crop_mirror_normalize" in batches.statistics()["at_trainer"]
        state = batches.state()
    with service.loader(addresses, photos(folder), cut="auto", state=state) as batches:
        assert checksums(batches, 10) == expected[10:]
    alone = photos(folder)
    alone.load_state(state)
    assert checksums(alone, 10) == expected[10:]


def test_fewer_bytes_are_sent(serve, folder):
    received = []
    for cut in (None, "auto"):
        address = serve(lambda **options: photos(folder, **options))
        with service.loader([address], photos(folder), cut=cut, without_workers="error", window=1) as batches:
            checksums(batches, 10)
            received.append(batches.statistics()["received_bytes"])
    assert received[1] < received[0] / 6  # 9 and 1 bytes for a pixel, once and not for each output


def test_the_command_serves_a_cut_of_a_pipeline_whose_outputs_are_declared():
    place = f"{Path(__file__).resolve()}:declared"
    command = [sys.executable, "-m", "penstock", "serve", place]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        try:
            address = worker.stdout.readline().split()[-1]
            with service.loader([address], declared(), cut="auto", without_workers="error") as batches:
                assert checksums(batches, 5) == checksums(declared(), 5)
                assert batches.statistics()["at_trainer"] == ["cast"]
        finally:
            worker.kill()


def test_trainers_with_and_without_a_cut_share_a_worker(serve, folder):
    expected = checksums(photos(folder), 10)
    address = serve(lambda **options: photos(folder, **options))
    with (
        service.loader([address], photos(folder), without_workers="error") as whole,
        service.loader([address], photos(folder), cut="auto", without_workers="error") as divided,
    ):
        assert checksums(whole, 10) == checksums(divided, 10) == expected


def test_pipelines_that_no_cut_makes_smaller_stay_whole(folder):
    @pipeline_def(batch_size=2, num_threads=1, seed=1)
    def small():
        return fn.cast(fn.random.uniform(range=[0.0, 255.0], shape=[8]), dtype=types.UINT8)

    for make in (small, numbers, lambda: photos(folder, on_error="skip")):
        with service.loader([], make(), cut="auto") as batches:
            assert batches.statistics()["at_trainer"] == []
            assert checksums(batches, 3) == checksums(make(), 3)


def test_an_error_of_an_operator_of_the_trainer_names_it(serve):
    @pipeline_def(batch_size=1, num_threads=1, seed=1)
    def cropped():
        index = fn.readers.indices(size=4, name="reader")
        start = fn.cast(index, dtype=types.FLOAT)
        image = fn.cast(fn.random.uniform(range=[0.0, 9.0], shape=[4, 4]), dtype=types.UINT8)
        part = fn.slice(image, start=start, shape=[2], axes=[0], out_of_bounds_policy="error")
        return fn.cast(part, dtype=types.FLOAT64), index

    with service.loader([serve(cropped)], cropped(), cut="auto", without_workers="error") as batches:
        kinds = []
        for _ in range(4):
            try:
                kinds.append(batches.run()[1].as_array().item())
            except Exception as error:
                kinds.append(type(error).__name__)
                assert "slice" in str(error)
    pipe, expected = cropped(), []
    for _ in range(4):
        try:
            expected.append(pipe.run()[1].as_array().item())
        except Exception as error:
            expected.append(type(error).__name__)
    assert kinds == expected and any(isinstance(kind, str) for kind in kinds)


@pytest.mark.parametrize("cut", [[[99, 0]], [[0, 7]], [[-1, 0]], [], "x", [[0]], [["a", 0]], [[True, 0]]])
def test_a_cut_that_a_trainer_makes_up_is_refused(serve, cut):
    batches = service.loader([serve(numbers)], numbers())
    batches._deliveries.job["cut"] = cut
    with batches, warnings.catch_warnings():
        for link in batches._deliveries.links:
            link.close()
        batches._deliveries.set_addresses([])
        batches._deliveries.set_addresses([("127.0.0.1", int(serve(numbers).rpartition(":")[2]))])
        with pytest.raises(service.ServiceError, match="cut"):
            for _ in range(50):
                batches.run()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="cut must be one of auto, None"):
        service.loader([], numbers(), cut="here")
    with penstock.Pipeline(batch_size=1, num_threads=1) as pipe:
        pipe.set_outputs(fn.readers.indices(size=4))
    with pytest.raises(ValueError, match="must come from a function with @pipeline_def"):
        service.loader([], pipe, cut="auto")


def test_no_cut_of_random_graphs_has_fewer_bytes():
    for seed in range(300):
        chance = random.Random(seed)
        count = chance.randrange(2, 9)
        nodes = [
            {"op": "x", "outputs": 1, "inputs": [[j, 0] for j in sorted(chance.sample(range(k), min(k, chance.randrange(3))))]}
            for k in range(count)
        ]  # fmt: skip
        outputs = list(
            dict.fromkeys([(count - 1, 0), *((chance.randrange(count), 0) for _ in range(chance.randrange(3)))])
        )
        movable = {k for k in range(count) if nodes[k]["inputs"] and chance.random() < 0.8}
        sizes = {(k, 0): chance.randrange(1, 20) for k in range(count)}

        def cost(tail):
            return sum(sizes[value] for value in crossing(nodes, outputs, tail))

        def is_closed(tail):
            return all(k in tail for k in range(count) if any(j in tail for j, _ in nodes[k]["inputs"]))

        possible = [
            set(tail)
            for length in range(len(movable) + 1)
            for tail in itertools.combinations(sorted(movable), length)
            if is_closed(set(tail))
        ]
        found = smallest_cut(nodes, outputs, movable, sizes)
        assert is_closed(found) and cost(found) == min(map(cost, possible)), seed
