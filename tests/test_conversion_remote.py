# SPDX-License-Identifier: Apache-2.0
"""penstock convert from and to an object store: the same bytes as in a folder, runs that were stopped, and servers that refuse."""

import os
import pathlib
import shutil

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from remote_bucket import Bucket
from test_conversion import CLASSES, CONTENT, FORMATS, Killed, files_of, photos, sets  # noqa: F401 (fixtures)

import penstock
from penstock import commands, conversion, fn, storage
from penstock.conversion import writing
from penstock.storage import objects

RNG = np.random.default_rng(5)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server with an empty s3://bucket."""
    pytest.importorskip("obstore")
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "server"
    (root / "bucket").mkdir(parents=True)
    with Bucket(root) as server:
        access = {"endpoint": server.url, "region": "eu-west-1", "access_key_id": "a", "secret_access_key": "b"}
        storage.configure(**{**storage._DEFAULTS, "s3": access, "first_pause": 0.01, "tries": 3})
        yield server
        storage.configure(**storage._DEFAULTS)


@pytest.fixture
def full(server, sets):  # noqa: F811
    """The same with every format in the bucket."""
    for name in FORMATS:
        shutil.copytree(sets / name, pathlib.Path(server.root, "bucket", name))
    return server


def in_bucket(server, name):
    return files_of(pathlib.Path(server.root, "bucket", name))


@pytest.mark.parametrize("name", ["tar", "tfrecord", "parquet", "mds"])
def test_a_source_in_an_object_store(full, sets, tmp_path, name):  # noqa: F811
    sources = [f"s3://bucket/{name}"] + [f"s3://bucket/{name}/*.{name}"] * (name != "mds")
    for k, source in enumerate(sources):
        assert conversion.convert(source, tmp_path / f"x{k}", "mds", only=["image", "label"]) == 10
        assert sorted(CONTENT["mds"](tmp_path / f"x{k}")) == sorted(CONTENT[name](sets / name))
    if name == "mds":
        return
    first = sorted((sets / name).glob(f"*.{name}"))[0]
    conversion.convert(first, tmp_path / "local", "tar", only=["image", "label"])
    for k, url in enumerate((f"{full.url}/bucket", "s3://bucket")):
        conversion.convert(f"{url}/{name}/{first.name}", tmp_path / f"y{k}", "tar", only=["image", "label"])
        assert CONTENT["tar"](tmp_path / f"y{k}") == CONTENT["tar"](tmp_path / "local")


def test_processes_read_an_object_store(full, sets, tmp_path):  # noqa: F811
    conversion.convert("s3://bucket/mds", tmp_path / "x", "tar", workers=2, check=False)
    assert CONTENT["tar"](tmp_path / "x") == CONTENT["mds"](sets / "mds")


@pytest.mark.parametrize(
    "source, error, said",
    [
        ("s3://bucket/folder", ValueError, "copy it from s3://bucket/folder first"),
        ("s3://bucket/tar/9*.tar", FileNotFoundError, "no file matches"),
        ("s3://bucket/nowhere", FileNotFoundError, "no file matches"),
        ("s3://bucket/nowhere.tar", FileNotFoundError, "nowhere.tar"),
        ("s3://bucket/nowhere.parquet", FileNotFoundError, "nowhere.parquet"),
    ],
)
def test_a_remote_source_that_is_not_there(full, tmp_path, source, error, said):
    with pytest.raises(error, match=said):
        conversion.convert(source, tmp_path / "x", "mds")


def test_parquet_is_read_in_ranges(server):
    """The ranges of two columns are read and not those of the third, whatever names the files, by several threads."""
    blobs = [RNG.bytes(30_000) for _ in range(40)]
    table = pa.table({"label": list(range(40)), "blob": blobs, "other": [RNG.bytes(90_000) for _ in range(40)]})
    for name, part in (("a", table[:15]), ("b", table[15:])):
        parquet.write_table(part, f"{server.root}/bucket/{name}.parquet", row_group_size=5, compression="none")
    whole = 2 * 40 * 90_000
    for path in ("s3://bucket/*.parquet", [f"{server.url}/bucket/{n}.parquet" for n in "ab"]):
        before = storage.stats()["bytes"]
        pipe = penstock.Pipeline(batch_size=8, num_threads=3)
        with pipe:
            pipe.set_outputs(*fn.readers.parquet(path, columns=["label", "blob"]))
        for k in range(5):
            labels, values = pipe.run()
            assert [int(n.numpy()) for n in labels] == list(range(8 * k, 8 * k + 8))
            assert [v.numpy().tobytes() for v in values] == blobs[8 * k : 8 * k + 8]
        pipe.close()
        assert 40 * 30_000 < storage.stats()["bytes"] - before < whole / 2


