# SPDX-License-Identifier: Apache-2.0
"""Faults of remote storage and of the cache: typed errors that name the URL, or no visible effect."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import penstock as ps
import pytest
from penstock import fn, storage
from remote_server import RemoteServer
from test_remote import READERS, TFRECORD, configure, data, made, server, settled, taken  # noqa: F401 (fixtures)

HERE = pathlib.Path(__file__).parent


def files(at, names):
    return lambda: fn.readers.file(files=[f"{at}/set/files/a/{n}" for n in names])


def read_one(server, name="1 é.jpg"):
    return taken(files(server.url, [name]), batches=1, batch_size=1)


def impatient(fault):
    """A short timeout only where the server stands still: on a loaded machine others would run into it."""
    return {"timeout": 0.3} if fault == "stall" else {}


@pytest.mark.parametrize(
    "fault, error, words, requests",
    [
        (404, FileNotFoundError, "the server answered 404 Not Found", 1),
        (403, ps.DataError, "the server answered 403 Forbidden", 1),
        (400, ps.DataError, "the server answered 400 Bad Request", 1),
        (500, ps.DataError, "the server answered 500 Internal Server Error, 3 times", 3),
        (503, ps.DataError, "the server answered 503 Service Unavailable, 3 times", 3),
        (429, ps.DataError, "the server answered 429 Too Many Requests, 3 times", 3),
        ("reset", ps.DataError, "the connection was broken, 3 times", 3),
        ("stall", ps.DataError, "the server stood still, 3 times", 3),
        ("short", ps.DataError, "the answer ended early, 3 times", 3),
    ],
)
def test_a_request_that_fails_is_a_typed_error(server, fault, error, words, requests):
    configure(server, tries=3, **impatient(fault))
    server.misbehave("set/files/a/1 é.jpg", fault)
    settled()  # requests of earlier tests, which are tried again as well
    before = storage.stats()["retries"]
    with pytest.raises(error) as caught:
        read_one(server)
    text = str(caught.value)
    assert "[readers.file]" in text and words in text and f"(file: {server.url}/set/files/a/1 é.jpg)" in text
    assert server.count("set/files/a/1 é.jpg") >= requests  # the batch after it may send new requests
    tried_again = storage.stats()["retries"] - before
    assert tried_again == 0 if requests == 1 else tried_again >= requests - 1
    configure(server)
    with pytest.raises(FileNotFoundError, match="404"):
        read_one(server, "none.jpg")


@pytest.mark.parametrize(
    "fault, error, words",
    [
        (404, FileNotFoundError, "the server answered 404 Not Found"),
        (403, ps.DataError, "the server answered 403 Forbidden"),
        (500, ps.DataError, "the server answered 500 Internal Server Error, 2 times"),
        ("reset", ps.DataError, "the connection was broken, 2 times"),
        ("stall", ps.DataError, "the server stood still, 2 times"),
        ("short", ps.DataError, "the answer ended early, 2 times"),
    ],
)
def test_gs_fails_alike(server, fault, error, words):
    configure(server, tries=2, **impatient(fault))
    server.misbehave("set/files/a/1 é.jpg", fault)
    with pytest.raises(error) as caught:
        taken(files("gs:/", ["1 é.jpg"]), batches=1, batch_size=1)
    assert words in str(caught.value) and "(file: gs://set/files/a/1 é.jpg)" in str(caught.value)
    configure(server)
    with pytest.raises(ps.DataError, match="404 Not Found .file: gs://none/"):
        made(lambda: fn.readers.file(file_root="gs://none")).run()


@pytest.mark.parametrize("fault", [500, "reset", "stall", "short"])
def test_what_passes_is_tried_again(server, data, fault):
    configure(server, tries=20, **impatient(fault))
    server.misbehave("set/files/a/1 é.jpg", fault, times=3)
    assert read_one(server) == taken(files(data, ["1 é.jpg"]), batches=1, batch_size=1)
    assert server.count("set/files/a/1 é.jpg") >= 4 and storage.stats()["retries"] >= 3


def test_a_range_of_the_wrong_length(server):
    configure(server, tries=2)
    pipe = made(lambda: READERS["tfrecord_index"](f"{server.url}/set"), batch_size=1)  # the index is read whole
    server.misbehave("set/0.tfrecord", "wrong_length")
    with pytest.raises(ps.DataError, match=r"(?s)\[readers.tfrecord\].*2 times.*0.tfrecord, byte"):
        for _ in range(40):
            pipe.run()


def test_error_policies(server, data):
    configure(server, tries=1)
    names = [f"{i} é.jpg" for i in range(7)]
    for name, fault in (("1 é.jpg", 404), ("4 é.jpg", 500)):
        server.misbehave(f"set/files/a/{name}", fault)
    whole = taken(files(data, names), batches=7, batch_size=1)
    pipe = made(files(server.url, names), batch_size=7, on_error="skip")
    got = [np.asarray(b).tobytes() for b in pipe.run()[0]]
    assert got == [w[0] for i, w in enumerate(whole) if i not in (1, 4)]
    assert len(pipe.stats()["left_out"]) == 2
    pipe = made(files(server.url, names), batch_size=7, on_error="replace")
    got = [np.asarray(b).tobytes() for b in pipe.run()[0]]
    assert [g for i, g in enumerate(got) if i not in (1, 4)] == [w[0] for i, w in enumerate(whole) if i not in (1, 4)]
    assert got[1] in [w[0] for w in whole] and got[4] in [w[0] for w in whole]


def test_a_server_without_ranges(data, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    with RemoteServer(data, ranges=False, validators=False) as server:
        configure(server, cache=str(tmp_path / "c"), cache_limit="1G")
        assert taken(lambda: READERS["files"](f"{server.url}/set"), batches=1) == taken(
            lambda: READERS["files"](f"{data}/set"), batches=1
        )
        with pytest.raises(ps.DataError, match=r"(?s)\[readers.tfrecord\].*knows no Range requests.*\(file: http"):
            made(lambda: READERS["tfrecord"](f"{server.url}/set")).run()
        storage.configure(**storage._DEFAULTS)


def test_what_cannot_be_read_at_all(server, data, tmp_path):
    def refused(error, words, reader):
        with pytest.raises(error, match=words):
            made(reader).run()

    refused(
        ps.DataError,
        r"a web server has no list of its files.*\(file: http",
        lambda: fn.readers.file(file_root=f"{server.url}/set/files"),
    )
    refused(ValueError, "readers know s3://, gs://", lambda: fn.readers.file(files=["ftp://host/x.jpg"]))
    refused(ValueError, "names no bucket", lambda: fn.readers.file(files=["s3:///x.jpg"]))
    refused(FileNotFoundError, "no file matches", lambda: fn.readers.tfrecord(path="s3://set/none*", features=TFRECORD))
    refused((ps.DataError, FileNotFoundError), r"404", lambda: fn.readers.file(file_root="s3://nobucket/x"))
    refused(ps.DataError, "the folder is empty", lambda: fn.readers.file(file_root="s3://set/nothing"))
    refused(ps.DataError, "there is no subfolder", lambda: fn.readers.file(file_root="s3://set/files/b/deeper"))
    empty = data / "set" / "empty.jpg"
    empty.touch()
    refused(ps.DataError, "the file is empty", lambda: fn.readers.file(files=[f"{server.url}/set/empty.jpg"]))
    empty.unlink()


def test_an_object_that_changes_under_the_reader(server, data):
    configure(server, read_ahead=0)
    changing = data / "set" / "changing.tfrecord"
    changing.write_bytes((data / "set" / "0.tfrecord").read_bytes())
    pipe = made(
        lambda: fn.readers.tfrecord(path=f"{server.url}/set/changing.tfrecord", features=TFRECORD), batch_size=1
    )
    pipe.build()
    content = changing.read_bytes()
    changing.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ps.DataError, match=r"(?s)has changed since.*changing.tfrecord"):
        for _ in range(40):
            pipe.run()
    pipe.close()
    changing.unlink()


def test_settings_are_checked():
    for words, settings in (
        ("no setting 'conections'", {"conections": 3}),
        ("connections must be", {"connections": 0}),
        ("tries must be", {"tries": 0}),
        ("needs a limit", {"cache": True}),
        ("number of bytes", {"read_ahead": "lots"}),
        ("must be positive", {"timeout": 0}),
        ("at least one byte", {"cache": "x", "cache_limit": 0}),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            storage.configure(**settings)


def program(text, server, *, env=(), wait=60):
    code = f"""
