# SPDX-License-Identifier: Apache-2.0
"""readers.parquet: rows beside those of pyarrow, the order of row groups, and checkpoints."""

import os
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest
from arrow_files import ROWS, columns
from pyarrow import parquet

import penstock
from penstock import Pipeline, fn
from penstock._operators.parquet import RowGroups

TABLE = pa.table(columns()).append_column("number", pa.array(range(ROWS), "int64"))
NAMES = [n for n in TABLE.column_names if n not in ("nested", "text view", "view")]  # views come back as text


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    parquet.write_table(TABLE.slice(0, 13), str(folder / "a.parquet"), row_group_size=4)
    parquet.write_table(TABLE.slice(13), str(folder / "b.parquet"), row_group_size=7, compression="zstd")
    return str(folder / "*.parquet")


GROUPS = [0, 4, 8, 12, 13, 20, 27, 34, ROWS]


def make(path, names, batch_size=5, threads=2, checkpoint=None, seed=3, pipeline=None, **arguments):
    pipe = Pipeline(
        batch_size=batch_size,
        num_threads=threads,
        seed=seed,
        enable_checkpointing=True,
        checkpoint=checkpoint,
        **(pipeline or {}),
    )
    with pipe:
        values = fn.readers.parquet(path, columns=names, name="reader", **arguments)
        pipe.set_outputs(*(values if isinstance(values, list) else [values]))
    return pipe


def take(pipe, count):
    rows = []
    while len(rows) < count:
        batches = pipe.run()
        rows += [[np.asarray(b[i].numpy()) for b in batches] for i in range(len(batches[0]))]
    return rows[:count]


def numbers(pipe, count):
    return [int(v) for (v,) in take(pipe, count)]


def test_each_type(files):
    for k, row in enumerate(take(make(files, NAMES), ROWS)):
        for name, got in zip(NAMES, row, strict=True):
            value = TABLE[name][k].as_py()
            value = value["bytes"] if name == "image" else value
            value = value.encode() if isinstance(value, str) else value
            want = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
            if name != "when":
                assert np.array_equal(got.ravel(), want.ravel()), (name, k)


def test_a_shuffle_is_of_row_groups_and_inside_four_of_them(files):
    epochs = [numbers(make(files, "number", seed=s, random_shuffle=True), ROWS) for s in (3, 3, 4)]
    assert all(sorted(e) == list(range(ROWS)) for e in epochs)
    assert epochs[0] == epochs[1] != epochs[2]
    group = [next(g for g in range(8) if n < GROUPS[g + 1]) for n in epochs[0]]
    sizes = np.diff(GROUPS)
    first = set(group[: sum(sizes[g] for g in dict.fromkeys(group[:5]))])
    assert len(set(group)) == 8 and len(first) <= 5
    assert numbers(make(files, "number"), ROWS) == list(range(ROWS))