@pytest.mark.parametrize("to", ["tar", "tfrecord", "parquet", "mds"])
def test_a_bucket_gets_the_files_of_a_folder(server, photos, sets, to):  # noqa: F811
    assert conversion.convert(photos, f"s3://bucket/{to}.set/", to, shard_size=8000, threads=2) == 10
    assert in_bucket(server, f"{to}.set") == files_of(sets / to)
    pieces = [path for path in server.written if path.endswith(f".{to}")]
    marks = [path for path in server.written if ".partial/0" in path]
    assert len(pieces) == len(marks) > 1 and all(
        server.written.index(p) < server.written.index(m) for p, m in zip(pieces, marks)
    )
    server.clear()
    assert conversion.convert(photos, f"s3://bucket/{to}.set", to, shard_size=8000, threads=2, check=False) == 10
    assert not server.count(method="PUT") and not server.count(method="POST")


def test_a_run_to_a_bucket_that_was_stopped_anywhere(server, photos, sets, monkeypatch):  # noqa: F811
    """Each request that writes is the last one of a run; the next one goes on, and writes no complete file again."""
    put, stopped, wanted = objects.put, 0, files_of(sets / "mds")
    for late in (False, True):  # the object is there, or is not
        for last in range(20):
            left = [last]

            def stop(url, pieces, size, late=late, left=left):
                left[0] -= 1
                if left[0] < 0 and not late:
                    raise Killed
                put(url, pieces, size)
                if left[0] < 0:
                    raise Killed

            name = f"x{late}{last}"
            for module in ("writing", "marks"):
                monkeypatch.setattr(f"penstock.conversion.{module}.put", stop)
            try:
                conversion.convert(photos, f"s3://bucket/{name}", "mds", shard_size=8000, threads=1, check=False)
                break
            except Killed:
                stopped += 1
            left[0] = 99
            noted = sum(".partial/0" in path for path in in_bucket(server, name))
            server.written.clear()
            conversion.convert(photos, f"s3://bucket/{name}", "mds", shard_size=8000, threads=1, check=False)
            assert in_bucket(server, name) == wanted
            assert (
                sum(path.endswith(".mds") for path in server.written) == sum(n.endswith("mds") for n in wanted) - noted
            )
    assert stopped == 2 * (2 * sum(n.endswith(".mds") for n in wanted) + 2)


