# SPDX-License-Identifier: Apache-2.0
"""What a pipeline says of itself: the table of stats(), lines of advice, traces, and the page of report()."""

import html.parser
import json
import re
import sys
import time

import numpy as np
import pytest
from penstock import fn, pipeline_def
from penstock._pipeline import script_lines
from PIL import Image
from threads_at_rest import wait_for_rest

from penstock._pipeline.advice import advise, Script


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("pictures")
    for i in range(6):
        pixels = np.random.default_rng(i).integers(0, 256, (40, 60, 3), np.uint8)
        Image.fromarray(pixels).save(root / f"<{i}> & é.jpg")
    return root


@pipeline_def(batch_size=3, num_threads=2)
def several(root):
    files, labels = fn.readers.file(files=sorted(map(str, root.iterdir())))
    images = fn.resize(fn.decoders.image(files), size=[16, 16])
    numbers = fn.external_source(lambda info: np.float32([info.idx_in_epoch]), batch=False)
    return fn.python_function(images, function=lambda x: x[::-1]), numbers, fn.constant(fdata=[1.0])


@pytest.fixture(scope="module")
def ran(folder):
    pipe = several(folder)
    pipe.start_trace()
    for _ in range(12):
        pipe.run()
        time.sleep(0.001)
    wait_for_rest()  # its counters are of whole batches
    return pipe


def stage(stats, part):
    (found,) = [s for s in stats.stages if part in s["name"]]
    return found


def test_stages_have_samples_durations_and_lines(ran):
    stats = ran.stats()
    for name in ("external_source", "python_function", "decoders.image"):
        found = stage(stats, name)
        assert found["samples"] >= 36 and found["seconds"] > 0 and found["each"]["count"] == found["samples"], found
        each = found["each"]
        assert 0 < each["p50"] <= each["p90"] <= each["p99"] <= each["max"] <= found["batches"]["max"] * 1.07
        assert re.search(r"test_statistics\.py:\d+$", found["line"])
    assert stats.iterations == 12 and sum(stats.ready) == 12 and stats.waits["count"] == 12
    assert 12 <= stats.batches["count"] <= 12 + 4


def test_bytes_and_slowest_samples_are_those_of_the_files(ran, folder):
    sizes = {str(p): p.stat().st_size for p in folder.iterdir()}
    found = stage(ran.stats(), "decoders.image")
    mean = sum(sizes.values()) / len(sizes)
    assert found["reads"] == found["samples"] and found["reads_remote"] == 0
    assert abs(found["bytes_read"] / found["reads"] - mean) < 0.2 * mean
    assert {s["source"] for s in found["slowest"]} == set(sizes)
    assert found["slowest"][0]["seconds"] == found["each"]["max"] or found["each"]["count"] % 2
    seconds = [s["seconds"] for s in found["slowest"]]
    assert seconds == sorted(seconds, reverse=True)


def test_threads_add_up(ran):
    stats = ran.stats()
    own = [t for t in stats.by_thread if t["works"]]
    assert 1 <= len(own) <= 2 and all(t["busy"] >= 0 and t["ran"] >= 0 for t in own)
    assert abs(sum(t["busy"] for t in stats.by_thread) - sum(s["seconds"] for s in stats.stages)) < 1e-6
    assert stats.process_seconds > 0 and stats.cores >= 1


def test_work_after_the_last_batch_is_not_the_loops():
    @pipeline_def(batch_size=2, num_threads=1)
    def numbers():
        return fn.random.uniform(range=[0.0, 1.0], shape=[3])

    pipeline = numbers()
    assert pipeline.stats().process_seconds == 0
    pipeline.run()
    taken = pipeline.stats().process_seconds
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    assert 0 < taken == pipeline.stats().process_seconds


def test_the_table_is_sorted_and_leaves_out_constants(ran):
    text = str(ran.stats())
    rows = re.findall(r"^(\S.*?)  +(\d+\.\d\d) +[\d.]+ .*test_statistics\.py:\d+$", text, re.MULTILINE)
    seconds = [float(s) for _, s in rows]
    assert len(rows) >= 3 and seconds == sorted(seconds, reverse=True)
    assert "constant" not in text and "python_function" in text
    assert not re.search(r"(external_source|python_function) +\S+ +0\.00 ", text)


def test_a_long_table_ends_with_the_rest():
    @pipeline_def(batch_size=2, num_threads=1)
    def many():
        x = fn.random.uniform(range=[0.0, 1.0], shape=[4])
        return tuple(fn.reductions.sum(fn.reshape(x, shape=[2, 2]), axes=[i % 2]) for i in range(40))

    pipe = many()
    for _ in range(3):
        pipe.run()
    stats = pipe.stats()
    lines = [line for line in str(stats).splitlines() if re.search(r"test_statistics\.py:\d+$|more stages", line)]
    assert len(lines) <= 25 and "more stages" in lines[-1]


def test_a_notebook_gets_a_table(ran):
    text = ran.stats()._repr_html_()
    assert text.count("<tr>") == text.count("</tr>") >= 4 and "python_function" in text