def test_a_checkpoint_continues_on_another_number_of_ranks(files):
    pipe = make(files, "number", random_shuffle=True)
    first, state, rest = numbers(pipe, 15), pipe.checkpoint(), numbers(pipe, ROWS - 15)
    assert sorted(first + rest) == list(range(ROWS))
    assert numbers(make(files, "number", checkpoint=state, random_shuffle=True), ROWS - 15) == rest
    ranks = [make(files, "number", 1, 2, state, num_shards=2, shard_id=r, random_shuffle=True) for r in range(2)]
    assert sorted(n for pipe in ranks for n in numbers(pipe, (ROWS - 15) // 2)) == sorted(rest)


def test_threads_change_nothing(files):
    one, many = (make(files, "number", threads=n, random_shuffle=True) for n in (1, 5))
    assert numbers(one, 2 * ROWS) == numbers(many, 2 * ROWS)


@pytest.fixture(scope="module")
def many_groups(tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "x.parquet"
    parquet.write_table(pa.table({"number": pa.array(range(1280), "int64")}), str(path), row_group_size=32)
    return str(path)


def test_a_thread_that_waits_for_a_row_group_decodes_a_later_one(many_groups, monkeypatch):
    decode, others, in_time = RowGroups.__call__, threading.Semaphore(0), []

    def decode_first_last(self, group):
        if group == 0:
            in_time.append(others.acquire(timeout=60))
        else:
            others.release()
        return decode(self, group)

    monkeypatch.setattr(RowGroups, "__call__", decode_first_last)
    assert numbers(make(many_groups, "number", 32), 64) == list(range(64))
    assert in_time == [True]


@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("shuffle", [False, True])
def test_each_row_group_is_decoded_once_in_an_epoch(many_groups, monkeypatch, threads, shuffle):
    decode, decoded = RowGroups.__call__, []

    def counted(self, group):
        decoded.append(group)
        return decode(self, group)

    monkeypatch.setattr(RowGroups, "__call__", counted)
    got = numbers(make(many_groups, "number", 16, threads, random_shuffle=shuffle), 1280)
    assert sorted(got) == list(range(1280)) and sorted(decoded[:40]) == list(range(40))


def test_wrong_calls_and_files_say_what_is_wrong(files, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="there is no column 'x'; there are 'text'"):
        make(files, "x")
    with pytest.raises(ValueError, match=r"\[readers.parquet\] .*'nested.x'"):
        make(files, "nested.x").build()
    with pytest.raises(FileNotFoundError, match="no file matches"):
        make(str(tmp_path / "*.parquet"), "x")
    with pytest.raises(FileNotFoundError, match="does not exist.*none"):
        make(str(tmp_path / "none"), "x")
    (tmp_path / "text.parquet").write_text("no table")
    with pytest.raises(penstock.DataError, match="text.parquet is not Parquet"):
        make(str(tmp_path / "text.parquet"), "x")
    parquet.write_table(pa.table({"number": ["x"]}), str(tmp_path / "other.parquet"))
    with pytest.raises(penstock.DataError, match="other.parquet are not those of"):
        make([files.replace("*", "a"), str(tmp_path / "other.parquet")], "number")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        make(files, "number")


def with_a_damaged_group(folder):
    """A file of four row groups; the second one cannot be decoded."""
    path = folder / "x.parquet"
    table = pa.table({"number": pa.array(range(4000), "int64")})
    parquet.write_table(table, str(path), row_group_size=1000, compression="zstd", use_dictionary=False)
    place = parquet.ParquetFile(str(path)).metadata.row_group(1).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 200] = b"\xff" * 200
    path.write_bytes(content)
    return path


def test_a_damaged_row_group_is_an_error_of_its_samples(tmp_path):
    path = with_a_damaged_group(tmp_path)
    place = r"(?s)\[readers.parquet\] .*\(file: \S+x.parquet, row group 1, row \d+\)"
    with pytest.raises(penstock.DataError, match=place):
        take(make(str(path), "number", 100), 4000)
    got = numbers(make(str(path), "number", 100, pipeline={"on_error": "skip"}), 3000)
    assert got == [*range(1000), *range(2000, 4000)]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_damaged_row_group_is_tried_once(tmp_path, monkeypatch, threads):
    path, tried, decode = with_a_damaged_group(tmp_path), [], RowGroups.__call__

    def counted(self, number):
        tried.append(number)
        return decode(self, number)

    monkeypatch.setattr(RowGroups, "__call__", counted)
    got = numbers(make(str(path), "number", 100, threads, pipeline={"on_error": "skip"}), 3000)
    assert got == [*range(1000), *range(2000, 4000)] and tried.count(1) == 1


def photographs(large=True, absent=False):
    """Values of which some are as small as a view holds, and others have several pages."""
    rng = np.random.default_rng(5)
    sizes = [0, 1, 12, 13, 100_000, 40_000, 300_000, 70_000, 20_000, 12, 50_000, 90_000]
    values = [rng.bytes(size) for size in sizes]
    values[3] = None if absent else values[3]
    return pa.array(values, pa.large_binary() if large else pa.binary())


def write_photographs(path, *, required=False, large=False, absent=False, **options):
    columns = {"n": pa.array(range(12), "int64"), "image": photographs(large, absent), "k": pa.array(range(12), "int8")}
    fields = [pa.field(name, column.type, nullable=not required) for name, column in columns.items()]
    table = pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))
    options = {
        "compression": "none",
        "use_dictionary": False,
        "data_page_size": 64 << 10,
        "row_group_size": 5,
    } | options
    parquet.write_table(table, str(path), **options)
    return table


PLAIN = [
    {},
    {"required": True},
    {"large": True},
    {"data_page_version": "2.0"},
    {"data_page_version": "2.0", "required": True},
    {"required": True, "write_statistics": False},
    {"compression": {"n": "zstd", "image": "none", "k": "snappy"}},
    {"use_content_defined_chunking": True},
]
DECODED = [
    {"write_statistics": False},  # whether a value is absent is not known then
    {"absent": True},
    {"compression": "snappy"},
    {"use_dictionary": True},
    {"use_dictionary": False, "column_encoding": {"image": "DELTA_LENGTH_BYTE_ARRAY"}},
]


