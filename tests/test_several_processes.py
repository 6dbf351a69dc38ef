# SPDX-License-Identifier: Apache-2.0
"""Sharding with torch.distributed: the example, which ends with an error if a picture is used twice or never."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "several_gpus.py"


def test_two_processes_see_each_picture_once():
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--processes", "2", "--epochs", "2"], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"epoch (\d), process (\d) of 2 on \S+: (\d+) of 45 pictures, each seen once", done.stdout)
    assert sorted((int(e), int(p)) for e, p, _ in found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for epoch in "01":
        assert sorted(int(n) for e, _, n in found if e == epoch) == [22, 23]


def test_torchrun_starts_the_same_program(tmp_path):
    for i in range(7):
        Image.fromarray(np.full((40 + i, 50, 3), 30 * i, np.uint8)).save(tmp_path / f"{i}.jpg")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(EXAMPLE)]
    done = subprocess.run([*command, str(tmp_path), "--epochs", "1"], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"process (\d) of 2 on \S+: (\d) of 7 pictures, each seen once", done.stdout)
    assert sorted(found) in ([("0", "3"), ("1", "4")], [("0", "4"), ("1", "3")])


def test_a_process_that_is_killed_ends_the_others():
    running = subprocess.Popen(
        [sys.executable, str(EXAMPLE), "--processes", "2", "--epochs", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for line in running.stdout:
            if "process 1 of 2" in line:
                break
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        named = [int(c) for c in children if "spawn_main" in Path(f"/proc/{c}/cmdline").read_text()]
        os.kill(named[1], signal.SIGKILL)
        _, told = running.communicate(timeout=240)  # its epochs would not end
    finally:
        running.kill()
    assert running.returncode != 0 and "process 1 terminated with signal SIGKILL" in told
