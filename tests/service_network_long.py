# SPDX-License-Identifier: Apache-2.0
"""penstock.service over networks that delay, lose and part (`make test-long`, as root): bytes and order, and how long a trainer waits.

The network is of the test (tests/network_machine.py). Bounds of time tell the patience of a trainer, a second here, from TCP's own
timeouts, 25 seconds and more: they hold on a loaded machine.

.venv/bin/python -m pytest tests/service_network_long.py
"""

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from network_machine import Network
from service_pipelines import checksums, numbers

HERE = Path(__file__).resolve().parent
PATIENT = 10.0  # seconds


class Trainer:
    def __init__(self, network, key, workers, **options):
        options = {"patience": (0.3, 1.0), "without_workers": "wait", **options}
        addresses = [f"{worker.address}:9000" for worker in workers]
        self.process = network.start(
            sys.executable, HERE / "network_trainer.py", key, "numbers", json.dumps(options), *addresses,
            stdin=subprocess.PIPE,
        )  # fmt: skip
        self.expected = (checksums(source, 1)[0] for source in itertools.repeat(numbers()))  # on a slow machine many

    def run(self, count):
        """The next batches, which must be those of the pipeline; what the trainer says."""
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline())
        assert said["sums"] == [next(self.expected) for _ in range(count)]
        return said

    def until(self, holds, seconds):
        """Runs on until what it says is as wanted."""
        end = time.monotonic() + seconds
        while not holds(said := self.run(1)):
            assert time.monotonic() < end, said
            time.sleep(0.1)
        return said


@pytest.fixture
def network():
    made = Network(seed=1)
    yield made
    made.close()


@pytest.fixture
def key(tmp_path):
    (tmp_path / "key").write_text("k" * 32)
    return tmp_path / "key"


def serve(network, key, count):
    command = [sys.executable, "-m", "penstock", "serve", HERE / "service_pipelines.py:numbers", "--host", "ADDRESS"]
    workers = [network.start(*command, "--port", 9000, "--key", key) for _ in range(count)]
    for worker in workers:
        assert " at " in worker.stdout.readline()
    return workers


@pytest.mark.parametrize(
    "delay, jitter, loss", [(0.0, 0.0, 0.0), (0.02, 0.01, 0.0), (0.005, 0.02, 0.03), (0.0, 0.0, 0.1)]
)
def test_delay_and_loss_change_nothing(network, key, delay, jitter, loss):
    network.delay, network.jitter, network.loss = delay, jitter, loss
    trainer = Trainer(network, key, serve(network, key, 2))
    trainer.until(lambda said: said["workers"] == 2 and min(said["received"].values()) > 0, 60)
    trainer.run(60)
    assert (network.lost > 0) == (loss > 0) and network.carried > 100


def test_a_worker_behind_a_partition_does_not_hold_the_stream(network, key):
    network.delay = 0.002
    workers = serve(network, key, 2)
    trainer = Trainer(network, key, workers)
    trainer.until(lambda said: said["workers"] == 2 and min(said["received"].values()) > 0, 60)
    network.cut = {workers[0].address}
    said = trainer.run(40)
    assert said["asked_again"] > 0 and max(said["waits"]) < PATIENT
    network.cut = set()
    before = said["received"][workers[0].address]
    trainer.until(lambda said: said["workers"] == 2 and said["received"][workers[0].address] > before, 90)


def test_a_machine_that_goes_without_a_word_is_forgotten(network, key):
    workers = serve(network, key, 2)
    trainer = Trainer(network, key, workers)
    trainer.until(lambda said: said["workers"] == 2 and min(said["received"].values()) > 0, 60)
    network.cut = {workers[0].address}  # first, so that its system does not say goodbye
    workers[0].kill()
    said = trainer.run(20)
    assert max(said["waits"]) < PATIENT
    trainer.until(lambda said: said["workers"] == 1, 90)  # TCP's timeouts


def test_a_slow_line_takes_fewer_batches(network, key):
    workers = serve(network, key, 2)
    network.slow[workers[0].address] = 0.4
    trainer = Trainer(network, key, workers)
    trainer.until(lambda said: said["workers"] == 2, 60)
    said = trainer.run(100)  # faster than one worker gets requests ahead
    slow, fast = (said["received"][worker.address] for worker in workers)
    assert slow < fast and said["asked_again"] > 0 and max(said["waits"]) < PATIENT


def test_where_no_worker_is_reached_the_trainer_makes_batches_after_its_patience(network, key):
    workers = serve(network, key, 2)
    trainer = Trainer(network, key, workers, without_workers="make")
    trainer.until(lambda said: said["workers"] == 2, 60)
    network.cut = {trainer.process.address}
    said = trainer.run(20)
    assert max(said["waits"]) < PATIENT
    network.cut = set()
    before = said["received_bytes"]
    trainer.until(lambda said: said["received_bytes"] > before, 90)
