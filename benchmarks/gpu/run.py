# SPDX-License-Identifier: Apache-2.0
"""Runs GPU benchmark suites, each in a process of its own, and writes OUT/NAME.json and OUT/NAME.md.

    python benchmarks/gpu/run.py --data FOLDER --out FOLDER [--name NAME] [--rounds N] [--only LIBRARY] [--smoke] [SUITE ...]

--smoke: a few samples and wall clocks, on any machine (PENSTOCK_GPU_LIBRARY may name an emulated GPU).
"""

import argparse
import importlib
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path

import measure

SUITES = ("chain", "ragged", "filters", "host", "decode", "resnet50", "yolo", "train", "trace", "engine")
DEFAULT = ("chain", "ragged", "filters", "host", "decode", "resnet50", "yolo")
MARK = "RESULT "


def run_suite(name, options):
    """In the process of one suite: prints a line of JSON for each table."""
    settings = measure.Settings(smoke=options.smoke, data=str(options.data), only=options.only.lower())
    if options.rounds or options.smoke:
        settings.rounds = options.rounds or 2
    if options.smoke:
        settings.seconds, settings.milliseconds = 0.05, 2.0
    measure.own_stream()
    for table in importlib.import_module(f"suites.{name}").tables(settings):
        print(MARK + json.dumps(table), flush=True)


def collect(name, options):
    """Runs one suite; where it dies, once more with Penstock alone."""
    tables, begin = [], time.monotonic()
    for only in dict.fromkeys((options.only, "penstock")):
        command = [
            sys.executable,
            __file__,
            "--one",
            name,
            "--data",
            str(options.data),
            "--only",
            only,
            *(["--smoke"] if options.smoke else []),
            *(["--rounds", str(options.rounds)] if options.rounds else []),
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent)
        for line in process.stdout:
            if line.startswith(MARK):
                tables.append(json.loads(line[len(MARK) :]))
                print(markdown(tables[-1]), flush=True)
            else:
                print(line, end="", flush=True)
        if process.wait() == 0:
            break
        print(f"suite {name} ended with status {process.returncode}", flush=True)
        tables.append(
            {
                "title": f"{name} (--only '{only}')",
                "unit": "",
                "rows": [],
                "targets": [],
                "failed": {name: f"the process ended with status {process.returncode}"},
            }
        )
    print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    return tables


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


COLUMNS = {
    "rate": None,
    "us": "us a call",
    "kernel_us": "kernel us",
    "of_copy": "of copy",
    "least": "least",
    "most": "most",
    "host_us": "host us",
    "kernels": "kernels",
    "stage_kernels": "kernels but the decoder's",
    "copies": "copies",
    "cores": "cores",
    "fed": "fed/synthetic",
    "gpu_use": "GPU use %",
    "note": "note",
}


def markdown(table):
    columns = [key for key in COLUMNS if any(key in row for row in table["rows"])]
    head = ["method"] + [COLUMNS[key] or table["unit"] for key in columns]
    lines = [f"## {table['title']}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in table["rows"]:
        lines.append(f"| {row['method']} | " + " | ".join(shown(row.get(key)) for key in columns) + " |")
    lines.append("")
    words = {True: "met", False: "NOT MET", None: "not measured"}
    for t in table.get("targets", []):
        lines.append(
            f"Target: {t['method']}: {t['what']} {t['relation']} {shown(t['wanted'])}: "
            f"{shown(t['value'])}, {words[t['met']]}."
        )
    lines += [f"Failed: {method}: {why}" for method, why in table.get("failed", {}).items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="of " + ", ".join(SUITES))
    parser.add_argument("--data", type=Path, default=Path("/dev/shm/penstock-device"))
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--name", default="gpu")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--only", default="", help="methods whose names begin so, e.g. penstock")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--one", choices=SUITES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        try:
            run_suite(options.one, options)
        except Exception:
            traceback.print_exc()
            sys.exit(1)
        return
    facts = measure.machine()
    commit = Path(__file__).resolve().parents[2] / "commit"
    if commit.exists():
        facts["commit"] = commit.read_text().strip()
    options.out.mkdir(parents=True, exist_ok=True)
    header = f"# Benchmarks: {options.name}\n\n" + "".join(f"- {key}: {value}\n" for key, value in facts.items())
    print(header, flush=True)
    tables = []
    for name in options.suites or DEFAULT:
        tables += collect(name, options)
        # written after every suite: a run that is stopped keeps what it has
        (options.out / f"{options.name}.json").write_text(
            json.dumps({"facts": facts, "tables": tables}, indent=1) + "\n"
        )
        (options.out / f"{options.name}.md").write_text(header + "\n" + "\n".join(markdown(t) for t in tables))


if __name__ == "__main__":
    main()
