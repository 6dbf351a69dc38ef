# SPDX-License-Identifier: Apache-2.0
"""Writes the measured table into README.md, between its two marks, from benchmarks/results/cpu.json."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


def rate(result, row):
    if result["unit"] == "calls/s":
        return f"{1e6 / row['rate']:.1f} µs"
    return f"{row['rate']:.0f} {result['unit']}" if row["rate"] >= 10 else f"{row['rate']:.2f} {result['unit']}"


def lines_of(result):
    """One line for Penstock as it runs after the first epoch, and one for each other way of running it."""
    rows = {r["method"]: r for r in result["rows"]}
    dali = rows.get("DALI")
    others = sorted((r for m, r in rows.items() if not m.startswith(("Penstock", "DALI"))), key=lambda r: -r["rate"])
    best = f"{others[0]['method']}: {rate(result, others[0])}" if others else ""
    found = []
    for method, ours in rows.items():
        name, _, how = method.partition(", ")
        if name != "Penstock" or how == "operator by operator":  # the slow twin is there to be compared with
            continue
        ratio = f"**{ours['rate'] / dali['rate']:.2f} ×**" if dali else ""
        title = f"… {how}" if how else result["title"]
        found.append(
            (
                bool(how),
                f"| {title} | {rate(result, ours)} | {rate(result, dali) if dali and not how else ''} | {ratio} "
                f"| {'' if how else best} |",
            )
        )
    return [text for _, text in sorted(found, key=lambda f: f[0])]


def beside(what, show):
    def text(result):
        rows = {r["method"].partition(",")[0]: r for r in reversed(result["rows"])}
        ours, dali = rows.get("Penstock"), rows.get("DALI")
        return f"| {what} | {show(ours)} | {show(dali) if dali else ''} | | |" if ours else None

    return text


FOOTPRINT = {
    "import": beside(
        "`import`, the interpreter included", lambda r: f"{1e3 * r['seconds']:.0f} ms, {r['peak_rss_mb']:.0f} MB"
    ),
    "memory": beside(
        "private memory of ResNet-50 training, three epochs",
        lambda r: f"{r['peak_mb']:.0f} MB (three batches: {r['batches_mb']:.0f} MB)",
    ),
    "size": beside("size (Penstock: the wheel; DALI: installed)", lambda r: f"{r['mb']:.1f} MB"),
}


def table(document):
    facts, results = document["facts"], document["results"]
    lines = [
        "## Measured",
        "",
        f"Medians of {facts['rounds']} interleaved rounds in one run, {facts['threads']} threads, each method in its "
        "own process, photographs like ImageNet's; `make bench`, [all rows](benchmarks/results/cpu.md).",
        "",
        "| | Penstock | DALI 2.4 on the CPU | ratio | fastest other |",
        "|---|---|---|---|---|",
    ]
    lines += [text for result in results.values() if "unit" in result for text in lines_of(result)]
    lines += [
        text
        for name, result in results.items()
        if (text := FOOTPRINT.get(name.partition("/")[0], lambda _: None)(result))
    ]
    return "\n".join(lines)


def main():
    document = json.loads((ROOT / "benchmarks" / "results" / "cpu.json").read_text())
    readme = ROOT / "README.md"
    text = readme.read_text()
    head, _, tail = text.partition(BEGIN)
    if END in tail:
        tail = tail.partition(END)[2]
    readme.write_text(f"{head}{BEGIN}\n{table(document)}\n{END}{tail}")


if __name__ == "__main__":
    main()
