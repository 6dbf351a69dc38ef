# SPDX-License-Identifier: Apache-2.0
"""What using a library costs before and beside the work: import, memory over epochs, size on disk."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import environments

HERE = Path(__file__).resolve().parent
IMPORTS = {  # name: (peer, statements)
    "nothing": ("penstock", ""),
    "Penstock": ("penstock", "import penstock"),
    "Penstock, fn and types": ("penstock", "import penstock\nfrom penstock import fn, pipeline_def, types"),
    "DALI": ("dali", "import nvidia.dali, nvidia.dali.fn, nvidia.dali.types"),
    "NumPy": ("dali", "import numpy"),
    "OpenCV": ("opencv", "import cv2"),
    "torch": ("torchvision", "import torch"),
}
IMPORT_MOST_SECONDS, IMPORT_MOST_MB, WHEEL_MOST_MB, MEMORY_MOST_MB_EXTRA = 0.08, 40, 20, 40
VERDICT = {True: "met", False: "NOT MET", None: "not measured"}
CHILD = """
import sys, time
start = time.perf_counter()
{}
seconds = time.perf_counter() - start
with open("/proc/self/status") as f:
    peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
print("@", seconds, peak / 1024, "numpy" in sys.modules, "torch" in sys.modules)
"""


def run_child(peer, statements):
    """Seconds, peak MB, whether NumPy and torch came along; or the last line of what went wrong."""
    command = [environments.python_of(peer), "-c", CHILD.format(statements)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    answer = [line for line in done.stdout.splitlines() if line.startswith("@")]
    if not answer:
        return None, (done.stderr.strip().splitlines() or ["no answer"])[-1]
    _, seconds, mb, numpy, torch = answer[0].split()
    return (float(seconds), float(mb), numpy == "True", torch == "True"), None


def measure_import(options, _data):
    wanted = {n: i for n, i in IMPORTS.items() if i[0] in options.peers and environments.python_of(i[0])}
    samples, failed = {name: [] for name in wanted}, {}
    for _ in range(options.rounds + 1):  # the first round only fills the page cache
        for name, (peer, statements) in wanted.items():
            sample, why = run_child(peer, statements)
            if sample:
                samples[name].append(sample)
            else:
                failed[name] = why
    rows = []
    for name, all_of_them in samples.items():
        if name not in failed:
            seconds, mb, numpy, torch = zip(*all_of_them[1:])
            rows.append(
                {
                    "method": name,
                    "seconds": statistics.median(seconds),
                    "peak_rss_mb": statistics.median(mb),
                    "imports_numpy": numpy[0],
                    "imports_torch": torch[0],
                }
            )
    ours = next((r for r in rows if r["method"] == "Penstock"), None)
    met = ours and (
        ours["seconds"] <= IMPORT_MOST_SECONDS
        and ours["peak_rss_mb"] <= IMPORT_MOST_MB
        and not ours["imports_numpy"]
        and not ours["imports_torch"]
    )
    page = [
        "## Import (warm page cache)",
        "",
        "| statement | ms | peak RSS MB, the interpreter included | NumPy | torch |",
        "|---|---|---|---|---|",
    ]
    yes = {True: "yes", False: "no"}
    page += [
        f"| {r['method']} | {1e3 * r['seconds']:.0f} | {r['peak_rss_mb']:.0f} | {yes[r['imports_numpy']]} "
        f"| {yes[r['imports_torch']]} |"
        for r in rows
    ]
    target = f"at most {IMPORT_MOST_SECONDS} s and {IMPORT_MOST_MB} MB, neither NumPy nor torch imported"
    return {
        "title": "import",
        "rows": rows,
        "failed": failed,
        "met": met,
        "target": target,
        "page": close_page(page, target, met, failed),
    }


def measure_memory(options, data):
    """Peak of RssAnon + RssShmem over three epochs of the ResNet-50 pipeline, less the same after the imports."""
    rows, failed = [], {}
    for name, peer in (("Penstock", "penstock"), ("DALI", "dali")):
        if peer not in options.peers or environments.python_of(peer) is None:
            continue
        command = [environments.python_of(peer), str(HERE / "memory_worker.py"), peer, str(options.threads)]
        done = subprocess.run(command, input=json.dumps(data["imagenet"]), capture_output=True, text=True)
        if done.returncode == 0:
            rows.append({"method": name, **json.loads(done.stdout.splitlines()[-1])})
        else:
            failed[name] = (done.stderr.strip().splitlines() or ["no answer"])[-1]
    ours = next((r for r in rows if r["method"] == "Penstock"), None)
    met = ours and ours["peak_mb"] <= ours["batches_mb"] + MEMORY_MOST_MB_EXTRA
    page = [
        "## Private memory over three epochs of ResNet-50 training, float32, batch 128, prefetch 2",
        "",
        "| method | peak RssAnon + RssShmem MB over the process after its imports | (prefetch + 1) batches MB |",
        "|---|---|---|",
    ]
    page += [f"| {r['method']} | {r['peak_mb']:.0f} | {r['batches_mb']:.0f} |" for r in rows]
    target = f"at most (prefetch + 1) batches + {MEMORY_MOST_MB_EXTRA} MB"
    return {
        "title": "memory",
        "rows": rows,
        "failed": failed,
        "met": met,
        "target": target,
        "page": close_page(page, target, met, failed),
    }


def measure_size(options, _data):
    """The wheel of Penstock, and what each environment's packages take when installed."""
    wheels = sorted((HERE.parent / "wheelhouse").glob("penstock-*.whl"), key=lambda p: p.stat().st_mtime)
    rows = [{"method": f"Penstock, {wheels[-1].name}", "mb": wheels[-1].stat().st_size / 1e6}] if wheels else []
    installed = {
        "Penstock, installed": ("penstock", "penstock"),
        "DALI, installed with what it needs": ("dali", "nvidia"),
        "OpenCV, installed": ("opencv", "opencv-python-headless"),
    }
    for name, (peer, prefix) in installed.items():
        python = environments.python_of(peer)
        if peer in options.peers and python:
            command = [python, str(Path(__file__).resolve()), prefix]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append({"method": name, "mb": float(done.stdout)})
    met = rows[0]["mb"] <= WHEEL_MOST_MB if wheels else None
    page = ["## Size", "", "| what | MB |", "|---|---|"] + [f"| {r['method']} | {r['mb']:.1f} |" for r in rows]
    failed = {} if wheels else {"Penstock's wheel": "none in wheelhouse/: run `make wheel`"}
    target = f"a wheel of at most {WHEEL_MOST_MB} MB"
    return {
        "title": "size",
        "rows": rows,
        "failed": failed,
        "met": met,
        "target": target,
        "page": close_page(page, target, met, failed),
    }


def close_page(page, target, met, failed):
    lines = [*page, "", f"Target: {target}: {VERDICT[met]}."]
    return "\n".join([*lines, *(f"Failed: {name}: {why}" for name, why in failed.items()), ""])


def installed_mb(prefix):
    """Size of the files of all installed distributions whose name begins with `prefix`."""
    from importlib.metadata import distributions

    files = {f.locate() for d in distributions() if d.metadata["Name"].startswith(prefix) for f in d.files or ()}
    return sum(f.stat().st_size for f in files if f.exists()) / 1e6


SUITES = {"import": measure_import, "memory": measure_memory, "size": measure_size}

if __name__ == "__main__":
    print(installed_mb(sys.argv[1]))
