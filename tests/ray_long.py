# SPDX-License-Identifier: Apache-2.0
"""penstock.plugin.ray with Ray, in an environment of its own (`make test-long`):

.venv-ray/bin/python -m pytest tests/ray_long.py
"""

import io
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import ray
from penstock import fn, pipeline_def, types
from penstock.plugin.ray import Service, Stage
from PIL import Image
from ray.cluster_utils import Cluster

HERE = str(Path(__file__).resolve().parent)
sys.path.insert(0, HERE)
from service_pipelines import checksums, numbers  # noqa: E402

ENVIRONMENT = {"env_vars": {"PYTHONPATH": HERE}}  # workers import the same modules
QUIET = {"include_dashboard": False, "log_to_driver": False, "runtime_env": ENVIRONMENT}


@pytest.fixture(scope="module")
def one_node():
    ray.init("local", num_cpus=2, **QUIET)
    yield
    ray.shutdown()


@pytest.fixture
def two_nodes():
    """Two raylets on this machine; the program is beside the first one."""
    ray.shutdown()  # what one_node began
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    cluster.other = cluster.add_node(num_cpus=2, resources={"other": 2})
    ray.init(address=cluster.address, log_to_driver=False, runtime_env=ENVIRONMENT)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def until(holds, seconds=90.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pipeline_def(batch_size=4, num_threads=1, seed=3)
def traced(folder):
    """Leaves a file with the number of each process that makes batches."""

    def sample(info):
        (Path(folder) / str(os.getpid())).touch()
        return np.float32([info.idx_in_epoch])

    data = fn.external_source(sample, batch=False, name="data")
    return data, data + fn.random.uniform(range=[0.0, 1.0], shape=[3])


def makers(folder):
    """The processes that made batches, but for this one, as far as they are alive."""
    found = {int(file.name) for file in Path(folder).iterdir()} - {os.getpid()}
    return sorted(pid for pid in found if Path(f"/proc/{pid}").exists())


# --- the service ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("near", [True, False], ids=["shared memory", "sockets"])
def test_the_stream_is_that_of_the_pipeline(one_node, near):
    expected = checksums(numbers(), 60)
    with Service(numbers(), workers=2, shared_memory=near) as workers:
        with workers.loader(without_workers="wait") as batches:
            assert checksums(batches, 60) == expected and batches.statistics()["received_bytes"] > 0
        with workers.loader(state=numbers().seek(batch=20).state()) as batches:
            assert checksums(batches, 10) == expected[20:30]


def test_workers_killed_are_replaced(one_node, tmp_path):
    expected = checksums(traced(str(tmp_path)), 400)
    with Service(traced(str(tmp_path)), workers=2) as workers:
        with workers.loader(without_workers="wait", patience=(0.2, 1.0)) as batches:
            got = checksums(batches, 20)
            for killed in range(1, 4):
                until(lambda: batches.statistics()["workers"] == 2)
                got += checksums(batches, 60)
                os.kill(makers(tmp_path)[0], signal.SIGKILL)
                got += checksums(batches, 60)
                until(lambda: workers.statistics()["restarts"] == killed)
            assert got == expected[: len(got)] and len(got) == 380


def test_the_supervisor_may_die(one_node):
    expected = checksums(numbers(), 60)
    with Service(numbers(), workers=1) as workers, workers.loader() as batches:
        until(lambda: batches.statistics()["workers"] == 1)
        got = checksums(batches, 20)
        ray.kill(workers._supervisor, no_restart=False)
        got += checksums(batches, 20)
        until(lambda: workers.statistics()["workers"] == 1)
        until(lambda: batches.statistics()["workers"] == 1)
        assert got + checksums(batches, 20) == expected


def test_the_number_follows_the_waits(one_node):
    @pipeline_def(batch_size=1, num_threads=1, seed=1, prefetch_queue_depth=1)
    def slow():
        return fn.external_source(lambda info: time.sleep(0.01) or np.int64([info.idx_in_epoch]), batch=False)

    with Service(slow(), autoscale=(1, 2), interval=1.0) as workers, workers.loader(without_workers="wait") as batches:
        for k in range(20000):
            assert batches.run()[0].as_array().item() == k
            if k % 50 == 0 and workers.statistics()["workers"] == 2:
                break
        assert workers.statistics()["wanted"] == 2
        until(lambda: workers.statistics()["wanted"] == 1)  # nobody asks for batches any more


def test_ranks_of_ray_train(one_node, tmp_path):
    from ray.train import RunConfig, ScalingConfig
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

    def train(config):
        from ray import train

        with config["service"].loader() as batches:
            sums = checksums(batches, 20)
        rank = train.get_context().get_world_rank()
        (Path(config["folder"]) / f"{rank}.txt").write_text(" ".join(map(str, sums)))

    with Service(numbers(), workers=1, num_cpus=0.5) as workers:
        DataParallelTrainer(
            train,
            train_loop_config={"service": workers, "folder": str(tmp_path)},
            scaling_config=ScalingConfig(num_workers=2, resources_per_worker={"CPU": 0.5}),
            run_config=RunConfig(storage_path=str(tmp_path / "runs")),
        ).fit()
    ranks = [list(map(int, (tmp_path / f"{rank}.txt").read_text().split())) for rank in range(2)]
    assert [value for pair in zip(*ranks) for value in pair] == checksums(numbers(), 40)


def test_a_worker_whose_process_cannot_begin_says_why(one_node):
    @pipeline_def(batch_size=1, num_threads=1)
    def elsewhere():
        return fn.readers.indices(size=4)

    options = {"runtime_env": {"env_vars": {"PYTHONPATH": "/nowhere"}}}  # no service_pipelines there
    with Service(numbers(), workers=1, options=options) as workers, workers.loader() as batches:
        until(lambda: batches._deliveries.addresses.trouble)
        with pytest.warns(UserWarning, match="no worker could be started: .*service_pipelines"):
            assert checksums(batches, 5) == checksums(numbers(), 5)


# --- Stage ------------------------------------------------------------------------------------------------------------


@pipeline_def(batch_size=1, num_threads=1, seed=4)
def augment():
    image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
    crop = fn.random_resized_crop(image, size=[16, 12])
    return {"crop": crop, "small": fn.resize(image, resize_shorter=10), "mean": fn.reductions.mean(image)}


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Files of unlike sizes, some of which follow one another with equal ones."""
    folder = tmp_path_factory.mktemp("photos")
    for k in range(24):
        pixels = np.random.default_rng(k).integers(0, 256, (20 + k // 4, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{k:02}.png")
    return folder


def expected_of(images, numbers):
    """What the pipeline makes of each image that draws the numbers of a sample."""
    made = []
    function = augment().compile()
    for image, number in zip(images, numbers):
        outputs = function([image], first_sample=number)
        made.append({name: batch.at(0) for name, batch in zip(("crop", "small", "mean"), outputs)})
    return made


def check(rows, expected):
    assert len(rows) == len(expected)
    for row in rows:
        for name, value in expected[row["place"]].items():
            got = np.asarray(row[name], value.dtype if value.ndim == 0 else None)  # rows have Python's numbers
            assert got.dtype == value.dtype and np.array_equal(got, value), (row["place"], name)


@pytest.mark.parametrize("form", ["pyarrow", "numpy"])
@pytest.mark.parametrize("actors", [None, 1])  # two would have both processors, and the files would not be read
def test_images_through_map_batches(one_node, photos, form, actors):
    images = [np.array(Image.open(file)) for file in sorted(photos.iterdir())]
    data = ray.data.read_images(str(photos), include_paths=True)
    data = data.map(lambda row: {**row, "place": int(Path(row["path"]).stem)}).repartition(5)
    if actors is None:
        made = data.map_batches(Stage(augment, number="place"), batch_format=form, batch_size=4, zero_copy_batch=True)
    else:
        made = data.map_batches(
            Stage, fn_constructor_args=(augment,), fn_constructor_kwargs={"number": "place"}, batch_format=form,
            batch_size=5, concurrency=actors,
        )  # fmt: skip
    rows = made.take_all()
    check(rows, expected_of(images, range(24)))
    assert {Path(row["path"]).stem for row in rows} == {f"{k:02}" for k in range(24)}
    assert "image" not in rows[0]


def test_parquet_in_and_out(one_node, photos, tmp_path):
    @pipeline_def(batch_size=1, num_threads=1)
    def decoded():
        return {"image": fn.decoders.image(fn.external_source(name="file", dtype=types.UINT8, ndim=1))}

    files = [file.read_bytes() for file in sorted(photos.iterdir())]
    table = pyarrow.table({"file": files, "place": list(range(24)), "label": [f"class {k % 3}" for k in range(24)]})
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet", row_group_size=7)
    data = ray.data.read_parquet(str(tmp_path / "in.parquet"))
    stages = data.map_batches(Stage(decoded), batch_format="pyarrow", batch_size=6)
    stages.map_batches(Stage(augment, number="place"), batch_format="pyarrow", batch_size=5).write_parquet(
        str(tmp_path / "out")
    )
    rows = ray.data.read_parquet(str(tmp_path / "out")).take_all()
    images = [np.array(Image.open(io.BytesIO(file))) for file in files]
    check(rows, expected_of(images, range(24)))
    assert all(row["label"] == f"class {row['place'] % 3}" for row in rows)


def test_rows_that_cannot_be_decoded_are_left_out(one_node, photos):
    @pipeline_def(batch_size=1, num_threads=1)
    def decoded():
        return {"image": fn.decoders.image(fn.external_source(name="bytes", dtype=types.UINT8, ndim=1))}

    data = ray.data.read_binary_files(str(photos), include_paths=True)
    damaged = data.map(lambda row: {**row, "bytes": b"damaged"} if row["path"].endswith("07.png") else row)
    made = damaged.map_batches(Stage(decoded, on_error="skip"), batch_format="pyarrow", batch_size=8).take_all()
    assert sorted(Path(row["path"]).stem for row in made) == [f"{k:02}" for k in range(24) if k != 7]
    with pytest.raises(Exception, match="decoders.image"):
        damaged.map_batches(Stage(decoded), batch_format="pyarrow", batch_size=8).take_all()


# --- two nodes; last, because it begins Ray anew ----------------------------------------------------------------------


def test_a_node_that_is_killed_does_not_end_the_stream(two_nodes, tmp_path, request):
    expected = checksums(traced(str(tmp_path)), 400)
    with Service(traced(str(tmp_path)), workers=2, num_cpus=2) as workers:  # one fits on each node
        with workers.loader(without_workers="wait", patience=(0.2, 1.0)) as batches:
            until(lambda: batches.statistics()["workers"] == 2)
            got = checksums(batches, 100)
            assert len(makers(tmp_path)) == 2
            two_nodes.remove_node(two_nodes.other, allow_graceful=False)
            got += checksums(batches, 100)
            until(lambda: batches.statistics()["workers"] == 1)
            until(lambda: workers.statistics()["restarts"] >= 1)  # Ray may try the node once more
            got += checksums(batches, 100)
            two_nodes.add_node(num_cpus=2)
            until(lambda: batches.statistics()["workers"] == 2)
            got += checksums(batches, 100)
            assert got == expected
