# SPDX-License-Identifier: Apache-2.0
"""The service between two network namespaces that a veth pair joins, on one connection, beside plain sockets with the same bytes.

    python benchmarks/service_network.py [--rounds 7] [--batches 40] [--out FILE.md]     # as root

Batches are the "ready" ones of benchmarks/service.py, 38.5 MB, which cost nothing to make. "Plain sockets" is one process that sends the
memory of a batch again and again, and one that receives into memory of four batches: what the machine can do without any checks. The
second row computes CRC-32C at both ends besides, of the whole batch before it is sent and after it came. All ways in turns; each round
begins after 30 batches that are not counted, so that no batch was there before. Processor time is that of both ends and their threads.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from service import BEFORE, BYTES, PIPELINES

WAYS = {"plain": "plain sockets", "summed": "plain sockets, CRC-32C at both ends", "service": "service"}


def crc32c(array):
    from penstock import _core

    return _core.crc32c(array.ctypes.data, array.nbytes, 0)


def send(host, port):
    """Sends batches as they are requested: 0 or 1 says whether with a sum."""
    import numpy as np

    listening = socket.create_server((host, int(port)))
    print("ready", listening.getsockname()[1], flush=True)
    batch = np.ones(BYTES, np.uint8)
    while True:
        end, _ = listening.accept()
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=answer, args=(end, batch), daemon=True).start()


def answer(end, batch):
    while asked := end.recv(64):
        for how in asked:
            if how:
                crc32c(batch)
            end.sendall(batch)


def plain(host, port, summed):
    """Receives one batch after another; two are requested ahead, as the service does."""
    import numpy as np

    end = socket.create_connection((host, int(port)))
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    memory = [np.zeros(BYTES, np.uint8) for _ in range(4)]
    end.sendall(bytes([summed]) * 2)
    k = 0
    while True:
        k = (k + 1) % 4
        view, at = memoryview(memory[k]), 0
        while at < BYTES:
            at += end.recv_into(view[at:])
        end.sendall(bytes([summed]))
        if summed:
            crc32c(memory[k])
        yield


def served(host, port, script, key):
    import runpy

    from penstock import service

    pipe = runpy.run_path(script)["ready"]()
    with service.loader([f"{host}:{port}"], pipe, key=key, without_workers="wait") as loader:
        while True:
            loader.run()[0].at(0)[0, 0, 0]
            yield


def receive(way, count, *arguments):
    """For each line of the input: seconds for so many batches and this process's processor time, as a line of JSON."""
    batches = served(*arguments) if way == "service" else plain(*arguments, int(way == "summed"))
    for _ in sys.stdin:
        for _ in range(BEFORE):
            next(batches)
        print("begin", flush=True)
        sys.stdin.readline()
        begin, cpu = time.perf_counter(), time.process_time()
        for _ in range(int(count)):
            next(batches)
        print(json.dumps([time.perf_counter() - begin, time.process_time() - cpu]), flush=True)


class Namespace:
    """A network of its own, for as long as this object is used."""

    def __init__(self):
        self.holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.holder.stdout.readline()
        self.children = []

    def run(self, *command):
        subprocess.run(["nsenter", "-t", str(self.holder.pid), "-n", *command], check=True)

    def start(self, *command):
        command = ["nsenter", "-t", str(self.holder.pid), "-n", *map(str, command)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def close(self):
        for child in (*self.children, self.holder):
            child.kill()
            child.wait()


def joined():
    """Two networks, 10.213.1.1 and 10.213.1.2."""
    ends = Namespace(), Namespace()
    one, two = (str(end.holder.pid) for end in ends)
    pair = f"ip link add name way netns {one} type veth peer name way netns {two}"
    subprocess.run(pair.split(), check=True)
    for k, end in enumerate(ends, 1):
        for words in (f"address add 10.213.1.{k}/24 dev way", "link set way up", "link set lo up"):
            end.run("ip", *words.split())
    return ends


def cpu_of(process):
    words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    here, there = joined()
    with tempfile.TemporaryDirectory() as folder:
        script, key = Path(folder) / "pipelines.py", Path(folder) / "key"
        script.write_text(PIPELINES)
        key.write_text("k" * 32)
        try:
            serve = ("-m", "penstock", "serve", f"{script}:ready", "--host", "10.213.1.1", "--port", 9000, "--key", key)
            sends = here.start(sys.executable, __file__, "send", "10.213.1.1", 9001)
            serves = here.start(sys.executable, *serve)
            senders = {"plain": sends, "summed": sends, "service": serves}
            for child in (sends, serves):
                child.stdout.readline()
            receivers = {
                way: there.start(
                    sys.executable, __file__, "receive", way, options.batches, "10.213.1.1",
                    *((9000, script, key) if way == "service" else (9001,)),
                )
                for way in ("plain", "summed", "service")
            }  # fmt: skip
            rounds = {way: [] for way in receivers}
            for _ in range(options.rounds):
                for way, child in receivers.items():
                    print(file=child.stdin, flush=True)
                    child.stdout.readline()
                    before = cpu_of(senders[way])
                    print(file=child.stdin, flush=True)
                    seconds, cpu = json.loads(child.stdout.readline())
                    cpu += cpu_of(senders[way]) - before
                    rounds[way].append((options.batches * BYTES / seconds / 1e9, cpu / options.batches * 1e3))
                    print(f"{way}: {rounds[way][-1][0]:.2f} GB/s", file=sys.stderr, flush=True)
        finally:
            here.close()
            there.close()
    lines = [
        "| way | GB/s, median | least to greatest | beside plain sockets, median of the rounds | processor ms for a batch, both ends |",
        "|---|---|---|---|---|",
    ]
    for way, made in rounds.items():
        rates = [rate for rate, _ in made]
        beside = statistics.median(rate / other for rate, (other, _) in zip(rates, rounds["plain"]))
        cpu = statistics.median(cpu for _, cpu in made)
        spread = f"{min(rates):.2f} to {max(rates):.2f}"
        lines.append(f"| {WAYS[way]} | {statistics.median(rates):.2f} | {spread} | {beside:.2f} | {cpu:.1f} |")
    lines.append(f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end.")
    print(text := "\n".join(lines))
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] in (["send"], ["receive"]):
        {"send": send, "receive": receive}[sys.argv[1]](*sys.argv[2:])
    else:
        main()
