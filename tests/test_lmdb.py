# SPDX-License-Identifier: Apache-2.0
"""readers.lmdb, readers.caffe, readers.caffe2: databases by LMDB itself, contents against DALI, and hostile files."""

import struct

import container_files as files
import numpy as np
import pytest
from test_recordio_tar import run, same

import penstock
from penstock import fn

lmdb = pytest.importorskip("lmdb")


def write(path, records, **options):
    with lmdb.open(str(path), map_size=1 << 30, **options) as database, database.begin(write=True) as transaction:
        for k, record in enumerate(records):
            transaction.put(b"%08d" % k, record)
    return str(path)


def ints(*values):
    return np.array(values, np.int32)


def test_a_large_tree_comes_in_the_order_of_its_keys(tmp_path):
    """Three levels of pages, values in them and in pages of their own, written in a random order with deletions."""
    rng = np.random.default_rng(2)
    want = {
        b"%012d" % k: rng.bytes(int(rng.choice([0, 3, 40, 900, 5000, 70000], p=[0.1, 0.3, 0.3, 0.2, 0.09, 0.01])))
        for k in rng.integers(0, 10**9, 6000)
    }
    with lmdb.open(str(tmp_path / "db"), map_size=1 << 30) as database:
        keys = list(want)
        for part in range(0, len(keys), 1000):
            with database.begin(write=True) as transaction:
                for key in keys[part : part + 1000]:
                    transaction.put(key, want[key])
        with database.begin(write=True) as transaction:
            for key in keys[::7]:
                transaction.delete(key)
                del want[key]
    value, key = run(fn.readers.lmdb, len(want), path=str(tmp_path / "db"), with_keys=True)
    assert [(k.tobytes(), v.tobytes()) for k, v in zip(key, value)] == sorted(want.items())


def test_a_file_instead_of_a_folder(tmp_path):
    write(tmp_path / "one.mdb", [b"a", b"b"], subdir=False)
    (value,) = run(fn.readers.lmdb, 2, path=[str(tmp_path / "one.mdb")])
    assert [v.tobytes() for v in value] == [b"a", b"b"]


@pytest.mark.parametrize("arguments", [{}, {"label_available": False}, {"image_available": False}])
@pytest.mark.parametrize("raw", [False, True])
def test_caffe_is_read_as_dali_reads_it(tmp_path, oracle, arguments, raw):
    image = [bytes(range(12)), bytes(range(24))]
    path = write(tmp_path / "db", [files.caffe_datum(image[k], k - 7, not raw, (3, 2, 2 + 2 * k)) for k in range(2)])
    same(
        run(fn.readers.caffe, 2, path=path, **arguments),
        oracle.call("readers.caffe", [], batch_size=2, path=[path], **arguments),
    )


@pytest.mark.parametrize(
    "arguments, records",
    [
        ({}, [(b"img", ints(3)), (b"imgg", ints(4))]),
        ({}, [(np.arange(12, dtype=np.uint8).reshape(2, 2, 3), ints(3))] * 2),
        ({"label_type": 2, "num_labels": 4}, [(b"img", ints(1, 2, 3, 4)), (b"imgg", ints(5, 6, 7, 8))]),
        ({"label_type": 4}, [(b"img",), (b"imgg",)]),
        (
            {"additional_inputs": 2},
            [(b"img", ints(1), np.float32([0.5, 2]), ints(1, 2, 3)), (b"i", ints(1), np.float32([7]), ints(9))],
        ),
        ({"bbox": True}, [(b"img", ints(1), ints(1, 2, 3, 4)), (b"imgg", ints(2), ints(4, 5, 6, 7))]),
        ({"bbox": True, "additional_inputs": 1}, [(b"img", ints(1), np.float32([1]), ints(1, 2, 3, 4))] * 2),
    ],
)
def test_caffe2_is_read_as_dali_reads_it(tmp_path, oracle, arguments, records):
    path = write(tmp_path / "db", [files.caffe2_record(*r) for r in records])
    same(
        run(fn.readers.caffe2, 2, path=path, **arguments),
        oracle.call("readers.caffe2", [], batch_size=2, path=[path], **arguments),
    )


def test_sparse_labels_of_caffe2(tmp_path):
    """DALI 2.4 refuses both kinds."""
    path = write(tmp_path / "db", [files.caffe2_record(b"img", ints(0, 3), np.float32([0.5, 2]))])
    assert run(fn.readers.caffe2, 1, path=path, label_type=1, num_labels=4)[1][0].tolist() == [1, 0, 0, 1]
    assert run(fn.readers.caffe2, 1, path=path, label_type=3, num_labels=4)[1][0].tolist() == [0.5, 0, 0, 2]
    with pytest.raises(penstock.DataError, match="the label 3 is not less than num_labels = 2"):
        run(fn.readers.caffe2, 1, path=path, label_type=1, num_labels=2)


