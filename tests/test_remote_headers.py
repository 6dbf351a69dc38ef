# SPDX-License-Identifier: Apache-2.0
"""Web servers that send headers of their own kind, and such that send slowly."""
import re
import socket
import threading
import time

import penstock as ps
import pytest
from penstock import Pipeline, fn, storage

BODY = bytes(range(256)) * 40
DATE = b"Last-Modified: Mon, 05 Oct 2020 10:00:00 GMT\r\n"


class Server:
    """Sends BODY by `answer(connection, range)` on each connection."""

    def __init__(self, answer):
        self.answer, self.requests = answer, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/x.bin"
        self.ended = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(65536)
                if not piece:
                    return
                head += piece
            self.requests.append(head.decode())
            try:
                self.answer(self, connection, head)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.socket.close()


def with_headers(headers, chunked=False, ranges=True):
    def answer(_server, connection, head):
        asked = re.search(rb"[Rr]ange: bytes=(\d+)-(\d+)", head) if ranges else None
        body, status = BODY, b"200 OK"
        more = headers
        if asked:
            first, last = int(asked[1]), min(int(asked[2]), len(BODY) - 1)
            body, status = BODY[first:last + 1], b"206 Partial Content"
            more += b"Content-Range: bytes %d-%d/%d\r\n" % (first, last, len(BODY))
        if chunked:
            more += b"Transfer-Encoding: chunked\r\n"
            sent = b"".join(b"%x\r\n%s\r\n" % (len(body[k:k + 999]), body[k:k + 999]) for k in range(0, len(body), 999)) + b"0\r\n\r\n"
        else:
            more += b"Content-Length: %d\r\n" % len(body)
            sent = body
        connection.sendall(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\n" + more + b"\r\n" + (b"" if head.startswith(b"HEAD") else sent))
    return answer


def read(url, **options):
    pipe = Pipeline(batch_size=1, num_threads=1, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.readers.file(files=[url])[0])
    try:
        return bytes(pipe.run()[0][0].numpy())
    finally:
        pipe.close()


@pytest.fixture(autouse=True)
def settings():
    storage.configure(timeout=5.0, least_rate="1K", tries=2, first_pause=0.01)
    yield
    storage.configure(**storage._DEFAULTS)


@pytest.mark.parametrize("headers", [b"", DATE, b"Last-Modified: yesterday\r\n", b"Last-Modified: Mon, 01 Jan 0001 00:00:00 GMT\r\n",
                                     b"Last-Modified: Mon, 01 Jan 1600 00:00:00 GMT\r\n", b"Last-Modified: \r\n",
                                     b"Last-Modified: Fri, 31 Dec 9999 23:59:59 GMT\r\n",
                                     b"Last-Modified: yesterday\r\nETag: \"a\"\r\n"])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("ranges", [False, True])
def test_foreign_headers(headers, chunked, ranges):
    with Server(with_headers(headers, chunked, ranges)) as server:
        assert read(server.url) == BODY


def test_parts_of_an_object_with_foreign_headers():
    for chunked, ranges in ((True, True), (False, True)):
        with Server(with_headers(b"Last-Modified: never\r\n", chunked, ranges)) as server:
            answer = storage._client.get(server.url, 1000, 500, 1 << 30, None)
            assert answer[0] is None and answer[1] == len(BODY) and bytes(answer[4]) == BODY[1000:1500]
            assert storage._client.head(server.url)[:2] == (None, len(BODY))
            assert storage._client.get(server.url, 0, -1, 100, None)[0] == "refused"


@pytest.mark.parametrize("chunked", [False, True])
def test_a_server_that_drips_is_given_up(chunked):
    def drip(server, connection, _head):
        head = b"Transfer-Encoding: chunked\r\n" if chunked else b"Content-Length: %d\r\n" % len(BODY)
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n")
        for k in range(len(BODY)):
            connection.sendall(b"1\r\n%c\r\n" % BODY[k] if chunked else BODY[k:k + 1])
            if server.ended.wait(0.05):
                return
    storage.configure(timeout=0.5)
    with Server(drip) as server:
        begin = time.monotonic()
        with pytest.raises(ps.DataError, match="the server sends too slowly: .* least_rate is 1024 a second") as told:
            read(server.url)
        assert time.monotonic() - begin < 5 and server.url in str(told.value)


def test_a_slow_server_that_keeps_the_least_rate_is_read():
    def slow(_server, connection, _head):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        for k in range(0, len(BODY), 1024):
            connection.sendall(BODY[k:k + 1024])
            time.sleep(0.06)
    storage.configure(timeout=0.5)
    with Server(slow) as server:
        assert read(server.url) == BODY


def test_no_error_quotes_the_client():
    def broken(_server, connection, _head):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: nonsense\r\n\r\nabc")
    with Server(broken) as server:
        with pytest.raises(ps.DataError) as told:
            read(server.url)
    assert not any(word in str(told.value) for word in ("Generic", "performing", "Debug"))
    with pytest.raises(ValueError, match="least_rate must be a number of bytes"):
        storage.configure(least_rate="fast")
