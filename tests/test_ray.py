# SPDX-License-Identifier: Apache-2.0
"""penstock.plugin.ray without Ray: its decisions on a simulated clock, its supervision with a stand-in, and Stage on rows in memory.

tests/ray_long.py has Ray itself.
"""

import builtins
import subprocess
import sys
import time

import numpy as np
import penstock
import pyarrow
import pytest
from penstock import fn, pipeline_def, types
from penstock.plugin.ray import Service, Stage
from penstock.plugin.ray.supervision import Supervision
from penstock.service import addresses
from PIL import Image
from ray_standin import World
from service_pipelines import checksum, checksums, numbers

# --- decisions --------------------------------------------------------------------------------------------------------


class Cluster:
    """Workers that serve `delay` seconds after they start, on a simulated clock. `demand`: how many workers' speed trainers take."""

    def __init__(self, least, most, demand=0.0, delay=1.0):
        self.made, self.now, self.names, self.due = Supervision(least, most), 0.0, 0, []
        self.demand, self.delay, self.starts, self.most_at_once = demand, delay, [], 0

    def run(self, seconds):
        end = self.now + seconds
        while self.now < end:
            serving = len(self.made.addresses())
            if self.demand is not None:
                waited = max(0.0, 1.0 - serving / self.demand) if self.demand else 0.0
                wanted = serving if waited < 0.02 else int(np.ceil(self.demand))
                self.made.reported("trainer", waited, wanted, self.now)
            missing, leaving = self.made.tick(self.now)
            for _ in range(missing):
                self.names += 1
                self.made.started(self.names, self.now)
                self.starts.append(self.now)
                self.due.append((self.now + self.delay, self.names))
            for when, name in [d for d in self.due if d[0] <= self.now]:
                self.due.remove((when, name))
                self.arrives(name)
            self.most_at_once = max(self.most_at_once, len(self.made.workers))
            self.now = round(self.now + 0.5, 3)
        return len(self.made.addresses())

    def arrives(self, name):
        self.made.serves(name, f"10.0.0.1:{name}", self.now)


def test_workers_that_end_are_replaced():
    cluster = Cluster(3, 3)
    assert cluster.run(5) == 3
    cluster.run(60)
    for name in list(cluster.made.workers)[:2]:
        cluster.made.ended(name, "killed", cluster.now)
    assert len(cluster.made.addresses()) == 1 and cluster.run(2) == 3
    assert (cluster.made.restarts, cluster.names, cluster.most_at_once) == (2, 5, 3)


def test_workers_that_cannot_start_are_started_less_and_less_often():
    cluster = Cluster(1, 1)
    cluster.arrives = lambda name: cluster.made.ended(name, "no such module", cluster.now)
    assert cluster.run(600) == 0
    assert 15 < len(cluster.starts) < 40 and cluster.made.trouble == "no such module"
    assert np.diff(cluster.starts)[-1] >= 30
    del cluster.arrives
    assert cluster.run(35) == 1 and cluster.made.trouble == ""


@pytest.mark.parametrize("demand, wanted", [(0.0, 2), (1.5, 2), (5.0, 5), (7.5, 8), (100.0, 16)])
def test_the_number_of_workers_follows_how_long_trainers_wait(demand, wanted):
    cluster = Cluster(2, 16, demand)
    assert cluster.run(300) == wanted
    assert cluster.run(60) == wanted and cluster.most_at_once <= 16


def test_the_number_falls_when_less_is_needed_and_does_not_swing():
    cluster = Cluster(1, 16, 6.0)
    assert cluster.run(200) == 6
    cluster.demand = 2.0
    assert cluster.run(700) in (2, 3)
    before = len(cluster.starts)
    cluster.run(3600)
    assert len(cluster.starts) - before < 8
    cluster.demand = None  # trainers have gone
    assert cluster.run(3000) == 1


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """The function of addresses is called more often than once a second."""
    monkeypatch.setattr(addresses, "PAUSE", 0.02)


