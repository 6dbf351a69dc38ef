# SPDX-License-Identifier: Apache-2.0
"""readers.numpy: arrays and regions against NumPy and DALI, and files that are wrong."""

import struct

import numpy as np
import pytest
from test_recordio_tar import run, same

import penstock
from penstock import fn

TYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    np.save(tmp_path / "b.npy", np.arange(20, dtype=np.float32).reshape(4, 5))
    (tmp_path / "x").mkdir()
    np.save(tmp_path / "x" / "c.npy", np.asfortranarray(np.arange(30, dtype=np.float32).reshape(5, 6)))
    return tmp_path


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (7,), (3, 4, 5), (0, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_type_and_order(tmp_path, dtype, shape, order):
    want = np.asarray(
        np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype), order=order
    )
    np.save(tmp_path / "a.npy", want)
    got = run(fn.readers.numpy, 1, files=str(tmp_path / "a.npy"))[0][0]
    assert got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions_and_long_headers(tmp_path, version):
    from numpy.lib import format

    want = np.arange(6, dtype=np.int16).reshape(2, 3)
    with open(tmp_path / "a.npy", "wb") as file:
        format.write_array(file, want, version)
    content = (tmp_path / "a.npy").read_bytes()
    words = 10 if version == (1, 0) else 12
    head = content[words:-12]
    long = head[:-1] + b" " * 1024 + b"\n"
    (tmp_path / "b.npy").write_bytes(content[:8] + len(long).to_bytes(words - 8, "little") + long + content[-12:])
    for got in run(fn.readers.numpy, 2, files=[str(tmp_path / "a.npy"), str(tmp_path / "b.npy")])[0]:
        assert np.array_equal(got, want)


REGIONS = [
    {},
    {"roi_start": [1, 1], "roi_end": [3, 3]},
    {"roi_start": [1], "roi_axes": [0]},
    {"roi_end": [2], "roi_axes": [1]},
    {"roi_shape": [2], "roi_axes": [1], "roi_start": [1]},
    {"rel_roi_start": [0.25], "rel_roi_shape": [0.5], "roi_axes": [0]},
    {"rel_roi_start": [0.3, 0.3], "rel_roi_end": [0.8, 0.7]},
    {"roi_start": [1, 1], "roi_end": [1, 3]},
    {"roi_shape": [2, 2]},
    {"roi_axes": [-1], "roi_end": [2]},
    {"rel_roi_shape": [0.3, 0.3]},
    {"roi_start": [1, 1], "rel_roi_shape": [0.3, 0.3]},
    {"roi_start": [2, 2], "roi_end": [6, 7], "out_of_bounds_policy": "pad", "fill_value": 9.0},
    {"roi_start": [2, 2], "roi_end": [6, 7], "out_of_bounds_policy": "trim_to_shape"},
    {"roi_start": [-1, 2], "roi_end": [3, 3], "out_of_bounds_policy": "pad"},
    {"rel_roi_start": [0.5, 0.5], "rel_roi_end": [1.5, 1.5], "out_of_bounds_policy": "pad"},
]


@pytest.mark.parametrize("region", REGIONS)
def test_regions_are_dalis(folder, oracle, region):
    files = [str(folder / f) for f in ("a.npy", "b.npy", "x/c.npy")]
    same(
        run(fn.readers.numpy, 3, files=files, **region),
        oracle.call("readers.numpy", [], batch_size=3, files=files, **region),
    )


BY_VALUES = [
    {"roi_start": np.int32([[0, 1], [1, 1], [3, 0]])},
    {"roi_start": np.int32([[0, 1], [1, 1], [3, 0]]), "roi_end": np.int32([[2, 3], [4, 1], [5, 6]])},
    {"roi_start": np.int32([[0], [2], [4]]), "roi_axes": [0]},
    {"roi_shape": np.int32([[1, 2], [3, 1], [2, 2]]), "roi_start": [1, 2]},
    {"rel_roi_start": np.float32([[0.3, 0.2], [0.5, 0.0], [0.1, 0.9]]), "rel_roi_shape": [0.4, 0.1]},
    {
        "roi_start": np.int32([[-1, 2], [3, 3], [9, 9]]),
        "roi_shape": np.int32([[3, 3], [2, 9], [1, 2]]),
        "out_of_bounds_policy": "pad",
        "fill_value": 9.0,
    },
    {"roi_end": np.int32([[9, 9], [2, 9], [9, 1]]), "out_of_bounds_policy": "trim_to_shape"},
]


