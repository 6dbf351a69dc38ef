# SPDX-License-Identifier: Apache-2.0
"""Runs a pipeline in processes that are killed at random moments and go on from what the one before them saved.

    python tests/killed_program.py FOLDER KILLS    # prints {"programs": ..., "kills": ..., "equal": true}

A child runs batches and after each one writes a file with the state and the hashes of all batches so far, by a rename. It is forked
before the parent has made a pipeline: threads do not come along through a fork.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time

import numpy as np

from penstock import fn, pipeline_def

BATCHES = 40
LONGEST = 0.04  # seconds until a kill: a program needs about 0.03 from its beginning to its end


@pipeline_def(batch_size=3, num_threads=2)
def first(n):
    a = fn.readers.indices(size=n, random_shuffle=True)
    b = fn.readers.indices(size=7)
    index = fn.readers.mix([a, b], name="reader")
    return index, fn.random.uniform(range=[0.0, 1.0])


@pipeline_def(batch_size=4, num_threads=2)
def second(n):
    index = fn.readers.indices(size=n, random_shuffle=True, num_shards=2, shard_id=1)
    return index, fn.external_source(lambda info: np.int64([info.idx_in_epoch]), batch=False, name="beside")


@pipeline_def(batch_size=4, num_threads=2)
def third(n):
    index = fn.readers.indices(size=n, random_shuffle=True, num_shards=3, shard_id=1, deal="batch")
    return fn.rebatch(fn.filter(index + fn.random.uniform(), keep=index % 3 > 0), batch_size=3)


@pipeline_def(batch_size=2, num_threads=1)
def fourth(n):
    return fn.random.normal(shape=[n])


def made(number):
    return (first, second, third, fourth)[number % 4](20 + number % 9, seed=number)


def content(outputs):
    parts = [s.numpy().tobytes() for batch in outputs for s in batch]
    return hashlib.sha256(b"|".join(parts)).hexdigest()[:16]


def child(path, number):
    saved, pipe = {"seen": []}, made(number)
    if os.path.exists(path):
        with open(path) as file:
            saved = json.load(file)
        pipe.load_state(saved["state"])
    while len(saved["seen"]) < BATCHES:
        saved["seen"].append(content(pipe.run()))
        saved["state"] = pipe.state()
        with open(path + ".new", "w") as file:
            json.dump(saved, file)
        os.replace(path + ".new", path)


def forked(function, *arguments):
    pid = os.fork()
    if pid == 0:
        try:
            function(*arguments)
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    return pid


def expected(path, number):
    pipe = made(number)
    with open(path, "w") as file:
        json.dump([content(pipe.run()) for _ in range(BATCHES)], file)


def seconds_of(pid):
    """What its main thread has computed: a random moment of that is one of the program's, however many others run."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9


def wait_for_moment(pid, seconds):
    """Returns once the process has computed so long, or has ended."""
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and seconds_of(pid) < seconds:
        time.sleep(0.001)


def main(folder, kills):
    rng, done, number = random.Random(kills), 0, 0
    while done < kills:
        path = os.path.join(folder, f"{number}.json")
        while True:
            pid = forked(child, path, number)
            wait_for_moment(pid, rng.uniform(0, LONGEST) if done < kills else float("inf"))
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                os.kill(pid, signal.SIGKILL)
                _, status = os.waitpid(pid, 0)
            if os.WIFSIGNALED(status):
                done += 1
                continue
            assert status == 0, f"program {number} failed"
            break
        _, status = os.waitpid(forked(expected, path + ".all", number), 0)
        with open(path) as seen, open(path + ".all") as alone:
            if json.load(seen)["seen"] != json.load(alone):
                raise SystemExit(f"program {number} differs after it was killed")
        number += 1
    print(json.dumps({"programs": number, "kills": done, "equal": True}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
