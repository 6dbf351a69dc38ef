# SPDX-License-Identifier: Apache-2.0
"""Mutated frames of penstock.service to both of its sides: they end in typed errors and touch no memory but their own.

    python tests/fuzz/protocol_fuzzer.py [-max_total_time=SECONDS] [-seed=N]     # as libFuzzer's; seed 0: another one each time

Most sums are made anew after a mutation, since what they protect would not be reached otherwise. At the end a worker that got all of
the frames for workers must still give the right batches.
"""

import io
import json
import os
import random
import resource
import socket
import struct
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
from penstock import service
from penstock.service import frames, greeting
from penstock.service.contents import Content, Description
from penstock.service.errors import ProtocolError, ServiceError
from penstock.service.frames import Connection, packed
from penstock.service.memory import ReceivedMemory
from penstock.service.queue_of_work import QueueOfWork
from penstock.service.shared_memory import MappedSlots, Slots
from penstock.service.worker_link import WorkerLink

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from service_pipelines import checksums, numbers  # noqa: E402

MOST = 1 << 20  # bytes of a batch
MEMORY = 256 << 20  # which the whole run may take besides what it begins with
ODD = [
    None,
    -1,
    0,
    1,
    3,
    2**31,
    2**63,
    2**200,
    1.5,
    float("nan"),
    "",
    "x",
    "UINT8",
    "\0",
    [],
    [[]],
    {},
    [2**40, 2**40],
    [1],
    True,
]
KINDS = range(13)  # two of them are none


def mutated(words, chance):
    """The description with some value replaced or removed."""
    made = json.loads(json.dumps(words))
    if not made:
        return made
    place, key = made, chance.choice(list(made))
    while isinstance(place[key], (list, dict)) and place[key] and chance.random() < 0.8:
        place = place[key]
        key = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
    if chance.random() < 0.2:
        del place[key]
    else:
        place[key] = chance.choice(ODD)
    return made


def frame(kind, words, body, chance):
    """A frame, of which some part is not what it should be."""
    if chance.random() < 0.7:
        words = mutated(words, chance)
    if chance.random() < 0.1:
        kind = chance.choice(KINDS)
    following = len(body) if chance.random() < 0.9 else chance.choice([0, 1, len(body) + 1, 2**40, 2**64 - 1])
    data = bytearray(packed(kind, words, following))
    if body:
        data += body + struct.pack("<I", frames.crc32c(body) if chance.random() < 0.9 else 7)
    if chance.random() < 0.15:  # whatever it is
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.choice([0, 255, chance.randrange(256)])
    if chance.random() < 0.1:
        del data[chance.randrange(len(data)) :]
    return bytes(data)


def fed(data, kind=socket.AF_UNIX, files=()):
    """A connection through which these bytes have come, and the peer's end has closed."""
    ours, theirs = socket.socketpair(kind)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    if files and data:
        socket.send_fds(theirs, [data[:1]], files)
        data = data[1:]
    theirs.setblocking(False)
    theirs.sendall(data)
    theirs.shutdown(socket.SHUT_WR)
    connection = Connection(ours, "the peer")
    connection.trust(MOST)
    return connection, theirs


class Deliveries:
    """Takes what a link of a trainer receives."""

    def __init__(self, begin_and_end=None):
        self.memory, self.got, self.within = ReceivedMemory(4), [], begin_and_end

    def wants(self, number):
        return number % 5 != 4

    def received(self, link, number, content):
        if isinstance(content, tuple):
            for batch in content:
                for k in range(len(batch)):
                    np.array(batch.at(k))  # the sanitizers and the system see each byte


def of_strangers(chance, given):
    """Whatever comes first through a connection."""
    data = b"".join(frame(chance.choice(KINDS), chance.choice(given["words"]), b"", chance) for _ in range(2))
    connection, theirs = fed(data if chance.random() < 0.8 else chance.randbytes(chance.randint(0, 300)))
    connection.most_description, connection.most_following = frames.MOST_OF_STRANGERS, 0
    try:
        while True:
            made = connection.receive()
            assert isinstance(made.description, dict) and made.following == 0
    finally:
        connection.close()
        theirs.close()


def of_workers(chance, given):
    """What a trainer gets, through sockets and through shared memory."""
    data = b""
    for _ in range(chance.randint(1, 3)):
        kind, words, body = chance.choice(given["of workers"])
        data += frame(kind, words, body, chance)
    connection, theirs = fed(data, files=[given["file"]] if chance.random() < 0.3 else ())
    link = WorkerLink(Deliveries(), ("127.0.0.1", 1), None, None, MOST)
    link.connection, link.slots = connection, MappedSlots() if chance.random() < 0.9 else None
    try:
        link._receive()
    finally:
        connection.close()
        theirs.close()


def of_descriptions(chance, given):
    """Outputs lie in the memory that was received."""
    memory = given["memory"]
    outputs = Description(mutated(given["content"].description, chance), memory.nbytes).made(memory)
    begin, end = memory.ctypes.data, memory.ctypes.data + memory.nbytes
    for batch in outputs:
        for k in range(len(batch)):
            array = batch.at(k)
            assert not array.nbytes or begin <= array.ctypes.data <= array.ctypes.data + array.nbytes <= end


