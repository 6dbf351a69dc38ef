# SPDX-License-Identifier: Apache-2.0
"""readers.arrow: tables in memory and files, beside what pyarrow says of the same rows."""

import numpy as np
import pyarrow as pa
import pytest
from arrow_files import ROWS, columns
from pyarrow import ipc

import penstock
from penstock import Pipeline, fn

RNG = np.random.default_rng(6)
COLUMNS = columns()
TABLE = pa.table(COLUMNS)
NAMES = [name for name in COLUMNS if name != "nested"] + ["image.path", "nested.a.b"]


def expected(name, row):
    value = TABLE["image" if name == "image.path" else "nested" if name == "nested.a.b" else name][row].as_py()
    value = value["path"] if name == "image.path" else value["a"]["b"] if name == "nested.a.b" else value
    value = value["bytes"] if name == "image" else value
    if name == "when":
        return np.int64(row)
    if isinstance(value, (str, bytes)):
        return np.frombuffer(value.encode() if isinstance(value, str) else value, np.uint8)
    return np.asarray(value)


def read(source, names, batch_size=5, threads=2, count=None, seed=1, pipeline=None, **arguments):
    """The samples of one epoch, a list of arrays each."""
    pipe = Pipeline(batch_size=batch_size, num_threads=threads, seed=seed, **(pipeline or {}))
    with pipe:
        values = fn.readers.arrow(source, columns=names, name="reader", **arguments)
        pipe.set_outputs(*(values if isinstance(values, list) else [values]))
    count = count or pipe.reader_meta("reader")["epoch_size"]
    rows = []
    while len(rows) < count:
        batches = pipe.run()
        rows += [[np.asarray(b[i].numpy()) for b in batches] for i in range(len(batches[0]))]
    return rows[:count]


def compare(rows, numbers):
    for got, row in zip(rows, numbers, strict=True):
        for name, value in zip(NAMES, got):
            want = expected(name, row)
            assert value.shape == want.shape or (value.size == want.size == 0), (name, row)
            assert np.array_equal(value.ravel(), want.ravel()), (name, row)


def written(tmp_path, stream, name="a.arrow", table=TABLE, chunk=10, **options):
    path = tmp_path / name
    with (ipc.new_stream if stream else ipc.new_file)(
        str(path), table.schema, options=ipc.IpcWriteOptions(**options)
    ) as writer:
        writer.write_table(table, max_chunksize=chunk)
    return path


@pytest.mark.parametrize("chunk", [1, 8, 100])
def test_each_type_in_memory(chunk):
    table = pa.Table.from_batches(TABLE.to_batches(max_chunksize=chunk))
    compare(read(table, NAMES), range(ROWS))


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("chunk", [1, 8, 100])
def test_each_type_in_files(tmp_path, stream, chunk):
    compare(read(written(tmp_path, stream, chunk=chunk), NAMES), range(ROWS))


def test_slices_have_offsets(tmp_path):
    for start, length in ((0, 1), (3, 9), (9, ROWS - 9)):
        part = TABLE.slice(start, length)
        compare(read(part, NAMES), range(start, start + length))
        compare(read(written(tmp_path, True, table=part), NAMES), range(start, start + length))


def test_any_object_that_lends_a_stream_or_an_array():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return TABLE.__arrow_c_stream__()

    class Array:
        def __arrow_c_array__(self, requested_schema=None):
            return TABLE.slice(2).combine_chunks().to_batches()[0].__arrow_c_array__()

    compare(read(Stream(), NAMES), range(ROWS))
    compare(read(Array(), NAMES), range(2, ROWS))
    compare(read(TABLE.to_reader(), NAMES), range(ROWS))


class OfHuggingFace:
    """What a data set of theirs looks like here: a table, and the rows of a selection or a shuffle."""

    def __init__(self, rows):
        self.data, self._indices = self, rows if rows is None else pa.table({"indices": pa.array(rows, "uint64")})
        self.table = TABLE


def test_the_selection_of_a_data_set_is_read_in_its_order():
    compare(read(OfHuggingFace(None), NAMES), range(ROWS))
    order = RNG.permutation(ROWS)[:11]
    compare(read(OfHuggingFace(order), NAMES), order)
    with pytest.raises(ValueError, match="no row 40 in a table of 37"):
        read(OfHuggingFace([40]), NAMES)


def test_bytes_are_not_copied():
    data = pa.array([b"a" * 100_000])
    (batch,) = [read_batch(pa.table({"x": data}), "x")]
    address = data.buffers()[2].address
    assert batch[0].numpy().__array_interface__["data"][0] == address


def read_batch(source, name):
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.readers.arrow(source, columns=name))
    return pipe.run()[0]


def test_without_columns_a_dict_of_all():
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        values = fn.readers.arrow(pa.table({"a": [1, 2], "b": ["x", "y"]}))
        pipe.set_outputs(values["b"], values["a"])
    assert pipe.run()[1].as_array().tolist() == [1, 2]


ABSENT = pa.table(
    {
        "i": pa.array([1, None], "int32"),
        "f": pa.array([1.5, None]),
        "b": [b"x", None],
        "l": [[1], None],
        "inside": [[1], [None]],
    }
)


