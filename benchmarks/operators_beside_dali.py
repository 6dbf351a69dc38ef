# SPDX-License-Identifier: Apache-2.0
"""Every operator that DALI has for the CPU too, beside DALI: a pipeline of that one operator over the same arrays.

    python benchmarks/operators_beside_dali.py [--threads N] [--rounds N] [--quick] [--only REGEX ...] [--json FILE]

Penstock and DALI are processes of their own (.venv, .venv-dali), frozen while the other is timed, on as many cores as threads. The
batch comes from an external source that returns the same arrays each time and is not copied. DALI runs with its two executors and
the faster one counts. Penstock runs the same pipeline text, and the operator as an immediate call. A time is the median of the rounds
for one batch, after enough batches to empty the queues; the ratio is DALI's time by Penstock's. `--clock cpu` counts the seconds of
the processor and takes the least, for a machine that has other work.
"""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

import operator_data
import operator_rows

HERE = Path(__file__).resolve().parent
DEPTH = 2  # batches that a pipeline makes ahead
HOWS = {"dali": ("dynamic", "pipelined"), "penstock": ("pipeline", "call")}


class Names:
    """Operators by name, also those that DALI has under `experimental`."""

    def __init__(self, fn):
        self.fn = fn

    def __getattr__(self, name):
        for module in (self.fn, getattr(self.fn, "experimental", None)):
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(f"no operator {name}")


def modules_of(peer, batch, immediate):
    if peer == "dali":
        from nvidia.dali import fn, math
        from nvidia.dali import types as element_types
    else:
        from penstock import fn, math
        from penstock import types as element_types
    size = {"batch_size": batch} if immediate else {}
    return operator_rows.modules(Names(fn), element_types, math, batch, size)


def inputs_of(wanted):
    row = operator_rows.ROWS[wanted["row"]]
    for kind in row.kinds:
        arrays = operator_data.samples(kind, wanted["dtype"], wanted["batch"], wanted["ragged"])
        yield arrays, operator_data.LAYOUTS.get(kind.rstrip("'"), "")


def always(arrays):
    return lambda: arrays


def pipeline(peer, wanted):
    """What runs one batch through a pipeline of the operator."""
    if peer == "dali":
        from nvidia.dali import pipeline_def

        more = {"exec_dynamic": wanted["how"] == "dynamic"}
    else:
        from penstock import pipeline_def

        more = {}
    f, call = modules_of(peer, wanted["batch"], False), operator_rows.ROWS[wanted["row"]].call

    @pipeline_def(
        batch_size=wanted["batch"], num_threads=wanted["threads"], device_id=None, prefetch_queue_depth=DEPTH, **more
    )
    def one_operator():
        nodes = [
            f.fn.external_source(source=always(arrays), batch=True, layout=layout or None, no_copy=True)
            for arrays, layout in inputs_of(wanted)
        ]
        out = call(f, *nodes)
        return tuple(out) if isinstance(out, (list, tuple)) else out

    built = one_operator()
    built.build()
    return built.run


def immediate(wanted):
    import penstock

    if operator_rows.ROWS[wanted["row"]].pipeline:
        raise TypeError("only a pipeline has the operator")
    batches = [penstock.batch(arrays, layout=layout) for arrays, layout in inputs_of(wanted)]
    f, call = modules_of("penstock", wanted["batch"], True), operator_rows.ROWS[wanted["row"]].call
    return lambda: call(f, *batches)


def seconds_of(run, calls):
    for _ in range(2 * DEPTH + 1):
        run()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(calls):
        run()
    return {"wall": (time.perf_counter() - wall) / calls, "cpu": (time.process_time() - cpu) / calls}