def of_greetings(chance, given):
    """Both sides before they know each other, with a key."""
    key = given["key"] if chance.random() < 0.5 else None
    if chance.random() < 0.5:
        connection, theirs = fed(frame(frames.HELLO, given["hello"], b"", chance))
        part = lambda: greeting.greet(connection, key, "", lambda job: given["server"]._driver(job).pipeline.close(), 0)
    else:
        connection, theirs = fed(frame(frames.WELCOME, {"proof": "00" * 32, "why": "no"}, b"", chance))
        challenge = mutated({"nonce": "n", "key": True, "machine": "m", "unix": "u"}, chance)
        part = lambda: greeting.introduce(connection, challenge, key, {"seed": 1})
    try:
        part()
    finally:
        connection.close()
        theirs.close()


def of_requests(chance, given):
    """What a worker's queue gets of a trainer whose frames are whole."""
    queue, slots = QueueOfWork(keep=2), Slots()
    for _ in range(6):
        words = chance.choice(
            [{"numbers": [chance.choice([0, 1, 5, 2**62])]}, {"numbers": list(range(chance.choice([3, 70, 1500])))}]
        )
        taken = frames.numbers_of(mutated(words, chance) if chance.random() < 0.5 else words)
        what = chance.randrange(4)
        if what == 0:
            queue.asked("trainer", taken)
        elif what == 1:
            queue.dropped(chance.choice(["trainer", "another"]), taken)
        elif what == 2:
            slots.release(taken)
        elif (number := queue.begin()) is not None:
            queue.made(number, None)


def of_trainers(chance, given):
    """A live worker: it goes on, whatever comes."""
    server = given["server"]
    with socket.create_connection((server.host, server.port)) as end:
        data = frame(frames.HELLO, given["hello"], b"", chance)
        for _ in range(3):
            kind = chance.choice([frames.ASK, frames.DROP, frames.RELEASE])
            data += frame(kind, {"numbers": [chance.choice([0, 1, 2**62])]}, b"", chance)
        end.settimeout(10)
        end.sendall(data)
        end.shutdown(socket.SHUT_WR)
        while end.recv(1 << 16):
            pass


TARGETS = [of_strangers, of_workers, of_workers, of_descriptions, of_greetings, of_requests, of_trainers]
REFUSING = [of_greetings, of_requests]  # too many numbers, a batch size of 0: the pipeline's and the queue's own errors
EXPECTED = (EOFError, ProtocolError, ServiceError)


def made_once():
    content = Content(numbers().run(), {"number": 3, "samples": 4, "ends_epoch": False})
    body = b"".join(part.tobytes() for part in content.parts)
    memory = np.zeros(content.total, np.uint8)
    content.write(memory)
    place, files = Slots().place(content)
    server = service.Server(numbers, log=io.StringIO(), jobs=1000)
    server.start()
    loader = service.loader([], numbers())
    hello = {"nonce": "n", "proof": "", "job": loader._deliveries.job}
    loader.close()
    error = {"number": 2, "kind": "ValueError", "name": "ValueError", "text": "why"}
    near = {**content.description, **place, "total": content.total}
    of_workers = [
        (frames.BATCH, content.description, body),
        (frames.BATCH, near, b""),
        (frames.ERROR, error, b""),
        (frames.END, {"number": 4}, b""),
        (frames.LEAVING, {}, b""),
    ]
    words = [hello, {"numbers": [1, 2, 3]}, {"proof": "x"}, error, content.description]
    return {
        "content": content, "memory": memory, "file": files[0], "server": server, "hello": hello, "words": words,
        "of workers": of_workers, "key": b"k" * 32,
    }  # fmt: skip


def main():
    options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if word.startswith("-") and "=" in word)
    seconds, seed = float(options.get("max_total_time", 3)), int(options.get("seed", 1)) or random.randrange(1, 2**31)
    print(f"INFO: Seed: {seed}")
    given, chance = made_once(), random.Random(seed)
    runs, ends, end = 0, {}, time.monotonic() + seconds
    before, open_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, None
    while time.monotonic() < end:
        target = chance.choice(TARGETS)
        if target is of_trainers and chance.random() < 0.9:
            continue  # it takes a hundred times as long
        try:
            target(chance, given)
            how = "taken"
        except EXPECTED as error:
            how = type(error).__name__
        except (ValueError, OSError) as error:  # a worker that hangs up resets the connection
            if target is not of_trainers and not (target in REFUSING and isinstance(error, ValueError)):
                return found(target, seed, runs)
            how = type(error).__name__
        except BaseException:
            return found(target, seed, runs)
        ends[target.__name__, how] = ends.get((target.__name__, how), 0) + 1
        runs += 1
        if runs == 1000:
            open_before = len(os.listdir("/proc/self/fd"))
    server = given["server"]
    with service.loader([f"{server.host}:{server.port}"], numbers(), without_workers="error") as batches:
        assert checksums(batches, 10) == checksums(numbers(), 10)
    server.close()
    for (name, how), count in sorted(ends.items()):
        print(f"INFO: {name}: {how} {count}")
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    left_open = len(os.listdir("/proc/self/fd")) - (open_before or 1 << 20)
    print(f"stat::number_of_executed_units: {runs}")
    print(f"stat::average_exec_per_sec:     {runs / seconds:.0f}")
    print(f"stat::peak_rss_mb:              {(before + taken) >> 10}")
    print(f"INFO: {threading.active_count()} threads and {left_open} more descriptors than after 1,000 runs")
    if taken > MEMORY >> 10 or left_open > 50:
        print("a run takes memory or descriptors that it does not give back")
        return 77
    return 0


def found(target, seed, runs):
    traceback.print_exc(file=sys.stdout)
    print(f"FOUND by {target.__name__} after {runs} runs with -seed={seed}")
    return 77


if __name__ == "__main__":
    sys.exit(main())
