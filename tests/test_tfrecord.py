# SPDX-License-Identifier: Apache-2.0
"""readers.tfrecord: features of every kind, against DALI, and records that are wrong."""

import os
import warnings

import container_files as files
import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, pipeline_def, tfrecord as tfrec, types

COUNT = 7


def features_of(k):
    return {
        "image": b"bytes %d" % k,
        "label": np.array([k - 3]),
        "pair": np.array([k, -k]) * 2**40,
        "boxes": np.arange(2 * k, dtype=np.float32) / 3,
        "ids": np.arange(k) - 2,
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("tfrecord") / "all.tfrecord"
    files.write_tfrecord(path, [files.example(features_of(k)) for k in range(COUNT)], f"{path}.idx")
    return str(path)


def read(path, features, count=COUNT, **arguments):
    pipe = Pipeline(batch_size=count, num_threads=2)
    with pipe:
        out = fn.readers.tfrecord(path=path, features=features, **arguments)
        assert list(out) == list(features)
        pipe.set_outputs(*out.values())
    return [[b[i].numpy() for i in range(len(b))] for b in pipe.run()]


SPECIFICATIONS = {
    "image": ["FixedLenFeature", [], "string", ""],
    "label": ["FixedLenFeature", [1], "int64", -1],
    "pair": ["FixedLenFeature", [2], "int64", 0],
    "boxes": ["VarLenFeature", [2], "float32", 0.0],
    "ids": ["VarLenFeature", "int64", 0],
}


def penstock_features(specifications):
    return {
        k: getattr(tfrec, call)(*rest[:-2], getattr(tfrec, rest[-2]), rest[-1])
        for k, (call, *rest) in specifications.items()
    }


@pytest.mark.parametrize("name", SPECIFICATIONS)
@pytest.mark.parametrize("count", [1, 5])
def test_contents_shapes_and_types_are_dalis(path, oracle, name, count):
    one = {name: SPECIFICATIONS[name]}
    if name in ("ids", "boxes"):  # DALI refuses batches with an empty feature of variable length
        count, one = 1, one
        target = os.path.join(os.path.dirname(path), f"{name}.tfrecord")
        files.write_tfrecord(target, [files.example(features_of(4))], target + ".idx")
    else:
        target = path
    want = oracle.call(
        "readers.tfrecord", [], batch_size=count, path=[target], index_path=[target + ".idx"], features=one
    )
    (got,) = read(target, penstock_features(one), count)
    for w, g in zip(want, got, strict=True):
        assert w.dtype == g.dtype and w.shape == g.shape and np.array_equal(w, g)


def test_every_kind_of_feature(path):
    image, label, pair, boxes, ids = read(path, penstock_features(SPECIFICATIONS))
    for k in range(COUNT):
        want = features_of(k)
        assert image[k].tobytes() == want["image"]
        assert label[k].tolist() == [k - 3] and pair[k].tolist() == want["pair"].tolist()
        assert np.array_equal(boxes[k], want["boxes"].reshape(-1, 2)) and np.array_equal(ids[k], want["ids"])


def test_unpacked_numbers_and_pieces_read_the_same(tmp_path):
    plain, unpacked = files.example(features_of(3)), files.example(features_of(3), packed=False)
    # Two pieces of one list, as protocol buffers merge them.
    pieces = files.field(
        1,
        files.field(
            1, files.field(1, b"ids") + files.field(2, files.feature(np.arange(2)) + files.feature(np.arange(2, 5)))
        ),
    )
    files.write_tfrecord(tmp_path / "a", [plain, unpacked])
    files.write_tfrecord(tmp_path / "b", [pieces])
    for values in read(str(tmp_path / "a"), penstock_features(SPECIFICATIONS), 2):
        assert np.array_equal(values[0], values[1])
    assert read(str(tmp_path / "b"), {"ids": tfrec.VarLenFeature(tfrec.int64, 0)}, 1)[0][0].tolist() == [0, 1, 2, 3, 4]


def test_an_absent_feature_is_its_default_or_empty(path):
    features = {
        "a": tfrec.FixedLenFeature([2, 2], tfrec.int64, 7),
        "b": tfrec.FixedLenFeature((), tfrec.string, "none"),
        "c": tfrec.VarLenFeature(tfrec.float32, 0.0),
        "d": tfrec.FixedLenFeature([], tfrec.float32),
        "e": tfrec.VarLenFeature([-1, 3], tfrec.int64, 0),
    }
    a, b, c, d, e = read(path, features, 2)
    assert a[0].tolist() == [[7, 7], [7, 7]] and b[0].tobytes() == b"none" and c[0].shape == (0,)
    assert d[0] == 0 and d[0].shape == () and e[0].shape == (0, 3)


def test_index_files_are_used_and_made(path, tmp_path):
    want = open(f"{path}.idx").read()
    made = tmp_path / "made.idx"
    features = {"label": tfrec.FixedLenFeature([1], tfrec.int64, -1)}
    read(path, features, index_path=str(made))
    assert made.read_text() == want
    made.write_text("".join(want.splitlines(keepends=True)[2:4]))  # a part of the records
    assert [v.tolist() for v in read(path, features, 2, index_path=str(made))[0]] == [[-1], [0]]


@pytest.mark.parametrize(
    "text, message",
    [
        ("0 9999999\n", "does not lie inside"),
        ("0 -4\n", "does not lie inside"),
        ("-1 20\n", "does not lie inside"),
        ("9223372036854775807 9223372036854775807\n", "does not lie inside"),
        ("0 twenty\n", "line 1"),
        ("0 1 2\n", "line 1"),
        ("0\n", "line 1"),
        ("0 3\n", "too short"),
        ("1 40\n", "according to the index"),
        ("99999999999999999999 1\n", "line 1"),
    ],
)
def test_wrong_index_files(path, tmp_path, text, message):
    index = tmp_path / "wrong.idx"
    index.write_text(text)
    with pytest.raises(penstock.DataError, match=message):
        read(path, {"label": tfrec.FixedLenFeature([1], tfrec.int64, -1)}, 1, index_path=str(index))


@pytest.mark.parametrize(
    "feature, message",
    [
        ("FixedLenFeature([3], tfrec.int64, 0)", "2 values, its shape"),
        ("FixedLenFeature([2], tfrec.float32, 0)", "has integers, but the feature needs floats"),
        ("VarLenFeature([3], tfrec.int64, 0)", "not a multiple"),
        ("FixedLenFeature((), tfrec.string, '')", "has integers, but the feature needs byte strings"),
    ],
)
def test_records_that_do_not_fit_their_description(path, feature, message):
    with pytest.raises(penstock.DataError, match=rf"feature 'pair'.*{message}.*all.tfrecord, byte 0"):
        read(path, {"pair": eval(f"tfrec.{feature}")})


def damaged(path, tmp_path, change):
    content = bytearray(open(path, "rb").read())
    change(content)
    target = tmp_path / "damaged.tfrecord"
    target.write_bytes(content)
    return str(target)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda c: c.__delitem__(slice(-5, None)), "does not lie inside the file"),
        (lambda c: c.__setitem__(0, c[0] ^ 1), "is not a TFRecord file"),
        (lambda c: c.__setitem__(9, c[9] ^ 1), "is not a TFRecord file"),
        (lambda c: c.__setitem__(20, c[20] ^ 16), "CRC-32C.*data is wrong"),
        (lambda c: c.clear(), "there are no records|is empty"),
        (lambda c: c.__setitem__(slice(0, 20), b"\xff" * 20), "is not a TFRecord file"),
    ],
)
def test_damaged_files(path, tmp_path, change, message):
    with pytest.raises(penstock.DataError, match=rf"(?s){message}.*damaged.tfrecord"):
        read(damaged(path, tmp_path, change), {"label": tfrec.FixedLenFeature([1], tfrec.int64, -1)})


