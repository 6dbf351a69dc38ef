# SPDX-License-Identifier: Apache-2.0
"""Sharding with torch.distributed: the example, which ends with an error if a picture is used twice or never."""

import re
import subprocess
import sys
from pathlib import Path

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
