# SPDX-License-Identifier: Apache-2.0
"""The repository of models in examples/serve_with_triton, and the program that asks them; the page of Triton."""

import re
import runpy
import subprocess
import sys

import numpy as np
from served_pipelines import of_pipeline, photograph, photographs
from triton_server import ROOT, Server, save_model, use_installed

EXAMPLE = ROOT / "examples" / "serve_with_triton"


def test_the_client_and_its_models(backends, tmp_path):
    with Server(EXAMPLE / "models", backends, tmp_path / "log", "--strict-readiness=true") as server:
        command = [sys.executable, EXAMPLE / "client.py", "--url", f"http://127.0.0.1:{server.port}"]
        drawn = subprocess.run(command, capture_output=True, text=True, timeout=240)
        picture = ROOT / "docs" / "examples" / "resnet50.jpg"
        given = subprocess.run([*command, picture], capture_output=True, text=True, timeout=240)
    assert drawn.returncode == 0, drawn.stderr + (tmp_path / "log").read_text()[-2000:]
    lines = drawn.stdout.splitlines()
    assert lines[0].startswith("classification_input: float32 (2, 3, 224, 224), mean ")
    assert lines[1:4] == [
        "from_dali: uint8 (2, 128, 128, 3)",
        "thumbnails: (96, 96, 3) of a picture of (300, 400, 3)",
        "thumbnails: (96, 96, 3) of a picture of (500, 200, 3)",
    ]
    assert re.match(r"refused: \[\S+\] .*\(sample 2\)", lines[4])
    assert given.returncode == 0 and "refused: [" in given.stdout, given.stderr


def test_the_page(backends, tmp_path, monkeypatch):
    """Its model, its client and its config.pbtxt."""
    page = (ROOT / "docs" / "how_to" / "serve_with_triton.md").read_text()
    model, client = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    config = re.search(r'^```\n(backend: "penstock".*?)^```$', page, re.DOTALL | re.MULTILINE)[1]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(model)
    saved = runpy.run_path("model.py")["preprocessing"]
    save_model(tmp_path / "models", "configured", saved(), config)
    paths = []
    for i in range(3):
        paths.append(f"{i}.jpg")
        (tmp_path / paths[-1]).write_bytes(photograph(i))
    use_installed()
    with Server(tmp_path / "models", backends, tmp_path / "log") as server:
        got = {"url": f"127.0.0.1:{server.grpc_port}", "paths": paths}
        exec(client, got)
        with server.client() as asked:
            padded = asked.infer("configured", {"files": np.fromfile(paths[1], np.uint8)[None]})["pixels"]
        got["client"].close()
    (expected,) = of_pipeline(saved(), files=photographs(3))
    np.testing.assert_array_equal(got["batch"], expected)
    np.testing.assert_array_equal(padded, expected[1:2])
