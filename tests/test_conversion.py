# SPDX-License-Identifier: Apache-2.0
"""penstock convert: every pair of formats, runs that were killed, what is damaged, and pictures that are scaled."""

import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import time

import beton_files
import container_files
import mds_files
import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

import penstock
from penstock import _commands as commands, conversion, fn, types
from penstock.conversion import run as conversion_run
from penstock.conversion.formats import open_source

FORMATS = ("folder", "tar", "tfrecord", "parquet", "mds")
CLASSES = ("cat", "dog.v2", "owl")
RNG = np.random.default_rng(4)
KEYS = [f"{CLASSES[k // 4]}/{'deep/' if k % 3 == 0 else ''}{k:02d}" for k in range(10)]
TIMES = int(os.environ.get("PENSTOCK_TEST_COUNT", 0))


def picture(height, width, kind="JPEG"):
    file = io.BytesIO()
    Image.fromarray(RNG.integers(0, 256, (height, width, 3), np.uint8)).save(file, kind)
    return file.getvalue()


PICTURES = [picture(20 + k, 31, "PNG" if k % 4 == 2 else "JPEG") for k in range(10)]


def endings(k):
    return "png" if k % 4 == 2 else "jpg"


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Ten pictures of three classes; the classes are 0 0 0 0 1 1 1 1 2 2."""
    root = tmp_path_factory.mktemp("set") / "photos"
    for k, content in enumerate(PICTURES):
        file = root / CLASSES[k // 4] / ("deep" if k % 3 == 0 else ".") / f"{k:02d}.{endings(k)}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return root


@pytest.fixture(scope="module")
def sets(photos):
    """The same in every format, three or four samples in a file."""
    for name in FORMATS:
        assert conversion.convert(photos, photos.parent / name, name, shard_size=8000, threads=2) == 10
    return photos.parent


def of_folder(folder):
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "manifest" not in p.name)
    return [(p.read_bytes(), CLASSES.index(p.relative_to(folder).parts[0])) for p in files]


def of_tar(folder):
    made = {}
    for file in sorted(folder.glob("*.tar")):
        with tarfile.open(file) as archive:
            for member in archive:
                name, _, ending = member.name.rpartition(".")
                made.setdefault(name, {})[ending] = archive.extractfile(member).read()
    return [(m.get("jpg") or m["png"], int(m["cls"])) for m in made.values()]


def records_of(file):
    content, at = file.read_bytes(), 0
    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        yield content[at + 12 : at + 12 + length]
        at += 16 + length


def of_tfrecord(folder):
    """Compares each record with what another encoder makes of the same values."""
    made = []
    for file in sorted(folder.glob("*.tfrecord")):
        records = list(records_of(file))
        container_files.write_tfrecord(folder.parent / "again.tfrecord", records)
        assert (folder.parent / "again.tfrecord").read_bytes() == file.read_bytes()
        for record in records:
            found = next(k for k, p in enumerate(PICTURES) if p in record)
            values = {"__key__": KEYS[found].encode(), "image": PICTURES[found], "label": np.int64([found // 4])}
            assert record == container_files.example(values)
            made.append((PICTURES[found], found // 4))
    return made


def of_parquet(folder):
    table = pa.concat_tables(parquet.read_table(f) for f in sorted(folder.glob("*.parquet")))
    return list(zip(table["image"].to_pylist(), table["label"].to_pylist()))


def of_mds(folder):
    pipe = penstock.Pipeline(batch_size=10, num_threads=1)
    with pipe:
        pipe.set_outputs(*fn.readers.mds(path=str(folder), columns=["image", "label"]))
    images, labels = pipe.run()
    return [(i.numpy().tobytes(), int(n.numpy())) for i, n in zip(images, labels)]


CONTENT = {"folder": of_folder, "tar": of_tar, "tfrecord": of_tfrecord, "parquet": of_parquet, "mds": of_mds}


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_every_pair(sets, tmp_path, source, to):
    expected = sorted((p, k // 4) for k, p in enumerate(PICTURES))
    assert sorted(CONTENT[source](sets / source)) == expected
    assert conversion.convert(sets / source, tmp_path / "to", to, shard_size=8000, threads=2) == 10
    assert sorted(CONTENT[to](tmp_path / "to")) == expected
    assert sorted(key for key, *_ in open_source(tmp_path / "to").samples()) == sorted(KEYS)


COLUMNS = {"blob": "bytes", "json": "json", "image": "jpeg", "number": "int", "share": "float64", "text": "str"}
COLUMNS |= {
    "fixed": "ndarray:float32:2,3",
    "rows": "ndarray:uint16",
    "grid": "ndarray:float64",
    "signs": "ndarray:int8",
}


def mixed(k):
    return {
        "blob": RNG.bytes(k),
        "json": json.dumps({"é": [k, None]}),
        "image": PICTURES[0],
        "number": (-1) ** k << 6 * k,
        "share": float(np.float32(k / 7)),
        "text": "é" * k,
        "fixed": RNG.normal(size=(2, 3)).astype("float32"),
        "rows": RNG.integers(0, 1 << 16, (k % 4, 2), "uint16"),
        "grid": RNG.normal(size=(k % 3, 1 + k % 2)).astype("float32").astype("float64"),
        "signs": RNG.integers(-128, 128, k % 5, "int8"),
    }


@pytest.fixture(scope="module")
def mixed_set(tmp_path_factory):
    """A set of MDS that another program has written, without names of samples: every kind of field."""
    folder = tmp_path_factory.mktemp("mixed")
    samples = [mixed(k) for k in range(11)]
    mds_files.write(folder, COLUMNS, [samples[:4], samples[4:]])
    return folder, samples


@pytest.mark.parametrize("to", FORMATS[1:])
def test_every_kind_of_field(mixed_set, tmp_path, to):
    folder, samples = mixed_set
    conversion.convert(folder, tmp_path / to, to, shard_size=3000, threads=2)
    conversion.convert(tmp_path / to, tmp_path / "back", "mds", threads=2)
    data = open_source(tmp_path / "back")
    kinds = {f.name: str(f) for f in data.fields}
    assert kinds["rows"] == "array:uint16:-1,2" and kinds["grid"] == "array:float64:-1,-1" and kinds["image"] == "image"
    for k, (key, values, _) in enumerate(data.samples(threads=2)):
        assert key == f"{k:08d}"
        for field, value in zip(data.fields, values):
            expected = samples[k][field.name]
            expected = expected.encode() if isinstance(expected, str) else expected
            assert type(value) is type(expected), field
            if isinstance(value, np.ndarray):
                assert value.dtype == expected.dtype and np.array_equal(value, expected), field
            else:
                assert value == expected, field
    assert k == 10


def test_what_other_programs_wrote(tmp_path):
    """Sets without a manifest: which fields they have is judged by their first samples."""
    (tmp_path / "tar").mkdir()
    members = [
        (f"{k}.{e}", c) for k in range(5) for e, c in (("JPG", PICTURES[0]), ("cls", b"%d" % k), ("x.json", b"[1]"))
    ]
    container_files.write_tar(tmp_path / "tar" / "a.tar", members)
    examples = [
        container_files.example(
            {"encoded": PICTURES[k], "box/x": np.float32([0.5] * k), "class": np.int64([k]), "id": b"x"}
        )
        for k in range(4)
    ]
    container_files.write_tfrecord(tmp_path / "a.tfrecord", examples)
    rows = {"picture": [{"bytes": p, "path": None} for p in PICTURES], "label": list(range(10)), "ok": [True] * 10}
    parquet.write_table(pa.table({**rows, "pair": [[k] * k for k in range(10)]}), tmp_path / "a.parquet")
    said = {}
    for path in ("tar", "a.tfrecord", "a.parquet"):
        said[path] = {f.name: str(f) for f in open_source(tmp_path / path).fields}
    assert said["tar"] == {"image": "image", "label": "int", "x": "json"}
    assert said["a.tfrecord"] == {"encoded": "image", "box/x": "array:float32:-1", "class": "int", "id": "bytes"}
    assert said["a.parquet"] == {"picture": "image", "label": "int", "ok": "int", "pair": "array:int64:-1"}
    conversion.convert(tmp_path / "a.tfrecord", tmp_path / "f", "folder", only=["encoded", "class"])
    assert sorted(p.relative_to(tmp_path / "f").as_posix() for p in (tmp_path / "f").rglob("*.*g")) == [
        f"{k:05d}/{k:08d}.{endings(k)}" for k in range(4)
    ]
    with pytest.raises(ValueError, match="cannot hold x: only=image,label omits them"):
        conversion.convert(tmp_path / "tar", tmp_path / "g", "folder")
    with pytest.raises(ValueError, match="no field 'y' in .*there are image, label, x"):
        conversion.convert(tmp_path / "tar", tmp_path / "g", "mds", only=["y"])
    assert not (tmp_path / "g").exists()


BOX = {"bbox": [1.5, 2.25, 10, 12.125], "area": 121.25, "iscrowd": 0, "category_id": 7}


@pytest.fixture
def coco(tmp_path):
    root = {"info": {"year": 2017}, "licenses": [{"id": 3}]}
    root["categories"] = [{"id": 7, "name": "cat"}, {"id": 3, "name": "owl", "supercategory": "bird"}]
    root["images"] = [
        {"id": 40 - k, "file_name": f"val/{k:02d}.{endings(k)}", "height": 20 + k, "width": 31, "license": 3}
        for k in range(6)
    ]
    outline = [[0.5, 1, 20, 1, 20, 15.5]]
    more = {"segmentation": outline, "keypoints": [3, 4, 2, 0, 0, 0], "num_keypoints": 1}
    root["annotations"] = [
        {"id": 100 + k, "image_id": 40 - k // 2, **BOX, "category_id": (7, 3)[k % 2], **(more if k == 2 else {})}
        for k in range(7)
    ]
    folder = tmp_path / "coco"
    (folder / "images" / "val").mkdir(parents=True)
    for k in range(6):
        (folder / "images" / "val" / f"{k:02d}.{endings(k)}").write_bytes(PICTURES[k])
    (folder / "annotations.json").write_text(json.dumps(root))
    return folder


@pytest.mark.parametrize("through", ["coco", "tar", "tfrecord", "parquet", "mds"])
def test_annotations_of_coco(coco, tmp_path, through):
    conversion.convert(coco, tmp_path / through / "x", through, shard_size=4000, threads=2)
    conversion.convert(tmp_path / through / "x", tmp_path / "back", "coco", threads=2)
    before, after = (json.loads((f / "annotations.json").read_text()) for f in (coco, tmp_path / "back"))
    assert after == before
    for image in before["images"]:
        assert (tmp_path / "back/images" / image["file_name"]).read_bytes() == (
            coco / "images" / image["file_name"]
        ).read_bytes()
    values = next(open_source(tmp_path / through / "x").samples())[1]
    assert np.array_equal(values[1], np.float32([[1.5, 2.25, 11.5, 14.375]] * 2)) and values[2].tolist() == [1, 0]
    with pytest.raises(ValueError, match="needs a picture and a label"):
        conversion.convert(coco, tmp_path / "folder", "folder")


def test_boxes_alone_become_annotations(coco, tmp_path):
    conversion.convert(coco, tmp_path / "x", "mds", only=["image", "boxes", "labels"])
    conversion.convert(tmp_path / "x", tmp_path / "back", "coco")
    before, after = (
        penstock.annotations.coco(str(f / "annotations.json"), str(f / "images")) for f in (coco, tmp_path / "back")
    )
    order = [5 - k for k in range(6)]  # a Table is in the order of the ids
    assert after.classes == before.classes == ["owl", "cat"]
    for k in range(6):
        assert np.array_equal(after.columns["boxes"][k], before.columns["boxes"][order[k]])
        assert np.array_equal(after.columns["labels"][k], before.columns["labels"][order[k]])


def test_annotations_of_coco_that_are_wrong(coco, tmp_path):
    root = json.loads((coco / "annotations.json").read_text())
    for change, message in (
        (lambda r: r["annotations"][3].update(image_id=1), r"image_id 1 is not listed .*annotations\[3\] \(id 103\)"),
        (lambda r: r["images"][1].update(file_name="../x"), r"leads out of its folder.*images\[1\]"),
        (lambda r: r["annotations"][0].update(bbox=[1, 2]), "bbox must be x, y, width, height"),
        (lambda r: r["images"][2].update(id=40), r"occurs once \(file: .*images\[2\]"),
    ):
        changed = json.loads(json.dumps(root))
        change(changed)
        (coco / "annotations.json").write_text(json.dumps(changed))
        with pytest.raises(penstock.DataError, match=message):
            conversion.convert(coco, tmp_path / "x", "mds")


def files_of(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_pictures_are_made_smaller(coco, photos, tmp_path):
    """A picture of (20 + k, 31): those with a shorter side above 24 are scaled to it."""
    assert conversion.convert(photos, tmp_path / "x", "folder", shorter=24, quality=80) == 10
    for k, key in enumerate(KEYS):
        (file,) = (tmp_path / "x").glob(f"{key}.*")
        before = np.frombuffer(PICTURES[k], np.uint8)
        if 20 + k <= 24:
            assert file.read_bytes() == PICTURES[k] and file.name.endswith(endings(k))
            continue
        pixels = fn.resize(fn.decoders.image(before), resize_shorter=24.0, interp_type=types.INTERP_TRIANGULAR)
        assert file.read_bytes() == fn.encoders.jpeg(pixels, quality=80).tobytes() and file.name.endswith("jpg")
        assert min(Image.open(file).size) == 24
    conversion.convert(coco, tmp_path / "y", "coco", shorter=10)
    before, after = (json.loads((f / "annotations.json").read_text()) for f in (coco, tmp_path / "y"))
    assert [(i["height"], i["width"]) for i in after["images"]][0] == (10, 16)
    x, y = 16 / 31, 10 / 20
    first = after["annotations"][0]
    assert first["bbox"] == pytest.approx([1.5 * x, 2.25 * y, 10 * x, 12.125 * y], abs=1e-3)
    assert first["area"] == pytest.approx(121.25 * x * y, abs=1e-3)
    x, y = after["images"][1]["width"] / 31, 10 / 21
    assert after["annotations"][2]["segmentation"][0] == pytest.approx(
        [0.5 * x, y, 20 * x, y, 20 * x, 15.5 * y], abs=1e-3
    )
    assert after["annotations"][2]["keypoints"] == pytest.approx([3 * x, 4 * y, 2, 0, 0, 0], abs=1e-3)
    before["annotations"][0]["segmentation"] = {"counts": [0, 620], "size": [20, 31]}
    (coco / "annotations.json").write_text(json.dumps(before))
    with pytest.raises(penstock.DataError, match="annotation 100 has a mask of run lengths.*00.jpg"):
        conversion.convert(coco, tmp_path / "z", "coco", shorter=10)


class Killed(BaseException):
    """Nothing catches it."""


@pytest.mark.parametrize("to", FORMATS)
def test_a_run_that_was_stopped_anywhere_gives_the_same_bytes(photos, tmp_path, monkeypatch, to):
    arguments = {"shard_size": 8000, "threads": 1, "shorter": 25}
    conversion.convert(photos, tmp_path / "whole", to, **arguments)
    expected, replace, stops = files_of(tmp_path / "whole"), os.replace, 0
    while True:
        left = [stops]

        def stop(*paths, left=left):
            left[0] -= 1
            if left[0] == -1:
                raise Killed
            replace(*paths)

        monkeypatch.setattr(os, "replace", stop)  # each file gets its name by it
        folder = tmp_path / f"stopped-{stops}"
        try:
            conversion.convert(photos, folder, to, **arguments, check=False)
            break
        except Killed:
            assert not (folder / "penstock.manifest").exists()
        monkeypatch.setattr(os, "replace", replace)
        with open(folder / ".penstock.manifest.partial", "ab") as file:
            file.write(b'{"file": "half a li')  # the line that was being written
        assert conversion.convert(photos, folder, to, **arguments) == 10
        assert files_of(folder) == expected
        stops += 4 if to == "folder" else 1
    assert stops >= 3


def test_a_process_that_was_killed(tmp_path):
    """By a signal, at any moment."""
    folder = tmp_path / "photos" / "a"
    folder.mkdir(parents=True)
    for k in range(160):
        (folder / f"{k:03d}.jpg").write_bytes(PICTURES[0] if k % 2 else PICTURES[1])
    call = [sys.executable, "-m", "penstock", "convert", str(tmp_path / "photos"), "--to", "tar", "--shard-size", "9k"]
    call += ["--shorter", "15", "--threads", "1"]
    assert commands.main([*call[3:5], str(tmp_path / "whole"), *call[5:]]) == 0
    expected, killed = files_of(tmp_path / "whole"), 0
    for attempt in range(50 + TIMES):
        if killed == max(1, TIMES // 10):
            break
        target = tmp_path / f"killed-{attempt}"
        program = subprocess.Popen([*call[:5], str(target), *call[5:]], stderr=subprocess.PIPE)
        wanted = RNG.integers(1, len(expected) - 2)
        while program.poll() is None and len(list(target.glob("*.tar"))) < wanted:
            time.sleep(0.001)
        program.send_signal(signal.SIGKILL)
        program.communicate()
        killed += program.returncode == -signal.SIGKILL
        assert commands.main([*call[3:5], str(target), *call[5:]]) == 0
        assert {n: c for n, c in files_of(target).items() if not n.endswith(".partial")} == expected
    assert killed == max(1, TIMES // 10)  # others had ended before the signal


def test_another_call_does_not_continue(photos, tmp_path):
    conversion.convert(photos, tmp_path / "x", "tar", shard_size=8000)
    before = files_of(tmp_path / "x")
    assert conversion.convert(photos, tmp_path / "x", "tar", shard_size=8000) == 10
    assert files_of(tmp_path / "x") == before
    with pytest.raises(ValueError, match=r"begun with other data or arguments \(options\)"):
        conversion.convert(photos, tmp_path / "x", "tar", shard_size=9000)
    with pytest.raises(ValueError, match="is not empty"):
        conversion.convert(photos, photos, "tar")
    with pytest.raises(ValueError, match="where it would be a class of the source"):
        conversion.convert(photos, photos / "new", "tar")
    assert not (photos / "new").exists()
    shutil.copytree(photos, tmp_path / "photos")
    (tmp_path / "photos" / "cat" / "00b.jpg").write_bytes(PICTURES[0])
    with pytest.raises(ValueError, match=r"begun with other data or arguments \(source\)"):
        conversion.convert(tmp_path / "photos", tmp_path / "x", "tar", shard_size=8000)
    head = {"format": "tar"}
    other = conversion_run.Journal(
        str(tmp_path / "y"), head | {"about": {}, "fields": [], "penstock": "conversion", "version": 1}
    )
    with pytest.raises(ValueError, match="another process writes to"):
        conversion.convert(photos, tmp_path / "y", "tar")
    other.close()


@pytest.mark.parametrize("name", FORMATS)
def test_verify_finds_what_has_changed(sets, tmp_path, name, capsys):
    folder = tmp_path / name
    shutil.copytree(sets / name, folder)
    assert commands.main(["convert", "--verify", str(folder)]) == 0
    files = sorted(p for p in folder.rglob("*") if p.suffix and "manifest" not in p.name and p.name != "index.json")
    content = bytearray(files[1].read_bytes())
    content[next(content.index(p) for p in PICTURES if p in content) + 300] ^= 8
    files[1].write_bytes(content)
    (finding,) = conversion.verify(folder)
    assert finding.file == files[1].relative_to(folder).as_posix()
    assert (finding.sample is not None) == (name == "folder")
    files[1].unlink()
    assert commands.main(["convert", "--verify", str(folder)]) == 1
    said = capsys.readouterr()
    assert finding.file in said.out and "faults" in said.err


def test_a_file_that_was_added_or_a_manifest_that_is_damaged(sets, tmp_path):
    shutil.copytree(sets / "folder", tmp_path / "x")
    (tmp_path / "x" / "cat" / "new.jpg").write_bytes(PICTURES[0])
    assert [str(f) for f in conversion.verify(tmp_path / "x")] == ["cat/new.jpg: the manifest does not have it"]
    manifest = tmp_path / "x" / "penstock.manifest"
    lines = manifest.read_bytes().split(b"\n")
    for damaged, message in (
        (b"\n".join([lines[0], b"{]", *lines[2:]]), "the manifest is damaged: .*line 2"),
        (b"\n".join([lines[0].replace(b'"version":1', b'"version":7'), *lines[1:]]), "not a manifest of version 1"),
        (b"\n".join([lines[0], lines[1].replace(b"cat/", b"../", 1), *lines[2:]]), "names of files"),
        (b"\n".join([lines[0], lines[1].replace(b'"sums":"', b'"sums":"0', 1), *lines[2:]]), "no sum for each sample"),
        (lines[0].replace(b'"image","image"', b'"image","picture"') + b"\n", "'picture' is not one of"),
    ):
        manifest.write_bytes(damaged)
        with pytest.raises(penstock.DataError, match=message):
            conversion.verify(tmp_path / "x")
    with pytest.raises(ValueError, match="has no penstock.manifest"):
        conversion.verify(tmp_path)


def test_a_source_that_is_damaged(sets, tmp_path):
    shutil.copytree(sets / "tfrecord", tmp_path / "tfrecord")
    file = tmp_path / "tfrecord" / "000001.tfrecord"
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    file.write_bytes(content)
    with pytest.raises(penstock.DataError, match=r"CRC-32C.*000001.tfrecord, byte \d+"):
        conversion.convert(tmp_path / "tfrecord", tmp_path / "x", "mds")
    for name in ("a.tfrecord", "a.tar", "a.parquet", "a.beton", "a.json"):
        (tmp_path / name).write_bytes(b"neither this nor that" * 99)
        with pytest.raises(penstock.DataError, match=name):
            conversion.convert(tmp_path / name, tmp_path / "y", "mds")
    with pytest.raises(FileNotFoundError, match="there is no file or folder .*nowhere"):
        conversion.convert(tmp_path / "nowhere", tmp_path / "y", "mds")
    with pytest.raises(ValueError, match="there is no format 'zip' to write"):
        conversion.convert(sets / "mds", tmp_path / "y", "zip")
    (tmp_path / "photos" / "a").mkdir(parents=True)
    (tmp_path / "photos" / "a" / "0.jpg").write_bytes(PICTURES[9][:200])
    with pytest.raises(penstock.DataError, match=r"a/0\.jpg"):
        conversion.convert(tmp_path / "photos", tmp_path / "y", "mds", shorter=8)


def test_names_of_samples_stay_below_the_folder(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("../../evil", "/evil", "a/../../evil"):
        table = pa.table({"__key__": [name], "image": [PICTURES[0]], "label": [0]})
        parquet.write_table(table, tmp_path / "in" / "a.parquet")
        for to in ("folder", "tar"):
            with pytest.raises(
                penstock.DataError, match="evil' of a sample cannot be that of a file .*a.parquet, row group 0"
            ):
                conversion.convert(tmp_path / "in", tmp_path / f"out-{to}", to)
            shutil.rmtree(tmp_path / f"out-{to}")
    assert not list(tmp_path.rglob("evil*"))


def test_files_of_ffcv(tmp_path):
    """They were made from the layout of the format."""
    raw = [RNG.integers(0, 256, (5 + k, 7, 3), np.uint8) for k in range(6)]
    fields = {"image": "image", "label": "int", "raw": "image", "share": "float", "blob": "bytes", "about": "json"}
    fields["points"] = "array"
    samples = [
        {
            "image": PICTURES[k],
            "image size": (20 + k, 31),
            "label": k - 3,
            "raw": raw[k],
            "share": k / 7,
            "blob": RNG.bytes(9 * k),
            "about": {"k": [k]},
            "points": RNG.normal(size=(3, 2)).astype("float32"),
        }
        for k in range(6)
    ]
    beton_files.write(tmp_path / "a.beton", fields, samples)
    conversion.convert(tmp_path / "a.beton", tmp_path / "x", "parquet")
    table = parquet.read_table(tmp_path / "x" / "000000.parquet").to_pylist()
    for k, row in enumerate(table):
        assert (row["image"], row["label"], row["share"]) == (PICTURES[k], k - 3, k / 7)
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(row["raw"]))), raw[k])
        assert (row["blob"], json.loads(row["about"])) == (samples[k]["blob"], {"k": [k]})
        assert np.array_equal(np.float32(row["points"]), samples[k]["points"])
    content = (tmp_path / "a.beton").read_bytes()
    tried = [(at, value) for at in (0, 2, 8, 16, 24, 24 + 17, 24 + 6 * 1041 + 17) for value in (255, 128)]
    start = 24 + 7 * 1041
    tried += [(start + at, 255) for at in range(0, 80, 3)]
    for number, (at, value) in enumerate(tried):
        damaged = bytearray(content)
        damaged[at : at + 4] = bytes([value] * 4)
        (tmp_path / "b.beton").write_bytes(damaged)
        try:
            conversion.convert(tmp_path / "b.beton", tmp_path / f"y{number}", "mds", check=False)
        except (penstock.DataError, ValueError) as error:
            assert "b.beton" in str(error)
    (tmp_path / "b.beton").write_bytes(content[: start + 100])
    with pytest.raises(penstock.DataError, match="b.beton"):
        conversion.convert(tmp_path / "b.beton", tmp_path / "z", "mds")


def test_the_command(photos, tmp_path, capsys):
    call = ["convert", str(photos), str(tmp_path / "x"), "--to", "mds", "--shard-size", "8Ki", "--threads", "2"]
    assert commands.main(call) == 0 and "10 samples, all compared" in capsys.readouterr().out
    assert len(list((tmp_path / "x").glob("*.mds"))) >= 2
    assert commands.main(["convert", str(photos)]) == 2
    assert "give SOURCE, TARGET and --to FORMAT" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        commands.main([*call[:-3], "many"])
    assert commands.main(["convert", str(photos), str(tmp_path / "y"), "--to", "mds", "--shorter", "0"]) == 2


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A hundred files that begin as pictures do: blocks of 32, of several pieces each."""
    root = tmp_path_factory.mktemp("many")
    for k in range(100):
        file = root / CLASSES[k % 3] / f"{k:03d}.jpg"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"\xff\xd8\xff" + RNG.bytes(400 + 5 * k))
    return root