def test_hostile_lengths_with_a_right_checksum(tmp_path):
    import struct

    for length in (2**63, 2**64 - 1, 2**64 - 16, 10**6):
        head = struct.pack("<Q", length)
        (tmp_path / "a").write_bytes(head + struct.pack("<I", files._masked(head)) + bytes(40))
        with pytest.raises(penstock.DataError, match="does not lie inside the file"):
            read(str(tmp_path / "a"), {"x": tfrec.FixedLenFeature([], tfrec.int64, 0)}, 1)


def test_checksums_can_be_left_unchecked(path, tmp_path):
    at = open(path, "rb").read().find(b"bytes 2")
    target = damaged(path, tmp_path, lambda c: c.__setitem__(at, 0x42))
    (image,) = read(target, {"image": tfrec.FixedLenFeature((), tfrec.string, "")}, 3, check_crc=False)
    assert image[2].tobytes() == b"Bytes 2"


@pytest.mark.parametrize(
    "message",
    [
        b"\x0a\x05abc",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x0b\x01",
        b"\x00\x00",
        files.field(1, files.field(1, files.field(1, b"x") + b"\x12\x7f\x01")),
        files.field(
            1, files.field(1, files.field(1, b"x") + files.field(2, files.field(3, files.field(1, b"\xff\xff"))))
        ),
    ],
)
def test_damaged_examples(tmp_path, message):
    files.write_tfrecord(tmp_path / "a", [message])
    with pytest.raises(penstock.DataError, match="damaged message"):
        read(str(tmp_path / "a"), {"x": tfrec.VarLenFeature(tfrec.int64, 0)}, 1)


