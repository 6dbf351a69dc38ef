# SPDX-License-Identifier: Apache-2.0
"""Readers from servers on loopback: the same bytes in the same order as from local files."""

import json
import struct
import time

import container_files as cf
import fits_files
import mds_files
import numpy as np
import pyarrow
import pyarrow.ipc
import pytest
import video_files
from penstock import fn, pipeline_def, storage, tfrecord
from remote_server import RemoteServer

pytest.importorskip("obstore")
TFRECORD = {
    "data": tfrecord.FixedLenFeature((), tfrecord.string, ""),
    "n": tfrecord.FixedLenFeature([1], tfrecord.int64, 0),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A bucket "set" with files of every reader."""
    root = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(5)
    folder = root / "set"
    for name in ("b", "a", "a-b"):  # as keys "a-b/" comes before "a/"
        (folder / "files" / name / "deeper").mkdir(parents=True)
        for i in range(7):
            (folder / "files" / name / f"{i} é.jpg").write_bytes(rng.bytes(int(rng.integers(1, 3000))))
        (folder / "files" / name / "notes.txt").write_text("not read")
        (folder / "files" / name / "deeper" / "x.jpg").write_text("not read")
    (folder / "files" / "above.jpg").write_text("not read")
    names = [f"{c}/{i} é.jpg" for c in ("b", "a") for i in (3, 1, 2)]
    (folder / "files" / "list.txt").write_text("".join(f"{n} {i}\n" for i, n in enumerate(names)))
    records = [cf.example({"data": rng.bytes(int(rng.integers(1, 20000))), "n": np.array([i])}) for i in range(60)]
    cf.write_tfrecord(folder / "0.tfrecord", records[:40], folder / "0.idx")
    cf.write_tfrecord(folder / "1.tfrecord", records[40:], folder / "1.idx")
    cf.write_recordio(folder / "r.rec", folder / "r.idx", [(float(i), rng.bytes(50 * i + 1)) for i in range(20)])
    cf.write_tar(
        folder / "w.tar",
        [(f"{i:03d}.{e}", rng.bytes(int(rng.integers(1, 9000)))) for i in range(15) for e in ("jpg", "cls")],
    )
    (folder / "npy" / "sub").mkdir(parents=True)
    for i, name in enumerate(("b", "a", "sub/c")):
        np.save(folder / "npy" / f"{name}.npy", rng.integers(0, 255, (12, 9 + i, 3)).astype(np.uint8))
    images = [{"id": i, "file_name": f"a/{i} é.jpg", "width": 10, "height": 8} for i in range(7)]
    boxes = [
        {"id": i, "image_id": i % 7, "category_id": 1 + i % 3, "bbox": [i % 5, 1, 3, 2], "iscrowd": 0}
        for i in range(12)
    ]
    (folder / "coco.json").write_text(
        json.dumps({"images": images, "annotations": boxes, "categories": [{"id": i} for i in (1, 2, 3)]})
    )
    video_files.encode(str(folder / "v.mp4"), "libx264", count=30)
    (folder / "videos.txt").write_text("v.mp4 3\n")
    for i in range(3):
        (folder / f"{i}.wav").write_bytes(wav(rng.integers(-9999, 9999, 500 + 90 * i).astype(np.int16)))
    (folder / "speech.json").write_text(
        "".join(json.dumps({"audio_filepath": f"{i}.wav", "duration": 1.0, "text": f"t{i}"}) + "\n" for i in range(3))
    )
    (folder / "fits").mkdir()
    for i in range(3):
        stored = rng.integers(-999, 999, (5, 6 + i)).astype(np.int16)
        (folder / "fits" / f"{i}.fits").write_bytes(fits_files.file(fits_files.hdu(first=True), fits_files.hdu(stored)))
    samples = [{"x": rng.bytes(int(rng.integers(1, 9000))), "n": i} for i in range(20)]
    for name, *packed in (("mds", None), ("mds-gz", "gz")):
        (folder / name).mkdir()
        mds_files.write(folder / name, {"x": "bytes", "n": "int"}, [samples[:6], samples[6:]], *packed)
    for i, part in enumerate((samples[:6], samples[6:])):
        table = pyarrow.table({"x": [s["x"] for s in part], "n": [s["n"] for s in part]})
        with pyarrow.ipc.new_file(str(folder / f"{i}.arrow"), table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
    import lmdb

    with lmdb.open(str(folder / "lmdb"), map_size=1 << 22) as db, db.begin(write=True) as txn:
        for i in range(30):
            txn.put(b"%05d" % i, rng.bytes(int(rng.integers(1, 9000))))
    return root


@pytest.fixture
def server(data, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "indexes"))
    with RemoteServer(data) as s:
        configure(s)
        yield s
        storage.configure(**storage._DEFAULTS)


def configure(server, **more):
    storage.configure(
        **{
            **storage._DEFAULTS,
            "first_pause": 0.01,
            "timeout": 60.0,
            "s3": {"endpoint": server.url, "region": "eu-west-1", "access_key_id": "a", "secret_access_key": "b"},
            "gs": {"base_url": server.url, "skip_signature": True},
            **more,
        }
    )


def made(reader, batch_size=5, threads=2, **options):
    @pipeline_def(batch_size=batch_size, num_threads=threads, seed=11, **options)
    def pipe():
        out = reader()
        return tuple(out.values()) if isinstance(out, dict) else out

    return pipe()


def taken(reader, batches=9, **options):
    pipe = made(reader, **options)
    out = []
    for _ in range(batches):
        batch = pipe.run()
        out += [
            [np.asarray(b[i]).tobytes() for b in batch] + [np.asarray(b[i]).shape for b in batch]
            for i in range(len(batch[0]))
        ]
    pipe.close()
    return out


def settled(got=None):
    """`got`, when the requests of unused batches are also answered."""
    while storage.stats()["running"]:
        time.sleep(0.01)
    return got


def wav(samples):
    return (
        struct.pack(
            "<4sI4s4sIHHIIHH4sI",
            b"RIFF",
            36 + samples.nbytes,
            b"WAVE",
            b"fmt ",
            16,
            1,
            1,
            8000,
            16000,
            2,
            16,
            b"data",
            samples.nbytes,
        )
        + samples.tobytes()
    )


READERS = {
    "file": lambda at, **k: fn.readers.file(file_root=f"{at}/files", **k),
    "filters": lambda at, **k: fn.readers.file(
        file_root=f"{at}/files/", file_filters=["*2*", "*.txt"], dir_filters=["a*"], **k
    ),
    "file_list": lambda at, **k: fn.readers.file(file_list=f"{at}/files/list.txt", **k),
    "files": lambda at, **k: fn.readers.file(files=[f"{at}/files/a/{i} é.jpg" for i in range(7)], **k),
    "root_of_files": lambda at, **k: fn.readers.file(
        file_root=f"{at}/files", files=["a/3 é.jpg", "b/1 é.jpg"], labels=[4, 5], **k
    ),
    "tfrecord": lambda at, **k: fn.readers.tfrecord(
        path=[f"{at}/{i}.tfrecord" for i in (0, 1)], features=TFRECORD, **k
    ),
    "tfrecord_index": lambda at, **k: fn.readers.tfrecord(
        path=[f"{at}/0.tfrecord"], index_path=[f"{at}/0.idx"], features=TFRECORD, **k
    ),
    "tfrecord_no_index": lambda at, **k: fn.readers.tfrecord(
        path=[f"{at}/0.tfrecord"], index_path=[f"{at}/none.idx"] if "://" in at else [], features=TFRECORD, **k
    ),
    "tfrecord_pattern": lambda at, **k: fn.readers.tfrecord(path=f"{at}/?.tfrecord", features=TFRECORD, **k),
    "mxnet": lambda at, **k: fn.readers.mxnet(path=[f"{at}/r.rec"], index_path=[f"{at}/r.idx"], **k),
    "webdataset": lambda at, **k: fn.readers.webdataset(paths=[f"{at}/w.tar"], ext=["jpg", "cls"], **k),
    "numpy": lambda at, **k: (fn.readers.numpy(file_root=f"{at}/npy", **k),),
    "numpy_region": lambda at, **k: (
        fn.readers.numpy(
            files=[f"{at}/npy/a.npy", f"{at}/npy/b.npy"], roi_start=[4, 2], roi_end=[6, 8], roi_axes=[0, 1], **k
        ),
    ),
    "coco": lambda at, **k: fn.readers.coco(file_root=f"{at}/files", annotations_file=f"{at}/coco.json", **k),
    "fits": lambda at, **k: (fn.readers.fits(file_root=f"{at}/fits", **k),),
    "nemo_asr": lambda at, **k: fn.readers.nemo_asr(manifest_filepaths=[f"{at}/speech.json"], read_text=True, **k),
    "video": lambda at, **k: fn.readers.video(file_list=f"{at}/videos.txt", sequence_length=4, step=3, **k),
    "lmdb": lambda at, **k: (fn.readers.lmdb(path=[f"{at}/lmdb"], **k),),
    "mds": lambda at, **k: fn.readers.mds(path=f"{at}/mds", columns=["x", "n"], **k),
    "mds_compressed": lambda at, **k: fn.readers.mds(path=f"{at}/mds-gz/", columns=["x", "n"], **k),
    "arrow": lambda at, **k: fn.readers.arrow([f"{at}/{i}.arrow" for i in (0, 1)], columns=["x", "n"], **k),
}
LISTS = (
    "file",
    "filters",
    "tfrecord_pattern",
    "numpy",
    "fits",
)  # arguments that need a list, which a web server does not have


def test_a_call_outside_a_pipeline_reads_an_object(server, data):
    content = fn.io.file.read(np.frombuffer(b"s3://set/coco.json", np.uint8))
    assert content.tobytes() == (data / "set" / "coco.json").read_bytes()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", READERS)
def test_s3_gives_what_local_files_give(server, data, name, shuffle):
    reader = READERS[name]
    want = taken(lambda: reader(f"{data}/set", random_shuffle=shuffle))
    assert taken(lambda: reader("s3://set", random_shuffle=shuffle)) == want


@pytest.mark.parametrize("name", READERS)
def test_gs_gives_what_local_files_give(server, data, name):
    reader = READERS[name]
    want = taken(lambda: reader(f"{data}/set", random_shuffle=True))
    assert taken(lambda: reader("gs://set", random_shuffle=True)) == want
    assert server.count() > 0


def test_gs_takes_credentials(server, data, tmp_path, monkeypatch):
    """An account's key may name another server, as those of local servers do; a wrong file in the environment is reported."""
    storage.configure(
        gs={
            "service_account_key": json.dumps(
                {
                    "gcs_base_url": server.url,
                    "disable_oauth": True,
                    "client_email": "",
                    "private_key": "",
                    "private_key_id": "",
                }
            )
        }
    )
    want = taken(lambda: READERS["file"](f"{data}/set"))
    assert taken(lambda: READERS["file"]("gs://set")) == taken(lambda: READERS["file"]("gcs://set")) == want
    (tmp_path / "account.json").write_text("no JSON")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    storage.configure(gs={"base_url": server.url})
    with pytest.raises(ValueError, match="service account.* .file: gs://set"):
        made(lambda: READERS["file"]("gs://set")).run()


@pytest.mark.parametrize("name", [n for n in READERS if n not in LISTS])
def test_http_gives_what_local_files_give(server, data, name):
    reader = READERS[name]
    want = taken(lambda: reader(f"{data}/set", random_shuffle=True))
    url = f"{server.url}/set"
    assert taken(lambda: reader(url, random_shuffle=True)) == want
    configure(server, cache=str(data.parent / f"cache {name}"), cache_limit="1G")
    for _ in range(2):
        assert taken(lambda: reader(url, random_shuffle=True)) == want
    assert storage.stats()["cache_hits"] > 0
    configure(server, read_ahead=0, connections=1)
    assert taken(lambda: reader(url, random_shuffle=True)) == want


def test_shards_epochs_and_checkpoints_are_the_same(server, data):
    for options in (
        {"num_shards": 3, "shard_id": 1},
        {"num_shards": 2, "shard_id": 0, "stick_to_shard": True},
        {"pad_last_batch": True},
        {"shuffle_after_epoch": True},
    ):
        want = taken(lambda: READERS["tfrecord"](f"{data}/set", **options), batches=30)
        assert taken(lambda: READERS["tfrecord"]("s3://set", **options), batches=30) == want
    pipe = made(lambda: READERS["file"]("s3://set", random_shuffle=True))
    for _ in range(3):
        pipe.run()
    state = pipe.checkpoint()
    want = [np.asarray(b).tobytes() for b in pipe.run()[0]]
    again = made(lambda: READERS["file"]("s3://set", random_shuffle=True), checkpoint=state)
    assert [np.asarray(b).tobytes() for b in again.run()[0]] == want


def test_a_thread_that_waits_for_a_compressed_shard_fetches_a_later_one(server):
    configure(server, timeout=60.0)

    @pipeline_def(batch_size=6, num_threads=2)
    def shards():
        return fn.readers.mds(path=f"{server.url}/set/mds-gz", columns="n")

    pipe = shards()
    pipe.build()
    server.together, server.most_in_flight = 2, 0  # the first shard comes when another one is requested
    assert pipe.run()[0].as_array().tolist() == list(range(6))
    assert server.most_in_flight == 2
    pipe.close()
