# SPDX-License-Identifier: Apache-2.0
"""What goes to Python's logging, and docs/how_to/log_what_it_does.md."""

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock import fn, pipeline_def
from penstock._base import log

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how_to" / "log_what_it_does.md"


@pipeline_def(batch_size=3, num_threads=2, seed=5)
def noise():
    return fn.random.uniform(range=[0.0, 1.0], shape=[4])


def test_a_pipeline_says_what_it_chose(caplog):
    with caplog.at_level(logging.DEBUG, "penstock"):
        noise(prefetch_queue_depth=3).build()
    start, plan = caplog.records
    assert start.name == plan.name == "penstock.pipeline" and (start.levelname, plan.levelname) == ("INFO", "DEBUG")
    assert (
        "batches of 3, 2 threads (as given," in start.getMessage() and "3 batches ahead, seed 5" in start.getMessage()
    )
    assert "random.uniform" in plan.getMessage()
    caplog.clear()
    with caplog.at_level(logging.INFO, "penstock"):
        noise(num_threads=None).build()
    (start,) = caplog.records
    assert f"{penstock._core.usable_cores()} threads (as many as cores" in start.getMessage()
    caplog.clear()
    noise().build()
    assert not caplog.records


def test_warnings_stay_warnings_and_are_logged(caplog):
    @pipeline_def(batch_size=2, num_threads=1)
    def once():
        return fn.random.uniform(range=[0.0, 1.0], shape=[1]) * float(np.random.rand())

    with pytest.warns(UserWarning, match="drew numbers of numpy.random") as caught:
        once()
    assert caught[0].filename == __file__
    (record,) = caplog.records
    assert record.name == "penstock.pipeline" and record.levelname == "WARNING"
    assert record.getMessage() == str(caught[0].message)


def test_loggers_are_silent_until_the_program_asks():
    assert any(
        isinstance(h, logging.NullHandler) for h in (log.logger("pipeline"), logging.getLogger("penstock"))[1].handlers
    )
    code = (
        "import sys, penstock\nfrom penstock import Pipeline, fn\npipe = Pipeline(batch_size=1, num_threads=1)\n"
        "with pipe:\n    pipe.set_outputs(fn.random.uniform(range=[0.0, 1.0]))\n{}pipe.run()\nprint('logging' in sys.modules)\n"
    )
    for line, loaded in (("", "False"), ("import logging\n", "True")):
        done = subprocess.run([sys.executable, "-c", code.format(line)], capture_output=True, text=True)
        assert (done.stdout, done.stderr) == (loaded + "\n", "")


def test_the_page_prints_what_it_says():
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    said = re.search(r"^INFO:penstock.*$", PAGE.read_text(), re.MULTILINE).group()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)

    def fixed(text):  # what the machine decides
        return re.sub(r"\d+ cores|for \w+$", "", text.strip())

    assert fixed(done.stderr) == fixed(said)