def test_the_environment_names_the_server(server, photos, sets, monkeypatch, capsys):  # noqa: F811
    """The command has no other settings."""
    storage.configure(s3={})
    for name, value in (
        ("ENDPOINT_URL", server.url),
        ("ACCESS_KEY_ID", "a"),
        ("SECRET_ACCESS_KEY", "b"),
        ("REGION", "x"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    call = ["convert", str(photos), "s3://bucket/x", "--to", "tar", "--shard-size", "8000"]
    assert commands.main(call) == 0 and "s3://bucket/x: 10 samples, all compared" in capsys.readouterr().out
    assert in_bucket(server, "x") == files_of(sets / "tar")


def test_processes_write_to_a_bucket(server, photos, sets, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    conversion.convert(photos, "s3://bucket/x", "tar", shard_size=8000, threads=2, workers=2)
    assert in_bucket(server, "x") == files_of(sets / "tar") and not list(tmp_path.glob("penstock-convert-*"))


def test_what_a_mark_says_is_compared_with_what_is_there(server, photos, sets, monkeypatch):  # noqa: F811
    wanted = files_of(sets / "tar")
    with monkeypatch.context() as patch:
        patch.setattr("penstock.conversion.marks.Marks.finish", lambda self: (_ for _ in ()).throw(Killed()))
        with pytest.raises(Killed):
            conversion.convert(photos, "s3://bucket/x", "tar", shard_size=8000, threads=1)
    pathlib.Path(server.root, "bucket/x/000001.tar").write_bytes(b"cut")
    server.written.clear()
    conversion.convert(photos, "s3://bucket/x", "tar", shard_size=8000, threads=1)
    assert in_bucket(server, "x") == wanted
    assert [p for p in server.written if p.endswith("tar")] == [
        f"/bucket/x/{n}" for n in sorted(wanted) if n[5] in "123" and n.endswith("tar")
    ]


def test_a_bucket_that_has_something_else(server, photos):  # noqa: F811
    conversion.convert(photos, "s3://bucket/x", "tar", shard_size=8000, check=False)
    with pytest.raises(ValueError, match=r"s3://bucket/x/ was begun with other data or arguments \(options\)"):
        conversion.convert(photos, "s3://bucket/x", "tar", shard_size=9000)
    pathlib.Path(server.root, "bucket/y").mkdir()
    pathlib.Path(server.root, "bucket/y/z").write_bytes(b"z")
    with pytest.raises(ValueError, match="s3://bucket/y/ is not empty"):
        conversion.convert(photos, "s3://bucket/y", "tar")
    with pytest.raises(ValueError, match="so 'folder' is written to a folder alone"):
        conversion.convert(photos, "s3://bucket/z", "folder")
    with pytest.raises(ValueError, match="https://host/x cannot be written: the target is a folder, or s3://"):
        conversion.convert(photos, "https://host/x", "tar")
    with pytest.raises(ValueError, match="s3://bucket/z/ has no penstock.manifest"):
        conversion.verify("s3://bucket/z")
    assert not in_bucket(server, "z")


def test_verify_reads_a_bucket(server, photos, capsys):  # noqa: F811
    conversion.convert(photos, "s3://bucket/x", "tfrecord", shard_size=8000, check=False)
    assert commands.main(["convert", "--verify", "s3://bucket/x"]) == 0
    root = pathlib.Path(server.root, "bucket/x")
    content = bytearray((root / "000001.tfrecord").read_bytes())
    content[200] ^= 1
    (root / "000001.tfrecord").write_bytes(content)
    assert [str(f) for f in conversion.verify("s3://bucket/x")] == [
        "000001.tfrecord: its bytes are not those that were written"
    ]
    (root / "000000.tfrecord").unlink()
    assert commands.main(["convert", "--verify", "s3://bucket/x"]) == 1
    assert "000000.tfrecord: it cannot be read: " in capsys.readouterr().out


def test_servers_that_refuse(server, photos):  # noqa: F811
    server.refuse("PUT /bucket/a/000000.tar", 503, 2)  # a third one succeeds
    server.misbehave("bucket", 503, 2)  # as of the list
    server.misbehave("bucket/a/penstock.manifest", 503, 2)
    conversion.convert(photos, "s3://bucket/a", "tar", shard_size=8000)
    for path, fault, words in (
        ("b/000001.tar", 503, "the server answered 503"),
        ("c/000001.tar", 403, r"refused|403"),
        ("d/000001.tar", "short", "bytes, but .* were written"),
        ("e/.penstock.manifest.partial/head", 403, "refused|403"),
    ):
        server.refuse(f"PUT /bucket/{path}", fault)
        with pytest.raises(penstock.DataError, match=f"({words}).*file: s3://bucket/{path}"):
            conversion.convert(photos, f"s3://bucket/{path[0]}", "tar", shard_size=8000)
        server.write_faults.clear()
        conversion.convert(photos, f"s3://bucket/{path[0]}", "tar", shard_size=8000)
        assert in_bucket(server, path[0]) == in_bucket(server, "a")
    with pytest.raises(penstock.DataError, match="the objects cannot be listed: .*404.*s3://nowhere/x/"):
        conversion.convert(photos, "s3://nowhere/x", "tar")
    server.refuse("POST /bucket?delete", 403)
    with pytest.warns(UserWarning, match="objects cannot be removed"):
        conversion.convert(photos, "s3://bucket/f", "tar", shard_size=8000)
    server.write_faults.clear()
    conversion.convert(photos, "s3://bucket/f", "tar", shard_size=8000)
    assert in_bucket(server, "f") == in_bucket(server, "a")


def test_a_large_object_is_sent_in_parts(server):
    pieces = [RNG.bytes(n) for n in (1, 3 << 20, 5, 9 << 20, 100, 8 << 20)]
    size = sum(map(len, pieces))
    server.refuse("partNumber=2", 503, 1)
    objects.put("s3://bucket/large", pieces, size)
    assert pathlib.Path(server.root, "bucket/large").read_bytes() == b"".join(pieces)
    assert server.count("bucket/large", "PUT") == 4 and not server.uploads  # three parts, one of them twice
    server.refuse("partNumber=2", 403)
    with pytest.raises(penstock.DataError, match="file: s3://bucket/other"):
        objects.put("s3://bucket/other", pieces, size)
    assert not server.uploads and not os.path.exists(f"{server.root}/bucket/other")
    with pytest.raises(penstock.DataError, match=f"the object has {size} bytes, but {size + 1} were written"):
        server.write_faults.clear()
        objects.put("s3://bucket/third", pieces, size + 1)


def test_an_object_that_is_larger_than_any_manifest_is_not_read(server, monkeypatch):
    monkeypatch.setattr(objects, "_MOST_CONTENT", 9)
    objects.put("s3://bucket/x", [bytes(9)], 9)
    objects.put("s3://bucket/y", [bytes(10)], 10)
    assert objects.content_of("s3://bucket/x") == bytes(9)
    with pytest.raises(penstock.DataError, match="has 10 bytes, more than the limit of 9 .*s3://bucket/y"):
        objects.content_of("s3://bucket/y")


def test_a_piece_that_is_left_by_an_error_is_not_written(server):
    with pytest.raises(Killed), writing.PieceOfObject("s3://bucket/x/", "a") as piece:
        piece.write(b"1")
        raise Killed
    assert not server.requests
