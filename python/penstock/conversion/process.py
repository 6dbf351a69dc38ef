# SPDX-License-Identifier: Apache-2.0
"""What runs in a process of a conversion: lines of JSON tell it its job and then its tasks, and it answers each by a line."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading

from .. import _core, storage
from .formats import open_source, target_class
from .manifest import read_manifest
from .pieces import pieces, written
from .run import faults_of_pieces
from .scaling import Scaling


def _read_lines(file, lines):
    for line in file:
        lines.put(json.loads(line))
    os._exit(1)  # who has started this process is gone, or does not need it


def _converter(job):
    """A function that converts a block into a folder of its own."""
    data = open_source(job["source"], job["format"], images=job["images"], only=job["only"])
    kind = target_class(job["to"])
    scaling = Scaling(job["shorter"], job["quality"]) if job["shorter"] is not None else None

    def convert(task):
        target = kind(task["folder"], data.fields, data.about, job["options"])
        target.restore(job["state"])
        entries, error, shard_size = [], None, job["options"]["shard_size"]
        samples = range(task["first"], task["last"])
        try:
            for piece in pieces(data, target, samples, job["block"], job["threads"], scaling, shard_size):
                entries.append(written(target, len(entries), piece))
        except (OSError, ValueError, _core.DataError) as caught:
            error = [type(caught).__name__, str(caught)]
        return {"entries": entries, "error": error}

    return convert


def _verifier(job):
    """A function that compares pieces with the manifest."""
    manifest = read_manifest(job["source"])
    data = open_source(job["source"], manifest.format)

    def verify(task):
        found = faults_of_pieces(data, manifest, range(task["first"], task["last"]), job["bad"], job["threads"])
        return {"faults": [[f.file, f.sample, f.cause] for f in found]}

    return verify


def main():
    """Does what the standard input says, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that has started this one ends it
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print must not be taken for an answer
    lines = queue.Queue()
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_read_lines, args=(sys.stdin, lines), daemon=True).start()
    storage.configure(**job["storage"])
    task = (_verifier if job["do"] == "verify" else _converter)(job)
    while True:
        answers.write(json.dumps(task(lines.get())) + "\n")
        answers.flush()