def by_values(arguments, **options):
    """A pipeline that reads, with the arrays of `arguments` as values of the pipeline: a row for each sample."""

    def value(v):
        return fn.external_source(lambda _: list(v)) if isinstance(v, np.ndarray) else v

    @penstock.pipeline_def(batch_size=3, num_threads=2)
    def read():
        return fn.readers.numpy(**{k: value(v) for k, v in arguments.items()})

    return read(**options)


def arrays(batch):
    return [batch[i].numpy() for i in range(len(batch))]


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("region", BY_VALUES, ids=lambda r: " ".join(r))
def test_regions_of_single_samples_are_dalis(folder, oracle, region, debug):
    files = {"files": [str(folder / f) for f in ("a.npy", "b.npy", "x/c.npy")]}
    with by_values({**files, **region}, debug=debug) as pipe:
        (got,) = pipe.run()
    wanted = {k: {"per_sample": list(v)} if isinstance(v, np.ndarray) else v for k, v in region.items()}
    same(arrays(got), oracle.call("readers.numpy", [], batch_size=3, **files, **wanted))


def test_regions_of_single_samples_change_nothing_else(folder):
    """The name, the length, the order and the state are the reader's."""
    paths = []
    for i in range(8):
        paths.append(str(folder / f"{i}.npy"))
        np.save(paths[-1], np.full((4, 3), i, np.int16))
    settings = {"files": paths, "name": "reader", "random_shuffle": True, "seed": 5}
    rows = {"roi_end": np.int32([[1, 3], [2, 1], [3, 2]])}
    whole, part = by_values(settings), by_values({**settings, **rows})
    assert part.reader_meta("reader") == whole.reader_meta("reader")
    for _ in range(3):
        (want,), (got,) = whole.run(), part.run()
        for a, b, shape in zip(arrays(want), arrays(got), rows["roi_end"]):
            np.testing.assert_array_equal(b, a[: shape[0], : shape[1]])
    resumed = by_values({**settings, **rows}, checkpoint=part.checkpoint())
    np.testing.assert_array_equal(arrays(resumed.run()[0])[0], arrays(part.run()[0])[0])


def test_regions_that_are_drawn(folder):
    with penstock.Pipeline(batch_size=3, num_threads=2, seed=2) as pipe:
        start = fn.random.uniform(range=[0, 2], shape=[2], dtype=penstock.types.INT32)
        read = fn.readers.numpy(file_root=str(folder), roi_start=start, roi_shape=[1, 2])
        pipe.set_outputs(read, start, fn.readers.numpy(file_root=str(folder), pad_last_batch=True))
    got, starts, whole = pipe.run()
    for a, (y, x), b in zip(arrays(got), arrays(starts), arrays(whole)):
        np.testing.assert_array_equal(a, b[y : y + 1, x : x + 2])


def test_regions_of_single_samples_that_cannot_be(folder):
    files = [str(folder / "a.npy"), str(folder / "b.npy"), str(folder / "x" / "c.npy")]
    outside = np.int32([[1, 1], [1, 1], [1, 7]])
    with pytest.raises(penstock.DataError, match=r"(?s)\[readers.numpy\].*6 elements of axis 1.*c.npy"):
        by_values({"files": files, "roi_end": outside}).run()
    with pytest.raises(penstock.DataError, match=r"(?s)\[readers.numpy\].*1 dimensions"):
        np.save(folder / "v.npy", np.arange(12, dtype=np.float32))
        by_values({"files": [*files[:2], str(folder / "v.npy")], "roi_axes": [0], "roi_end": outside[:, :1]}).run()
    (folder / "b.npy").write_bytes(b"no array")
    with pytest.raises(penstock.DataError, match=r"(?s)\[readers.numpy\].*b.npy"):
        by_values({"files": files, "roi_end": np.int32([[1, 1]] * 3)}).run()
    with pytest.raises(TypeError, match="roi_axes"):
        by_values({"files": files, "roi_end": [1], "roi_axes": np.int32([[0]] * 3)}).run()
    with pytest.raises(TypeError, match="there is no argument 'roi_strat', did you mean 'roi_start'"):
        by_values({"files": files, "roi_strat": np.int32([[0]] * 3)}).run()


