# SPDX-License-Identifier: Apache-2.0
"""The repository of models in examples/triton, and the program that asks them; the page of Triton."""

import re
import subprocess
import sys

from triton_server import ROOT, Server

EXAMPLE = ROOT / "examples" / "triton"


def test_the_client_and_its_models(backends, tmp_path):
    with Server(EXAMPLE / "models", backends, tmp_path / "log", "--strict-readiness=true") as server:
        command = [sys.executable, EXAMPLE / "client.py", "--url", f"http://127.0.0.1:{server.port}"]
        drawn = subprocess.run(command, capture_output=True, text=True, timeout=60)
        picture = ROOT / "docs" / "examples" / "resnet50.jpg"
        given = subprocess.run([*command, picture], capture_output=True, text=True, timeout=60)
    assert drawn.returncode == 0, drawn.stderr + (tmp_path / "log").read_text()[-2000:]
    lines = drawn.stdout.splitlines()
    assert lines[0].startswith("classification_input: float32 (2, 3, 224, 224), mean ")
    assert lines[1:3] == [
        "thumbnails: (96, 96, 3) of a picture of (300, 400, 3)",
        "thumbnails: (96, 96, 3) of a picture of (500, 200, 3)",
    ]
    assert re.match(r"refused: \[\S+\] .*\(sample 2\)", lines[3])
    assert given.returncode == 0 and "refused: [" in given.stdout, given.stderr
