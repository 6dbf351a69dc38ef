# SPDX-License-Identifier: Apache-2.0
"""Writes the measured table into README.md, between its two marks, from benchmarks/results/cpu.json."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
# A newcomer's questions, one row each; the file of results has all rows.
SHOWN = (
    "resnet50/train_f32",
    "resnet50/eval_f32",
    "yolo/yolo",
    "decode/decode",
    "chain/brightness_contrast_f32",
    "call/resize",
    "import/import",
    "memory/memory",
)


def rate(result, row):
    if result["unit"] == "calls/s":
        return f"{1e6 / row['rate']:.1f} µs"
    return f"{row['rate']:.0f} {result['unit']}" if row["rate"] >= 10 else f"{row['rate']:.2f} {result['unit']}"


def lines_of(result):
    """One line for Penstock as it runs after the first epoch, and one for the first epoch where it was measured."""
    rows = {r["method"]: r for r in result["rows"]}
    dali = rows.get("DALI")
    others = sorted((r for m, r in rows.items() if not m.startswith(("Penstock", "DALI"))), key=lambda r: -r["rate"])
    best = f"{others[0]['method']}: {rate(result, others[0])}" if others else ""
    found = []
    for method, ours in rows.items():
        name, _, how = method.partition(", ")
        if name != "Penstock" or (how and "first epoch" not in how):
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
    "memory": beside("private memory of ResNet-50 training", lambda r: f"{r['peak_mb']:.0f} MB"),
}


def table(document):
    facts, results = (
        document["facts"],
        {name: document["results"][name] for name in SHOWN},
    )  # all of a run of `make bench`
    lines = [
        "## Measured",
        "",
        f"Medians of {facts['rounds']} interleaved rounds, {facts['threads']} threads, photographs like ImageNet's: "
        "[all rows](benchmarks/results/cpu.md), [how they were measured](docs/explanation/figures.md).",
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
