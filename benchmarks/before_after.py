# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of Penstock row by row, in one run, interleaved:

    python benchmarks/before_after.py BEFORE AFTER [--rounds 15] [--threads 2] [--out FILE.md] [--only TEXT]

BEFORE and AFTER are folders that hold a package `penstock` (python/ of a checkout that was built with PENSTOCK_PYTHON,
or where a wheel was installed with --target). Rows are the methods of benchmarks/suites that are Penstock's own. A row
has failed when the median of after/before over the rounds is under 0.95 and its upper quartile is under 1.
"""

import argparse
import importlib
import json
import statistics
import sys
from pathlib import Path

import photos
import race

HERE = Path(__file__).resolve().parent
SUITES = ("resnet50", "yolo", "decode", "chain", "call")
sys.path.append(str(HERE / "gpu"))
from judged import judged  # noqa: E402


def rows_of(suite, only):
    """(variant, method) of Penstock's own methods."""
    for variant in suite.VARIANTS:
        for method, (peer, _) in suite.METHODS.items():
            allowed = getattr(suite, "ONLY", {}).get(method, (variant,))
            if peer == "penstock" and variant in allowed and only in f"{variant} {method}":
                yield variant, method


def compare(name, variant, method, options, data):
    """The ratios after/before, one a round."""
    suite = importlib.import_module(f"suites.{name}")
    context = json.dumps({"variant": variant, "threads": options.threads, "data": data})
    own = getattr(suite, "ENV", {}).get(method) or {}
    commands = {
        side: (
            [sys.executable, str(HERE / "worker.py"), name, method, context],
            {**own, "PYTHONPATH": str(Path(folder).resolve())},
        )
        for side, folder in (("before", options.before), ("after", options.after))
    }
    rows, failed = race.race(commands, HERE / "logs", options.rounds)
    if failed:
        return None, "; ".join(f"{side}: {why}" for side, why in failed.items())
    rates = {row["method"]: row["rates"] for row in rows}
    return [after / before for before, after in zip(rates["before"], rates["after"])], rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--photos", type=Path, default=HERE / "data")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    data = {kind: [str(p) for p in photos.write_folder(options.photos / kind, kind)] for kind in ("imagenet", "coco")}
    facts = race.machine_facts()
    lines = [
        f"`{Path(__file__).name}`, {options.rounds} rounds, {options.threads} threads, {facts['cpu']}, "
        f"{facts['cores']} cores, {facts['date']}",
        "",
        "| row | before | after | after / before | quartiles | |",
        "|---|---|---|---|---|---|",
    ]
    lost = 0
    for name in SUITES:
        suite = importlib.import_module(f"suites.{name}")
        for variant, method in rows_of(suite, options.only):
            title = f"{suite.VARIANTS[variant].title}: {method}"
            ratios, rates = compare(name, variant, method, options, data)
            if ratios is None:
                lost += 1
                lines.append(f"| {title} | | | | | not measured: {rates} |")
            else:
                low, middle, high, worse = judged(ratios)
                lost += worse
                before, after = (statistics.median(rates[side]) for side in ("before", "after"))
                lines.append(
                    f"| {title} | {before:,.4g} | {after:,.4g} {suite.UNIT} | {middle:.3f} | {low:.3f} to {high:.3f} "
                    f"| {'**slower**' if worse else ''} |"
                )
            print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
