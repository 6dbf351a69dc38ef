# SPDX-License-Identifier: Apache-2.0
"""Times methods against each other on one machine.

Each method is a process of its own. It is frozen (SIGSTOP) except while it is timed, so that nobody reads ahead in
another's time; methods take turns in a random order, round after round, so that drift of the machine hits all alike;
the figure is the median over the rounds, and what counts is its ratio to one of the methods.

A worker says one JSON line when it is warm, then makes one pass for each line "go" on its standard input and answers
with one JSON line: how many items the pass made and in how many seconds.
"""

import importlib.metadata
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time

PACKAGES = (
    "penstock",
    "nvidia-dali-cuda130",
    "numpy",
    "opencv-python-headless",
    "simplejpeg",
    "torch",
    "torchvision",
    "pillow",
    "tensorflow-cpu",
)


def versions():
    """The versions of the packages in PACKAGES that this interpreter has."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def serve(one_pass, facts):
    """The worker's loop. `one_pass()` returns (items, seconds); `facts` goes to the parent with the first line."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # stray prints stay out of the protocol
    one_pass()
    print(json.dumps({"versions": versions(), **facts}), file=out, flush=True)
    for line in sys.stdin:
        if line.strip() != "go":
            break
        items, seconds = one_pass()
        print(json.dumps({"items": items, "seconds": seconds}), file=out, flush=True)
    out.close()
    os._exit(0)  # no peer's shutdown is of interest


def process_tree(pid):
    pids = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as f:
                for child in f.read().split():
                    pids += process_tree(int(child))
    except OSError:
        pass  # it ended meanwhile
    return pids


def status_kb(pid, *fields):
    """Sum of fields of /proc/PID/status in kB, for instance "VmHWM"; 0 if the process is gone."""
    try:
        with open(f"/proc/{pid}/status") as f:
            return sum(int(line.split()[1]) for line in f if line.split(":")[0] in fields)
    except OSError:
        return 0


def cpu_seconds(pids):
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


class Worker:
    def __init__(self, name, command, log_folder, env=None):
        self.name, self.rates, self.cpu_percent, self.facts = name, [], [], {}
        safe = "".join(c if c.isalnum() else "_" for c in name)
        self.log_path = log_folder / f"{os.getpid()}_{safe}.log"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                env={**os.environ, **(env or {})},
            )

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def warm_up(self):
        self.facts = self.answer()
        self.signal(signal.SIGSTOP)
        return self.facts is not None

    def one_pass(self):
        self.signal(signal.SIGCONT)
        pids = process_tree(self.process.pid)
        cpu, start = cpu_seconds(pids), time.perf_counter()
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        answer = self.answer()
        wall = time.perf_counter() - start
        self.signal(signal.SIGSTOP)
        if answer is None:
            return False
        self.rates.append(answer["items"] / answer["seconds"])
        self.cpu_percent.append(100 * (cpu_seconds(pids) - cpu) / wall)
        self.peak_mb = sum(status_kb(pid, "VmHWM") for pid in pids) / 1024
        return True

    def end(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def last_words(self):
        lines = self.log_path.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "ended without a word"

    def row(self):
        return {
            "method": self.name,
            "rate": statistics.median(self.rates),
            "rates": self.rates,
            "cpu_percent": statistics.median(self.cpu_percent),
            "peak_rss_mb": round(self.peak_mb, 1),
            **self.facts,
        }


def race(commands, log_folder, rounds, say=print):
    """Runs {method: (command, env)} against each other; returns (rows, {method: why it failed})."""
    log_folder.mkdir(parents=True, exist_ok=True)
    racing, failed = [], {}
    try:
        for name, (command, env) in commands.items():
            worker = Worker(name, command, log_folder, env)
            racing.append(worker)
            if not worker.warm_up():
                failed[name] = worker.last_words()
                say(f"  {name} failed: {failed[name]}")
        lanes = [w for w in racing if w.name not in failed]
        for i in range(rounds):
            random.Random(i).shuffle(lanes)
            for worker in list(lanes):
                if not worker.one_pass():
                    failed[worker.name] = f"round {i}: {worker.last_words()}"
                    say(f"  {worker.name} failed in {failed[worker.name]}")
                    lanes.remove(worker)
        return [w.row() for w in lanes], failed
    finally:
        for worker in racing:
            worker.end()


def shown_command(words):
    """The command without the folder of the photographs, which differs from machine to machine."""
    at = words.index("--data") if "--data" in words else len(words)
    return " ".join(words[:at] + words[at + 2 :])


def machine_facts():
    with open("/proc/cpuinfo") as f:
        models = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    with open("/proc/meminfo") as f:
        memory_gb = int(f.readline().split()[1]) / 2**20
    commit = ""
    if shutil.which("git"):
        described = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
        commit = subprocess.run(described, capture_output=True, text=True).stdout.strip()
    return {
        "cpu": models[0] if models else os.uname().machine,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory_gb, 1),
        "kernel": os.uname().release,
        "commit": commit,
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "load_before": os.getloadavg()[0],
        "command": shown_command(sys.argv),
    }
