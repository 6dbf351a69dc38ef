# SPDX-License-Identifier: Apache-2.0
"""What comes through a connection is checked before it is used: random and mutated frames never crash, nor take memory."""

import json
import os
import random
import socket
import struct
import sys
import tempfile
import threading
import tracemalloc

import numpy as np
import pytest
from penstock import service
from penstock.service import frames
from penstock.service.contents import Content, Description
from penstock.service.errors import ProtocolError, raised, told
from penstock.service.frames import Connection, packed
from penstock.service.shared_memory import MappedSlots, Slots
from penstock._workers.shared_arrays import anonymous
from service_pipelines import checksums, numbers

COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "40")) * 25


def received(data):
    """What a connection makes of these bytes: its frames, until they end."""
    ours, theirs = socket.socketpair()
    with theirs:
        writer = threading.Thread(target=lambda: (theirs.sendall(data), theirs.shutdown(socket.SHUT_WR)))
        writer.start()
        connection, made = Connection(ours, "the peer"), []
        connection.trust(1 << 20)
        try:
            while True:
                frame = connection.receive()
                for file in frame.files:
                    os.close(file)
                connection.skip(frame.following)
                made.append(frame)
        except EOFError:
            return made
        finally:
            connection.close()
            writer.join()


def followed(data):
    """The bytes that follow a frame, and their sum."""
    return data + struct.pack("<I", frames.crc32c(data))


def a_batch():
    outputs = numbers().run()
    return Content(outputs, {"number": 3, "samples": 4, "ends_epoch": False})


def test_a_frame_arrives_as_it_was_sent():
    words = {"numbers": [1, 2, 2**62], "text": "ä\n"}
    (frame,) = received(packed(frames.ASK, words))
    assert (frame.kind, frame.description, frame.following) == (frames.ASK, words, 0)
    assert received(b"") == []


@pytest.mark.parametrize("sizes", [[0], [1], [5, 0, 7], [1 << 19], [(1 << 19) - 1, 2, (1 << 20) + 3]])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    "timeouts", [(None, None), (None, 60.0), (60.0, None)]
)  # with one, as with TLS, Python does it
def test_bytes_that_follow_arrive_with_their_sum(sizes, known, timeouts):
    chance = np.random.default_rng(3)
    parts = [chance.integers(0, 256, size, np.uint8) for size in sizes]
    whole = np.concatenate(parts)
    ends = [Connection(end, "the peer") for end in socket.socketpair()]
    for end, timeout in zip(ends, timeouts):
        end.trust(1 << 22)
        end.end.settimeout(timeout)
    checksum = frames.crc32c(whole) if known else None
    sent = []
    sender = threading.Thread(
        target=lambda: [sent.append(ends[0].send(frames.BATCH, {}, parts, whole.nbytes, checksum)) for _ in range(3)]
    )
    sender.start()
    for skips in (False, True, False):
        frame, memory = ends[1].receive(), np.zeros(whole.nbytes, np.uint8)
        assert frame.following == whole.nbytes
        if skips:
            ends[1].skip(frame.following)
        else:
            ends[1].receive_into(memory)
            assert np.array_equal(memory, whole)
    sender.join()
    assert sent == [frames.crc32c(whole)] * 3
    for end in ends:
        end.close()


def test_a_peer_that_goes_in_the_middle_ends_both_sides():
    memory = np.ones(1 << 24, np.uint8)
    ends = [Connection(end, "the peer") for end in socket.socketpair()]
    errors = []

    def send():
        try:
            ends[0].send(frames.BATCH, {}, [memory], memory.nbytes)
        except OSError as error:
            errors.append(error)

    sender = threading.Thread(target=send)
    sender.start()
    ends[1].trust(memory.nbytes)
    ends[1].receive()
    ends[1].end.recv(1000)
    ends[1].close()
    sender.join(60)
    assert isinstance(errors[0], (BrokenPipeError, ConnectionResetError))
    ours, theirs = socket.socketpair()
    theirs.sendall(bytes(100_000))
    theirs.close()
    with pytest.raises(ProtocolError, match="ended in the middle of a frame"):
        Connection(ours, "the peer").receive_into(np.zeros(100_001, np.uint8))


@pytest.mark.parametrize("receives", [False, True])
def test_a_connection_that_another_thread_closes_wakes_the_core(receives):
    """With a timeout that is set meanwhile, as a worker does that leaves."""
    ours, theirs = socket.socketpair()
    connection, memory, ends = Connection(ours, "the peer"), np.zeros(1 << 24, np.uint8), []

    def work():
        try:
            connection.receive_into(memory) if receives else connection.send(frames.BATCH, {}, [memory], memory.nbytes)
        except (OSError, ProtocolError) as error:
            ends.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    if receives:
        theirs.sendall(bytes(100_000))
    else:
        theirs.recv(10)
    ours.settimeout(1.0)
    connection.close()
    thread.join(60)
    assert len(ends) == 1 and not thread.is_alive()
    theirs.close()