@pytest.mark.parametrize("where", ["memory", "file"])
def test_absent_values(tmp_path, where):
    source = ABSENT if where == "memory" else written(tmp_path, True, table=ABSENT)
    row = "row 1" if where == "memory" else "a.arrow, row 1"
    for name in ABSENT.column_names:
        with pytest.raises(penstock.DataError, match=rf"(?s)column '{name}': .*null.*{row}"):
            read(source, name, batch_size=2)
    got = read(source, ["f", "b", "l"], missing="empty")[1]
    assert np.isnan(got[0]) and [v.shape for v in got[1:]] == [(0,), (0,)]
    assert [v.item() for v in read(source, ["i", "f"], missing_number=-1)[1]] == [-1, -1]
    with pytest.raises(penstock.DataError, match="missing_number"):
        read(source, "i", missing="empty")
    assert len(read(source, "b", count=1, pipeline={"on_error": "skip"})) == 1


def test_the_path_of_a_picture_is_read_where_its_bytes_are_absent(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"from the file")
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    rows = [{"bytes": None, "path": str(tmp_path / "x.bin")}, {"bytes": b"here", "path": "elsewhere"}, None]
    table = pa.table({"image": pa.array(rows, kind)})
    got = read(table, "image", missing="empty")
    assert [bytes(v) for (v,) in got] == [b"from the file", b"here", b""]
    table = pa.table({"image": pa.array([{"bytes": None, "path": str(tmp_path / "none")}], kind)})
    with pytest.raises(FileNotFoundError, match="none"):
        read(table, "image")


@pytest.mark.parametrize(
    "column, message",
    [
        (pa.array(["a"]).dictionary_encode(), "dictionary"),
        (pa.array([{"a": 1}]), r"name one of 'x\.a'"),
        (pa.array([["a"]]), r'type "u" in a list'),
        (pa.array([1], pa.decimal128(5)), 'type "d:5,0"'),
        (pa.nulls(1), 'type "n"'),
    ],
)
def test_columns_that_cannot_be_read_say_why(column, message):
    with pytest.raises(ValueError, match=message):
        read(pa.table({"x": column}), "x")


def test_wrong_calls_say_what_is_right(tmp_path):
    with pytest.raises(ValueError, match="there is no column 'y'; there are 'x'"):
        read(pa.table({"x": [1]}), "y")
    with pytest.raises(TypeError, match="__arrow_c_stream__ or __arrow_c_array__.* not int"):
        read(3, "x")
    with pytest.raises(ValueError, match="no rows"):
        read(pa.table({"x": pa.array([], "int32")}), "x")
    with pytest.raises(ValueError, match='missing must be "error" or "empty", got "none"'):
        read(pa.table({"x": [1]}), "x", missing="none")
    with pytest.raises(penstock.DataError, match="lists of 1 and of 2 elements.*row 0"):
        read(pa.table({"x": [[[1], [2, 3]]]}), "x")
    path = written(tmp_path, True, compression="lz4")
    with pytest.raises(penstock.DataError, match="compressed: write it without"):
        read(path, "int8")
    (tmp_path / "text").write_text("no table at all, but some text")
    with pytest.raises(penstock.DataError, match="(?s)no message of Arrow IPC begins here.*text"):
        read(tmp_path / "text", "x")
    written(tmp_path, True, "b.arrow", pa.table({"int8": ["x"]}))
    written(tmp_path, True)
    with pytest.raises(penstock.DataError, match="column 'int8' is not the one of"):
        read([tmp_path / "a.arrow", tmp_path / "b.arrow"], "int8")


def test_a_checkpoint_continues_over_another_object_with_the_same_table():
    def make(checkpoint=None):
        pipe = Pipeline(batch_size=5, num_threads=2, seed=3, enable_checkpointing=True, checkpoint=checkpoint)
        with pipe:
            pipe.set_outputs(fn.readers.arrow(pa.table(COLUMNS), columns="int64", random_shuffle=True))
        return pipe

    pipe = make()
    pipe.run()
    state, rest = pipe.checkpoint(), [pipe.run()[0].as_array().tolist() for _ in range(9)]
    assert [make(state).run()[0].as_array().tolist() for _ in range(1)] == rest[:1]


def test_a_saved_pipeline_does_not_find_a_table_that_is_gone():
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.readers.arrow(pa.table({"x": [1]}), columns="x"))
    saved = pipe.serialize()
    del pipe
    with pytest.raises(ValueError, match="is gone: make the pipeline again"):
        Pipeline.deserialize(saved).run()


def test_places_of_a_damaged_list_do_not_wrap(tmp_path):
    """Eight times 2**61 is 0 in 64 bits: the numbers at the begin would come."""
    table = pa.table({"x": pa.array([[1.5, 2.5, 3.5], [4.5]], pa.large_list(pa.float64()))})
    path = written(tmp_path, False, table=table)
    data = path.read_bytes()
    offsets = np.array([0, 3, 4], np.int64)
    assert data.count(offsets.tobytes()) == 1
    path.write_bytes(data.replace(offsets.tobytes(), (offsets + 2**61).tobytes()))
    with pytest.raises(penstock.DataError, match="where no buffer can be"):
        read(path, ["x"])
