# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark suites and writes benchmarks/results/NAME.json and NAME.md.

    python benchmarks/run.py [--quick] [--name NAME] [--rounds N] [--threads N] [--peers A,B] [SUITE ...]

Each peer has its own environment: .venv (Penstock), .venv-dali, .venv-peers/PEER; the variable
PENSTOCK_<PEER>_PYTHON names another interpreter. A peer whose environment is missing is left out and said so.
"""

import argparse
import importlib
import json
import os
from pathlib import Path

import environments
import footprint
import photos
import race

HERE = Path(__file__).resolve().parent
RACES = ("resnet50", "yolo", "decode", "chain", "call")
QUICK_PEERS = ("penstock", "dali")


def data_sets(folder):
    return {kind: [str(p) for p in photos.write_folder(folder / kind, kind)] for kind in ("imagenet", "coco")}


def run_race(suite_name, variant, options, data):
    suite = importlib.import_module(f"suites.{suite_name}")
    context = json.dumps({"variant": variant, "threads": options.threads, "data": data})
    commands, left_out = {}, {}
    for method, (peer, _) in suite.METHODS.items():
        if variant not in getattr(suite, "ONLY", {}).get(method, (variant,)):
            continue
        python = environments.python_of(peer)
        if peer not in options.peers or python is None:
            left_out[method] = "not asked for" if peer not in options.peers else f"no environment for {peer}"
            continue
        commands[method] = (
            [python, str(HERE / "worker.py"), suite_name, method, context],
            getattr(suite, "ENV", {}).get(method),
        )
    rows, failed = race.race(commands, HERE / "logs", options.rounds)
    description = suite.VARIANTS[variant]
    result = {"title": description.title, "unit": suite.UNIT, "rows": rows, "failed": failed, "left_out": left_out}
    judge(result, description.target, getattr(suite, "BASE", "DALI"))
    return judge_more(result, getattr(suite, "MORE_TARGETS", {}).get(variant, {}))


def judge(result, target, base):
    """Adds ratios to the base, whether the target is met, and whether outputs that must agree do."""
    rates = {row["method"]: row["rate"] for row in result["rows"]}
    for row in result["rows"]:
        row["ratio"] = row["rate"] / rates[base] if base in rates else None
    ours = next((row for row in result["rows"] if row["method"] == "Penstock"), None)
    if target.ratio is not None:
        result["target"] = f"at least {target.ratio} x {base}"
        result["met"] = ours["ratio"] >= target.ratio if ours and ours["ratio"] else None
    if target.most_us is not None:
        result["target"] = f"at most {target.most_us} microseconds"
        result["met"] = 1e6 / ours["rate"] <= target.most_us if ours else None
    digests = {row["digest"] for row in result["rows"] if "digest" in row}
    if digests:
        result["outputs_agree"] = len(digests) == 1
        result["met"] = result["met"] and result["outputs_agree"]
    return result


def judge_more(result, targets):
    """The targets of other methods than "Penstock"."""
    for method, ratio in targets.items():
        row = next((r for r in result["rows"] if r["method"] == method), None)
        met = row["ratio"] >= ratio if row and row["ratio"] else None
        result.setdefault("more_targets", []).append({"method": method, "at_least": ratio, "met": met})
        result["met"] = result["met"] and met
    return result


def markdown(result):
    per_item = result["unit"] == "calls/s"
    head = ["method", "microseconds" if per_item else result["unit"], "least to most", "ratio", "CPU %", "peak RSS MB"]
    lines = [f"## {result['title']}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in sorted(result["rows"], key=lambda r: -r["rate"]):
        shown = [row["rate"], min(row["rates"]), max(row["rates"])]
        rate, low, high = (f"{1e6 / r:.2f}" if per_item else f"{r:.1f}" for r in shown)
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else "-"
        lines.append(
            f"| {row['method']} | {rate} | {low} to {high} | {ratio} | {row['cpu_percent']:.0f} "
            f"| {row['peak_rss_mb']:.0f} |"
        )
    return "\n".join(lines + notes(result))


def notes(result):
    lines = [""]
    if "target" in result:
        lines.append(f"Target: {result['target']}: {footprint.VERDICT[result['met']]}.")
    for more in result.get("more_targets", []):
        lines.append(f"Target of {more['method']}: at least {more['at_least']} x: {footprint.VERDICT[more['met']]}.")
    if "outputs_agree" in result:
        lines.append(
            "Output of the fused run and of the slow twin: "
            + ("the same bytes." if result["outputs_agree"] else "DIFFERENT BYTES.")
        )
    lines += [f"Failed: {method}: {why}" for method, why in result.get("failed", {}).items()]
    if result["left_out"]:
        lines.append("Left out: " + "; ".join(f"{method} ({why})" for method, why in result["left_out"].items()) + ".")
    return [*lines, ""]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "suites",
        nargs="*",
        default=[*RACES, *footprint.SUITES],
        metavar="SUITE",
        help=f"of {', '.join([*RACES, *footprint.SUITES])}; SUITE:VARIANT for one variant",
    )
    parser.add_argument("--quick", action="store_true", help="only DALI and Penstock, 3 rounds")
    parser.add_argument("--name", default=None, help="name of the result files (default: cpu, or quick)")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", help="comma-separated, of " + ", ".join(environments.PEERS))
    parser.add_argument("--data", type=Path, default=HERE / "data", help="folder of the photographs, made if missing")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 7)
    options.name = options.name or ("quick" if options.quick else "cpu")
    default = QUICK_PEERS if options.quick else environments.PEERS
    options.peers = options.peers.split(",") if options.peers else list(default)
    return options


def main():
    options = parse()
    facts = {**race.machine_facts(), "threads": options.threads, "rounds": options.rounds}
    data, results, pages = data_sets(options.data), {}, []
    for wanted in options.suites:
        suite_name, _, one = wanted.partition(":")
        if suite_name in footprint.SUITES:
            measured = {suite_name: footprint.SUITES[suite_name](options, data)}
        else:
            variants = importlib.import_module(f"suites.{suite_name}").VARIANTS
            measured = {v: run_race(suite_name, v, options, data) for v in ([one] if one else variants)}
        for variant, result in measured.items():
            results[f"{suite_name}/{variant}"] = result
            pages.append(result["page"] if "page" in result else markdown(result))
            print("\n" + pages[-1], flush=True)
    facts["load_after"] = os.getloadavg()[0]
    for row in (row for result in results.values() for row in result["rows"]):
        facts.setdefault("versions", {}).update(row.pop("versions", {}))
    write(options.name, facts, results, pages)
    for verdict in (True, False, None):
        titles = [result["title"] for result in results.values() if result["met"] is verdict]
        print(f"{len(titles)} {footprint.VERDICT[verdict]}" + "".join(f"\n  {title}" for title in titles))


def write(name, facts, results, pages):
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps({"facts": facts, "results": results}, indent=1) + "\n")
    shown = {**facts, "versions": ", ".join(f"{n} {v}" for n, v in sorted(facts.get("versions", {}).items()))}
    listed = "".join(f"- {key.replace('_', ' ')}: {value}\n" for key, value in shown.items())
    legend = (
        "Medians of interleaved rounds, each method in its own process, frozen while others are timed.\n"
        "Differences under 10 % are noise. Peak RSS sums a method's processes; shared pages count in each.\n\n"
    )
    (folder / f"{name}.md").write_text(f"# Benchmarks: {name}\n\n{listed}\n{legend}" + "\n".join(pages))
    print(f"written: benchmarks/results/{name}.json and {name}.md")


if __name__ == "__main__":
    main()