# --- supervision, with the stand-in -----------------------------------------------------------------------------------


@pytest.fixture
def ray(monkeypatch):
    world = World()
    monkeypatch.setitem(sys.modules, "ray", world)
    monkeypatch.setitem(sys.modules, "ray.util", world.util)
    monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", world.strategies)
    yield world
    for actor in list(world.alive):
        actor.die("the test has ended")


def until(holds, seconds=30.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("near", [True, False], ids=["shared memory", "sockets"])
def test_the_stream_goes_on_while_workers_die_and_are_replaced(ray, near):
    expected = checksums(numbers(), 60)
    with Service(numbers(), workers=2, num_cpus=3, shared_memory=near) as workers:
        with workers.loader(without_workers="wait") as batches:
            got = checksums(batches, 10)
            for killed in (1, 2):
                until(lambda: workers.statistics()["workers"] == 2)
                ray.workers()[0].die("killed")
                got += checksums(batches, 25)
                until(lambda: workers.statistics()["restarts"] == killed)
            assert got == expected and batches.statistics()["received_bytes"] > 0
        until(lambda: workers.statistics()["workers"] == 2)
        kinds = {name: options for name, options, _ in ray.started}
        assert kinds["Supervisor"]["scheduling_strategy"] == ("this node", False)
        assert kinds["Worker"]["num_cpus"] == 3 and kinds["Worker"]["scheduling_strategy"] == "SPREAD"
        assert ray.workers()[0].made.server.make.__self__.keywords["num_threads"] == 3
    assert not ray.alive


def test_ranks_get_batches_of_one_pipeline_that_has_no_seed(ray):
    @pipeline_def(batch_size=2, num_threads=1)
    def shuffled():
        return fn.readers.indices(size=20, random_shuffle=True, name="reader")

    pipe = shuffled()
    with Service(pipe, workers=1) as workers:
        ranks = [workers.loader(rank, 2) for rank in range(2)]
        got = [checksum(rank.run()) for _ in range(10) for rank in ranks]
        state = ranks[0].state()
        with workers.loader(state=state) as alone:
            got += checksums(alone, 5)
        for rank in ranks:
            rank.close()
    assert got == checksums(pipe, 25)


def test_trainers_that_wait_get_more_workers(ray):
    @pipeline_def(batch_size=1, num_threads=1, seed=1, prefetch_queue_depth=1)
    def slow():
        return fn.external_source(lambda info: time.sleep(0.01) or np.int64([info.idx_in_epoch]), batch=False)

    with Service(slow(), autoscale=(1, 3), interval=0.2) as workers, workers.loader(without_workers="wait") as batches:
        for k in range(10000):
            assert batches.run()[0].as_array().item() == k
            if k % 20 == 0 and workers.statistics()["workers"] == 3:
                break
        assert workers.statistics()["wanted"] == 3


def test_where_workers_cannot_start_the_trainer_says_why_and_goes_on(ray):
    ray.refuses, expected = "no module named photos", checksums(numbers(), 20)
    with Service(numbers(), workers=1) as workers, workers.loader() as batches:
        until(lambda: batches._deliveries.addresses.trouble)
        with pytest.warns(UserWarning, match="no worker could be started: .*no module named photos"):
            got = checksums(batches, 10)
        ray.refuses = ""
        until(lambda: batches.statistics()["workers"] == 1)
        assert got + checksums(batches, 10) == expected and batches.statistics()["received_bytes"] > 0


def test_a_service_without_workers_is_the_pipeline(ray):
    with Service(numbers(), workers=0) as workers, workers.loader() as batches:
        assert checksums(batches, 10) == checksums(numbers(), 10)


@pytest.mark.parametrize(
    "arguments, error, said",
    [
        (dict(pipeline=numbers), TypeError, r"call the function, Service\(numbers\(...\)\)"),
        (dict(pipeline=3), TypeError, "takes a pipeline, got int"),
        (dict(pipeline=penstock.Pipeline(batch_size=1)), ValueError, "must come from a function with @pipeline_def"),
        (dict(workers=2, autoscale=(1, 2)), ValueError, "give one of them"),
        (dict(autoscale=(3, 2)), ValueError, "0 <= least <= most"),
        (dict(workers=-1), ValueError, "0 <= least <= most"),
        (dict(num_cpus=-1), ValueError, "must not be negative"),
    ],
)
def test_wrong_arguments_of_a_service(ray, arguments, error, said):
    with pytest.raises(error, match=said):
        Service(**{"pipeline": numbers(), **arguments})
    assert not ray.alive


def test_without_ray_the_error_names_the_package(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "ray":
            raise ModuleNotFoundError("No module named 'ray'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match="penstock.plugin.ray.Service needs Ray .*: pip install ray"):
        Service(numbers())


def test_the_module_needs_no_ray():
    code = "import penstock.plugin.ray, sys; assert not {'ray', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- Stage ------------------------------------------------------------------------------------------------------------


@pipeline_def(batch_size=1, num_threads=1, seed=4)
def augment():
    image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
    gain = fn.external_source(name="gain", dtype=types.FLOAT, ndim=0)
    crop = fn.random_resized_crop(image, size=[6, 5])
    return {"crop": crop, "bright": image * gain, "mean": fn.reductions.mean(fn.cast(image, dtype=types.FLOAT))}


def rows(count, seed=0):
    random = np.random.default_rng(seed)
    images = [random.integers(0, 256, (random.integers(4, 9), 7, 3), dtype=np.uint8) for _ in range(count)]
    return images, random.random(count, dtype=np.float32)


def alone(images, gains):
    """What the pipeline makes of the rows in their order."""
    pipe = augment(batch_size=len(images))
    pipe.feed_input("image", images)
    pipe.feed_input("gain", gains)
    return {name: [batch.at(k) for k in range(len(batch))] for name, batch in pipe.run().items()}


def objects(values):
    column = np.empty(len(values), object)
    column[:] = values
    return column


@pytest.mark.parametrize("cuts", [[12], [1] * 12, [5, 4, 3]])
def test_blocks_do_not_matter(cuts):
    images, gains = rows(12)
    expected, stage, got, begin = alone(images, gains), Stage(augment, number="place"), {}, 0
    order = np.random.default_rng(3).permutation(12) if len(cuts) == 3 else np.arange(12)
    for cut in cuts:
        take = order[begin : begin + cut]
        begin += cut
        made = stage(
            {"image": objects([images[k] for k in take]), "gain": gains[take], "place": take, "name": take * 2}
        )
        assert list(made) == ["place", "name", "crop", "bright", "mean"] and made["crop"].shape == (cut, 6, 5, 3)
        got |= {int(k): {name: made[name][j] for name in expected} for j, k in enumerate(made["place"])}
    for name, values in expected.items():
        for k in range(12):
            assert np.array_equal(got[k][name], values[k]) and got[k][name].dtype == values[k].dtype


def test_texts_as_numbers_draw_by_their_bytes_alone():
    images, gains = rows(6)
    paths = np.array([f"photos/{k}.jpg" for k in range(6)])
    stage = Stage(augment, number="path")
    whole = stage({"image": objects(images), "gain": gains, "path": paths})
    back = stage({"image": objects(images[::-1]), "gain": gains[::-1], "path": paths[::-1]})
    other = Stage(augment, number="path", epoch=1)({"image": objects(images), "gain": gains, "path": paths})
    assert np.array_equal(whole["crop"], back["crop"][::-1]) and not np.array_equal(whole["crop"], other["crop"])


@pipeline_def(batch_size=1, num_threads=1)
def doubled(kind=types.UINT8):
    return fn.external_source(name="data", dtype=kind) * 2


@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array([b"ab", b"", b"cde"]),
        pyarrow.array(["ab", "", "cde"]),
        pyarrow.array([b"ab", b"", b"cde"], pyarrow.large_binary()),
        pyarrow.array([[97, 98], [], [99, 100, 101]], pyarrow.list_(pyarrow.uint8())),
        pyarrow.chunked_array([[b"ab"], [b"", b"cde"]]),
        pyarrow.array([b"x", b"ab", b"", b"cde"]).slice(1),
        pyarrow.array([[7], [97, 98], [], [99, 100, 101]], pyarrow.large_list(pyarrow.uint8())).slice(1),
    ],
)
def test_bytes_and_lists_of_arrow_are_samples_of_unlike_length(column):
    from penstock.plugin.ray.columns import Table

    samples = Table(pyarrow.table({"data": column})).samples("data")
    assert [bytes(sample) for sample in samples] == [b"ab", b"", b"cde"]


def test_numbers_of_arrow_are_samples():
    table = pyarrow.table({"data": pyarrow.array([3, 4, 5], pyarrow.int32()), "kept": ["a", "b", "c"]})
    made = Stage(doubled(types.INT32), ["twice"], keep=["data"])(table)
    assert made.to_pydict() == {"data": [3, 4, 5], "kept": ["a", "b", "c"], "twice": [6, 8, 10]}
    pairs = pyarrow.array([[1, 2], [3, 4]], pyarrow.list_(pyarrow.int32(), 2))
    made = Stage(doubled(types.INT32), ["twice"])({"data": np.array(pairs.to_pylist(), np.int32)})
    assert made["twice"].tolist() == [[2, 4], [6, 8]]


def test_rows_that_cannot_be_decoded(tmp_path):
    @pipeline_def(batch_size=1, num_threads=1)
    def decoded():
        return {"image": fn.decoders.image(fn.external_source(name="file", dtype=types.UINT8, ndim=1))}

    Image.new("RGB", (8, 8)).save(tmp_path / "good.jpg")
    good = (tmp_path / "good.jpg").read_bytes()
    given = {"file": objects([good, b"\xff\xd8 damaged", good]), "name": np.array(["a", "b", "c"])}
    with pytest.raises(penstock.DataError, match=r"\[decoders.image\]"):
        Stage(decoded)(given)
    made = Stage(decoded, on_error="skip")(given)
    assert made["name"].tolist() == ["a", "c"] and made["image"].shape == (2, 8, 8, 3)


def test_a_saved_pipeline_is_a_stage(tmp_path):
    doubled(types.INT32).save(str(tmp_path / "saved.json"))
    made = Stage(str(tmp_path / "saved.json"), ["twice"])({"data": np.int32([1, 2])})
    assert made["twice"].tolist() == [2, 4]


@pytest.mark.parametrize(
    "make, error, said",
    [
        (lambda: Stage(augment), ValueError, "random_resized_crop.*number="),
        (lambda: Stage(doubled), ValueError, "give output_map"),
        (lambda: Stage(doubled, ["a", "b"]), ValueError, "1 different names"),
        (lambda: Stage(doubled, ["a"], on_error="no"), ValueError, "on_error"),
        (lambda: Stage(numbers, ["a", "b", "c"]), ValueError, "readers.indices"),
        (lambda: Stage(7), TypeError, "takes a pipeline"),
        (lambda: Stage(doubled, ["a"])({"other": np.zeros(3)}), ValueError, "no column 'data': the rows have other"),
        (lambda: Stage(doubled, ["a"])([1, 2]), TypeError, "batch_format"),
        (lambda: Stage(doubled, ["a"])({"data": objects([b"a", None])}), ValueError, "row 1 of the column 'data'"),
        (lambda: Stage(doubled, ["a"])({"data": objects([b"a", {}])}), TypeError, "holds dict"),
        (lambda: Stage(doubled, ["a"])({"data": np.zeros(3)}), TypeError, "data"),
        (lambda: Stage(augment, number="gain")({"image": np.zeros((1, 4, 4, 3), np.uint8), "gain": np.ones(1, np.float32)}),
         TypeError, "integers or texts"),
    ],
)  # fmt: skip
def test_wrong_uses_of_a_stage(make, error, said):
    with pytest.raises(error, match=said):
        make()