@pytest.mark.parametrize("to", [n for n in FORMATS if n != "folder"])
def test_processes_write_the_same_bytes(many, tmp_path, to):
    arguments = {"shard_size": 3000, "threads": 2, "check": to == "tar"}
    assert conversion.convert(many, tmp_path / "one", to, **arguments) == 100
    assert conversion.convert(many, tmp_path / "two", to, workers=2, **arguments) == 100
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    assert len(files_of(tmp_path / "one")) > 20 and not (tmp_path / "two" / ".penstock.pieces").exists()


def test_another_number_of_processes_goes_on(many, tmp_path, monkeypatch):
    arguments = {"shard_size": 3000, "threads": 2, "check": False}
    conversion.convert(many, tmp_path / "whole", "mds", **arguments)
    add, left = conversion_run.Journal.add, [7]

    def stop(self, entry):
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        add(self, entry)

    monkeypatch.setattr(conversion_run.Journal, "add", stop)
    for workers, pieces in ((2, 7), (1, 5), (2, 100)):
        left[0] = pieces
        try:
            conversion.convert(many, tmp_path / "parts", "mds", workers=workers, **arguments)
        except Killed:
            assert not (tmp_path / "parts" / "penstock.manifest").exists()
    assert files_of(tmp_path / "parts") == files_of(tmp_path / "whole")


