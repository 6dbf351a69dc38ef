# SPDX-License-Identifier: Apache-2.0
"""A server on loopback that sends the files of a folder as HTTP and as the part of S3 that reading needs, and misbehaves
when a test requests it."""

import hashlib
import http.server
import os
import re
import socket
import struct
import threading
import time
from email.utils import formatdate
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 7  # names on a page of a listing: small, so that tests need several


class RemoteServer:
    """url: "http://127.0.0.1:port"; S3's buckets are the root's subfolders. misbehave() sets what requests for a path get:
    a status, "reset", "stall" (half of the body, then nothing), "short" (the connection ends after half of the body),
    "wrong_length" (fewer bytes than requested, declared as such)."""

    def __init__(self, root, latency=0.0, ranges=True, validators=True, handler=None):
        self.root, self.latency, self.ranges, self.validators = os.fspath(root), latency, ranges, validators
        self.lock = threading.Lock()
        self.requests = []  # (method, path, Range)
        self.in_flight = self.most_in_flight = 0
        self.together = 0  # requests that must be in flight before any is answered
        self.faults = {}  # path: [fault, times left]
        self.ended = threading.Event()
        handler = type("Handler", (handler or Handler,), {"server_state": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler, bind_and_activate=False)
        self.server.request_queue_size = 256
        self.server.server_bind()
        self.server.server_activate()
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def misbehave(self, path, fault, times=1 << 30):
        with self.lock:
            self.faults["/" + path] = [fault, times]

    def count(self, path=None, method=None):
        with self.lock:
            return sum(
                (path is None or p == "/" + path) and (method is None or m == method) for m, p, _ in self.requests
            )

    def clear(self):
        with self.lock:
            self.requests, self.most_in_flight = [], 0

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        state = self.server_state
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        with state.lock:
            state.requests.append((self.command, path, self.headers.get("Range")))
            state.in_flight += 1
            state.most_in_flight = max(state.most_in_flight, state.in_flight)
            fault = state.faults.get(path)
            if fault:
                fault[1] -= 1
                if fault[1] < 0:
                    fault = None
        try:
            if state.latency:
                time.sleep(state.latency)
            end = time.monotonic() + 30
            while state.most_in_flight < state.together and time.monotonic() < end:
                time.sleep(0.01)
            query = parse_qs(parts.query)
            if query.get("list-type") == ["2"]:
                if fault and isinstance(fault[0], int):
                    return self.answer(fault[0], b"told to\n")
                return self.list(path.strip("/"), query)
            self.send_file(path, fault and fault[0])
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with state.lock:
                state.in_flight -= 1

    def answer(self, status, body=b"", headers=(), length=None):
        """In one piece: several small ones would wait for each other."""
        lines = [
            f"HTTP/1.1 {status} {self.responses.get(status, ('?',))[0]}",
            f"Content-Length: {len(body) if length is None else length}",
            *(f"{k}: {v}" for k, v in headers),
            "",
            "",
        ]
        self.wfile.write("\r\n".join(lines).encode() + (b"" if self.command == "HEAD" else bytes(body)))
        self.wfile.flush()

    def send_file(self, path, fault):
        state = self.server_state
        if isinstance(fault, int):
            return self.answer(fault, b"told to\n")
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return None
        file = os.path.normpath(state.root + path)
        if not file.startswith(state.root) or not os.path.isfile(file):
            return self.answer(404, b"no such file\n")
        with open(file, "rb") as f:
            body = f.read()
        headers = (
            [
                ("Accept-Ranges", "bytes"),
                ("Last-Modified", formatdate(os.stat(file).st_mtime, usegmt=True)),
                ("ETag", '"' + hashlib.md5(body).hexdigest() + '"'),
            ]
            if state.validators
            else []
        )
        if state.validators and self.headers.get("If-None-Match") == headers[2][1]:
            return self.answer(304, b"", headers)
        status, length = 200, len(body)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked and state.ranges:
            first, last = int(asked[1]), min(int(asked[2] or len(body)), len(body) - 1)
            if first > last:
                return self.answer(416, b"", [("Content-Range", f"bytes */{len(body)}")])
            headers.append(("Content-Range", f"bytes {first}-{last}/{len(body)}"))
            status, body = 206, body[first : last + 1]
            length = len(body)
        if fault == "wrong_length" and self.command == "GET":
            if status == 206:
                headers[-1] = ("Content-Range", f"bytes {first}-{last - 1}/{length}")
            body, length = body[:-1], length - 1
        if fault in ("stall", "short") and self.command == "GET":
            self.answer(status, body[: length // 2], headers, length)
            if fault == "stall":
                state.ended.wait(60)
            self.close_connection = True
            return None
        return self.answer(status, body, headers, length)

    def list(self, bucket, query):
        state = self.server_state
        root = os.path.join(state.root, bucket)
        prefix = query.get("prefix", [""])[0]
        after = query.get("continuation-token", [""])[0]
        if not bucket or not os.path.isdir(root):
            return self.answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        names = sorted(
            os.path.relpath(os.path.join(folder, name), root) for folder, _, files in os.walk(root) for name in files
        )
        names = sorted((n for n in names if n.startswith(prefix) and n > after), key=lambda n: n.encode())
        page, more = names[:PAGE], len(names) > PAGE
        items = []
        for name in page:
            info = os.stat(os.path.join(root, name))
            items.append(
                f"<Contents><Key>{escape(name)}</Key><Size>{info.st_size}</Size><ETag>&quot;x&quot;</ETag>"
                f"<LastModified>{time.strftime('%Y-%m-%dT%H:%M:%S.000Z', time.gmtime(info.st_mtime))}</LastModified>"
                "<StorageClass>STANDARD</StorageClass></Contents>"
            )
        token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
        return self.answer(
            200,
            (
                '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
                f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount>"
                f"<MaxKeys>{PAGE}</MaxKeys><IsTruncated>{str(more).lower()}</IsTruncated>{''.join(items)}{token}"
                "</ListBucketResult>"
            ).encode(),
            [("Content-Type", "application/xml")],
        )