def test_a_damaged_file_can_be_replaced_where_regions_are_values(folder):
    (folder / "b.npy").write_bytes(b"no array")
    with penstock.Pipeline(batch_size=3, num_threads=2, on_error="replace") as pipe:
        rows = fn.external_source(lambda: list(np.int32([[2, 2], [1, 3], [2, 1]])))
        pipe.set_outputs(fn.readers.numpy(file_root=str(folder), roi_end=rows))
    assert [a.shape for a in arrays(pipe.run()[0])] == [(2, 2), (1, 3), (2, 1)]


def test_folders_and_lists(folder, oracle):
    for arguments, count in (
        ({"file_root": str(folder)}, 3),
        ({"file_root": str(folder), "file_filter": "b*"}, 1),
        ({"file_root": str(folder), "files": ["b.npy", "a.npy"]}, 2),
    ):
        same(run(fn.readers.numpy, count, **arguments), oracle.call("readers.numpy", [], batch_size=count, **arguments))
    (folder / "list.txt").write_text("b.npy\nx/c.npy\n")
    assert [a.shape for a in run(fn.readers.numpy, 2, file_list=str(folder / "list.txt"))[0]] == [(4, 5), (5, 6)]


def test_a_region_outside_is_an_error(folder):
    with pytest.raises(penstock.DataError, match=r"is not inside the 3 elements of axis 0.*a.npy"):
        run(fn.readers.numpy, 1, files=str(folder / "a.npy"), roi_start=[2, 2], roi_end=[5, 4])
    with pytest.raises(ValueError, match="at most one of roi_end"):
        run(fn.readers.numpy, 1, files=str(folder / "a.npy"), roi_end=[2, 2], roi_shape=[1, 1])


def test_a_batch_has_one_type_and_rank(folder):
    np.save(folder / "i.npy", np.arange(12).reshape(3, 4))
    np.save(folder / "v.npy", np.arange(12, dtype=np.float32))
    for other, message in (("i.npy", "of float32 and of int64"), ("v.npy", "2 and of 1 dimensions")):
        with pytest.raises(penstock.DataError, match=message):
            run(fn.readers.numpy, 2, files=[str(folder / "a.npy"), str(folder / other)])


def npy(header, data=bytes(64), version=1):
    words = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + words + header + data


GOOD = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }"


@pytest.mark.parametrize(
    "content, message",
    [
        (b"PK\3\4" + bytes(40), "not an .npy file"),
        (npy(GOOD)[:8], "not an .npy file"),
        (npy(GOOD, b"1234"), "does not lie inside"),
        (npy(GOOD)[:40], "a header has|a header of"),
        (npy(GOOD, version=9), "version 9"),
        (npy(GOOD.replace(b"<f4", b">f4")), "type '>f4'"),
        (npy(GOOD.replace(b"<f4", b"|O8")), "type '|O8'"),
        (npy(GOOD.replace(b"<f4", b"<c8")), "type '<c8'"),
        (npy(GOOD.replace(b"4, 4", b"-4, 4")), "expected an extent"),
        (npy(GOOD.replace(b"4, 4", b"9223372036854775807, 2")), "does not lie inside"),
        (npy(GOOD.replace(b"4, 4", b"99999999999999999999")), "expected an extent"),
        (npy(GOOD.replace(b"4, 4", b"0, 4, 9" * 9)), "damaged|dimensions"),
        (npy(GOOD.replace(b"False", b"Maybe")), "expected True or False"),
        (npy(GOOD.replace(b"shape", b"other")), "unknown key 'other'"),
        (npy(b"{'descr': '<f4'}"), "no descr or no shape"),
        (npy(b"[1, 2]"), "expected '{'"),
        (npy(GOOD[:-5]), "damaged"),
        (npy(b"{" * 60000), "damaged"),
        (struct.pack("<6sBBI", b"\x93NUMPY", 2, 0, 2**32 - 1) + GOOD, "a header has|a header of"),
    ],
)
def test_damaged_files(tmp_path, content, message):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(penstock.DataError, match=rf"(?s)\[readers.numpy\].*{message}.*a.npy"):
        run(fn.readers.numpy, 1, files=str(tmp_path / "a.npy"))
