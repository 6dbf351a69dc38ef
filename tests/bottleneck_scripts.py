# SPDX-License-Identifier: Apache-2.0
"""Runs the scripts of tests/bottlenecks, and changes them as the advice says.

python tests/bottleneck_scripts.py FILE FOLDER     prints verdict, changes and rate as JSON
python tests/bottleneck_scripts.py ranks           the statistics of the ranks of slow_rank.py
"""

import ast
import contextlib
import importlib.util
import json
import multiprocessing
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "bottlenecks"
NAMES = sorted(p.stem for p in SCRIPTS.glob("*.py") if p.stem != "photographs")
sys.path[:0] = [str(SCRIPTS), str(HERE)]


def loaded(path):
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def run(script, folder, batches=None):
    """(the statistics, samples a second without the first batches, which start processes)."""
    skipped = getattr(script, "SKIPPED", 2)
    pipe = script.pipeline(folder)
    step = getattr(script, "step", lambda batch: None)
    count = batches or script.BATCHES
    with getattr(script, "beside", contextlib.nullcontext)():
        for i in range(count):
            if i == skipped:
                begin = time.perf_counter()
            step(pipe.run())
        rate = (count - skipped) * pipe.max_batch_size / (time.perf_counter() - begin)
    stats = pipe.stats()
    pipe.close()
    return stats, rate


def _rank(rank, meet, sent):
    script = loaded(SCRIPTS / "slow_rank.py")
    script.RANK, script.step = rank, lambda batch: meet.wait(60)
    sent.put((rank, dict(run(script, None)[0])))


def ranks():
    """The statistics of two processes that meet after each batch. Nobody has imported penstock before."""
    context = multiprocessing.get_context("fork")
    meet, sent = context.Barrier(2), context.Queue()
    processes = [context.Process(target=_rank, args=(rank, meet, sent)) for rank in range(2)]
    for process in processes:
        process.start()
    found = dict(sent.get(timeout=240) for _ in processes)
    for process in processes:
        process.join()
    return [found[rank] for rank in range(2)]


def changed(text, changes):
    """The text of a script with the changes that advice lists."""
    lines = text.splitlines(keepends=True)
    for change in changes:
        number = int(change["place"].rpartition(":")[2]) - 1 if change["place"] else -1
        argument, old, new = change["argument"], change["old"], change["new"]
        if number < 0:
            lines[0] = f"import {argument.partition('.')[0]}; {argument}({new})  # " + lines[0]
        elif old is not None:
            assert f"{argument}={old}" in lines[number], (change, lines[number])
            lines[number] = lines[number].replace(f"{argument}={old}", f"{argument}={new}")
        else:
            lines[number] = added(lines[number], f"{argument}={new}")
    return "".join(lines)


def added(line, argument):
    """A line with one more argument in the call that begins last."""
    tree = ast.parse(line.strip().removeprefix("return ").removeprefix("@"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    own = [c for c in calls if getattr(c.func, "attr", "") in ("external_source", "python_function", "image")]
    call = (own or calls)[0]
    text = line.strip().removeprefix("return ").removeprefix("@")
    at = line.index(text) + call.end_col_offset - 1
    return line[:at] + (", " if call.args or call.keywords else "") + argument + line[at:]


def main(path, folder=None):
    if path == "ranks":
        return print(json.dumps(ranks()))
    stats, rate = run(loaded(Path(path)), Path(folder))
    found = {name: stats[name] for name in ("verdict", "bottleneck", "advice", "changes")}
    print(json.dumps({**found, "rate": rate, "text": str(stats)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