def reason(message):
    """The line of a message that says why: DALI's have a traceback before it and a remark after it."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and "no longer valid" not in line]
    wanted = [line for line in lines if "Error when" in line or "not " in line or "required" in line]
    return (wanted or lines or [""])[-1][:200]


def serve(peer):
    """A process that times rows as its parent asks: a line of JSON for each."""
    import race

    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runs, key = {}, None
    print(json.dumps({"versions": race.versions()}), file=out, flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        row = (wanted["row"], wanted["dtype"], wanted["ragged"])
        if row != key:
            runs, key = {}, row
        try:
            how = wanted["how"]
            if how not in runs:
                runs[how] = immediate(wanted) if how == "call" else pipeline(peer, wanted)
            answer = seconds_of(runs[how], wanted["calls"])
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {reason(str(e))}"}
        print(json.dumps(answer), file=out, flush=True)
    os._exit(0)


def worker(peer):
    """The process of a peer, as race.Worker freezes it."""
    import environments
    import race

    python = environments.python_of(peer)
    if python is None:
        sys.exit(f"no environment for {peer}")

    class Asked(race.Worker):
        def ask(self, request):
            import signal

            self.signal(signal.SIGCONT)
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.answer()
            self.signal(signal.SIGSTOP)
            return answer or {"error": f"ended: {self.last_words()}"}

    made = Asked(peer, [python, str(Path(__file__).resolve()), "--serve", peer], HERE / "logs")
    if not made.warm_up():
        sys.exit(f"{peer}: {made.last_words()}")
    return made


class Beside:
    def __init__(self, options):
        self.options = options
        (HERE / "logs").mkdir(exist_ok=True)
        self.workers = {peer: worker(peer) for peer in HOWS}

    def close(self):
        for one in self.workers.values():
            one.end()

    def ask(self, peer, request):
        answer = self.workers[peer].ask(request)
        if answer.get("error", "").startswith("ended"):
            self.workers[peer].end()
            self.workers[peer] = worker(peer)
        return answer

    def measure(self, row, dtype, ragged):
        options = self.options
        request = {
            "row": row.name,
            "dtype": dtype,
            "ragged": ragged,
            "batch": options.batch,
            "threads": options.threads,
        }
        lanes, errors, times = {}, {}, {}
        for peer, hows in HOWS.items():
            for how in hows:
                answer = self.ask(peer, {**request, "how": how, "calls": 1})
                if "error" in answer:
                    errors[how] = answer["error"]
                else:
                    lanes[how] = (peer, min(2000, max(2, int(options.slice / max(answer["wall"], 1e-6)))))
            if all(how in errors for how in hows):
                return {"row": row.name, "type": dtype, "ragged": ragged, "without": peer, "error": errors[hows[0]]}
        for _ in range(options.rounds):
            for how, (peer, calls) in lanes.items():
                answer = self.ask(peer, {**request, "how": how, "calls": calls})
                if "error" not in answer:
                    times.setdefault(how, []).append(answer[options.clock])
        chosen = min if options.clock == "cpu" else statistics.median
        found = {how: 1e3 * chosen(values) for how, values in times.items()}
        return {"row": row.name, "type": dtype, "ragged": ragged, "ms": found, **ratios(found)}


def ratios(ms):
    dali = min(ms[how] for how in HOWS["dali"] if how in ms)
    return {"dali_ms": dali, **{f"ratio_{how}": dali / ms[how] for how in HOWS["penstock"] if how in ms}}


def shown(found):
    first = f"| {found['row']} | {found['type']} | {'ragged' if found['ragged'] else 'uniform'} "
    number = lambda v: "" if v is None else f"{v:.3f}"
    ratio = lambda v: "" if v is None else f"{v:.2f}" if v >= 1 else f"**{v:.2f}**"
    mine = [found["ms"].get(how) for how in HOWS["penstock"]]
    ours = [found.get(f"ratio_{how}") for how in HOWS["penstock"]]
    return first + "| " + " | ".join([number(found["dali_ms"]), *map(number, mine), *map(ratio, ours)]) + " |"


def summary(rows):
    lines = []
    for how in HOWS["penstock"]:
        found = sorted(r[f"ratio_{how}"] for r in rows if f"ratio_{how}" in r)
        if found:
            slower = sum(v < 1 for v in found)
            middle = statistics.median(found)
            lines.append(
                f"{how}: {len(found)} rows, {slower} slower than DALI, least {found[0]:.2f}, median {middle:.2f}"
            )
    return "\n".join(lines)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--slice", type=float, default=0.04, help="least seconds of one turn")
    parser.add_argument("--quick", action="store_true", help="uniform batches and 2 rounds")
    parser.add_argument("--only", nargs="*", metavar="REGEX", help="rows whose name one of these matches at its start")
    parser.add_argument("--dtypes", nargs="*", default=["uint8", "float32"])
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", choices=list(HOWS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.rounds = 2
    return options


def main():
    options = parse()
    if options.serve:
        serve(options.serve)
        return
    import race
    from operators_cpu import keep_to, variants

    keep_to(options.threads)
    facts = {**race.machine_facts(), "threads": options.threads, "rounds": options.rounds, "batch": options.batch}
    beside, rows, without = Beside(options), [], {}
    for one in beside.workers.values():
        facts.setdefault("versions", {}).update(one.facts["versions"])
    print("".join(f"- {key}: {value}\n" for key, value in {**facts, "clock": options.clock}.items()))
    print(
        "| operator | type | batch | DALI, ms | pipeline, ms | call, ms | DALI / pipeline | DALI / call |\n"
        + "|---" * 8
        + "|"
    )
    try:
        for row, dtype, ragged in variants(options):
            found = beside.measure(row, dtype, ragged)
            rows.append(found)
            if "error" in found:
                without.setdefault((found["without"], row.name), found["error"])
            else:
                print(shown(found), flush=True)
    finally:
        beside.close()
    print("\n" + summary(rows) + "\n")
    for (peer, name), why in without.items():
        print(f"{name}: not in {peer}: {why}")
    if options.json:
        options.json.write_text(json.dumps({"facts": facts, "summary": summary(rows), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
