# SPDX-License-Identifier: Apache-2.0
"""Readers from third-party servers: nginx, and moto's S3. For `make test-long`; pytest does not collect it by default.

PENSTOCK_MOTO_SERVER: the path of moto_server.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest
from penstock import conversion, storage
from penstock.storage import objects
from test_conversion import files_of, photos  # noqa: F401 (a fixture)
from test_remote import LISTS, READERS, data, taken  # noqa: F401 (a fixture)

NGINX = """daemon off; worker_processes 1; pid {root}/pid; error_log stderr; events {{ worker_connections 512; }}
http {{ access_log off; client_body_temp_path {root}; proxy_temp_path {root}; fastcgi_temp_path {root}; uwsgi_temp_path {root};
scgi_temp_path {root}; server {{ listen 127.0.0.1:{port}; root {files}; }} }}"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def started(command, port):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            assert process.poll() is None, f"{command[0]} ended"
            time.sleep(0.1)
    raise AssertionError(f"{command[0]} does not answer")


@pytest.fixture(scope="module")
def nginx(data, tmp_path_factory):
    for folder in (data, *data.parents):  # its workers may run as another user
        if (
            folder.owner() == pathlib.Path.home().owner()
            and folder != pathlib.Path("/")
            and folder != pathlib.Path("/tmp")
        ):
            folder.chmod(folder.stat().st_mode | 0o055)
    root, port = tmp_path_factory.mktemp("nginx"), free_port()
    (root / "conf").write_text(NGINX.format(root=root, port=port, files=data))
    process = started([shutil.which("nginx") or "/usr/sbin/nginx", "-p", str(root), "-c", str(root / "conf")], port)
    yield f"http://127.0.0.1:{port}/set"
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="module")
def moto(data):
    import obstore

    port = free_port()
    process = started([os.environ["PENSTOCK_MOTO_SERVER"], "-H", "127.0.0.1", "-p", str(port)], port)
    settings = {
        "endpoint": f"http://127.0.0.1:{port}",
        "region": "us-east-1",
        "access_key_id": "a",
        "secret_access_key": "b",
    }
    urllib.request.urlopen(urllib.request.Request(settings["endpoint"] + "/set", method="PUT"), timeout=30)
    store = obstore.store.S3Store("set", client_options={"allow_http": True}, **settings)
    for file in sorted((data / "set").rglob("*")):
        if file.is_file():
            obstore.put(store, str(file.relative_to(data / "set")), file.read_bytes())
    storage.configure(s3=settings)
    yield "s3://set"
    process.terminate()
    process.wait(20)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["nginx", "moto"])
def test_the_same_bytes(request, data, tmp_path, monkeypatch, kind, name, cached):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "indexes"))
    if kind == "nginx" and name in LISTS:
        return
    url = request.getfixturevalue(kind)
    storage.configure(cache=tmp_path / "cache" if cached else False, cache_limit="1G")
    want = taken(lambda: READERS[name](f"{data}/set", random_shuffle=True))
    for _ in range(2):
        assert taken(lambda: READERS[name](url, random_shuffle=True)) == want
    storage.configure(cache=False)


@pytest.mark.parametrize("kind", ["nginx", "moto"])
def test_a_missing_file(request, kind):
    with pytest.raises(FileNotFoundError, match="404"):
        taken(lambda: READERS["files"](request.getfixturevalue(kind) + "/nowhere"))


@pytest.mark.parametrize("to", ["tar", "tfrecord", "parquet", "mds"])
def test_a_data_set_is_written_to_a_bucket(moto, photos, tmp_path, to):  # noqa: F811
    for target in (tmp_path / "x", f"{moto}/converted/{to}"):
        assert conversion.convert(photos, target, to, shard_size=8000) == 10
    for name, content in files_of(tmp_path / "x").items():
        assert objects.content_of(f"{moto}/converted/{to}/{name}") == content
    assert set(objects.sizes_below(f"{moto}/converted/{to}/")) == set(files_of(tmp_path / "x"))
    assert conversion.verify(f"{moto}/converted/{to}") == []


def test_a_large_object_in_a_bucket(moto):
    content = os.urandom(20 << 20)
    objects.put(f"{moto}/large", [content[:9], content[9:]], len(content))
    assert objects.content_of(f"{moto}/large") == content
    assert not objects.put_new(f"{moto}/large", b"x") and objects.put_new(f"{moto}/small", b"x")