def test_traces_name_threads_files_and_waits(ran, tmp_path):
    ran.trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {"thread 0", "the loop", "python_function", "external_source"} <= set(rows.values())
    boxes = [e for e in events if e["ph"] == "X"]
    assert {e["tid"] for e in boxes} == set(rows) and all(e["dur"] >= 0 for e in boxes)
    waits = {(rows[e["tid"]], e["name"]) for e in boxes if e["cat"] == "wait"}
    assert ("the loop", "waits for a batch") in waits
    decodes = [e for e in boxes if "decoders.image" in e["name"] and "file" in e["args"]]
    assert decodes and all(".jpg" in e["args"]["file"] and "decode_us" in e["args"] for e in decodes)


class Page(html.parser.HTMLParser):
    """Checks that tags are closed, and collects what a browser would load."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.words = [], [], []

    def handle_starttag(self, tag, attributes):
        self.loads += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.loads += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_report_is_one_file(ran, folder, tmp_path):
    stats = ran.report(tmp_path / "report.html", title="a <b> & c")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    words = "".join(page.words)
    assert not page.open and not page.loads and "http" not in text and "@import" not in text
    assert "a <b> & c" in words and stats.verdict in words and "<0> & é.jpg" in words
    assert "prefers-color-scheme:dark" in text and "@media print" in text


def test_the_report_of_a_pipeline_that_has_not_run(tmp_path):
    @pipeline_def(batch_size=2, num_threads=1)
    def numbers():
        return fn.random.uniform(range=[0.0, 1.0], shape=[4])

    stats = numbers().report(tmp_path / "report.html")
    assert stats.bottleneck == "unknown" and stats.advice == ""
    Page().feed((tmp_path / "report.html").read_text())
    with pytest.raises(TypeError):
        numbers().report(3)
    with pytest.raises(TypeError, match="debug"):
        numbers(debug=True).report(tmp_path / "report.html")
    with pytest.raises(FileNotFoundError):
        numbers().report(tmp_path / "missing" / "report.html")


SCRIPT = """
from penstock import pipeline_def

@pipeline_def(
    batch_size=2,
    num_threads=1,
)
def images():
    return fn.flip(
        fn.external_source(load, batch=False)
    )

pipe = images(py_num_workers=2)
other = Pipeline(2,
                 seed=1)
"""


@pytest.mark.parametrize(
    "places, argument, function, said",
    [
        ([13, 4], "num_threads", None, "`num_threads=1` → `8` at {}:6"),
        ([13, 4], "py_num_workers", None, "`py_num_workers=2` → `8` at {}:13"),
        ([13, 4], "late", None, "add `late=8` to `images(...)` at {}:13"),
        ([10], "parallel", "external_source", "add `parallel=8` to `fn.external_source(...)` at {}:10"),
        ([14], "num_threads", None, "add `num_threads=8` to `Pipeline(...)` at {}:14"),
        ([99], "num_threads", None, "add `num_threads=8` at {}:99"),
        ([], "num_threads", None, "add `num_threads=8`"),
    ],
)
def test_changes_name_the_line_of_an_argument(places, argument, function, said, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    change = script_lines.find([f"{path}:{line}" for line in places], argument, 8, function)
    assert str(change) == said.format(path)
    assert change.as_dict()["text"] == str(change)


def test_lines_of_no_file_and_of_no_program(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("%magic of a notebook\nimages(num_threads=1)\n")
    assert str(script_lines.find([f"{broken}:2"], "num_threads", 8)) == f"add `num_threads=8` at {broken}:2"
    assert str(script_lines.find(["<stdin>:3"], "num_threads", 8)) == "add `num_threads=8` at <stdin>:3"


def test_every_bottleneck_has_advice(ran):
    numbers = dict(ran.stats())
    script = Script("a.py:1", "", dict(ran.definition.options))
    for place, found in enumerate(numbers["stages"]):
        found["first_line"], found["fed"] = found["line"], False
        for kind in (
            "source",
            "function",
            "lock",
            "network",
            "disk",
            "small_reads",
            "reads",
            "slow_samples",
            "threads",
        ):
            text, changes = advise({**numbers, "bottleneck": kind, "bottleneck_stage": place}, script)
            assert text.endswith(".") and all(str(change) in text for change in changes)
        for kind in ("memory", "decoding", "pixels", "step"):
            text, _ = advise({**numbers, "bottleneck": kind, "bottleneck_stage": place}, script)
            assert text.endswith(".")
    text, changes = advise({**numbers, "bottleneck": "lock", "bottleneck_stage": -1}, script)
    assert "sys.setswitchinterval(0.0005)" in text and changes
    assert advise({**numbers, "bottleneck": "unknown", "bottleneck_stage": -1}, script) == ("", [])
    assert sys.getswitchinterval() > 0.001


def test_a_source_that_the_program_feeds_gets_no_advice_about_processes():
    @pipeline_def(batch_size=2, num_threads=1)
    def fed():
        return fn.external_source(name="x") + 1

    pipe = fed()
    pipe.run(x=np.zeros((2, 3), np.float32))
    numbers = pipe.executor_statistics()
    numbers["bottleneck"] = "source"
    (numbers["bottleneck_stage"],) = [i for i, s in enumerate(numbers["stages"]) if s["name"] == "external_source"]
    text, changes = advise(numbers, pipe._script(numbers))
    assert "feeds this source" in text and not changes
