# SPDX-License-Identifier: Apache-2.0
"""readers.mxnet and readers.webdataset: contents against DALI, and files that are wrong."""

import struct
import tarfile

import container_files as files
import numpy as np
import pytest

import penstock
from penstock import Pipeline, fn, types

MAGIC = struct.pack("<I", 0xCED7230A)


def run(operator, count, pipeline=None, **arguments):
    pipe = Pipeline(batch_size=count, num_threads=2, **(pipeline or {}))
    with pipe:
        out = operator(**arguments)
        pipe.set_outputs(*(out if isinstance(out, (list, tuple)) else [out]))
    return [[b[i].numpy() for i in range(len(b))] for b in pipe.run()]


def same(got, want):
    got, want = (list(x) if isinstance(x[0], (list, tuple)) else [x] for x in (got, want))
    assert len(got) == len(want)
    for g, w in zip(got, want):
        for a, b in zip(g, w, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


RECORDS = [(1, b"abc"), ([2, 3, 4], b"defgh"), (5.5, b"xx" * 6 + MAGIC + b"123456"), (7, MAGIC * 3), (8, b"")]


@pytest.fixture
def rec(tmp_path):
    files.write_recordio(tmp_path / "a.rec", tmp_path / "a.idx", RECORDS)
    return tmp_path / "a.rec", tmp_path / "a.idx"


def test_recordio_is_read_as_dali_reads_it(rec, oracle):
    want = oracle.call("readers.mxnet", [], batch_size=5, path=[str(rec[0])], index_path=[str(rec[1])])
    same(run(fn.readers.mxnet, 5, path=str(rec[0]), index_path=str(rec[1])), want)
    same(run(fn.readers.mxnet, 5, path=str(rec[0])), want)
    assert [w.tobytes() for w in want[0]] == [data for _, data in RECORDS]


@pytest.mark.parametrize(
    "at, change, message",
    [
        (0, b"\0", "not a RecordIO file"),
        (7, b"\xff", "does not lie inside|kind"),
        (7, b"\x40", "kind"),
        (7, b"\x20", "kind|chunk"),
        (8, b"\xff\xff\xff\xff", "labels do not lie inside"),
        (4, b"\x04", "chunk|head"),
    ],
)
def test_damaged_recordio(rec, at, change, message):
    content = bytearray(rec[0].read_bytes())
    content[at : at + len(change)] = change
    rec[0].write_bytes(content)
    for arguments in ({}, {"index_path": str(rec[1])}):
        with pytest.raises(penstock.DataError, match=r"(?s)\[readers.mxnet\].*a.rec" if arguments else message):
            run(fn.readers.mxnet, 5, path=str(rec[0]), **arguments)


@pytest.mark.parametrize("text", ["0\t-1\n", "0\t999999\n", "x\t0\n", "0 0 0\n", "0\t4\n", "0\t0\n1\t0\n"])
def test_wrong_indexes_of_recordio(rec, text):
    rec[1].write_text(text)
    with pytest.raises(penstock.DataError):
        run(fn.readers.mxnet, 2, path=str(rec[0]), index_path=str(rec[1]))


def test_a_wrong_record_is_replaced(rec):
    content = bytearray(rec[0].read_bytes())
    content[36] ^= 1  # the magic number of the second record
    rec[0].write_bytes(content)
    image, label = run(fn.readers.mxnet, 3, {"on_error": "replace"}, path=str(rec[0]), index_path=str(rec[1]))
    assert (
        image[0].tobytes() == b"abc"
        and image[1].tobytes() in [d for _, d in RECORDS]
        and image[2].tobytes() == RECORDS[2][1]
    )


MEMBERS = [
    ("d/a.jpg", b"jpg0"),
    ("d/a.cls", b"\1\0\0\0"),
    ("d/a.seg.png", b"png0"),
    ("d/b.JPG", b"jpg1x"),
    ("d/b.cls", b"\2\0\0\0\3\0\0\0"),
    ("d/.hidden", b"q"),
    ("d/c.png", b"PPP"),
    ("d/c.jpg", b"J3"),
    ("d/c.jpg", b"J4"),
    ("nodot", b"zz"),
    ("e/a.jpg", b"last"),
    ("e/a.cls", b""),
]


@pytest.mark.parametrize(
    "ext, more",
    [
        (["jpg", "cls"], {}),
        (["jpg"], {}),
        (["jpg;png", "cls"], {"dtypes": [types.UINT8, types.INT32]}),
        (["jpg", "cls"], {"case_sensitive_extensions": False}),
        (["jpg", "cls"], {"missing_component_behavior": "skip"}),
        (["jpg", "cls"], {"missing_component_behavior": "empty"}),
        (["seg.png", "png"], {}),
        (["png;jpg"], {}),
    ],
)
@pytest.mark.parametrize("index", [False, True])
def test_archives_are_read_as_dali_reads_them(tmp_path, oracle, ext, more, index):
    path = str(tmp_path / "w.tar")
    members = [m for m in MEMBERS if not index or "." in m[0]]  # an index has no place for names without a dot
    files.write_tar(path, members, index=path + ".idx")
    places = {"index_paths": [path + ".idx"]} if index else {}
    asked = {k: v for k, v in more.items() if k != "dtypes"}
    count = 2 if "skip" in more.values() else 5
    want = oracle.call("readers.webdataset", [], batch_size=count, paths=[path], ext=ext, **places, **asked)
    want = want if isinstance(want[0], (list, tuple)) else [want]
    if "dtypes" in more:
        want[1] = [w.view(np.int32) for w in want[1]]
    same(run(fn.readers.webdataset, count, paths=path, ext=ext, **places, **more), want)


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_and_other_members(tmp_path, format):
    path, long = tmp_path / "w.tar", "folder/" * 20 + "name"
    if format != tarfile.USTAR_FORMAT:
        long += "x" * 200 + "é"
    files.write_tar(path, [(long + ".a", b"1"), (long + ".b", b"2")], format)
    with tarfile.open(path, "a", format=format) as tar:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo("other.a")
            info.type, info.linkname = kind, "x"
            tar.addfile(info)
    a, b = run(fn.readers.webdataset, 1, paths=str(path), ext=["a", "b"], missing_component_behavior="error")
    assert a[0].tobytes() == b"1" and b[0].tobytes() == b"2"


def test_a_missing_file_of_a_sample_is_an_error_if_asked_for(tmp_path):
    files.write_tar(tmp_path / "w.tar", MEMBERS)
    with pytest.raises(penstock.DataError, match=r"'d/b' has no file with the extension \"jpg\".*w.tar, byte 3584"):
        run(
            fn.readers.webdataset,
            1,
            paths=str(tmp_path / "w.tar"),
            ext=["jpg", "cls"],
            missing_component_behavior="error",
        )
    with pytest.raises(ValueError, match="did you mean 'skip'"):
        run(fn.readers.webdataset, 1, paths=str(tmp_path / "w.tar"), ext=["jpg"], missing_component_behavior="skp")
    with pytest.raises(penstock.DataError, match="not a whole number of int64"):
        run(fn.readers.webdataset, 1, paths=str(tmp_path / "w.tar"), ext=["cls"], dtypes=[types.INT64])


def header(name=b"a.jpg", size=b"00000000004\0", kind=b"0", sum=None):
    head = bytearray(name.ljust(100, b"\0") + b"0000644\0" * 3 + size + b"00000000000\0" + b" " * 8 + kind)
    head = head.ljust(512, b"\0")
    head[148:156] = b"%06o\0 " % (np.sum(head, dtype=np.int64) if sum is None else sum)
    return bytes(head)


@pytest.mark.parametrize(
    "content, message",
    [
        (header(size=b"77777777777\0") + bytes(512), "does not lie inside the archive"),
        (header(size=b"-0000000001\0") + bytes(512), "does not lie inside the archive"),
        (header(size=b"\x80" + b"\xff" * 11) + bytes(512), "does not lie inside the archive"),
        (
            header(size=b"\xff" * 12) + bytes(512),
            "does not lie inside the archive",
        ),  # a negative size: back to the start
        (header(sum=1) + bytes(512), "not a tar archive"),
        (header()[:300], "does not lie inside the file"),
        (header() + b"data".ljust(512, b"\0") + header(sum=9), "checksum of a tar header"),
        (header(kind=b"x", size=b"00000000020\0") + b"99 path=abc\n".ljust(512, b"\0"), "damaged pax header"),
        (header(kind=b"x", size=b"00000000020\0") + b"-5 path=abc\n".ljust(512, b"\0"), "damaged pax header"),
        (header(kind=b"x", size=b"00000000020\0") + b"0 path=abcd\n".ljust(512, b"\0"), "damaged pax header"),
        (
            header(kind=b"x", size=b"00000000012\0") + b"10 size=-9\n".ljust(512, b"\0") + header(),
            "damaged pax|does not lie inside",
        ),
        (header(kind=b"L", size=b"77777777\0\0\0\0") + bytes(2048), "does not lie inside the archive"),
        (bytes(1024), "no records"),
    ],
)
def test_damaged_archives(tmp_path, content, message):
    (tmp_path / "w.tar").write_bytes(content)
    with pytest.raises(penstock.DataError, match=message):
        run(fn.readers.webdataset, 1, paths=str(tmp_path / "w.tar"), ext=["jpg"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "v1.3 1\njpg 512 4 a\n",
        "v1.2 2\njpg 512 4 a\n",
        "v1.2 1\njpg 512\n",
        "v1.2 1\njpg 512 4\n",
        "v1.2 1\njpg 9999999 4 a\n",
        "v1.2 1\njpg 512 -4 a\n",
        "v1.2 -1\n",
    ],
)
def test_wrong_indexes_of_archives(tmp_path, text):
    files.write_tar(tmp_path / "w.tar", MEMBERS)
    (tmp_path / "w.idx").write_text(text)
    with pytest.raises(penstock.DataError):
        run(fn.readers.webdataset, 1, paths=str(tmp_path / "w.tar"), ext=["jpg"], index_paths=str(tmp_path / "w.idx"))