@pytest.mark.parametrize(
    "record, message",
    [
        (b"\xff", "damaged message"),
        (files.caffe_datum(b"123", 1, False, (3, 5, 5)), "has 3 bytes"),
        (files.caffe_datum(b"123", 1, False, (2**62, 4, 4)), "has the extent"),
        (files.field(4, b"123")[:-1], "damaged message"),
    ],
)
def test_damaged_datums(tmp_path, record, message):
    path = write(tmp_path / "db", [record])
    with pytest.raises(penstock.DataError, match=rf"(?s){message}.*data.mdb, byte \d+"):
        run(fn.readers.caffe, 1, path=path)


def test_duplicates_and_named_databases_are_refused(tmp_path):
    with lmdb.open(str(tmp_path / "named"), max_dbs=2) as database:
        database.open_db(b"inner")
    with pytest.raises(penstock.DataError, match="named database"):
        run(fn.readers.lmdb, 1, path=str(tmp_path / "named"))


PAGE = 4096


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Pages 0 and 1 are meta pages; where the root is, its first branch and a page of a large value."""
    path = tmp_path_factory.mktemp("tree") / "db"
    write(path, [b"v" * (6000 if k % 50 == 0 else 200) for k in range(400)])
    content = (path / "data.mdb").read_bytes()
    latest = max((0, 1), key=lambda p: struct.unpack_from("<Q", content, p * PAGE + 16 + 24 + 96 + 8)[0])
    (root,) = struct.unpack_from("<Q", content, latest * PAGE + 16 + 24 + 48 + 40)
    (node,) = struct.unpack_from("<H", content, root * PAGE + 16)
    large = next(p for p in range(2, len(content) // PAGE) if struct.unpack_from("<H", content, p * PAGE + 10)[0] == 4)
    return content, latest, root, node, large


def damage(tree, tmp_path, changes):
    content = bytearray(tree[0])
    for at, format, value in changes:
        struct.pack_into(format, content, at, value)
    (tmp_path / "data.mdb").write_bytes(content)
    return str(tmp_path)


@pytest.mark.parametrize(
    "changes, message",
    [
        (lambda meta, root, node, large: [(root + node, "<H", root // PAGE)], "occurs twice"),  # a cycle
        (lambda meta, root, node, large: [(root + node, "<I", 2**31)], "page 2147483648 does not lie inside"),
        (lambda meta, root, node, large: [(root + node, "<H", 0)], "page 0 does not lie inside"),
        (lambda meta, root, node, large: [(root + 16, "<H", 65535)], "an entry is at byte 65535"),
        (lambda meta, root, node, large: [(root + 16, "<H", 0)], "an entry is at byte 0"),
        (lambda meta, root, node, large: [(root + 12, "<H", 65534)], "the entries of a page end at byte"),
        (lambda meta, root, node, large: [(root + 12, "<H", 3)], "the entries of a page end at byte"),
        (lambda meta, root, node, large: [(root + 10, "<H", 8)], "kind 8"),
        (lambda meta, root, node, large: [(root + node + 6, "<H", 65535)], "a key of 65535 bytes"),
        (lambda meta, root, node, large: [(root, "<Q", 77)], "says that it is page 77"),
        (lambda meta, root, node, large: [(large + 12, "<I", 1)], "does not lie inside them"),
        (lambda meta, root, node, large: [(large + 12, "<I", 2**32 - 1)], "does not lie inside them or the file"),
        (lambda meta, root, node, large: [(large + 10, "<H", 2)], "does not hold a large value"),
        (
            lambda meta, root, node, large: [(meta + 16 + 24 + 48 + 40, "<Q", 2**63)],
            "page 9223372036854775808 does not",
        ),
        (lambda meta, root, node, large: [(meta + 16 + 24 + 48 + 32, "<Q", 7)], "its head says 7"),
        (lambda meta, root, node, large: [(meta + 16 + 24 + 48 + 4, "<H", 4)], "several values for a key"),
        (lambda meta, root, node, large: [(16 + 24, "<I", 3)], "pages of 3 bytes"),
        (lambda meta, root, node, large: [(16, "<I", 3)], "not an LMDB database"),
        (lambda meta, root, node, large: [(16 + 4, "<I", 2)], "version 2"),
    ],
)
def test_hostile_pages(tree, tmp_path, changes, message):
    _, latest, root, node, large = tree
    path = damage(tree, tmp_path, changes(latest * PAGE, root * PAGE, node, large * PAGE))
    with pytest.raises(penstock.DataError, match=rf"(?s){message}.*data.mdb"):
        run(fn.readers.lmdb, 1, path=path)


def test_cut_databases(tree, tmp_path):
    for bytes_left in (0, 10, 100, PAGE, PAGE + 50, 2 * PAGE, 5 * PAGE + 1, len(tree[0]) - PAGE):
        (tmp_path / "data.mdb").write_bytes(tree[0][:bytes_left])
        with pytest.raises(penstock.DataError):
            run(fn.readers.lmdb, 400, path=str(tmp_path))


def test_the_older_meta_page_is_used_where_the_later_is_gone(tree, tmp_path):
    path = damage(tree, tmp_path, [(PAGE + 16, "<I", 0)])
    try:
        run(fn.readers.lmdb, 1, path=path)
    except penstock.DataError as error:
        assert "no records" in str(error)