def test_wrong_arguments(path, tmp_path):
    label = {"label": tfrec.FixedLenFeature([1], tfrec.int64, -1)}
    with pytest.raises(FileNotFoundError, match="no file matches"):
        read(str(tmp_path / "*.tfrecord"), label)
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / "missing"), label)
    with pytest.raises(ValueError, match="2 index files for 1 files"):
        read(path, label, index_path=["a", "b"])
    with pytest.raises(ValueError, match="at least one feature"):
        read(path, {})
    with pytest.raises(TypeError, match="is not a FixedLenFeature"):
        read(path, {"label": 3})
    with pytest.raises(TypeError, match="type of a feature"):
        tfrec.FixedLenFeature([1], "int32", 0)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_the_reading_part_of_a_detector(tmp_path, device):
    """Images and boxes of a detection set, as training programs for YOLO read them."""
    from io import BytesIO

    from PIL import Image

    rng = np.random.default_rng(1)
    records, pictures = [], []
    for k in range(5):
        stream = BytesIO()
        Image.fromarray(rng.integers(0, 256, (30 + k, 40, 3), np.uint8)).save(stream, "JPEG")
        pictures.append(stream.getvalue())
        boxes = {f"image/bbox/{side}": rng.random(k).astype(np.float32) for side in ("xmin", "ymin", "xmax", "ymax")}
        records.append(files.example({"image/encoded": pictures[-1], "image/class/label": np.array([k]), **boxes}))
    files.write_tfrecord(tmp_path / "data.tfrecord", records)

    @pipeline_def
    def create(data_dir, image_size=640):
        inputs = fn.readers.tfrecord(
            path=[f"{data_dir}/data.tfrecord"],
            index_path=f"{data_dir}/index.idx",
            features={
                "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
                "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
                "image/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0),
                "image/bbox/ymin": tfrec.VarLenFeature(tfrec.float32, 0.0),
                "image/bbox/xmax": tfrec.VarLenFeature(tfrec.float32, 0.0),
                "image/bbox/ymax": tfrec.VarLenFeature(tfrec.float32, 0.0),
            },
            random_shuffle=True,
            initial_fill=2048,
            name="tfrecord_reader",
        )
        images = fn.decoders.image(inputs["image/encoded"], device="mixed" if device == "gpu" else "cpu")
        images = fn.resize(images, size=(image_size, image_size), interp_type=types.INTERP_LINEAR)
        return images, inputs["image/class/label"], inputs["image/bbox/xmin"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", penstock.DeviceWarning)
        pipe = create(data_dir=str(tmp_path), image_size=16, batch_size=5, device_id=0, num_threads=2)
        pipe.build()
        assert pipe.epoch_size("tfrecord_reader") == 5
        images, labels, xmin = pipe.run()
    for i in range(5):
        k = int(labels[i].numpy()[0])
        whole = fn.resize(
            fn.decoders.image(np.frombuffer(pictures[k], np.uint8)), size=(16, 16), interp_type=types.INTERP_LINEAR
        )
        assert np.array_equal(images[i].cpu().numpy(), np.asarray(whole)) and xmin[i].numpy().shape == (k,)
    assert sorted(int(labels[i].numpy()[0]) for i in range(5)) == list(range(5))
    assert os.path.exists(tmp_path / "index.idx")