def test_processes_find_what_has_changed(many, tmp_path):
    conversion.convert(many, tmp_path / "x", "tfrecord", shard_size=3000, check=False)
    manifest = (tmp_path / "x" / "penstock.manifest").read_text().splitlines()
    for number in (3, 11):
        entry = json.loads(manifest[1 + number])
        sums = entry["sums"]
        manifest[1 + number] = json.dumps({**entry, "sums": f"{int(sums[:8], 16) ^ 1:08x}{sums[8:]}"})
    (tmp_path / "x" / "penstock.manifest").write_text("\n".join(manifest) + "\n")
    found = conversion.verify(tmp_path / "x", workers=2)
    assert found == conversion.verify(tmp_path / "x") and [f.file for f in found] == [
        "000003.tfrecord",
        "000011.tfrecord",
    ]


def test_what_processes_cannot_do_says_why(many, tmp_path, monkeypatch):
    with pytest.raises(penstock.DataError, match=r"cat/000.jpg"):  # these are not pictures
        conversion.convert(many, tmp_path / "x", "mds", shard_size=3000, workers=2, shorter=8)
    with pytest.raises(ValueError, match="one process writes 'folder'"):
        conversion.convert(many, tmp_path / "y", "folder", workers=2)
    with pytest.raises(ValueError, match="workers must be at least 1"):
        conversion.convert(many, tmp_path / "y", "mds", workers=0)
    monkeypatch.setattr(conversion_run.Processes, "_tell", lambda self, process, words: process.kill())
    with pytest.raises(RuntimeError, match="a process of the conversion has ended with code -9"):
        conversion.convert(many, tmp_path / "z", "mds", workers=2)