@pytest.mark.parametrize("options", PLAIN + DECODED, ids=str)
def test_values_that_lie_in_the_file_as_they_are_are_not_decoded(tmp_path, options):
    path = tmp_path / "x.parquet"
    table = write_photographs(path, **options)
    groups = RowGroups([str(path)], None)
    plain = [0, 1, 2] if options in PLAIN else [1, 2] if "absent" in options else []  # the absent value is in the first
    assert [(group, column) for group, column, *_ in groups.plain] == [(group, 1) for group in plain]
    for shuffle in (False, True):
        got = take(make(str(path), ["k", "image", "n"], random_shuffle=shuffle, missing="empty"), 24)
        assert sorted(int(n) for _, _, n in got) == sorted(2 * list(range(12)))
        for k, image, n in got:
            assert k == n and image.tobytes() == (table["image"][int(n)].as_py() or b"")


def test_a_column_alone_needs_no_decoder(tmp_path, monkeypatch):
    table = write_photographs(tmp_path / "a.parquet")
    write_photographs(tmp_path / "b.parquet", compression="zstd")
    monkeypatch.setattr(RowGroups, "batch_of", lambda self, groups: pytest.fail(f"{groups} were decoded"))
    assert [v.tobytes() for (v,) in take(make(str(tmp_path / "a.parquet"), "image"), 12)] == table["image"].to_pylist()
    monkeypatch.undo()
    both = take(make(str(tmp_path / "?.parquet"), "image"), 24)
    assert [v.tobytes() for (v,) in both] == 2 * table["image"].to_pylist()


def test_numbers_beside_photographs_are_decoded_once_for_many_row_groups(tmp_path, monkeypatch):
    rows = pa.table({"n": pa.array(range(12)), "image": [bytes([n]) * 20_000 for n in range(12)]})
    options = {"row_group_size": 1, "compression": "none", "use_dictionary": False}
    parquet.write_table(rows, str(tmp_path / "x.parquet"), **options)
    decode, decoded = RowGroups.batch_of, []
    monkeypatch.setattr(RowGroups, "batch_of", lambda self, groups: decoded.append(groups) or decode(self, groups))
    got = take(make(str(tmp_path / "x.parquet"), ["n", "image"], threads=3), 36)
    assert [int(n) for n, _ in got] == 3 * list(range(12)) and decoded == [list(range(12))]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_damaged_pages_are_errors_that_name_the_file(tmp_path, version):
    path, damaged = tmp_path / "x.parquet", tmp_path / "damaged.parquet"
    table = write_photographs(path, data_page_version=version, row_group_size=12)
    content, ((_, _, _, begin, size, _),) = path.read_bytes(), RowGroups([str(path)], None).plain
    sound = {(n, value) for n, value in enumerate(table["image"].to_pylist())}
    rng, errors = np.random.default_rng(2), 0
    heads = [begin + k for k in range(60)]  # the header, levels and first lengths of the first page
    for place in heads + [begin + int(n) for n in rng.integers(0, size, 10)]:
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        damaged.write_bytes(changed)
        pipe = make(str(damaged), ["n", "image"], batch_size=12)
        try:
            got = take(pipe, 12)
            assert (
                len({(int(n), v.tobytes()) for n, v in got} - sound) <= 2
            )  # a byte of a value, or a border between two
        except penstock.DataError as error:
            assert "damaged.parquet" in str(error) and "readers.parquet" in str(error)
            errors += 1
        finally:
            pipe.close()
    assert errors > 20
    changed = bytearray(content)
    changed[begin : begin + 20] = b"\xff" * 20
    damaged.write_bytes(changed)
    with pytest.raises(penstock.DataError, match="column 'image'.*header of a page.*damaged.parquet, row group 0"):
        take(make(str(damaged), "image"), 1)


def test_a_file_that_changed_is_an_error(tmp_path):
    write_photographs(tmp_path / "x.parquet")
    pipe = make(str(tmp_path / "x.parquet"), "image")
    pipe.build()
    (tmp_path / "x.parquet").write_bytes(b"short")
    with pytest.raises(penstock.DataError, match="x.parquet"):
        take(pipe, 12)


def test_files_of_a_large_data_set_do_not_all_stay_open(tmp_path):
    """A system lets a process have a thousand files; a data set may have more."""
    for k in range(80):
        parquet.write_table(pa.table({"k": [k]}), str(tmp_path / f"{k:02d}.parquet"))
    pipe = Pipeline(batch_size=80, num_threads=2)
    with pipe:
        pipe.set_outputs(fn.readers.parquet(str(tmp_path / "*.parquet"), columns="k"))
    for _ in range(2):  # the second time files are opened again
        assert pipe.run()[0].as_array().ravel().tolist() == list(range(80))
        opened = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
        assert 0 < sum(path.startswith(str(tmp_path)) for path in opened) <= 64 + 2
    pipe.close()
