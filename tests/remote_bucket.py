# SPDX-License-Identifier: Apache-2.0
"""RemoteServer with the part of S3 that writing needs: objects, uploads in parts, and their removal."""

import hashlib
import os
import pathlib
import re
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import unescape

from remote_server import Handler, RemoteServer


class Bucket(RemoteServer):
    """refuse() sets what requests that write get: a status, or "short" (the object loses its last byte)."""

    def __init__(self, root):
        self.uploads = {}  # id: {number of the part: bytes}
        self.written = []  # paths of complete objects, in their order
        self.write_faults = []  # [words of the request line, fault, times left]
        super().__init__(root, handler=WritingHandler)

    def refuse(self, words, fault, times=1 << 30):
        self.write_faults.append([words, fault, times])

    def fault_of(self, line):
        with self.lock:
            for entry in self.write_faults:
                if entry[0] in line and entry[2] > 0:
                    entry[2] -= 1
                    return entry[1]
        return None


class WritingHandler(Handler):
    def do_PUT(self):
        self.written(self.put)

    def do_POST(self):
        self.written(self.post)

    def do_DELETE(self):
        self.written(self.delete)

    def written(self, action):
        parts, state = urlsplit(self.path), self.server_state
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, query = unquote(parts.path), parse_qs(parts.query, keep_blank_values=True)
        with state.lock:
            state.requests.append((self.command, path, None))
        fault = state.fault_of(f"{self.command} {self.path}")
        if isinstance(fault, int):
            return self.answer(fault, b"<Error><Code>Told</Code><Message>told to</Message></Error>")
        return action(path, query, body, fault)

    def kept(self, path, body, fault):
        file = pathlib.Path(os.path.normpath(self.server_state.root + path))
        bucket = pathlib.Path(self.server_state.root, path.split("/")[1])
        if not bucket.is_dir():
            return self.answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        if self.headers.get("If-None-Match") == "*" and file.exists():
            return self.answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body[:-1] if fault == "short" else body)
        with self.server_state.lock:
            self.server_state.written.append(path)
        tag = '"' + hashlib.md5(body).hexdigest() + '"'
        if self.command == "PUT":
            return self.answer(200, b"", [("ETag", tag)])
        text = f"<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
        return self.answer(200, text.encode())

    def put(self, path, query, body, fault):
        if "uploadId" not in query:
            return self.kept(path, body, fault)
        self.server_state.uploads[query["uploadId"][0]][int(query["partNumber"][0])] = body
        return self.answer(200, b"", [("ETag", '"' + hashlib.md5(body).hexdigest() + '"')])

    def post(self, path, query, body, fault):
        state = self.server_state
        if "uploads" in query:
            with state.lock:
                name = f"upload{len(state.requests)}"
                state.uploads[name] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            return self.answer(200, text.encode())
        if "uploadId" in query:
            parts = state.uploads.pop(query["uploadId"][0])
            numbers = [int(n) for n in re.findall(r"<PartNumber>(\d+)</PartNumber>", body.decode())]
            assert numbers == sorted(parts), "a part is missing"
            return self.kept(path, b"".join(parts[n] for n in numbers), fault)
        removed = [unescape(key) for key in re.findall(r"<Key>(.*?)</Key>", body.decode())]
        for key in removed:
            pathlib.Path(state.root, path.strip("/"), key).unlink(missing_ok=True)
        said = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in removed)
        return self.answer(200, f"<DeleteResult>{said}</DeleteResult>".encode())

    def delete(self, path, query, body, fault):
        if "uploadId" in query:
            self.server_state.uploads.pop(query["uploadId"][0], None)
        return self.answer(204)
