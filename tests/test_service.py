# SPDX-License-Identifier: Apache-2.0
"""penstock.service over real connections: the stream of the pipeline, whatever the workers are and do."""

import gc
import os
import ssl
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import penstock
import pytest
from penstock import fn, pipeline_def, service
from penstock.service import addresses as named_addresses
from penstock.service import greeting
from penstock.service.memory import ReceivedMemory
from penstock.service.shared_memory import Slots
from PIL import Image
from service_pipelines import checksum, checksums, every_type, finite, numbers, photos

HERE = Path(__file__).resolve().parent
LONG = "PENSTOCK_TEST_COUNT" in os.environ


@pytest.fixture
def serve():
    """Starts workers in this process; returns their addresses."""
    servers = []

    def start(make, **options):
        server = service.Server(make, log=sys.stdout, **options)
        servers.append(server)
        server.start()
        return f"{server.host}:{server.port}"

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def folder(tmp_path):
    """Ten JPEG files, one of which is damaged."""
    for label in "ab":
        (tmp_path / label).mkdir()
        for k in range(5):
            pixels = np.random.default_rng(k).integers(0, 256, (40 + k, 50, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / label / f"{k}.jpg")
    (tmp_path / "a" / "2.jpg").write_bytes(b"\xff\xd8 damaged")
    return str(tmp_path)


class Process:
    """`penstock serve` as a process."""

    def __init__(self, *arguments, script="service_pipelines.py:numbers", port=0):
        command = [sys.executable, "-m", "penstock", "serve", f"{HERE}/{script}", "--port", str(port), *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def wait(self):
        """Until it listens; its address."""
        line = self.process.stdout.readline()
        assert " at " in line, line
        self.address = line.split()[-1]
        self.port = int(self.address.rpartition(":")[2])
        return self.address

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


# --- the stream -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("near", [True, False], ids=["shared memory", "sockets"])
@pytest.mark.parametrize("make", [numbers, every_type])
@pytest.mark.parametrize("workers", [1, 3])
def test_the_stream_is_that_of_the_pipeline(serve, make, workers, near):
    expected = checksums(make(), 25)
    addresses = [serve(make, near=near) for _ in range(workers)]
    with service.loader(addresses, make(), without_workers="error") as batches:
        assert checksums(batches, 25) == expected
        assert batches.statistics()["received_bytes"] > 0


@pytest.mark.parametrize("epochs", ["stream", "partial", "drop"])
def test_epochs_are_those_of_the_pipeline(serve, epochs):
    pipe = numbers()
    driver = pipe.driver(epochs=epochs)
    expected = [checksum(driver.run().outputs) for _ in range(3 * driver.batches_per_epoch())]
    with service.loader([serve(numbers)], numbers(), epochs=epochs) as batches:
        assert len(batches) == driver.batches_per_epoch()
        assert [checksum(batch) for _ in range(3) for batch in batches] == expected


def test_workers_killed_and_joining_change_nothing():
    count = 300 if LONG else 40
    expected = checksums(numbers(), count)
    workers = [Process() for _ in range(3)]
    addresses = [worker.wait() for worker in workers]
    slowest = 0.0
    try:
        with service.loader(addresses, numbers(), without_workers="error") as batches:
            for k in range(count):
                begin = time.monotonic()
                assert checksum(batches.run()) == expected[k], k
                slowest = max(slowest, time.monotonic() - begin)
                if k % 10 == 9 and k + 1 < count:
                    place = k // 10 % 3
                    while batches.statistics()["workers"] < 2:  # those that were killed begin again
                        time.sleep(0.01)
                    workers[place].kill()
                    if LONG or k == 9:
                        workers[place] = Process(port=addresses[place].rpartition(":")[2])
    finally:
        for worker in workers:
            worker.kill()
    assert slowest <= 2.0 or not LONG  # a loaded machine may stand still so long


def test_a_worker_that_ends_gives_its_batches_to_others(serve):
    expected = checksums(numbers(), 40)
    servers = [service.Server(numbers, log=sys.stdout) for _ in range(2)]
    for server in servers:
        server.start()
    with service.loader([f"{s.host}:{s.port}" for s in servers], numbers()) as batches:
        got = checksums(batches, 10)
        servers[0].close()
        got += checksums(batches, 10)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            servers[1].close()
            got += checksums(batches, 20)
    assert got == expected
    assert ["no worker is there" in str(w.message) for w in said] == [True]


def test_a_slow_worker_does_not_hold_the_stream(serve):
    ended = threading.Event()

    @pipeline_def(batch_size=2, num_threads=1, seed=1)
    def samples(stands=False):
        def sample(info):
            if stands:
                ended.wait(60)
            return np.int64([info.idx_in_epoch])

        return fn.external_source(sample, batch=False, name="numbers")

    addresses = [serve(lambda **k: samples(True, **k)), serve(samples)]
    with service.loader(addresses, samples(), window=4, patience=(0.05, 0.2)) as batches:
        until(lambda: batches.statistics()["workers"] == 2)
        asked_again = lambda: batches.statistics()["asked_again"]  # noqa: E731
        for k in range(5000):  # the other worker may be so fast that it makes the first ones alone
            assert batches.run()[0].as_array().ravel().tolist() == [2 * k, 2 * k + 1]
            if k >= 12 and asked_again() > 0:
                break
        assert asked_again() > 0
        ended.set()


def test_no_more_batches_are_made_than_the_window_has(serve):
    made = []

    @pipeline_def(batch_size=1, num_threads=1, seed=1, prefetch_queue_depth=1)
    def samples():
        return fn.external_source(lambda info: made.append(info.idx_in_epoch) or np.zeros(1000), batch=False)

    with service.loader([serve(samples)], samples(), window=5, at_once=3) as batches:
        for _ in range(3):
            batches.run()
        time.sleep(0.3)
        assert len(set(made)) <= 3 + 5


def until(holds, seconds=30.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_addresses_may_come_from_a_function(monkeypatch):
    monkeypatch.setattr(named_addresses, "PAUSE", 0.02)
    servers = [service.Server(numbers, log=sys.stdout) for _ in range(3)]
    for server in servers:
        server.start()
    places, expected = [f"{s.host}:{s.port}" for s in servers], checksums(numbers(), 60)
    named = []
    with service.loader(lambda: named, numbers()) as batches, warnings.catch_warnings():
        warnings.simplefilter("error")
        got = checksums(batches, 10)
        for k in range(3):
            named[:] = places[k : k + 2]
            until(lambda: batches.statistics()["workers"] == len(named))
            until(lambda: {link.name for link in batches._deliveries.links} == set(named))
            got += checksums(batches, 10)
        before = batches.statistics()["received_bytes"]
        got += checksums(batches, 20)
        assert got == expected and batches.statistics()["received_bytes"] > before > 0
    for server in servers:
        server.close()


def test_a_function_of_addresses_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(named_addresses, "PAUSE", 0.02)

    def nowhere():
        raise OSError("no such name")

    with service.loader(nowhere, numbers(), without_workers="error") as batches:
        until(lambda: batches._deliveries.addresses.trouble)
        with pytest.raises(service.ServiceError, match="no worker can be reached: OSError: no such name"):
            batches.run()
    with service.loader(nowhere, numbers()) as batches, pytest.warns(UserWarning, match="no such name"):
        until(lambda: batches._deliveries.addresses.trouble)
        assert checksums(batches, 3) == checksums(numbers(), 3)


def test_where_no_worker_answers_the_trainer_makes_batches():
    server = service.Server(numbers, log=sys.stdout)
    server.start()
    with service.loader([f"{server.host}:{server.port}"], numbers(), patience=(0.05, 0.1)) as batches:
        got = checksums(batches, 5)
        job = next(iter(server.jobs.values()))
        with job.changed, pytest.warns(UserWarning, match="no worker answers"):  # it makes nothing meanwhile
            got += checksums(batches, 20)
        got += checksums(batches, 15)
    server.close()
    assert got == checksums(numbers(), 40)


def test_the_end_of_the_data_is_the_end(serve):
    expected = checksums(finite(), 3)
    for given in ([], [serve(finite)]):
        with service.loader(given, finite()) as batches:
            assert [checksum(batch) for batch in batches] == expected
            for _ in range(2):
                with pytest.raises(StopIteration):
                    batches.run()


def test_memory_is_used_again_but_not_while_a_batch_is_there(serve):
    @pipeline_def(batch_size=2, num_threads=1, seed=1)
    def blocks():
        return fn.random.uniform(range=[0.0, 1.0], shape=[50000])

    pipe = blocks()
    expected = [pipe.run()[0].as_array().copy() for _ in range(30)]
    for near in (True, False):
        with service.loader([serve(blocks, near=near)], blocks(), window=3) as batches:
            kept = [batches.run()[0].as_array() for _ in range(10)]
            places = {batches.run()[0].data_ptr() for _ in range(20)}
        assert all(np.array_equal(a, b) for a, b in zip(kept, expected))
        assert all(a.ctypes.data % 64 == 0 for a in kept)
        assert len(places) <= 10


def test_without_room_for_shared_memory_the_socket_carries_batches(serve, monkeypatch):
    def none_left(self, content):
        raise MemoryError

    monkeypatch.setattr(Slots, "place", none_left)
    with service.loader([serve(numbers)], numbers(), without_workers="error") as batches:
        assert checksums(batches, 10) == checksums(numbers(), 10)


def test_a_loader_that_nothing_holds_ends_its_connections(serve):
    address = serve(numbers)
    batches = service.loader([address], numbers())
    batches.run()
    # of this worker alone: a loader of another test may not have ended yet
    threads = [t for t in threading.enumerate() if t.name == f"penstock.service: {address}"]
    del batches
    gc.collect()
    for thread in threads:
        thread.join(60)
    assert threads and not any(thread.is_alive() for thread in threads)


def test_memory_may_come_back_while_other_memory_is_taken():
    memory = ReceivedMemory(2)
    block = memory.take(100)
    place = block.ctypes.data
    with memory.lock:  # as where a garbage collection frees it
        del block
    assert memory.take(100).ctypes.data == place
    kept = [memory.take(10**k) for k in range(6)]
    assert all(array.nbytes == 10**k and array.ctypes.data % 64 == 0 for k, array in enumerate(kept))


# --- states, ranks, sharing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epochs", ["stream", "partial"])
@pytest.mark.parametrize("count", [0, 3, 8, 21])
def test_the_state_is_that_of_the_pipeline(serve, count, epochs):
    pipe, address = numbers(), serve(numbers)
    driver = pipe.driver(epochs=epochs)
    for _ in range(count):
        driver.run()
    state = pipe.state()
    with service.loader([address], numbers(), epochs=epochs) as batches:
        checksums(batches, count)
        assert batches.state() == state
    after = [checksum(driver.run().outputs) for _ in range(10)]
    with service.loader([address], numbers(), epochs=epochs, state=state) as batches:
        assert checksums(batches, 4) == after[:4]
        between = batches.state()
    alone = numbers()
    again = alone.driver(epochs=epochs)
    alone.load_state(between)
    assert [checksum(again.run().outputs) for _ in range(6)] == after[4:]


def test_a_state_goes_to_another_number_of_ranks(serve):
    expected, address = checksums(numbers(), 24), serve(numbers)
    ranks = [service.loader([address], numbers(), rank=r, ranks=3) for r in range(3)]
    got = [checksum(rank.run()) for _ in range(4) for rank in ranks]
    states = [rank.state() for rank in ranks]
    assert states[0] == states[1] == states[2]
    others = [service.loader([address], numbers(), rank=r, ranks=2, state=states[0]) for r in range(2)]
    got += [checksum(rank.run()) for _ in range(6) for rank in others]
    for each in ranks + others:
        each.close()
    assert got == expected


def test_a_state_of_other_data_or_within_a_batch_is_refused():
    with pytest.raises(ValueError, match="the number of samples was 31, is 30"):
        service.loader([], numbers(), state=numbers(size=31).state())
    pipe = numbers(batch_size=3)
    pipe.run()
    with pytest.raises(ValueError, match="not at the beginning of a batch"):
        service.loader([], numbers(), state=pipe.state())


def test_seek_goes_to_a_batch(serve):
    expected = checksums(numbers(), 30)
    for given in ([], [serve(numbers)]):
        with service.loader(given, numbers()) as batches:
            assert checksums(batches, 5) == expected[:5]
            batches.seek(20)
            assert checksums(batches, 5) == expected[20:25]
            batches.seek(2)
            assert checksums(batches, 5) == expected[2:7]


def test_trainers_that_share_a_job_make_batches_once(serve):
    made = []

    @pipeline_def(batch_size=1, num_threads=1, seed=1)
    def samples():
        return fn.external_source(
            lambda info: made.append(info.idx_in_epoch) or np.int64([info.idx_in_epoch]), batch=False
        )

    address = serve(samples, keep=16)
    trainers = [service.loader([address], samples(), shared=True, without_workers="wait") for _ in range(3)]
    got = [[t.run()[0].as_array().item() for t in trainers] for _ in range(40)]
    for trainer in trainers:
        trainer.close()
    assert got == [[k] * 3 for k in range(40)]
    assert len(made) < 70  # not 120


def test_how_long_the_trainer_waits_says_how_many_workers_it_needs():
    from penstock.service.waits import Waits

    idle, waiting = Waits(), Waits()
    for k in range(100):
        idle.add(k / 4, k / 4 + 0.0001)
        waiting.add(k / 4, k / 4 + 0.1875)
    assert (idle.wanted(4), idle.share() < 0.01) == (4, True)
    assert 15 <= waiting.wanted(4) <= 17 and 0.74 < waiting.share() < 0.77
    assert (waiting.share(10000.0) < 0.01, waiting.wanted(4, 10000.0)) == (True, 4)  # a trainer that pauses
    waiting.add(25.0, 26.0)
    assert waiting.share(60.0) == 0.0
    waiting.since = 60.0
    assert waiting.share(10000.0) > 0.99 and waiting.wanted(4, 10000.0) == 32  # one that no batch reaches


# --- errors -----------------------------------------------------------------------------------------------------------


def outcomes(source, count):
    made = []
    for _ in range(count):
        try:
            made.append(checksum(source.run()))
        except penstock.DataError as error:
            made.append(str(error))
    return made


@pytest.mark.parametrize("on_error", ["raise", "skip", "replace"])
def test_files_that_cannot_be_read_do_what_they_do_at_home(serve, folder, on_error):
    expected = outcomes(photos(root=folder, on_error=on_error), 10)
    address = serve(lambda **options: photos(root=folder, on_error=on_error, **options))
    with service.loader([address], photos(root=folder, on_error=on_error), without_workers="wait") as batches:
        assert outcomes(batches, 10) == expected
    texts = [text for text in expected if isinstance(text, str)]
    assert bool(texts) or on_error != "raise"
    assert all("2.jpg" in text and "[decoders.image]" in text and "service_pipelines.py:" in text for text in texts)


def test_the_data_may_lie_in_another_folder(serve, folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("copy") / "of it"
    os.symlink(folder, other)
    with service.loader(
        [serve(lambda **options: photos(root=str(other), on_error="skip", **options))],
        photos(root=folder, on_error="skip"),
        without_workers="error",
    ) as batches:
        sizes = [len(batches.run()["labels"]) for _ in range(5)]
    assert sum(sizes) < 20


@pytest.mark.parametrize(
    "other, said",
    [
        (lambda **k: numbers(scale=2.0, **k), "operators differ"),
        (lambda **k: numbers(size=31, **k), "arguments of readers differ"),
        (lambda **k: every_type(**k), "operators differ"),
        (lambda **k: numbers(on_error="skip", **k), "on_error differ"),
        (lambda **k: photos(root="/nowhere", **k), "/nowhere"),
        (lambda **k: numbers(nothing=1, **k), "unexpected keyword argument 'nothing'"),
    ],
)
def test_a_worker_with_another_pipeline_is_refused(serve, other, said):
    with service.loader([serve(other)], numbers()) as batches:
        with pytest.raises(service.ServiceError, match=said):
            batches.run()


def test_pipelines_whose_batches_have_no_numbers_are_refused():
    @pipeline_def(batch_size=2, num_threads=1)
    def fed():
        return fn.external_source(name="fed")

    with pytest.raises(ValueError, match="fed"):
        service.loader([], fed())


@pytest.mark.parametrize(
    "arguments, said",
    [
        (dict(addresses="localhost:1"), "must be a list"),
        (dict(addresses=["localhost"]), '"host:port"'),
        (dict(addresses=["localhost:0"]), '"host:port"'),
        (dict(rank=2, ranks=2), "rank must be"),
        (dict(window=0), "window must be"),
        (dict(epochs="whole"), "epochs must be one of"),
        (dict(key=b"short"), "at least 16"),
    ],
)
def test_wrong_arguments_say_what_to_write(arguments, said):
    with pytest.raises((ValueError, TypeError), match=said):
        service.loader(**{"addresses": [], "pipeline": numbers(), **arguments})


def test_without_workers_it_says_why_or_makes_batches_itself():
    nowhere = "127.0.0.1:1"
    with service.loader([nowhere], numbers(), without_workers="error") as batches:
        with pytest.raises(service.ServiceError, match="127.0.0.1:1: .*refused"):
            batches.run()
    with service.loader([nowhere], numbers()) as batches, pytest.warns(UserWarning, match="makes the batches itself"):
        assert checksums(batches, 3) == checksums(numbers(), 3)


# --- keys -------------------------------------------------------------------------------------------------------------


def test_beyond_this_machine_a_key_is_needed():
    with pytest.raises(ValueError, match="give a key"):
        service.Server(numbers, host="0.0.0.0")


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize(
    "theirs, ours, said",
    [
        (b"a" * 32, b"b" * 32, "does not have the key"),
        (b"a" * 32, None, "has a key"),
        (None, b"a" * 32, "not have the key"),
    ],
)
def test_who_lacks_the_key_is_refused(serve, theirs, ours, said, near):
    with service.loader([serve(numbers, key=theirs, near=near)], numbers(), key=ours) as batches:
        with pytest.raises(service.ServiceError, match=said):
            batches.run()


def test_who_has_the_key_is_served(serve, tmp_path):
    (tmp_path / "key").write_text("k" * 40 + "\n")
    address = serve(numbers, host="0.0.0.0", key=b"k" * 40)
    port = address.rpartition(":")[2]
    with service.loader([f"127.0.0.1:{port}"], numbers(), key=tmp_path / "key", without_workers="error") as batches:
        assert checksums(batches, 5) == checksums(numbers(), 5)


def test_tls(serve, tmp_path, monkeypatch):
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-addext", "subjectAltName=DNS:localhost", "-keyout", f"{tmp_path}/key", "-out", f"{tmp_path}/certificate"]
    subprocess.run(made, check=True, capture_output=True)
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    port = serve(numbers, tls=theirs).rpartition(":")[2]
    ours = ssl.create_default_context(cafile=tmp_path / "certificate")
    with service.loader([f"localhost:{port}"], numbers(), tls=ours, without_workers="error") as batches:
        assert checksums(batches, 10) == checksums(numbers(), 10)
    monkeypatch.setattr(greeting, "SECONDS", 0.5)
    with service.loader([f"localhost:{port}"], numbers(), without_workers="error") as batches:
        with pytest.raises(service.ServiceError, match="it uses TLS"):
            batches.run()


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["train.py"], "SCRIPT:PIPELINE"),
        (["nowhere.py:p"], "there is no script"),
        ([f"{HERE}/service_pipelines.py:nothing"], "it has numbers, photos, every_type, finite"),
        ([f"{HERE}/service_pipelines.py:numbers", "--host", "0.0.0.0"], "give a key"),
        ([f"{HERE}/service_pipelines.py:numbers", "--arguments", "[]"], "object of JSON"),
        ([f"{HERE}/service_pipelines.py:numbers", "--arguments", "{x"], "object of JSON"),
        ([f"{HERE}/service_pipelines.py:numbers", "--port", "65536"], "port must be from 0"),
    ],
)
def test_the_command_says_what_is_wrong(capsys, arguments, said):
    from penstock._commands import main

    assert main(["serve", *arguments]) == 2
    errors = capsys.readouterr().err
    assert said in errors and errors.startswith("penstock serve: ")


def test_the_command_serves_with_arguments_and_ends():
    worker = Process("--arguments", '{"size": 50}', "--threads", "1")
    with service.loader([worker.wait()], numbers(size=50), without_workers="error") as batches:
        assert checksums(batches, 5) == checksums(numbers(size=50), 5)
    worker.process.terminate()
    assert worker.process.wait(60) == 0
    worker.process.stdout.close()


def test_import_penstock_does_not_import_it():
    code = "import penstock, sys; assert not [m for m in sys.modules if m.startswith('penstock.service')]; penstock.service"
    subprocess.run([sys.executable, "-c", code], check=True)