@pytest.mark.parametrize("at", [0, 2, 4, 8])
def test_damaged_bytes_and_a_damaged_sum_are_refused(at):
    data = bytearray(followed(b"12345"))
    data[at] ^= 16
    ours, theirs = socket.socketpair()
    theirs.sendall(data)
    connection = Connection(ours, "the peer")
    with pytest.raises(ProtocolError, match="what the peer sent was damaged on its way"):
        connection.receive_into(np.zeros(5, np.uint8))
    connection.close()
    theirs.close()


def test_the_checksum_is_crc32c():
    assert frames.crc32c(b"123456789") == 0xE3069283
    assert frames.crc32c(b"6789", frames.crc32c(b"12345")) == 0xE3069283
    assert frames.crc32c(b"") == 0


@pytest.mark.parametrize("seed", range(4))
def test_random_and_mutated_frames_are_refused(seed):
    chance = random.Random(seed)
    whole = (
        packed(frames.ASK, {"numbers": [1, 2, 3]})
        + packed(frames.ERROR, {"number": 1, "text": "x"}, 5)
        + followed(b"12345")
    )
    tracemalloc.start()
    for _ in range(COUNT // 4):
        data = bytearray(whole)
        if chance.random() < 0.2:
            data = bytearray(chance.randbytes(chance.randint(0, 200)))
        for _ in range(chance.randint(1, 4)):
            if data:
                data[chance.randrange(len(data))] = chance.choice([0, 255, chance.randrange(256)])
        if chance.random() < 0.3:
            del data[chance.randint(0, len(data)) :]
        try:
            assert len(received(bytes(data))) <= 2
        except ProtocolError:
            pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20


@pytest.mark.parametrize("size, following", [(2**32 - 1, 0), (0, 2**63), (frames.MOST_DESCRIPTION + 1, 0)])
def test_a_size_is_compared_before_memory_is_taken(size, following):
    data = bytearray(packed(frames.BATCH, {}))
    data[8:20] = struct.pack("<IQ", size, following)
    tracemalloc.start()
    with pytest.raises(ProtocolError, match="max_batch_bytes"):
        received(bytes(data))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize(
    "words",
    [{"retired": True}, {"retired": [None]}, {"retired": [-1]}, {"capacity": 0}, {"capacity": 1 << 30}, {"slot": "0"}],
)
def test_words_about_shared_memory_are_checked(words):
    file = anonymous(4096)
    with pytest.raises(ProtocolError):
        MappedSlots().take({"slot": 0, "capacity": 4096, **words}, [file], 10, 1 << 20)
    os.close(file)


def unsealed():
    return os.memfd_create("penstock", os.MFD_ALLOW_SEALING)


def file_on_disk():
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


@pytest.mark.parametrize("make", [unsealed, file_on_disk])
def test_memory_that_its_sender_could_cut_is_refused(make):
    file = make()
    os.truncate(file, 4096)
    with pytest.raises(ProtocolError, match="not sealed"):
        MappedSlots().take({"slot": 0, "capacity": 4096}, [file], 10, 1 << 20)
    os.close(file)


def test_nobody_can_cut_the_memory_of_a_slot():
    content = Content(numbers().run(), {})
    words, (file,) = Slots().place(content)
    taken = MappedSlots().take(words, [file], content.total, 1 << 20)
    for size in (0, 4096, 1 << 30):
        with pytest.raises(PermissionError):
            os.truncate(file, size)
    written = np.zeros(content.total, np.uint8)
    content.write(written)
    assert np.array_equal(taken, written)
    os.close(file)


def test_a_system_without_seals_has_no_slots(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    with pytest.raises(MemoryError, match="its size could change"):
        Slots().place(Content(numbers().run(), {}))


@pytest.mark.parametrize("data", [b"P", b"x" * 24, packed(frames.LEAVING, {})[:-1] + b"x"])
def test_descriptors_of_a_refused_frame_are_closed(data):
    reading, writing = os.pipe()
    ours, theirs = socket.socketpair()
    socket.send_fds(theirs, [data], [writing])
    theirs.close()
    os.close(writing)
    connection = Connection(ours, "the peer")
    with pytest.raises(ProtocolError):
        connection.receive()
    assert os.read(reading, 1) == b""  # nobody has the other end
    connection.close()
    os.close(reading)


def mutated(words, chance):
    """The description with one value replaced."""
    made = json.loads(json.dumps(words))
    odd = [None, -1, 0, 1, 2**31, 2**63, 2**200, 1.5, "", "x", "UINT8", [], [[]], {}, [2**40, 2**40], True]
    place, key = made, "outputs"
    while isinstance(place[key], (list, dict)) and place[key] and chance.random() < 0.8:
        place = place[key]
        key = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
    if chance.random() < 0.2:
        del place[key]
    else:
        place[key] = chance.choice(odd)
    return made


def test_mutated_descriptions_are_refused_or_fit_the_memory():
    chance, content, refused = random.Random(5), a_batch(), 0
    memory = np.zeros(content.total, np.uint8)
    for _ in range(COUNT):
        try:
            outputs = Description(mutated(content.description, chance), content.total).made(memory)
        except ProtocolError:
            refused += 1
            continue
        begin, end = memory.ctypes.data, memory.ctypes.data + memory.nbytes
        for batch in outputs:
            for k in range(len(batch)):
                array = batch.at(k)
                assert not array.nbytes or begin <= array.ctypes.data <= array.ctypes.data + array.nbytes <= end
    assert refused > COUNT // 2


def test_a_batch_is_over_the_memory_that_was_received():
    outputs = numbers().run()
    content = Content(outputs, {})
    memory = np.zeros(content.total, np.uint8)
    content.write(memory)
    made = Description(content.description, content.total).made(memory)
    for a, b in zip(outputs, made):
        assert a.shape() == b.shape() and a.layout() == b.layout() and a.sources() == b.sources() and a.dtype == b.dtype
        assert all(np.array_equal(a.at(k), b.at(k)) for k in range(len(a)))
    assert made[1].data_ptr() % 64 == memory.ctypes.data % 64


def hello():
    return {"nonce": "n", "proof": "", "job": {"seed": 7, "batch_size": 4, "epochs": "stream"}}


def test_a_worker_outlives_what_strangers_send():
    server = service.Server(numbers, log=open(os.devnull, "w"))
    server.start()
    chance = random.Random(1)
    kinds = [frames.ASK, frames.DROP, frames.RELEASE, frames.BATCH, frames.HELLO, frames.CHALLENGE]
    odd = [{}, hello(), {"numbers": [2**63 - 1]}, {"numbers": [-1]}, {"numbers": "x"}, {"numbers": list(range(2000))}]
    for _ in range(COUNT // 20):
        with socket.create_connection((server.host, server.port)) as end:
            data = packed(frames.HELLO, hello()) if chance.random() < 0.7 else chance.randbytes(100)
            data += b"".join(packed(chance.choice(kinds), chance.choice(odd)) for _ in range(3))
            end.sendall(data[: chance.randint(1, len(data))] if chance.random() < 0.3 else data)
    with service.loader([f"{server.host}:{server.port}"], numbers(), without_workers="error") as batches:
        assert checksums(batches, 10) == checksums(numbers(), 10)
    server.close()


class Impostor:
    """A worker that greets as it should, and then sends these bytes."""

    def __init__(self, data):
        self.data, self.listening = data, socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self.listening.getsockname())
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                end, _ = self.listening.accept()
            except OSError:
                return
            with end:
                try:
                    end.sendall(packed(frames.CHALLENGE, {"nonce": "n", "key": False, "machine": "", "unix": ""}))
                    end.recv(1 << 16)
                    end.sendall(packed(frames.WELCOME, {"proof": ""}) + self.data)
                    while end.recv(1 << 16):
                        pass
                except OSError:
                    pass


def batch_frame(content, words=None, damaged=False, following=None):
    bytes_of = b"".join(part.tobytes() for part in content.parts)
    head = packed(frames.BATCH, {"number": 0, **(words or content.description)}, len(bytes_of))
    bytes_of = followed(bytes_of)
    return head + (bytes([bytes_of[0] ^ 1]) + bytes_of[1:] if damaged else bytes_of)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda content: batch_frame(content, damaged=True),
        lambda content: batch_frame(content, {"outputs": []}),
        lambda content: packed(frames.BATCH, {"number": 0}, 2**50),
        lambda content: packed(frames.BATCH, {"number": -1}),
        lambda content: packed(frames.ERROR, {"number": 0}),
        lambda content: packed(frames.ASK, {"numbers": [1]}),
        lambda content: b"\0" * 100,
    ],
)
def test_a_trainer_drops_what_a_worker_must_not_send(wrong):
    content = a_batch()
    impostor = Impostor(wrong(content))
    server = service.Server(numbers, log=sys.stdout)
    server.start()
    addresses = [impostor.address, f"{server.host}:{server.port}"]
    with service.loader(addresses, numbers(), max_batch_bytes=1 << 30) as batches:
        assert checksums(batches, 10) == checksums(numbers(), 10)
    impostor.listening.close()
    server.close()


class Odd(Exception):
    pass


@pytest.mark.parametrize(
    "error, kind, text",
    [
        (ValueError("a\nb"), ValueError, "a\nb"),
        (KeyError("name"), KeyError, "'name'"),
        (FileNotFoundError(2, "No such file", "x.jpg"), FileNotFoundError, "[Errno 2] No such file: 'x.jpg'"),
        (ZeroDivisionError("division"), ZeroDivisionError, "ZeroDivisionError: division"),
        (Odd("why"), service.ServiceError, f"{__name__}.Odd: why"),
        (MemoryError("none left"), MemoryError, "none left"),
    ],
)
def test_errors_keep_their_type_and_text(error, kind, text):
    again = raised(json.loads(json.dumps(told(error))), "w:1")
    assert type(again) is kind and str(again) == text
