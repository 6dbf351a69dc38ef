# SPDX-License-Identifier: Apache-2.0
"""The page of Pipeline.report(): one file of HTML with pictures in SVG, without anything from a network."""

from __future__ import annotations

import html

from .report_charts import bars, legend, steps
from .script_lines import short

_PARTS = ("read", "decode", "pixels", "other")
_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5d6670;--line:#d5dae0;--page:#fff;--card:#f5f7f9;--lead:#e8f1fb;
--read:#c2571a;--decode:#2a66b1;--pixels:#2c8a57;--other:#8256a8;--busy:#2a66b1;--idle:#c4cbd3;--blocked:#c2571a}
@media (prefers-color-scheme:dark){:root{--ink:#e7eaee;--soft:#9ba5b0;--line:#3a424b;--page:#15191e;--card:#1f252c;
--lead:#18304a;--read:#f08a4b;--decode:#6aa5ea;--pixels:#5cc48d;--other:#b592dc;--busy:#6aa5ea;--idle:#4a545f;
--blocked:#f08a4b}}
@media print{:root{--page:#fff;--ink:#000;--card:#fff}section{break-inside:avoid}}
*{box-sizing:border-box}body{margin:0 auto;max-width:1080px;padding:24px;background:var(--page);color:var(--ink);
font:15px/1.45 system-ui,sans-serif}h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:30px 0 8px}
p{margin:6px 0}.soft{color:var(--soft)}.lead{background:var(--lead);border-radius:8px;padding:12px 16px;margin:16px 0}
.lead b{display:block}.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px 12px}
.card b{display:block;font-size:19px}.card span{color:var(--soft);font-size:13px}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13.5px}th,td{text-align:right;padding:4px 8px;
border-bottom:1px solid var(--line);white-space:nowrap;font-variant-numeric:tabular-nums}th{cursor:pointer;
color:var(--soft);font-weight:600}th:first-child,td:first-child,.text{text-align:left}td:first-child{white-space:normal;
overflow-wrap:anywhere}svg{display:block;max-width:100%;height:auto}svg text{fill:var(--ink);font:13px system-ui,sans-serif}
svg .soft{fill:var(--soft)}code{font-size:13px}
"""
# A click on a head sorts its table.
_SCRIPT = """
for(const head of document.querySelectorAll("th"))head.onclick=()=>{const body=head.closest("table").tBodies[0],
k=head.cellIndex,sign=head.dataset.down?1:-1;head.dataset.down=sign<0?"1":"";const of=r=>{const t=r.cells[k].textContent,
n=parseFloat(t);return isNaN(n)?t:n};[...body.rows].sort((a,b)=>{const x=of(a),y=of(b);return(x<y?-1:x>y?1:0)*sign})
.forEach(r=>body.append(r))};
"""


def _text(value):
    return html.escape(str(value))


def _table(heads, rows):
    head = "".join(f"<th>{_text(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(f"<td>{_text(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _section(title, *parts):
    return f"<section><h2>{_text(title)}</h2>{''.join(parts)}</section>"


def _note(text):
    return f'<p class="soft">{_text(text)}</p>'


def _milliseconds(seconds):
    ms = seconds * 1e3
    return f"{ms:.1f}" if ms >= 10 else f"{ms:.3f}"


def _cards(s):
    rate = s["samples"] / s["seconds"] if s["seconds"] else 0.0
    share = s["loop_waits"] / s["seconds"] if s["seconds"] else 0.0
    cores = s["process_seconds"] / s["seconds"] if s["seconds"] else 0.0
    read = sum(stage["bytes_read"] for stage in s["stages"])
    in_reads = sum(stage["read"] for stage in s["stages"])
    reads = sum(stage["reads"] for stage in s["stages"])
    cards = [
        (f"{rate:,.0f} samples/s", f"{s['samples']:,} in {s['seconds']:.2f} s, {s['iterations']} batches"),
        (f"{100 * share:.0f} %", "of its time the loop waits for data"),
        (f"{cores:.2f} of {s['cores']} cores", "that the process may use, with all of its threads"),
        (
            f"{read / s['seconds'] / 1e6 if s['seconds'] else 0.0:.1f} MB/s read",
            f"{read / 1e6:.1f} MB in {reads:,} reads, {in_reads:.2f} s of the threads",
        ),
        (f"{s['bytes_held'] / 1e6:.0f} MB", "of memory for batches"),
    ]
    return (
        '<div class="cards">'
        + "".join(f'<div class="card"><b>{_text(a)}</b><span>{_text(b)}</span></div>' for a, b in cards)
        + "</div>"
    )


def _what_if(s):
    rate = s["samples"] / s["seconds"] if s["seconds"] else 0.0
    if not s["with_more_threads"]:
        return ""
    rows = [
        ("as it is", f"{rate:,.0f}", "1.0"),
        (f"{max(s['threads'], s['cores'])} threads that are never idle", *_times(rate, s["with_more_threads"])),
        ("data in memory: reads take no time", *_times(rate, s["with_data_in_memory"])),
    ]
    note = "The most that can be expected: the time of the work that stays, on the cores of this process."
    return _section("What if", _table(["", "samples/s", "times"], rows), _note(note))


def _times(rate, factor):
    return f"{rate * factor:,.0f}", f"{factor:.1f}"


def _stages(s):
    stages = [x for x in sorted(s["stages"], key=lambda x: -x["seconds"]) if x["seconds"] > 0 and not x["constant"]]
    rows = []
    for stage in stages[:25]:
        parts = [stage[part] for part in _PARTS[:-1]]
        rows.append((stage["name"], [*parts, max(0.0, stage["seconds"] - sum(parts))], f"{stage['seconds']:.2f} s"))
    return _section("Time by stage", legend(_PARTS), bars(rows, _PARTS), _note("Seconds, summed over the threads."))


def _percentiles(s):
    rows = []
    for stage in s["stages"]:
        for what, name in (("each", "sample"), ("batches", "batch")):
            d = stage[what]
            if d["count"] and not stage["constant"]:
                values = [_milliseconds(d[p]) for p in ("p50", "p90", "p99", "max")]
                rows.append((stage["name"], name, d["count"], *values, short(stage["line"])))
    whole = s["batches"]
    if whole["count"]:
        rows.append(
            (
                "all stages",
                "batch",
                whole["count"],
                *(_milliseconds(whole[p]) for p in ("p50", "p90", "p99", "max")),
                "",
            )
        )
    heads = ["stage", "of a", "count", "p50 ms", "p90 ms", "p99 ms", "max ms", "line"]
    return _section("How long samples and batches take", _table(heads, rows))


def _slowest(s):
    rows = [
        (
            x["source"] or "not known",
            _milliseconds(x["seconds"]),
            x["visits"],
            f"{x['epoch']} / {x['position']}",
            stage["name"],
        )
        for stage in s["stages"]
        for x in stage["slowest"]
    ]
    rows.sort(key=lambda row: -float(row[1]))
    heads = ["file or record", "ms", "times among the slowest", "epoch / position", "stage"]
    return _section("The slowest samples", _table(heads, rows[:20]))


def _threads(s):
    kinds = ("busy", "idle", "blocked")
    rows = [(t["name"], [t[k] for k in kinds], f"{t['busy']:.2f} s") for t in s["by_thread"]]
    note = "Blocked: the loop holds its batches, so there is no memory for another one."
    queued = sum(t["queued"] for t in s["by_thread"] if t["works"])
    ran = sum(t["ran"] for t in s["by_thread"] if t["works"])
    if ran + queued:
        note += f" The threads waited {100 * queued / (ran + queued):.0f} % of their time for a core that others used."
    return _section("Threads", legend(kinds), bars(rows, kinds), _note(note))


def _queue(s):
    rows = [(f"{n} ready", count) for n, count in enumerate(s["ready"])]
    note = (
        f"How many batches were ready when the loop asked for one, {s['iterations']} times. Mostly 0: the loop waits."
    )
    return _section("Queue", steps(rows), _note(note))


def page(stats, title):
    """The page as text.

    Args:
        stats: A Statistics.
        title: The first line.
    """
    advice = f"<span>{_text(stats['advice'])}</span>" if stats["advice"] else ""
    parts = [_what_if, _stages, _threads, _queue, _percentiles, _slowest]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head><body><h1>{_text(title)}</h1>"
        f'<div class="lead"><b>{_text(stats["verdict"])}</b>{advice}</div>{_cards(stats)}'
        f"{''.join(part(stats) for part in parts)}<script>{_SCRIPT}</script></body></html>\n"
    )