import sys
sys.path[:0] = {[str(HERE), *sys.path]!r}
import penstock as ps
from penstock import fn, storage
storage.configure(s3=dict(endpoint={server.url!r}, region="x", access_key_id="a", secret_access_key="b"), first_pause=0.01)
from test_remote import READERS, made, taken
{text}"""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **dict(env)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_without_obstore_the_error_names_it(server):
    done = program(
        """
sys.modules["obstore"] = None
try:
    taken(lambda: READERS["files"]("s3://set"), batches=1)
except ValueError as e:
    print(e)
""",
        server,
    )
    out, err = done.communicate(timeout=240)
    assert "pip install obstore" in out and "(file: s3://set/files/a/0 é.jpg)" in out, err


def test_a_signal_ends_a_reader_that_waits_for_its_list(server):
    server.misbehave("set/", "stall")
    server.latency = 30.0
    # A program in the background of a shell begins with this signal ignored.
    waits = program(
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); print('ready', flush=True)\nmade(lambda: READERS['file']('s3://set')).run()",
        server,
    )
    assert waits.stdout.readline() == "ready\n"
    while server.count() == 0:
        time.sleep(0.02)
    waits.send_signal(signal.SIGINT)
    server.latency = 0.0
    out, err = waits.communicate(timeout=240)
    assert "KeyboardInterrupt" in err and waits.returncode != 0


def test_a_pipeline_closes_while_its_requests_hang(server):
    configure(server, timeout=300.0)
    for i in range(7):
        server.misbehave(f"set/files/a/{i} é.jpg", "stall")
    pipe = made(files(server.url, [f"{i} é.jpg" for i in range(7)]), batch_size=3)
    pipe.schedule_run()
    while server.count() == 0:
        time.sleep(0.02)
    pipe.close()  # else it waits for the server, for five minutes
    assert not server.ended.is_set()
    server.ended.set()


def test_a_forked_child_reads_or_says_why_not(server, data):
    want = taken(files(server.url, ["1 é.jpg"]), batches=1, batch_size=1)
    child = os.fork()
    if child == 0:
        try:
            got = taken(files(server.url, ["1 é.jpg"]), batches=1, batch_size=1)
            os._exit(0 if got == want else 1)
        except (ps.DataError, ValueError) as e:
            os._exit(0 if "fork" in str(e).lower() else 2)
        except BaseException:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
