# SPDX-License-Identifier: Apache-2.0
"""What penstock serve and loaders say of workers that come, go and refuse."""

import contextlib
import io
import json
import logging
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import penstock
import pytest
from penstock import commands, fn, pipeline_def, service
from penstock.service import agreement
from service_pipelines import checksums, numbers

HERE = Path(__file__).resolve().parent


@pytest.fixture
def serve():
    """Starts workers in this process; returns their servers."""
    servers = []

    def start(make, **options):
        server = service.Server(make, **options)
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.close()


def address(server):
    return f"{server.host}:{server.port}"


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_worker_that_refuses_beside_one_that_does_not(serve):
    """The batches come from the other one, so that nothing but a warning says it."""
    good, other = serve(numbers), serve(lambda **k: numbers(size=31, **k))
    with service.loader([address(good), address(other)], numbers(), without_workers="error") as batches:
        expected = checksums(numbers(), 5)
        with pytest.warns(UserWarning) as said:
            until(lambda: any(link.refusal for link in batches._deliveries.links))
            assert checksums(batches, 5) == expected
    text = str(said[0].message)
    assert f"the worker {address(other)} makes no batches: " in text and len(said) == 1
    assert "arguments of readers differ (readers.indices: size), 31 at the worker and 30 at the trainer" in text


def test_a_worker_of_another_version_is_refused(serve, monkeypatch):
    """Its operators may compute other values. The job of an older trainer has no version."""
    server, job_of = serve(numbers), agreement.job_of
    for version in ("0.0.9", None):
        other = {"versions of Penstock": version}
        monkeypatch.setattr(sys.modules["penstock.service.loader"], "job_of", lambda *a: job_of(*a) | other)
        with service.loader([address(server)], numbers(), without_workers="error") as batches:
            with pytest.raises(
                service.ServiceError, match="versions of Penstock differ, .*install one version"
            ) as refused:
                batches.run()
        assert f'"{penstock.__version__}" at the worker and {json.dumps(version)} at' in str(refused.value)


def test_a_long_list_of_arguments_is_compared_as_a_sum():
    """An argument of thousands of numbers does not cross the wire."""
    from penstock.service.agreement import _if_short

    assert _if_short([["a", {"b": 1}]]) == [["a", {"b": 1}]]
    long = [["a", {"b": list(range(5000))}]]
    assert len(_if_short(long)) == 16 and _if_short(long) != _if_short([["a", {"b": list(range(5001))}]])


def test_loggers_are_told_of_workers_that_come_and_go(serve, caplog):
    caplog.set_level(logging.INFO, logger="penstock.service")
    first, second = serve(numbers), serve(numbers)
    with service.loader([address(first), address(second)], numbers(), without_workers="error") as batches:
        until(lambda: batches.statistics()["workers"] == 2)
        first.close()
        until(lambda: batches.statistics()["workers"] == 1)
        assert checksums(batches, 3) == checksums(numbers(), 3)
    said = [record.getMessage() for record in caplog.records]
    assert {f"the worker {address(s)} is there" for s in (first, second)} <= {*said}
    assert f"the worker {address(first)}: it has gone; others: 1" in said


@pipeline_def(batch_size=4, num_threads=1, seed=7)
def with_a_fault():
    """The second batch cannot be made, for a reason of two lines."""

    def fail(index):
        if 4 <= index < 8:
            raise ValueError("sample 4\nis bad")
        return index

    return fn.python_function(fn.readers.indices(size=30, name="reader"), function=fail)


@pytest.mark.parametrize("near", [True, False])
def test_a_worker_writes_a_line_for_whom_comes_and_goes_and_what_fails(serve, near):
    log = io.StringIO()
    server = serve(with_a_fault, log=log, near=near)
    lines = lambda words: [line for line in log.getvalue().splitlines() if words in line]
    name = "penstock serve: trainer " + (r"\d+ on this machine" if near else r"127.0.0.1:\d+")
    with service.loader([address(server)], with_a_fault(), without_workers="error", window=2, at_once=1) as batches:
        batches.run()
        (came,) = lines("has come")
        assert re.fullmatch(f"{name} has come: batches of 4 samples, seed 7; trainers: 1", came)
        with pytest.raises(Exception, match="is bad"):
            batches.run()
        failed = lines("batch 1: ")
        assert failed and all(re.match("penstock serve: batch 1: .*sample 4; is bad", line) for line in failed)
    until(lambda: lines("has gone"))
    (gone,) = lines("has gone")
    assert re.fullmatch(f"{name} has gone after [1-9] batches of [1-9][0-9]* bytes; trainers: 0", gone)
    assert all(line.startswith("penstock serve: ") for line in log.getvalue().splitlines())


def test_a_log_that_nobody_reads_does_not_end_a_worker(serve):
    out, into = os.pipe()
    os.close(out)
    with open(into, "w") as log:
        server = serve(numbers, log=log)
        with service.loader([address(server)], numbers(), without_workers="error") as batches:
            assert checksums(batches, 3) == checksums(numbers(), 3)
        server.close()
        server.log = io.StringIO()  # what is left in the buffer of the pipe's file cannot be written either
        with contextlib.suppress(BrokenPipeError):
            log.close()


def test_a_stranger_is_named_once(serve):
    log = io.StringIO()
    server = serve(numbers, log=log)
    with socket.create_connection((server.host, server.port)) as end:
        end.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(200))
        while end.recv(4096):
            pass
    until(lambda: "protocol" in log.getvalue())
    assert log.getvalue().count("127.0.0.1") == 1


def test_a_port_that_is_taken(capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert commands.main(["serve", f"{HERE}/service_pipelines.py:numbers", "--port", str(port)]) == 2
    assert f"another program listens on port {port} of 127.0.0.1: give another --port" in capsys.readouterr().err


@pytest.mark.parametrize("text, said", [("import nosuchmodule", "nosuchmodule"), ("x = (", r"\(.*, line 1\)")])
def test_a_script_that_cannot_be_loaded_is_named(tmp_path, capsys, text, said):
    (tmp_path / "train.py").write_text(text)
    assert commands.main(["serve", f"{tmp_path}/train.py:numbers"]) == 2
    assert re.match(f"penstock serve: '{tmp_path}/train.py' cannot be loaded: .*{said}", capsys.readouterr().err)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"sise": 50}, "--arguments: the pipeline has no argument 'sise'; it has "),
        ({"bach_size": 5}, "has no argument 'bach_size'"),
    ],
)
def test_an_argument_that_the_pipeline_does_not_have(arguments, said):
    command = [sys.executable, "-m", "penstock", "serve", f"{HERE}/service_pipelines.py:numbers"]
    made = subprocess.run(
        [*command, "--arguments", json.dumps(arguments)], capture_output=True, text=True, timeout=120, check=False
    )
    assert made.returncode == 2 and said in made.stderr and "size" in made.stderr
