# SPDX-License-Identifier: Apache-2.0
"""The local cache of remote storage: what it keeps, its limit, damage, a full disk, several processes; and how many
requests readers make."""

import hashlib
import os
import pathlib
import subprocess
import sys

import pytest
from penstock import fn, storage
from test_remote import READERS, configure, data, made, server, settled, taken  # noqa: F401 (fixtures)

HERE = pathlib.Path(__file__).parent


def reader(server):
    return lambda: READERS["files"](f"{server.url}/set")


def entries(folder):
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "lock")


@pytest.fixture
def cache(server, tmp_path):
    configure(server, cache=tmp_path / "cache", cache_limit="1G", read_ahead=0)
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def want(data):
    return taken(lambda: READERS["files"](f"{data}/set"), batches=1, batch_size=7)


def epoch(server):
    return settled(taken(reader(server), batches=1, batch_size=7))


def test_bodies_come_once_and_changes_are_seen(server, data, cache, want):
    assert epoch(server) == want
    before = storage.stats()["bytes"]
    assert before > 0 and len(entries(cache)) >= 7
    assert epoch(server) == want and storage.stats()["bytes"] == before  # checked, but not sent again
    server.clear()
    storage.configure(cache_check=False)
    assert epoch(server) == want and server.count() == 0
    storage.configure(cache_check=True)
    changed = data / "set" / "files" / "a" / "2 é.jpg"
    content = changed.read_bytes()
    changed.write_bytes(b"another version")
    try:
        assert epoch(server)[2][0] == b"another version"
    finally:
        changed.write_bytes(content)


@pytest.mark.parametrize("damage", ["cut", "head", "body", "longer", "empty", "noise", "exchanged"])
def test_damaged_entries_are_fetched_again(server, cache, want, damage):
    storage.configure(cache_check=False)
    assert epoch(server) == want
    files = entries(cache)
    contents = [f.read_bytes() for f in files]
    for k, (file, content) in enumerate(zip(files, contents)):
        at = {"head": 12, "body": len(content) - 1}.get(damage)
        if at is not None:
            content = content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :]
        file.write_bytes(
            {
                "cut": content[:-1],
                "longer": content + b"x",
                "empty": b"",
                "noise": os.urandom(len(content)),
                "exchanged": contents[k - 1],
            }.get(damage, content)
        )
    server.clear()
    assert epoch(server) == want and all(server.count(f"set/files/a/{i} é.jpg") > 0 for i in range(7))
    server.clear()
    assert epoch(server) == want and server.count() == 0


def test_blocks_of_a_container_that_are_damaged(server, cache, data):
    get = lambda at: taken(lambda: READERS["tfrecord"](at, random_shuffle=True), batches=12)  # noqa: E731
    local = get(f"{data}/set")
    assert get(f"{server.url}/set") == local
    for file in entries(cache):
        content = bytearray(file.read_bytes())
        for at in range(300, len(content), 65536):
            content[at] ^= 1
        file.write_bytes(content)
    assert get(f"{server.url}/set") == local


def test_the_limit_holds_and_the_oldest_go(server, data, tmp_path):
    folder = data / "set" / "many"
    folder.mkdir(exist_ok=True)
    for i in range(40):
        (folder / f"{i:02d}.jpg").write_bytes(bytes([i]) * 2000)
    configure(server, cache=tmp_path / "small", cache_limit=40000, cache_check=False, read_ahead=0)
    get = lambda names: settled(
        taken(  # noqa: E731
            lambda: fn.readers.file(files=[f"{server.url}/set/many/{i:02d}.jpg" for i in names]),
            batches=len(names),
            batch_size=1,
        )
    )
    get(range(10))
    for file in entries(tmp_path / "small"):
        os.utime(file, (1, 1))
    get([3])  # used again
    get(range(10, 20))
    assert 0 < sum(f.stat().st_size for f in entries(tmp_path / "small")) <= 40000
    server.clear()
    get([3, 19])
    assert server.count() == 0, "the latest and what was used again stay"
    get(range(10))
    assert server.count() > 0, "others went"


def program(text, *arguments):
    code = f"import sys\nsys.path[:0] = {[str(HERE), *sys.path]!r}\nfrom penstock import storage\nfrom test_remote import *\n{text}"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_disk_that_is_full_warns_once_and_reading_continues(server, tmp_path, want):
    """Writing fails after a limit of the process, as it does on a full disk."""
    done = program(
        """
import resource, signal
url, cache = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
storage.configure(cache=cache, cache_limit="1G", read_ahead=0)
for _ in range(3):
    got = taken(lambda: READERS["files"](url), batches=1, batch_size=7)
print([g[0].hex() for g in got])
""",
        f"{server.url}/set",
        tmp_path / "full",
    )
    out, err = done.communicate(timeout=120)
    assert done.returncode == 0, err
    assert eval(out) == [w[0].hex() for w in want]
    assert err.count("accepts no more entries") == 1 and "File too large" in err
    assert entries(tmp_path / "full") == []  # no half-written file remains


def test_several_processes_share_a_cache(server, data, tmp_path):
    """Small enough that they remove each other's entries all the time."""
    text = """
import hashlib
url, cache = sys.argv[1:]
storage.configure(cache=cache, cache_limit="40k", cache_check=False)
for _ in range(3):
    got = taken(lambda: READERS["files"](url, random_shuffle=True), batches=6)
print([hashlib.sha256(g[0]).hexdigest() for g in got])
"""
    running = [program(text, f"{server.url}/set", tmp_path / "shared") for _ in range(3)]
    # Not the bytes: Python's unbuffered standard output loses what a pipe does not take at once.
    local = [
        hashlib.sha256(w[0]).hexdigest()
        for w in taken(lambda: READERS["files"](f"{data}/set", random_shuffle=True), batches=6)
    ]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert eval(out) == local
    assert not [p for p in entries(tmp_path / "shared") if p.name.startswith("new-")]


def test_many_requests_are_in_flight(server, data):
    server.together = 7
    assert epoch(server) == taken(lambda: READERS["files"](f"{data}/set"), batches=1, batch_size=7)
    assert server.most_in_flight >= 7  # and two threads read


def test_neighbors_in_a_container_become_one_request(server, data):
    get = lambda at, **k: taken(lambda: READERS["tfrecord"](at, **k), batches=1, batch_size=60)  # noqa: E731
    settled(get(f"{server.url}/set"))  # makes the indexes
    server.clear()
    assert get(f"{server.url}/set") == get(f"{data}/set")
    ranges = server.count("set/0.tfrecord", "GET") + server.count("set/1.tfrecord", "GET")
    assert ranges <= 12, "60 records, and those of the next epochs"


def test_nothing_is_read_twice(server):
    pipe = made(lambda: READERS["files"](f"{server.url}/set"), batch_size=7)
    for _ in range(3):
        pipe.run()
    pipe.close()
    assert storage.stats()["announced"] > 0
    assert server.count() <= 7 * 8
