# SPDX-License-Identifier: Apache-2.0
"""The verdict names what is slow in the scripts of tests/bottlenecks, and a script that is changed as the advice says is
faster: that is measured with PENSTOCK_TEST_COUNT=N (make test-long), which also writes the rates. Else it has to run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import bottleneck_scripts as scripts
import penstock
import pytest
from penstock._pipeline.statistics import Statistics

LONG = bool(os.environ.get("PENSTOCK_TEST_COUNT"))
PAGE = Path(__file__).resolve().parent.parent / "docs" / "how_to" / "why_is_my_pipeline_slow.md"
CORES = len(os.sched_getaffinity(0))
# Where processors do the work, other programs decide what the advice is: there only make test-long follows it.
OF_PROCESSORS = {"one_thread", "memory", "heavy_decode"}
WITHOUT_CHANGE = {"consumer"}
TRIES = 8  # at most, of a second or two each, in which another program may have the processors


@pytest.fixture(autouse=True)
def settings_of_the_process():
    """What scripts change for the whole process is as before for other tests."""
    interval, connections = sys.getswitchinterval(), penstock.storage.connections()
    yield
    sys.setswitchinterval(interval)
    penstock.storage.configure(connections=connections)


@pytest.fixture(scope="module")
def slow_disk(tmp_path_factory):
    """A library that makes reads of files slow."""
    library = tmp_path_factory.mktemp("disk") / "slow_disk.so"
    source = scripts.SCRIPTS / "slow_disk.c"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def measured(path, folder, request):
    """The numbers of a script."""
    script = scripts.loaded(path)
    if not getattr(script, "SLOW_DISK", False):
        stats, rate = scripts.run(script, folder)
        return {**stats, "rate": rate, "text": str(stats)}
    preload = {**os.environ, "LD_PRELOAD": str(request.getfixturevalue("slow_disk"))}
    call = [sys.executable, scripts.__file__, path, folder]
    done = subprocess.run(call, capture_output=True, text=True, env=preload, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_right(name, script, stats):
    """Whether the verdict is that of the script. Where other programs had the cores, memory cannot be told from pixels,
    which has the same advice: cast less."""
    wanted = "pixels" if name == "one_thread" and CORES == 1 else script.VERDICT
    if wanted == "memory" and "for a core that others used" in stats["text"]:
        return stats["bottleneck"] in ("memory", "pixels")
    return stats["bottleneck"] == wanted


@pytest.mark.parametrize("name", scripts.NAMES)
def test_the_verdict_is_right_and_the_advice_helps(name, tmp_path, request):
    path = scripts.SCRIPTS / f"{name}.py"
    script = scripts.loaded(path)
    getattr(script, "prepare", lambda folder: None)(tmp_path)
    for _ in range(TRIES):
        before = measured(path, tmp_path, request)
        if is_right(name, script, before):
            break
    assert is_right(name, script, before), (before["bottleneck"], before["text"])
    assert before["text"].endswith(before["advice"]) and before["advice"].endswith(".")
    for change in before["changes"]:
        assert change["text"] in before["advice"]
        assert not change["place"] or re.search(rf"{name}\.py:\d+$", change["place"]), change
    if name in WITHOUT_CHANGE or (name in OF_PROCESSORS and not LONG):
        return
    followed = path
    if hasattr(script, "follow"):
        script.follow(tmp_path)
    else:
        assert before["changes"], before["advice"]
        followed = tmp_path / f"{name}_followed.py"
        followed.write_text(scripts.changed(path.read_text(), before["changes"]))
    if not LONG:
        assert measured(followed, tmp_path, request)["rate"] > 0
        return
    for _ in range(TRIES):
        after = measured(followed, tmp_path, request)
        if after["rate"] > 1.15 * before["rate"]:
            break
        if followed != path:  # not where the advice changed the data: there is no way back
            before = measured(path, tmp_path, request)
    assert after["rate"] > 1.15 * before["rate"], (before["text"], after["text"])
    print(f"{name}: {before['rate']:.0f} -> {after['rate']:.0f} samples/s")


def test_the_slow_rank_is_named():
    for _ in range(TRIES):
        done = subprocess.run([sys.executable, scripts.__file__, "ranks"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        ranks = json.loads(done.stdout)
        said = Statistics.compare(ranks)
        if said.startswith("Rank 1"):
            break
    assert said.startswith("Rank 1 holds up the others") and "parallel=True" in said, said
    assert Statistics.compare(ranks[::-1]).startswith("Rank 0 holds up the others")
    assert Statistics.compare(ranks[1:]).startswith("All ranks wait alike")
    with pytest.raises(ValueError, match="at least one rank"):
        Statistics.compare([])
    fewer = [{**ranks[1], "threads": 1, "cores": 4}, {**ranks[0], "threads": 4, "cores": 4}]
    assert "it has 1 thread where others have 4 or more" in Statistics.compare(fewer)


def test_the_page_has_all_verdicts():
    page = PAGE.read_text()
    for name in scripts.NAMES:
        kind = scripts.loaded(scripts.SCRIPTS / f"{name}.py").VERDICT
        assert re.search(rf"^\| {name.replace('_', ' ')} \| `{kind}` \|", page, re.MULTILINE), name
