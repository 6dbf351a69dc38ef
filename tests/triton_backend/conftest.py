# SPDX-License-Identifier: Apache-2.0
"""One server for all tests: each loads the models that it needs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import triton_server  # noqa: E402
from penstock.plugin.triton import install  # noqa: E402


@pytest.fixture(scope="session")
def backends(tmp_path_factory):
    if not triton_server.PROGRAM.exists():
        pytest.skip("there is no Triton server: make test installs it into .venv-triton")
    folder = tmp_path_factory.mktemp("triton") / "backends"
    install(folder)
    return folder


@pytest.fixture(scope="session")
def server(backends, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "models").mkdir()
    with triton_server.Server(folder / "models", backends, folder / "log", "--model-control-mode=explicit") as running:
        running.repository = folder / "models"
        yield running


@pytest.fixture
def client(server):
    with server.client() as one:
        yield one


@pytest.fixture
def load(server, client):
    """load(name, pipeline, config, files): saves a model and loads it; raises what the server says of it."""
    loaded = []

    def one(name, pipeline=None, config=None, files=()):
        triton_server.save_model(server.repository, name, pipeline, config, files)
        loaded.append(name)
        client.json("POST", f"/v2/repository/models/{name}/load")
        return name

    yield one
    for name in loaded:
        client.json("POST", f"/v2/repository/models/{name}/unload")
